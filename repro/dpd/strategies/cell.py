"""One thread per cell over the cell table, each pair once; the reaction is added atomically (section 4.2)."""

from functools import cache

from repro.parallel import inline
from repro.particles.cell_table import particles_in
from repro.particles.cells import ALL_CELLS, OWN_CELL, neighbour

from ..noise import thread_words
from ..pair import adding
from .over_table import table_forces
from .setup import Forces, Setup, Traits

TRAITS = Traits(table=True)


@cache
def cell_body(real, noise, add):
    """A thread's particles are those of cell order[x]."""
    both = adding(real, noise, add)

    @inline
    def forces(x, n, particles, sums, source, table, order, p, cells):
        key, total = (source.seed, source.clock[0]), cells[0] * cells[1] * cells[2]
        for thread in range(x, x + n):
            own = order[thread]
            words = thread_words(own, key)
            for k in range(OWN_CELL, ALL_CELLS):
                c = neighbour(own, k, cells)
                for place in range(particles_in(table, own)):
                    i = table.entries[place * total + own]
                    for slot in range(place + 1 if k == OWN_CELL else 0, particles_in(table, c)):
                        j = table.entries[slot * total + c]
                        words = both(i, j, sums, particles, key, p, words)

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    order = setup.device.xp.arange(setup.cells.count, dtype="int32")
    return table_forces(setup, cell_body(setup.real, setup.noise, setup.device.add), setup.cells.count, extra=(order,))
