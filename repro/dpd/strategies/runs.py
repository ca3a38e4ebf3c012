"""A thread a particle over sorted particles: the fast way on a GPU. Not in the paper.

Cells of a row along x lie one after the other, so the 27 cells around a particle are nine runs of particles (and short
ones over the periodic edge). A thread first collects who is within the cutoff radius, in shared memory, and then
computes the forces: only one candidate in six is near enough, and threads of a warp that waited for each other at every
candidate would compute six times as long.
"""

from functools import cache

import numpy as np
from numpy import float64, uint32

from repro.parallel import Kernel, inline

from ..cells import cell_along, wrapped
from ..pair import separation
from ..position import upper_bits
from ..random import pair_noise
from ..sorting import SortedParticles
from .particle_full import require_pairs_named
from .setup import Forces, Setup, interacting

#: particles that a thread collects before it computes their forces
LIST = 32


@inline
def row_of_cells(piece, cx, cy, cz, starts, cells):
    """A run of sorted particles around a cell, as its first and its end.

    Pieces 0 to 8 are the rows of three cells around the own one, pieces 9 to 17 what lies over the edge of x.
    """
    m = piece % 9
    row = wrapped(cz + m // 3 - 1, cells[2]) * cells[1] + wrapped(cy + m % 3 - 1, cells[1])
    low, high = max(cx - 1, 0), min(cx + 1, cells[0] - 1)
    if piece >= 9:
        low = high = cells[0] - 1 if cx == 0 else 0
    return uint32(starts[row * cells[0] + low]), uint32(starts[row * cells[0] + high + 1])


@cache
def runs_body(real, block: int, rounds: int):
    """A thread's particle: collect who is near, and compute the forces.

    The same body again for the same choices, so that a GPU compiles it once in a process.
    """
    interact = interacting(real, pair_noise(real, rounds))
    apart, upper = separation(real), upper_bits(real)
    zero, half, one = float64(0), float64(0.5), real(1)

    @inline
    def forces(x, n, t, r, u, ids, starts, f, virial, clock, count, fluid, seed, p, cells):
        step = clock[0]
        for i in range(x, x + n):
            lane, number = uint32(i % block), ids[i]
            xi, yi, zi = r[i], r[count + i], r[2 * count + i]
            ui, vi, wi = u[i], u[count + i], u[2 * count + i]
            cx, cy = cell_along(upper(xi), cells[0]), cell_along(upper(yi), cells[1])
            cz = cell_along(upper(zi), cells[2])
            pieces = 18 if cx == 0 or cx == cells[0] - 1 else 9
            piece = pieces if number >= fluid else 0
            fx, fy, fz, share = zero, zero, zero, zero
            j, end, found = uint32(0), uint32(0), uint32(LIST)
            while found == LIST:
                found = uint32(0)
                while found < LIST and (j < end or piece < pieces):
                    if j < end:
                        if apart(xi, yi, zi, j, r, count, p)[3] < one and j != i:
                            t[found, lane] = j
                            found = uint32(found + 1)
                        j = uint32(j + 1)
                    else:
                        j, end = row_of_cells(piece, cx, cy, cz, starts, cells)
                        piece += 1
                for k in range(found):
                    m = uint32(t[uint32(k), lane])
                    dx, dy, dz, square = apart(xi, yi, zi, m, r, count, p)
                    gx, gy, gz, more, _, _ = interact(
                        dx, dy, dz, square, number, ui, vi, wi, m, u, ids, count, seed, step, p, 0, 0
                    )
                    fx, fy, fz, share = fx + gx, fy + gy, fz + gz, share + more
            f[i], f[count + i], f[2 * count + i], virial[i] = fx, fy, fz, half * share

    return forces


@inline
def _hand_back(x, n, r, v, u, ids, r_out, v_out, u_out, ids_out, count):
    for i in range(x, x + n):
        ids_out[i] = ids[i]
        for k in range(3):
            r_out[i + k * count] = r[i + k * count]
            v_out[i + k * count] = v[i + k * count]
            u_out[i + k * count] = u[i + k * count]


def hand_back(setup: Setup, lists: SortedParticles):
    """The launch that gives the state's arrays the order of the cells."""
    state = setup.state
    arrays = (lists.r, lists.v, lists.u, lists.ids, state.r, state.v, state.u, state.ids)
    return setup.device.compile(Kernel(_hand_back))((state.count,), *arrays, state.count)


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    require_pairs_named(setup)
    state, device = setup.state, setup.device
    lists = SortedParticles(device, state, setup.cells, setup.real)
    body = runs_body(setup.real, setup.block, setup.rounds)
    kernel = Kernel(body, dtype=np.int32, shared_rows=LIST, block=setup.block, registers=setup.registers, strict=True)
    run = device.compile(kernel)(
        (state.count,),
        *(lists.r, lists.u, lists.ids, lists.starts, state.f, state.virial, state.clock),
        *(state.count, state.fluid, setup.seed, setup.numbers, setup.cells.shape),
    )
    return Forces(lists.update() | {"forces": run, "hand back": hand_back(setup, lists)})
