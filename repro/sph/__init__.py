"""Smoothed particle hydrodynamics with ghost particles: the paper `sph`.

Where a section is:

    1.1 (the 27 cells)             repro/particles/cells.py, strategies/search.py; repro/papers/sph/neighbours.py
    1.2, the fluid                 fluid.py (with its resolution and time steps), system.py, state.py, simulation.py
    1.2, equation 3                pair.py (make_density_pair), neighbour_sums.py (summation)
    1.2, equation 4                equations.py (divergence_terms), pair.py, neighbour_sums.py (continuity)
    1.2, equation 5                equations.py (tait)
    1.2, equation 6                equations.py (momentum_term), pair.py, neighbour_sums.py (momentum)
    1.2, boundary conditions       ghosts.py, air.py (samples), sum_kernels.py (make_extrapolation), solid_boundary.py
    2, figure 4                    repro/papers/sph/neighbours.py (example), repro/particles/cells.py
    2, figure 3 (shared memory)    repro/particles/block_sort.py
    2, figure 5 (first index)      strategies/cell_table.py, repro/particles/radix_sort.py
    3.2, figures 6 and 7           cases.py (DamBreak.of_paper), system.py (Walls), ghosts.py (BOUNDARIES);
                                   repro/papers/sph/ghosts
    3.2, figure 8                  surface.py, vtk.py; repro/papers/sph/dam_break
    3.2, tables 1 and 2            strategies/linked_list.py, repro/particles/linked_list.py, benchmark.py

A term of equation 6 is launched in four steps: equations.py -> pair.py (with one neighbour) -> strategies (with three
cells) -> sum_kernels.py (with all types of particles, and a thread's share). What is summed up stands in
neighbour_sums.py, and bindings.py launches it. Smoothing kernels stand in kernels.py, what is measured in
observables.py, theory in exact.py, restarts in checkpoint.py.

Not in the paper: strategies/sorted_cells.py (fast), each pair once (strategies.PAIRS_ONCE), integrate.py (it names no
time step), equations 4 and 6 in one sum (density "rate"), artificial viscosity, density diffusion, Wendland's kernel, a
mass with which the lattice has exactly the density of rest, sums of equations 4 and 6 that are exact on the lattice,
the pressure of rest at the start, fluid that slips along walls, is mirrored in them and pushed back, and obstacles.
What stops a run stands in stability_checks.py. A tank on several ranks: ranks.py, with blocks of cells (subdomain.py),
entries that are copies or free (marks.py), and what is exchanged in a step (exchange.py, crossing.py).
"""

from repro.on_demand import names_on_demand

#: the public names of each module
_HOMES = {
    "cases": "DamBreak StillWater",
    "fluid": "Fluid Resolution",
    "kernels": "KERNELS SmoothingKernel",
    "simulation": "Simulation",
    "system": "System Walls",
}

__all__ = " ".join(_HOMES.values()).split()

__getattr__ = names_on_demand(__name__, _HOMES)
