"""What particle methods share, on plain arrays: cells, their order, lists, scan and random numbers.

Arrays of vectors are flat: component k of particle i is at k * count + i. Positions are whole numbers (see `position`).

Where a section is:

    dpd 4.1, table 1               linked_list.py
    dpd 4.1, table 2               cell_table.py
    dpd 4.3                        random.py (TEA, Box-Muller transform), cells.py (half the stencil)
    sph 2, figures 3 and 5         block_sort.py (cells by sorted keys, in shared memory); beside it radix_sort.py (in
                                   global memory, and a library's) and linked_list.py

Not in the papers: cell_permutation.py and sorted_cells.py (particles in the order of their cells); local_cells.py,
local_particles.py, crossing.py, messages.py and rooms.py (the same on one of several ranks, and what crosses).
"""
