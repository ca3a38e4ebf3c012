"""Ways to find neighbours: one short file each, which give the same neighbours in the same order.

A strategy has `lists(device, cells, state, real)`, which says how the fluid's table of cells is brought up to date,
`still(device, species)`, which gives ghosts, sorted by their cells, the table that it walks,
`anyone(at, species, cells)`, whether the 27 cells around the cell `at` hold a particle, and `walk(real, visit)`, which
returns

    along(found, me, at, row, species, p, cells)

and visits the particles of one species in three of the 27 cells around the cell `at` = (cx, cy, cz), a row along x with
a number below lists.ROWS: found becomes visit(found, me, j, species, p) for one particle j after the other. A further
kind of particle is one more call. The order is that of the cells, and within a cell that of the ids, so that sums have
the same bits with every strategy. `walk_on_gpu` is the same with what is fastest there, and SHARES says whether threads
of a GPU share a particle's sum where there are few (see `gather`).

On a CPU, a step's first sum goes by `walk_and_keep`, which may keep in `species.near`, KEPT words a particle, who is
near, and the second one, over the same places, by `walk_again`; there `at` ends with the particle's number and how many
there are.
"""

from . import cell_table, linked_list, runs
from .lists import Lists

STRATEGIES = {"cell table": cell_table, "linked list": linked_list, "runs": runs}

__all__ = ["STRATEGIES", "Lists"]
