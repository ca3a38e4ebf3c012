"""One thread per particle over sorted particles: the fast way on a GPU. Not in the paper.

The 27 cells around a particle are nine rows of particles (and short ones over the periodic edge). A thread first
collects its neighbours within the cutoff radius, in shared memory, and then computes the forces: only one candidate in
six is one, and by warp divergence a force computed at every candidate would take six times as long.

The force on a frozen particle is left at zero, since nothing reads it; the other strategies find it, the half stencils
as a reaction. So this strategy has less work by the share of frozen particles, which speeds count as updated.
"""

from functools import cache

import numpy as np
from numpy import float64, uint32

from repro.parallel import device_function
from repro.particles.cell_permutation import SortedParticles
from repro.particles.cells import cell_along
from repro.particles.launch import launch_of
from repro.particles.position import cell_bits
from repro.particles.sorted_cells import row_around

from ..pair import Pair, make_force
from .setup import Forces, Setup, Traits

#: particles that a thread collects before it computes their forces
LIST = 32

TRAITS = Traits(both_sides=True, shared_words=LIST, repeats=("serial", "threads", "cuda"))


@cache
def sorted_body(real, block: int, pair: Pair):
    """A thread's particle: collect its neighbours, and compute the forces.

    The same body again for the same choices, so that a GPU compiles it once in a process.
    """
    separation, force, upper = pair.separation, make_force(real, pair), cell_bits(real)
    zero, half, one = float64(0), float64(0.5), real(1)

    @device_function
    def forces(x, n, t, particles, starts, sums, source, p, cells):
        r, _, u, ids, count, moving = particles
        f, key = sums.f, (source.seed, source.clock[0])
        for i in range(x, x + n):
            lane, number = uint32(i % block), ids[i]
            xi, yi, zi = r[i], r[count + i], r[2 * count + i]
            velocity = u[i], u[count + i], u[2 * count + i]
            cx, cy = cell_along(upper(xi), cells[0]), cell_along(upper(yi), cells[1])
            cz = cell_along(upper(zi), cells[2])
            pieces = 18 if cx == 0 or cx == cells[0] - 1 else 9
            piece = pieces if number >= moving else 0
            fx, fy, fz, share = zero, zero, zero, zero
            j, end = uint32(0), uint32(0)
            while j < end or piece < pieces:
                found = uint32(0)
                # row by row, so that the threads of a warp look for the next one together
                while found < LIST:
                    while j < end and found < LIST:
                        # a place is taken, and kept if it is a neighbour's: no branch
                        t[found, lane] = j
                        near = separation(xi, yi, zi, j, particles, p)[3] < one and j != i
                        found, j = uint32(found + uint32(near)), uint32(j + 1)
                    if j < end or piece == pieces:
                        break
                    j, end = row_around(piece, cx, cy, cz, starts, cells)
                    piece += 1
                for k in range(found):
                    m = uint32(t[uint32(k), lane])
                    distance = separation(xi, yi, zi, m, particles, p)
                    (gx, gy, gz, more), _ = force(distance, number, velocity, m, particles, key, p, (0, 0))
                    fx, fy, fz, share = fx + gx, fy + gy, fz + gz, share + more
            f[i], f[count + i], f[2 * count + i], sums.virial[i] = fx, fy, fz, half * share

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    state, device = setup.state, setup.device
    ordered = SortedParticles(device, state, setup.cells, setup.real)
    particles = state.particles._replace(r=ordered.r, v=ordered.v, u=ordered.u, ids=ordered.ids)
    options = {"shared_rows": LIST, "block": setup.block, "registers": setup.registers, "strict": True}
    body = sorted_body(setup.real, setup.block, setup.pair)
    arguments = particles, ordered.starts, state.sums, setup.noise_state, setup.numbers, setup.cells.shape
    run = launch_of(device, body, state.count, *arguments, dtype=np.int32, **options)
    return Forces(ordered.update() | {"forces": run, "hand back": ordered.hand_back()})
