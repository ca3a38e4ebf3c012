"""One thread per particle over the cell table, all 27 cells: each pair twice, and no thread writes another's force."""

from functools import cache

from numpy import float64

from repro.parallel import device_function
from repro.particles.cell_table import particles_in
from repro.particles.cells import ALL_CELLS, make_place, neighbour

from ..pair import Pair, make_force
from .setup import Forces, Setup, Traits
from .sums import same, table_forces

TRAITS = Traits(table=True, both_sides=True)


@cache
def full_body(real, pair: Pair, constants=same):
    """A thread's particle meets all particles of 27 cells; constants(q) gives a pair's numbers."""
    separation, force, place = pair.separation, make_force(real, pair), make_place(real)
    zero, half, one, none = float64(0), float64(0.5), real(1), (real(0),) * 4

    @device_function
    def forces(x, n, particles, sums, source, table, q, cells):
        r, _, u, ids, count, moving = particles
        f, key, p, total = sums.f, (source.seed, source.clock[0]), constants(q), cells[0] * cells[1] * cells[2]
        for i in range(x, x + n):
            own = place(r[i], r[count + i], r[2 * count + i], cells)
            fx, fy, fz, share = zero, zero, zero, zero
            for k in range(ALL_CELLS):
                c = neighbour(own, k, cells)
                for slot in range(particles_in(table, c)):
                    j = table.entries[slot * total + c]
                    if j != i:
                        distance = separation(r[i], r[count + i], r[2 * count + i], j, particles, p)
                        g = none
                        if distance[3] < one and min(ids[i], ids[j]) < moving:
                            velocity = u[i], u[count + i], u[2 * count + i]
                            g, _ = force(distance, ids[i], velocity, j, particles, key, p, (0, 0))
                        # added here, where no compiler fuses the sum with a product
                        fx, fy, fz, share = fx + g[0], fy + g[1], fz + g[2], share + g[3]
            f[i], f[count + i], f[2 * count + i], sums.virial[i] = fx, fy, fz, half * share

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    return table_forces(setup, full_body(setup.real, setup.pair), setup.state.count)
