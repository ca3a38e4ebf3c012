"""One thread per cell over the cell table, each pair once; the reaction is added atomically (section 4.2)."""

from functools import cache

from repro.parallel import device_function
from repro.particles.cell_table import particles_in
from repro.particles.cells import ALL_CELLS, OWN_CELL, neighbour, place_of

from ..noise import thread_words
from ..pair import Pair, make_add_to_both, make_force
from .setup import Forces, Setup, Traits
from .sums import table_forces

TRAITS = Traits(table=True, linear=True)


@cache
def cell_body(real, pair: Pair, add, begin=thread_words):
    """A thread's particles are those of cell order[x]; begin(thread, key) are its first words in method one."""
    separation, force, add_to_both, one = pair.separation, make_force(real, pair), make_add_to_both(add), real(1)

    @device_function
    def forces(x, n, particles, sums, source, table, order, p, cells):
        r, _, u, ids, count, moving = particles
        key, total = (source.seed, source.clock[0]), cells[0] * cells[1] * cells[2]
        for thread in range(x, x + n):
            own = order[thread]
            words, at = begin(own, key), place_of(own, cells)
            for k in range(OWN_CELL, ALL_CELLS):
                c = neighbour(at, k, cells)
                for place in range(particles_in(table, own)):
                    i = table.entries[place * total + own]
                    for slot in range(place + 1 if k == OWN_CELL else 0, particles_in(table, c)):
                        j = table.entries[slot * total + c]
                        distance = separation(r[i], r[count + i], r[2 * count + i], j, particles, p)
                        if distance[3] < one and min(ids[i], ids[j]) < moving:
                            velocity = u[i], u[count + i], u[2 * count + i]
                            g, words = force(distance, ids[i], velocity, j, particles, key, p, words)
                            add_to_both(sums, i, j, count, g)

    return forces


def build(setup: Setup, order=None, begin=thread_words) -> Forces:
    """Bind the strategy's kernels to the setup's arrays; thread x takes cell order[x], or cell x."""
    order = setup.device.xp.arange(setup.cells.count, dtype="int32") if order is None else order
    body = cell_body(setup.real, setup.pair, setup.device.add, begin)
    return table_forces(setup, body, setup.cells.count, extra=(order,))
