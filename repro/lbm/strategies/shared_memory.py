"""One-dimensional blocks that stream along x through shared memory, and the `LBExchange` kernel.

Porous paper, section 4.1(3) and figures 4.1 and 4.2, after Toelke: every access to global memory is aligned. A
population that moves along x goes to its neighbour's place in shared memory; one that leaves the block takes the free
place at the block's other end. The second kernel moves those to the block where they belong, or back from a wall. With
one block a row and a periodic x axis they are already where they belong, and the second kernel is not needed.
"""

from functools import cache

from repro.errors import InputError
from repro.parallel import Kernel, device_function

from ..boundaries import make_extrapolation
from ..collision import make_collision
from ..layout import make_layout, unsigned
from ..neighbours import index_of, make_offset, steps_of
from ..node import make_wall_rules
from ..streaming import closed_faces, make_face_mask, make_moving_wall_momentum
from .scheme import Cost, Scheme, in_order

COST = Cost(arrays=2)


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
def block_kernel(spec, barrier) -> Kernel:
    """Collide, stream along x in shared memory, and store with the shift along y and z."""
    lattice, boundaries, dtype, block = spec.lattice, spec.model.boundaries, spec.dtype, spec.block
    q, opposite, cx = lattice.q, lattice.opposite, lattice.components[0]
    at, stride = make_layout(lattice, spec.layout)
    load, (before, after) = spec.streaming.load, make_wall_rules(spec)
    collide = make_collision(lattice, dtype, spec.model.forcing, spec.model.collision)
    inner, _ = make_extrapolation(lattice, boundaries, dtype, 0.0)
    face_mask, crosses_face = make_face_mask(lattice, (False, False, *closed_faces(boundaries)[2:]))
    offset, moving_wall_momentum = make_offset(lattice), make_moving_wall_momentum(lattice, boundaries, dtype, 1)

    @device_function
    def update(x, n, y, z, s, t, f, g, grid, rates, force, wall):
        here, size = index_of(x, y, z, grid)
        place = x % block
        xi, yi, zi = inner(x, y, z, grid)
        load(s, n, xi, yi, zi, grid, f, wall)
        if before(s, n, x, y, z, grid, force, wall):
            collide(s, n, rates, force)
            after(s, n, x, y, z, grid, force, wall)
        for i in range(q):
            for k in range(n):
                t[i, (place + k + cx[i]) % block] = s[i, k]
        moving_wall_momentum(s, n, x, y, z, grid, wall)
        barrier()
        mask = face_mask(x, y, z, grid)
        _, ys, zs = steps_of(x, y, z, grid)
        for i in range(q):
            if not crosses_face(i, 1, mask):
                base = at(i, here + offset(i, 1, ((0, 0), ys, zs)), size)
                for k in range(n):
                    g[unsigned(base + stride * k)] = t[i, place + k]
            else:
                base = at(opposite[i], here, size)
                for k in range(n):
                    g[unsigned(base + stride * k)] = s[i, k]

    return spec.kernel(update, edges=False, shared_rows=q)


@cache
def exchange_kernel(spec) -> Kernel:
    """LBExchange: a thread moves one pair of opposite populations along one row of blocks."""
    lattice, faces, block = spec.lattice, spec.model.boundaries.faces, spec.block
    at, _ = make_layout(lattice, spec.layout)
    opposite, (cx, cy, cz) = lattice.opposite, lattice.components
    rightward = tuple(i for i in range(lattice.q) if cx[i] == 1)
    periodic_x, periodic_y, periodic_z = (faces[low] == "periodic" for low in (0, 2, 4))

    @device_function
    def exchange(line, n, z, pair, g, grid):
        nx, ny, nz, size = grid
        i = rightward[pair]
        o = opposite[i]
        last = nx // block - 1
        for y in range(line, line + n):
            # the row from which direction i came here is the row to which its opposite went
            yo, zo = y - cy[i], z - cz[i]
            yo = (yo + ny) % ny if periodic_y else yo
            zo = (zo + nz) % nz if periodic_z else zo
            if 0 <= yo < ny and 0 <= zo < nz:
                first = nx * (y + ny * z)
                end = nx * (yo + ny * zo) + block - 1
                to_right = g[at(i, first + last * block, size)]
                to_left = g[at(o, end, size)]
                for step in range(last):
                    here = first + (last - step) * block
                    g[at(i, here, size)] = g[at(i, here - block, size)]
                    g[at(o, end + step * block, size)] = g[at(o, end + (step + 1) * block, size)]
                g[at(i, first, size)] = to_right if periodic_x else to_left
                g[at(o, end + last * block, size)] = to_left if periodic_x else to_right

    return Kernel(exchange, ndim=3, block=64)


def build(box) -> Scheme:
    """Bind the strategy to two arrays on the device; raises InputError for walls along x that it cannot do."""
    spec, (nx, ny, nz) = box.spec, box.shape
    _check(box.problem, spec.block)
    a, b = box.arrays(2)
    update = box.compile(block_kernel(spec, box.device.barrier))
    exchange = box.device.compile(exchange_kernel(spec))
    pairs = sum(component == 1 for component in spec.lattice.components[0])
    whole_row = nx == spec.block and box.model.boundaries.faces[0] == "periodic"

    def step(f, g):
        blocks = update(f, g, *box.parameters)
        return blocks if whole_row else in_order(blocks, exchange((ny, nz, pairs), g, box.parameters.grid))

    return Scheme((step(a, b), step(b, a)), (a, b), collided=False)
