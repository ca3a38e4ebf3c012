"""Smoothed particle hydrodynamics with ghost particles: the paper `sph`.

Where a section is:

    1.2, equations 3 to 6          equations.py, kernels.py; sums.py (over neighbours), pair.py (what a pair adds)
    1.2, boundary conditions       ghosts.py
    2, figures 4 and 5             strategies/cell_table.py, repro/particles/radix_sort.py
    3.2, figures 6 to 8            cases.py (DamBreak)

Not in the paper: strategies/runs.py (fast), integrate.py (it names no time step), artificial viscosity.
"""
