"""One array, one kernel: each node reads and writes the same places, its own and those of the nodes ahead.

Lehmann, Computation 10 (2022) 92. The two populations that cross between a node and the one behind it, (k, k + 1) with
k odd, have their places at that node; even steps leave them in the other order than odd ones. So codes of today stream
in place, without a second array and without a pass of its own.
"""

from functools import cache

from repro.parallel import Kernel, inline

from ..equilibrium import scratch_rows
from ..layout import layout_of, unsigned
from ..neighbours import offset_of, sides
from ..node import macroscopic_kernel, relax_of
from .scheme import Scheme, Traffic
from .swap.rule import require_box

TRAFFIC = Traffic(arrays=1, reads=1, writes=1)


@cache
def _places_of(lattice, layout, odd_step: bool):
    """Returns (load, store), which know where the populations of a run of nodes are before and after a step."""
    (at, stride), offset, q = layout_of(lattice, layout), offset_of(lattice), lattice.q

    @inline
    def base_of(k, x, y, z, grid):
        nx, ny, nz = grid
        size, here = nx * ny * nz, x + nx * (y + ny * z)
        xs, ys, zs = sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)
        ahead = here + offset(k, 1, xs, ys, zs)
        return at(k + 1 if odd_step else k, here, size), at(k if odd_step else k + 1, ahead, size)

    @inline
    def load(s, n, x, y, z, grid, f, wall):
        nx, ny, nz = grid
        rest = at(0, x + nx * (y + ny * z), nx * ny * nz)
        for lane in range(n):
            s[0, lane] = f[unsigned(rest + stride * lane)]
        for k in range(1, q, 2):
            own, ahead = base_of(k, x, y, z, grid)
            for lane in range(n):
                s[k, lane] = f[unsigned(own + stride * lane)]
                s[k + 1, lane] = f[unsigned(ahead + stride * lane)]

    @inline
    def store(s, n, x, y, z, grid, f):
        nx, ny, nz = grid
        rest = at(0, x + nx * (y + ny * z), nx * ny * nz)
        for lane in range(n):
            f[unsigned(rest + stride * lane)] = s[0, lane]
        for k in range(1, q, 2):
            own, ahead = base_of(k, x, y, z, grid)
            for lane in range(n):
                f[unsigned(own + stride * lane)] = s[k + 1, lane]
                f[unsigned(ahead + stride * lane)] = s[k, lane]

    return load, store


@cache
def _update_kernel(model, dtype, layout, block, odd_step: bool) -> Kernel:
    (load, store), relax = _places_of(model.lattice, layout, odd_step), relax_of(model, dtype)

    @inline
    def update(x, n, y, z, s, f, grid, rates, force, wall):
        load(s, n, x, y, z, grid, f, wall)
        relax(s, n, x, y, z, grid, rates, force, wall)
        store(s, n, x, y, z, grid, f)

    return Kernel(update, ndim=3, rows=scratch_rows(model.lattice), dtype=dtype, edges=True, block=block)


def _arrange(problem, f, layout, xp) -> None:
    """Move populations from their own nodes to where the first step looks for them."""
    lattice = problem.model.lattice
    rows = f.reshape(lattice.q, -1) if layout == "soa" else f.reshape(-1, lattice.q).T
    for k in range(1, lattice.q, 2):
        cx, cy, cz = lattice.velocities[k]
        rows[k + 1] = xp.roll(rows[k + 1].reshape(problem.shape[::-1]), (cz, cy, cx), (0, 1, 2)).ravel()


def build(problem, device, dtype, layout, block) -> Scheme:
    """Bind the strategy to one array on the device; faces "standard" or "periodic"."""
    require_box(problem, closed=False)
    model, shape = problem.model, problem.shape
    f = device.zeros(model.lattice.q * problem.nodes, dtype)
    updates = [device.compile(_update_kernel(model, dtype, layout, block, odd)) for odd in (False, True)]

    def macroscopic(fields):
        loads = [_places_of(model.lattice, layout, odd)[0] for odd in (False, True)]
        kernels = [macroscopic_kernel(model, dtype, layout, collided=False, load=load) for load in loads]
        grid, _, force, wall = problem.parameters(dtype)
        return [device.compile(kernel)(shape, f, fields, grid, force, wall) for kernel in kernels]

    return Scheme(
        start=lambda: _arrange(problem, f, layout, device.xp),
        steps=tuple(update(shape, f, *problem.parameters(dtype)) for update in updates),
        states=(f, f),
        collided=False,
        macroscopic=macroscopic,
    )
