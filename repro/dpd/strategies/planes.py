"""Half the stencil over sorted particles, plane after plane: the fast way on a CPU. Not in the paper.

A particle meets the rest of its cell and the next one along x, which follow it in the order, and four runs of three
cells. The reactions of a plane of cells fall into it and the plane above, so that planes two apart can run at once
without atomic additions: first the even ones, then the odd ones, and the last one alone where their number is odd.
"""

from numpy import float64, uint32

from repro.parallel import InputError, Kernel, inline

from ..cells import wrapped
from ..pair import separation
from ..random import thread_words
from ..sorting import SortedParticles
from .runs import hand_back
from .setup import Forces, Setup, double_sums, interacting


@inline
def _later_run(piece, i, cx, cy, cz, starts, cells):
    """A run of sorted particles that particle i meets, as its first and its end.

    Piece 0 is the rest of the own cell and the next one, 1 to 4 are rows of three cells; 5 to 9 are what lies over
    the edge of x.
    """
    m, last = piece % 5, cells[0] - 1
    # rows (y, z): own, (1, 0), (-1, 1), (0, 1), (1, 1)
    cy = wrapped(cy + (1 if m == 1 else (m - 3 if m > 1 else 0)), cells[1])
    cz = wrapped(cz + (1 if m > 1 else 0), cells[2])
    base = (cz * cells[1] + cy) * cells[0]
    if piece < 5:
        return i + 1 if m == 0 else starts[base + max(cx - 1, 0)], starts[base + min(cx + 1, last) + 1]
    if m == 0 and cx == 0:
        return 0, 0
    over = 0 if cx == last else last
    return starts[base + over], starts[base + over + 1]


def planes_body(setup: Setup):
    """An item is a plane of cells across z: plane number `low` + 2 times the item."""
    real = setup.real
    apart, interact, zero, one = separation(real), interacting(real, setup.noise), float64(0), real(1)

    @inline
    def forces(x, n, r, u, ids, starts, f, virial, clock, low, count, fluid, seed, p, cells):
        step = clock[0]
        for plane in range(low + 2 * x, low + 2 * (x + n), 2):
            for c in range(plane * cells[0] * cells[1], (plane + 1) * cells[0] * cells[1]):
                cx, cy = c % cells[0], c // cells[0] % cells[1]
                pieces = 10 if cx == 0 or cx == cells[0] - 1 else 5
                for i in range(starts[c], starts[c + 1]):
                    a, b = thread_words(i, seed, step)
                    number, xi, yi, zi = ids[i], r[i], r[count + i], r[2 * count + i]
                    ui, vi, wi = u[i], u[count + i], u[2 * count + i]
                    fx, fy, fz, share = zero, zero, zero, zero
                    for piece in range(pieces):
                        start, end = _later_run(piece, i, cx, cy, plane, starts, cells)
                        for j in range(start, end):
                            dx, dy, dz, square = apart(xi, yi, zi, j, r, count, p)
                            if square < one and min(number, ids[j]) < fluid:
                                gx, gy, gz, more, a, b = interact(
                                    dx, dy, dz, square, number, ui, vi, wi, j, u, ids, count, seed, step, p, a, b
                                )
                                fx, fy, fz, share = fx + gx, fy + gy, fz + gz, share + more
                                f[uint32(j)] -= gx
                                f[uint32(count + j)] -= gy
                                f[uint32(2 * count + j)] -= gz
                    f[i] += fx
                    f[count + i] += fy
                    f[2 * count + i] += fz
                    virial[i] += share

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays; raises InputError on a GPU."""
    state, device, cells = setup.state, setup.device, setup.cells
    if device.name == "cuda":
        raise InputError("'planes' gives a worker whole planes of cells, too few for a GPU: choose 'runs' there")
    lists = SortedParticles(device, state, cells, setup.real)
    sums, clear, round_off = double_sums(setup)
    bind = device.compile(Kernel(planes_body(setup), dtype=setup.real, strict=True))
    planes = cells.shape[2]
    launches = {}
    # (first plane, how many): even, odd, and the last one where the first and the last would meet
    for low, items in ((0, planes // 2), (1, planes // 2), (planes - 1, planes % 2)):
        if items:
            launches[f"forces {len(launches)}"] = bind(
                (items,),
                *(lists.r, lists.u, lists.ids, lists.starts, *sums, state.clock, low),
                *(state.count, state.fluid, setup.seed, setup.numbers, cells.shape),
            )
    after = {"round off": round_off, "hand back": hand_back(setup, lists)}
    return Forces(lists.update() | {"clear": clear} | launches | after)
