"""One kernel a step: blocks of threads keep the potentials of a tile and of its rim in shared memory.

What the porous paper (section 6.1) rejects as repeated work, the densities of a node's neighbours, is done again only
on the rim. A block owns a tile of the xy plane and walks along z. It keeps the potentials of four planes: the one in
hand, those beside it, and the next, which some threads fill already while others still collide. So each population
comes from memory once a step; what a thread reads again it finds in the caches.
"""

from functools import cache

from repro.errors import InputError, require
from repro.parallel import Kernel, device_function
from repro.parallel.unroll import each, unrolled

from ...lattice import Lattice
from ...layout import unsigned
from ...neighbours import index_of
from ...strategies.scheme import Cost, Scheme
from ..collision import FORCES, ROWS, SUMS, make_collide_both, make_load_both, make_sums
from ..forces import STENCILS, links_of
from .dense import dense_scheme, finders

COST = Cost(arrays=4, reads=2, writes=2, mark=4, mark_open=False, kept=7)

#: nodes of a tile along x, as many as a warp has threads
WIDTH = 32

#: planes that a block walks through at most: it fills two more for their neighbours
DEPTH = 32

#: blocks that a small box is cut into at least for a GPU, two a multiprocessor, where it has so many tiles and planes
BLOCKS = 256

_PLANES = 4


def repeats(block: int, depth: int = DEPTH) -> float:
    """How often the densities of a node are computed for the forces, rims included, in a box that the tiles fill."""
    high = block // WIDTH
    return (WIDTH + 2) * (high + 2) / (WIDTH * high) * (depth + 2) / depth


def walk_depth(planes: int, tiles: int) -> int:
    """Planes that a block walks through on a GPU, in a box of so many planes and tiles a plane: DEPTH or a part of it.

    Planes follow one another, at some three microseconds each, and few blocks leave most of a GPU idle meanwhile.
    """
    depth = DEPTH
    while depth > 1 and tiles * -(-planes // depth) < BLOCKS:
        depth //= 2
    return depth


@device_function
def _wrapped(position, count):
    position += count if position < 0 else 0
    return position - count if position >= count else position


@cache
def _make_fill(lattice: Lattice, dtype, some_solid: bool, block: int):
    """Potentials in shared memory, fill(s, t, place, left, low, z, plane, marks, f_a, f_b, grid, coupling).

    A thread computes its share of the potentials of a tile with its rim, whose first node is (left - 1, low - 1).
    """
    (read, in_solid), sums, one = finders(lattice, some_solid), make_sums(lattice, dtype), dtype(1)
    wide, nodes = WIDTH + 2, (WIDTH + 2) * (block // WIDTH + 2)

    @device_function
    def store(s, t, row, plane, k, density, wall, solid, coupling):
        index = ((row * _PLANES) + plane) * nodes + k
        t[unsigned(index // block), unsigned(index % block)] = wall if solid else coupling.g * (one + s[density, 0])

    @device_function
    def fill(s, t, place, left, low, z, plane, marks, f_a, f_b, grid, coupling):
        for k in range(place, nodes, block):
            x, y = left + k % wide - 1, low + k // wide - 1
            # a tile may stick out of the box; nothing asks for what lies beyond the neighbours of its nodes
            if x <= grid.nx and y <= grid.ny:
                x, y = _wrapped(x, grid.nx), _wrapped(y, grid.ny)
                solid = in_solid(marks, index_of(x, y, z, grid)[0])
                if not solid:
                    read(s, 1, (x, y, z, grid), marks, f_a)
                    sums(s, 1, SUMS[0])
                    read(s, 1, (x, y, z, grid), marks, f_b)
                    sums(s, 1, SUMS[1])
                store(s, t, 0, plane, k, SUMS[0], coupling.wall_b, solid, coupling)
                store(s, t, 1, plane, k, SUMS[1], coupling.wall_a, solid, coupling)

    return fill


@cache
def _make_gradient(lattice: Lattice, stencil: str, dtype, block: int):
    """Six times grad phi, gradient(s, t, row, which, k, plane), of potential `which`, 0 for that of a; see `forces`."""
    wide, nodes, zero = WIDTH + 2, (WIDTH + 2) * (block // WIDTH + 2), dtype(0)
    links = tuple(
        (e[0] + wide * e[1], e[2], *(dtype(weight * c) for c in e)) for e, weight in links_of(stencil, lattice)
    )

    @unrolled
    def gradient(s, t, row, which, k, plane):
        for axis in range(3):
            s[row + axis, 0] = zero
        for across, ez, wx, wy, wz in each(links):
            ahead = (which * _PLANES + (plane + ez + _PLANES) % _PLANES) * nodes + k + across
            behind = (which * _PLANES + (plane - ez + _PLANES) % _PLANES) * nodes + k - across
            difference = t[unsigned(ahead // block), unsigned(ahead % block)]
            difference -= t[unsigned(behind // block), unsigned(behind % block)]
            s[row, 0] += wx * difference
            s[row + 1, 0] += wy * difference
            s[row + 2, 0] += wz * difference

    return gradient


@cache
def _kernel(
    lattice: Lattice, dtype, collision: str, stencil: str, some_solid: bool, block: int, depth: int, barrier
) -> Kernel:
    """The kernel (marks, f_a, f_b, g_a, g_b, grid, a, b, coupling) over threads of tiles and walks along z."""
    read, in_solid = finders(lattice, some_solid)
    fill, gradient = _make_fill(lattice, dtype, some_solid, block), _make_gradient(lattice, stencil, dtype, block)
    load_both = make_load_both(lattice, dtype, read)
    collide_both = make_collide_both(lattice, dtype, collision, in_solid)
    wide, high, nodes = WIDTH + 2, block // WIDTH, (WIDTH + 2) * (block // WIDTH + 2)

    @device_function
    def load(s, t, place, x, y, z, marks, f_a, f_b, grid):
        k, plane = place % WIDTH + 1 + wide * (place // WIDTH + 1), (z + 1) % _PLANES
        load_both(s, 1, (x, y, z, grid), marks, f_a, f_b)
        gradient(s, t, FORCES[0], 1, k, plane)
        gradient(s, t, FORCES[1], 0, k, plane)

    @device_function
    def update(x, n, _, walk, s, t, marks, f_a, f_b, g_a, g_b, grid, a, b, coupling):
        tile, first = x // block, walk * depth
        tiles = (grid.nx + WIDTH - 1) // WIDTH
        left, low = (tile % tiles) * WIDTH, (tile // tiles) * high
        for z in range(first - 1, min(first + depth, grid.nz) + 1):
            plane = (z + 1) % _PLANES
            for k in range(n):
                place = (x + k) % block
                fill(s, t, place, left, low, _wrapped(z, grid.nz), plane, marks, f_a, f_b, grid, coupling)
            barrier()
            if z > first:
                for k in range(n):
                    place = (x + k) % block
                    own_x, own_y = left + place % WIDTH, low + place // WIDTH
                    here, size = index_of(own_x, own_y, z - 1, grid)
                    if own_x < grid.nx and own_y < grid.ny and not in_solid(marks, here):
                        load(s, t, place, own_x, own_y, z - 1, marks, f_a, f_b, grid)
                        collide_both(s, 1, here, size, marks, g_a, g_b, a, b)

    shared = -(-2 * _PLANES * nodes // block)
    # with fewer threads a multiprocessor has too little under way: 5900 instead of 5500 million nodes/s on an H200
    options = {"rows": ROWS, "dtype": dtype, "shared_rows": shared, "block": block, "registers": 128}
    return Kernel(update, ndim=3, **options)


def _check(problem, block):
    if max(STENCILS[problem.stencil]) > 2:
        raise InputError(
            f"stencil '{problem.stencil}' reaches beyond the rim that 'tiled' keeps: choose 'central' or "
            "'isotropic-4', or the strategy 'dense'"
        )
    require(block % WIDTH == 0, f"block = {block}: 'tiled' takes multiples of {WIDTH}")


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to two arrays a fluid on the device."""
    _check(problem, block)
    some_solid, (grid, a, b, coupling) = bool(problem.stored.solid.any()), problem.parameters(dtype)
    fixed = problem.lattice, dtype, problem.collision, problem.stencil, some_solid
    tiles = -(-grid.nx // WIDTH) * -(-grid.ny // (block // WIDTH))
    # a core has no idle neighbours: it computes rims as seldom as it can
    depth = walk_depth(grid.nz, tiles) if device.name == "cuda" else DEPTH
    update = device.compile(_kernel(*fixed, block, depth, device.barrier))
    extent = (tiles * block, 1, -(-grid.nz // depth))

    def updates(marks, now, then):
        return update(extent, marks, *now, *then, grid, a, b, coupling)

    return dense_scheme(problem, device, dtype, block, updates=updates)
