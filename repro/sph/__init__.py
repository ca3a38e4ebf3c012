"""Smoothed particle hydrodynamics with ghost particles: the paper `sph`.

Where a section is:

    1.2, equations 3 to 6          equations.py, kernels.py; pair.py (what a pair adds), sums.py (over neighbours)
    1.2, boundary conditions       ghosts.py, ghost_sums.py, solids.py (what walls and obstacles do)
    2, figures 4 and 5             strategies/cell_table.py, repro/particles/radix_sort.py
    3.2, figures 6 to 8            cases.py (DamBreak); figure 8's surface: surface.py
    3.2, tables 1 and 2            strategies/linked_list.py, repro/particles/ordered_list.py, benchmark.py

What is simulated stands in fluid.py, system.py and state.py, what runs in simulation.py, what is measured in
observables.py, theory in exact.py, restarts in checkpoint.py, files for ParaView in vtk.py.

Not in the paper: strategies/runs.py (fast), integrate.py (it names no time step), artificial viscosity, density
diffusion, Wendland's kernel, a mass with which the lattice has exactly the density of rest, sums of equations 4 and 6
that are exact on the lattice, the pressure of rest at the start, fluid that slips along walls, is mirrored in them and
pushed back, obstacles, and ghosts in the air at fixed sites, with a gap of our choice. What stops a run stands in
looks.py.
"""
