"""One thread per particle over the cell table, each pair once; the reaction is added atomically (section 4.2)."""

from functools import cache

from repro.parallel import inline
from repro.particles.cell_table import particles_in
from repro.particles.cells import ALL_CELLS, OWN_CELL, cell_of, neighbour

from ..noise import thread_words
from ..pair import adding
from .over_table import table_forces
from .setup import Forces, Setup, Traits

TRAITS = Traits(table=True)


@cache
def half_body(real, noise, add):
    """A thread's particle meets the later ones of its own cell, and those of thirteen neighbouring cells."""
    both, cell = adding(real, noise, add), cell_of(real)

    @inline
    def forces(x, n, particles, sums, source, table, p, cells):
        r, count, total = particles.r, particles.count, cells[0] * cells[1] * cells[2]
        key = source.seed, source.clock[0]
        for i in range(x, x + n):
            words = thread_words(i, key)
            own = cell(r[i], r[count + i], r[2 * count + i], cells)
            for k in range(OWN_CELL, ALL_CELLS):
                c = neighbour(own, k, cells)
                for slot in range(particles_in(table, c)):
                    j = table.entries[slot * total + c]
                    if k > OWN_CELL or j > i:
                        words = both(i, j, sums, particles, key, p, words)

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    return table_forces(setup, half_body(setup.real, setup.noise, setup.device.add), setup.state.count)
