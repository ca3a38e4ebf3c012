"""One-dimensional blocks that stream along x through shared memory, and the `LBExchange` kernel.

Porous paper, section 4.1(3) and figures 4.1 and 4.2, after Toelke: every access to global memory is aligned. A
population that moves along x goes to its neighbour's place in shared memory; one that leaves the block takes the free
place at the block's other end. The second kernel moves those to the block where they belong, or back from a wall. With
one block a row and a periodic x axis they are already where they belong, and the second kernel is not needed.
"""

from functools import cache

from repro.errors import InputError
from repro.parallel import Kernel, inline

from ..boundaries import extrapolation_of
from ..equilibrium import scratch_rows
from ..layout import layout_of, unsigned
from ..neighbours import offset_of, sides
from ..node import relax_of
from ..streaming import beyond_of, drag_of, faces_of, own_of
from .scheme import Scheme, Traffic, in_order, nothing, two_arrays

TRAFFIC = Traffic(arrays=2, reads=1, writes=1)


def _check(problem, block):
    walls = set(problem.model.boundaries.faces[:2])
    if not walls <= {"periodic", "half-way"}:
        raise InputError(f"the shared-memory strategy takes periodic or half-way walls along x, not {sorted(walls)}")
    if problem.model.boundaries.moving in (0, 1):
        raise InputError("the shared-memory strategy takes no moving wall along x: let one along y or z move")
    if problem.shape[0] % block:
        raise InputError(
            f"the shared-memory strategy takes rows of whole blocks: {problem.shape[0]} nodes are no multiple of the "
            f"block size {block}"
        )


@cache
def _block_kernel(model, dtype, layout, block, barrier) -> Kernel:
    """Collide, stream along x in shared memory, and store with the shift along y and z."""
    lattice, boundaries = model.lattice, model.boundaries
    q, opposite, cx = lattice.q, lattice.opposite, lattice.components[0]
    at, stride = layout_of(lattice, layout)
    own, relax = own_of(lattice, boundaries, layout, dtype), relax_of(model, dtype)
    inner, _ = extrapolation_of(lattice, boundaries, dtype, 0.0)
    edges_of, beyond = beyond_of(lattice, (False, False, *faces_of(boundaries)[0][2:]))
    offset, drag = offset_of(lattice), drag_of(lattice, boundaries, dtype, 1)

    @inline
    def update(x, n, y, z, s, t, f, g, grid, rates, force, wall):
        nx, ny, nz = grid
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        place = x % block
        xi, yi, zi = inner(x, y, z, grid)
        own(s, n, xi, yi, zi, grid, f, wall)
        relax(s, n, x, y, z, grid, rates, force, wall)
        for i in range(q):
            for lane in range(n):
                t[i, (place + lane + cx[i]) % block] = s[i, lane]
        drag(s, n, x, y, z, grid, wall)
        barrier()
        edges = edges_of(x, y, z, grid)
        ys, zs = sides(y, ny, nx), sides(z, nz, nx * ny)
        for i in range(q):
            if not beyond(i, 1, edges):
                base = at(i, here + offset(i, 1, (0, 0), ys, zs), size)
                for lane in range(n):
                    g[unsigned(base + stride * lane)] = t[i, place + lane]
            else:
                base = at(opposite[i], here, size)
                for lane in range(n):
                    g[unsigned(base + stride * lane)] = s[i, lane]

    return Kernel(update, ndim=3, rows=scratch_rows(lattice), dtype=dtype, shared_rows=q, block=block)


@cache
def _exchange_kernel(model, layout, block) -> Kernel:
    """LBExchange: a thread moves one pair of opposite populations along one row of blocks."""
    lattice, faces = model.lattice, model.boundaries.faces
    at, _ = layout_of(lattice, layout)
    opposite, (cx, cy, cz) = lattice.opposite, lattice.components
    rightward = tuple(i for i in range(lattice.q) if cx[i] == 1)
    periodic_x, periodic_y, periodic_z = (faces[k] == "periodic" for k in (0, 2, 4))

    @inline
    def exchange(row, n, z, pair, g, grid):
        nx, ny, nz = grid
        i = rightward[pair]
        o = opposite[i]
        size, last = nx * ny * nz, nx // block - 1
        for y in range(row, row + n):
            # the row from which direction i came here is the row to which its opposite went
            yo, zo = y - cy[i], z - cz[i]
            yo = (yo + ny) % ny if periodic_y else yo
            zo = (zo + nz) % nz if periodic_z else zo
            if 0 <= yo < ny and 0 <= zo < nz:
                first = nx * (y + ny * z)
                end = nx * (yo + ny * zo) + block - 1
                to_right = g[at(i, first + last * block, size)]
                to_left = g[at(o, end, size)]
                for k in range(last):
                    here = first + (last - k) * block
                    g[at(i, here, size)] = g[at(i, here - block, size)]
                    g[at(o, end + k * block, size)] = g[at(o, end + (k + 1) * block, size)]
                g[at(i, first, size)] = to_right if periodic_x else to_left
                g[at(o, end + last * block, size)] = to_left if periodic_x else to_right

    return Kernel(exchange, ndim=3, block=64)


def build(problem, device, dtype, layout, block) -> Scheme:
    """Bind the strategy to two arrays on the device; raises InputError for walls along x that it cannot do."""
    _check(problem, block)
    a, b = two_arrays(problem, device, dtype)
    model, (nx, ny, nz) = problem.model, problem.shape
    update = device.compile(_block_kernel(model, dtype, layout, block, device.barrier))
    exchange = device.compile(_exchange_kernel(model, layout, block))
    pairs = sum(component == 1 for component in model.lattice.components[0])
    whole_row = nx == block and model.boundaries.faces[0] == "periodic"

    def step(f, g):
        parameters = problem.parameters(dtype)
        blocks = update(problem.shape, f, g, *parameters)
        return blocks if whole_row else in_order(blocks, exchange((ny, nz, pairs), g, parameters.grid))

    return Scheme(nothing, (step(a, b), step(b, a)), (a, b), collided=False)
