"""A thread a cell over the cell table, each pair once with atomic additions for the reaction (section 4.2)."""

from repro.parallel import inline

from ..cells import ALL_CELLS, OWN_CELL, neighbour
from ..random import thread_words
from .particle import table_forces
from .setup import Forces, Setup, adding


def cell_body(setup: Setup):
    """A thread's particles are those of cell order[x]."""
    both, capacity = adding(setup.real, setup.noise, setup.device.add), setup.capacity

    @inline
    def forces(x, n, r, u, f, virial, ids, clock, counts, table, order, count, fluid, seed, p, cells):
        step, total = clock[0], cells[0] * cells[1] * cells[2]
        for thread in range(x, x + n):
            own = order[thread]
            first, second = thread_words(own, seed, step)
            for k in range(OWN_CELL, ALL_CELLS):
                c = neighbour(own, k, cells)
                for place in range(min(counts[own], capacity)):
                    i = table[place * total + own]
                    for slot in range(place + 1 if k == OWN_CELL else 0, min(counts[c], capacity)):
                        j = table[slot * total + c]
                        first, second = both(i, j, f, virial, r, u, ids, count, fluid, seed, step, p, first, second)

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    order = setup.device.xp.arange(setup.cells.count, dtype="int32")
    return table_forces(setup, cell_body(setup), setup.cells.count, extra=(order,))
