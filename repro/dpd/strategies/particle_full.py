"""A thread a particle over the cell table, all 27 cells: each pair twice, and no thread writes another's force."""

from numpy import float64

from repro.parallel import InputError, inline

from ..cells import ALL_CELLS, cell_of, neighbour
from .particle import table_forces
from .setup import Forces, Setup, meeting


def full_body(setup: Setup, constants=None):
    """A thread's particle meets all particles of 27 cells; constants(p) gives a pair's numbers, p itself by default."""
    real, capacity = setup.real, setup.capacity
    meet, cell, zero, half = meeting(real, setup.noise), cell_of(real), float64(0), float64(0.5)
    given = constants or same

    @inline
    def forces(x, n, r, u, f, virial, ids, clock, counts, table, count, fluid, seed, q, cells):
        step, total, p = clock[0], cells[0] * cells[1] * cells[2], given(q)
        for i in range(x, x + n):
            own = cell(r[i], r[count + i], r[2 * count + i], cells)
            fx, fy, fz, share = zero, zero, zero, zero
            for k in range(ALL_CELLS):
                c = neighbour(own, k, cells)
                for slot in range(min(counts[c], capacity)):
                    j = table[slot * total + c]
                    if j != i:
                        gx, gy, gz, more, _, _ = meet(i, j, r, u, ids, count, fluid, seed, step, p, 0, 0)
                        fx, fy, fz, share = fx + gx, fy + gy, fz + gz, share + more
            f[i], f[count + i], f[2 * count + i], virial[i] = fx, fy, fz, half * share

    return forces


@inline
def same(p):
    """The numbers of a pair as the kernel got them."""
    return p


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    require_pairs_named(setup)
    return table_forces(setup, full_body(setup), setup.state.count)


def require_pairs_named(setup: Setup) -> None:
    """Refuse a thread's own random numbers where two threads compute the same pair."""
    if not setup.rounds:
        raise InputError("the linear generator cannot give two threads the same number: choose a half stencil or TEA")
