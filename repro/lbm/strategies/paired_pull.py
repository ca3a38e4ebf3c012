"""Two arrays, one kernel, two nodes a thread: `pull` of numbers that lie in pairs in a word.

A word holds a population of the nodes (x, y) and (x, y + ny/2), its lower and its upper half, so that a shift along any
axis is one of whole words: a thread reads 19 words and writes 19. Where the halves of the box meet, at y = 0 and
y = ny/2 - 1, a word that comes from there has its halves exchanged. Words have 32 bits for half precision, 76 bytes a
node and step, and 64 for single; the floor is the copy bandwidth over them.

A "standard" face needs nothing here: what a node in it receives from beyond goes back there and never reaches the
fluid. At a "half-way" face along x or z both numbers of a word turn round, along y one of them.
"""

from functools import cache

import numpy as np

from repro.errors import InputError, require
from repro.parallel import device_function
from repro.parallel.unroll import each, unrolled

from ..collision import make_collision
from ..layout import unsigned
from ..neighbours import index_of, make_offset, steps_of
from ..node import make_wall_rules
from ..streaming import make_face_mask, make_moving_wall_momentum
from ..words import make_words
from .scheme import Cost, Scheme

COST = Cost(arrays=2)


@device_function
def pairs_of(grid):
    """The grid of words."""
    nx, ny, nz, row = grid
    return nx, ny // 2, nz, row // 2


@cache
def make_load(q: int, half: bool):
    """The populations of a run of nodes, load(s, n, x, y, z, grid, f, wall)."""
    numbers = make_words(half).numbers

    @device_function
    def load(s, n, x, y, z, grid, f, wall):
        rows = grid[1] // 2
        here, size = index_of(x, y % rows, z, pairs_of(grid))
        for i in range(q):
            for k in range(n):
                lower, upper = numbers(f[unsigned(i * size + here + k)])
                s[i, k] = lower if y < rows else upper

    return load


@cache
def make_pull(spec):
    """What streams into both nodes of a word, pull(s, o, x, y, z, grid, f): s of the lower one, o of the upper."""
    lattice, opposite, cy = spec.lattice, spec.lattice.opposite, spec.lattice.components[1]
    x_low, x_high, y_low, y_high, z_low, z_high = spec.model.boundaries.has("half-way")
    face_mask, crosses_face = make_face_mask(lattice, (x_low, x_high, False, False, z_low, z_high))
    offset, (numbers, _, exchanged) = make_offset(lattice), make_words(spec.half)

    def make_take(i):
        up, down, back = cy[i] == 1, cy[i] == -1, opposite[i]

        @device_function
        def take(s, o, here, size, steps, mask, low, high, f):
            turned, own = crosses_face(i, -1, mask), back * size + here
            base = i * size + here + offset(i, -1, steps)
            word = f[unsigned(own if turned else base)]
            if ((up and low) or (down and high)) and not turned:
                word = exchanged(word)
            s[i, 0], o[i, 0] = numbers(word)
            if up and y_low and low:
                s[i, 0], _ = numbers(f[unsigned(own)])
            if down and y_high and high:
                _, o[i, 0] = numbers(f[unsigned(own)])

        return take

    takes = tuple(make_take(i) for i in range(lattice.q))

    @unrolled
    def pull(s, o, x, y, z, grid, f):
        mask, steps = face_mask(x, y, z, grid), steps_of(x, y, z, grid)
        here, size = index_of(x, y, z, grid)
        low, high = y == 0, y == grid[1] - 1
        for take in each(takes):
            take(s, o, here, size, steps, mask, low, high, f)

    return pull


@cache
def paired_kernel(spec, streams: bool):
    """The kernel (f, g, grid, rates, force, wall) over words: what streams in, or what is there, collides."""
    lattice, q = spec.lattice, spec.lattice.q
    collide = make_collision(lattice, spec.dtype, spec.model.forcing, spec.model.collision)
    arriving = make_moving_wall_momentum(lattice, spec.model.boundaries, spec.dtype, -1)
    (before, _), pull, (numbers, word_of, _) = make_wall_rules(spec), make_pull(spec), make_words(spec.half)

    @device_function
    def update(x, n, y, z, s, o, f, g, grid, rates, force, wall):
        pairs, other = pairs_of(grid), y + grid[1] // 2
        for k in range(x, x + n):
            here, size = index_of(k, y, z, pairs)
            if streams:
                pull(s, o, k, y, z, pairs, f)
                arriving(s, 1, k, y, z, grid, wall)
                arriving(o, 1, k, other, z, grid, wall)
            else:
                for i in range(q):
                    s[i, 0], o[i, 0] = numbers(f[unsigned(i * size + here)])
            if before(s, 1, k, y, z, grid, force, wall):
                collide(s, 1, rates, force)
            if before(o, 1, k, other, z, grid, force, wall):
                collide(o, 1, rates, force)
            for i in range(q):
                g[unsigned(i * size + here)] = word_of(s[i, 0], o[i, 0])

    # with more a block fewer stands on a multiprocessor
    limit = 80 if spec.half else None
    return spec.kernel(update, edges=False, other_rows=spec.rows, registers=limit)


def _check(box) -> None:
    faces, ny = set(box.model.boundaries.faces), box.shape[1]
    if box.spec.dtype != np.float32 or box.spec.layout != "soa" or box.spec.obstacles:
        raise InputError("'paired pull' takes precision 'half' or 'single', layout 'soa' and no obstacles")
    require(
        faces <= {"periodic", "half-way", "standard"}, "'paired pull' takes faces 'periodic', 'half-way' or 'standard'"
    )
    require(ny % 2 == 0 and ny >= 4, f"{ny} nodes along y: 'paired pull' takes an even number of at least 4")


def build(box) -> Scheme:
    """Bind the strategy to two arrays on the device."""
    _check(box)
    box.pair()
    (a, b), (nx, ny, nz) = box.arrays(2), box.shape
    collide, update = (box.compile(paired_kernel(box.spec, streams), (nx, ny // 2, nz)) for streams in (False, True))
    words = box.words(a), box.words(b)
    collide_both = collide(*words, *box.parameters)

    def start():
        collide_both()
        box.device.xp.copyto(a, b)

    steps = tuple(update(f, g, *box.parameters) for f, g in (words, words[::-1]))
    return Scheme(steps, (a, b), start=start, loads=(make_load(box.model.lattice.q, box.spec.half),) * 2)
