"""Half the stencil over sorted particles, plane after plane: the fast way on a CPU. Not in the paper.

A particle meets the rest of its cell and the next one along x, which follow it in the order, and four runs of three
cells. The reactions of a plane of cells fall into it and the plane above, so that planes two apart can run at once
without atomic additions: first the even ones, then the odd ones, and the last one alone where their number is odd.
"""

from functools import cache

from numpy import float64

from repro.parallel import device_function
from repro.particles.cell_permutation import SortedParticles
from repro.particles.launch import launch_of
from repro.particles.sorted_cells import row_ahead

from ..pair import Pair, add_to, make_force, take_from
from .setup import Forces, Setup, Traits
from .sums import double_sums

# a worker takes whole planes of cells, too few for a GPU
TRAITS = Traits(devices=("serial", "threads"), repeats=("serial", "threads"))


@cache
def planes_body(real, pair: Pair):
    """An item is a plane of cells across z: plane number `low` + 2 times the item."""
    separation, force, zero, one = pair.separation, make_force(real, pair), float64(0), real(1)

    @device_function
    def forces(x, n, particles, starts, sums, source, low, p, cells):
        r, _, u, ids, count, moving = particles
        key = (source.seed, source.clock[0])
        for plane in range(low + 2 * x, low + 2 * (x + n), 2):
            for c in range(plane * cells[0] * cells[1], (plane + 1) * cells[0] * cells[1]):
                cx, cy = c % cells[0], c // cells[0] % cells[1]
                pieces = 10 if cx == 0 or cx == cells[0] - 1 else 5
                for i in range(starts[c], starts[c + 1]):
                    number, xi, yi, zi = ids[i], r[i], r[count + i], r[2 * count + i]
                    velocity = u[i], u[count + i], u[2 * count + i]
                    fx, fy, fz, share = zero, zero, zero, zero
                    for piece in range(pieces):
                        start, end = row_ahead(piece, i, cx, cy, plane, starts, cells)
                        for j in range(start, end):
                            distance = separation(xi, yi, zi, j, particles, p)
                            if distance[3] < one and min(number, ids[j]) < moving:
                                (gx, gy, gz, more), _ = force(distance, number, velocity, j, particles, key, p, (0, 0))
                                fx, fy, fz, share = fx + gx, fy + gy, fz + gz, share + more
                                take_from(sums.f, j, count, gx, gy, gz)
                    add_to(sums, i, count, fx, fy, fz, share)

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    state, device, cells = setup.state, setup.device, setup.cells
    ordered = SortedParticles(device, state, cells, setup.real)
    particles = state.particles._replace(r=ordered.r, v=ordered.v, u=ordered.u, ids=ordered.ids)
    sums, clear, round_off = double_sums(setup)
    body, planes, launches = planes_body(setup.real, setup.pair), cells.shape[2], {}
    # (first plane, how many): even, odd, and the last one where the first and the last would meet
    for low, items in ((0, planes // 2), (1, planes // 2), (planes - 1, planes % 2)):
        if items:
            arguments = particles, ordered.starts, sums, setup.noise_state, low, setup.numbers, cells.shape
            launch = launch_of(device, body, items, *arguments, dtype=setup.real, strict=True)
            launches[f"forces {len(launches)}"] = launch
    after = {"round off": round_off, "hand back": ordered.hand_back()}
    return Forces(ordered.update() | {"clear": clear} | launches | after)
