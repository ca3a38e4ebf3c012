"""One thread per particle over the cell table, each pair once; the reaction is added atomically (section 4.2)."""

from functools import cache

from repro.parallel import device_function
from repro.particles.cell_table import particles_in
from repro.particles.cells import ALL_CELLS, OWN_CELL, make_place, neighbour

from ..noise import thread_words
from ..pair import Pair, make_add_to_both, make_force
from .setup import Forces, Setup, Traits
from .sums import same, table_forces

TRAITS = Traits(table=True, linear=True)


@cache
def half_body(real, pair: Pair, add, constants=same):
    """A thread's particle meets the later ones of its own cell, and those of thirteen neighbouring cells.

    constants(q) gives a pair's numbers from the kernel's argument.
    """
    separation, force, add_to_both = pair.separation, make_force(real, pair), make_add_to_both(add)
    place, one = make_place(real), real(1)

    @device_function
    def forces(x, n, particles, sums, source, table, q, cells):
        r, _, u, ids, count, moving = particles
        key, p, total = (source.seed, source.clock[0]), constants(q), cells[0] * cells[1] * cells[2]
        for i in range(x, x + n):
            words = thread_words(i, key)
            own = place(r[i], r[count + i], r[2 * count + i], cells)
            for k in range(OWN_CELL, ALL_CELLS):
                c = neighbour(own, k, cells)
                for slot in range(particles_in(table, c)):
                    j = table.entries[slot * total + c]
                    if k > OWN_CELL or j > i:
                        distance = separation(r[i], r[count + i], r[2 * count + i], j, particles, p)
                        if distance[3] < one and min(ids[i], ids[j]) < moving:
                            velocity = u[i], u[count + i], u[2 * count + i]
                            g, words = force(distance, ids[i], velocity, j, particles, key, p, words)
                            add_to_both(sums, i, j, count, g)

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    return table_forces(setup, half_body(setup.real, setup.pair, setup.device.add), setup.state.count)
