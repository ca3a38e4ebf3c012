"""One thread per particle over the cell table, all 27 cells: each pair twice, and no thread writes another's force."""

from functools import cache

from numpy import float64

from repro.parallel import inline
from repro.particles.cell_table import particles_in
from repro.particles.cells import ALL_CELLS, cell_of, neighbour

from ..pair import meeting
from .over_table import table_forces
from .setup import Forces, Setup, Traits

TRAITS = Traits(table=True, both_sides=True)


@cache
def full_body(real, noise, constants=None):
    """A thread's particle meets all particles of 27 cells; constants(p) gives a pair's numbers, p itself by default."""
    meet, cell, zero, half = meeting(real, noise), cell_of(real), float64(0), float64(0.5)
    given = constants or same

    @inline
    def forces(x, n, particles, sums, source, table, q, cells):
        r, count, f = particles.r, particles.count, sums.f
        total, key, p = cells[0] * cells[1] * cells[2], (source.seed, source.clock[0]), given(q)
        for i in range(x, x + n):
            own = cell(r[i], r[count + i], r[2 * count + i], cells)
            fx, fy, fz, share = zero, zero, zero, zero
            for k in range(ALL_CELLS):
                c = neighbour(own, k, cells)
                for slot in range(particles_in(table, c)):
                    j = table.entries[slot * total + c]
                    if j != i:
                        (gx, gy, gz, more), _ = meet(i, j, particles, key, p, (0, 0))
                        fx, fy, fz, share = fx + gx, fy + gy, fz + gz, share + more
            f[i], f[count + i], f[2 * count + i], sums.virial[i] = fx, fy, fz, half * share

    return forces


@inline
def same(p):
    """The numbers of a pair as the kernel got them."""
    return p


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    return table_forces(setup, full_body(setup.real, setup.noise), setup.state.count)
