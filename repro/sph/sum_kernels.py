"""Kernels for a sum over neighbours (`NeighbourSum`): one item a particle, one a particle and row of cells, or a ghost.

Few particles leave most of a GPU idle, and each waits for its own memory: with an item a row, nine threads share a
particle's sum, and a second kernel adds up what they found. What does not depend on such a sum is found at the same
time, by further threads of its kernel. Many particles have a list of their neighbours, where the search makes one.
All give the same bits.
"""

from collections.abc import Callable
from functools import cache

from numpy import float64, uint32

from repro.parallel import device_function
from repro.parallel.unroll import each, unrolled
from repro.particles.cells import cell_number

from .equations import make_xsph_mean, pressure_term
from .neighbour_sums import PARTICLE_TYPES, NeighbourSum
from .pair import AIR, UNUSED, Position, make_extrapolation_pair, vector_of
from .strategies.neighbour_list import MOST_LISTED, make_neighbour_list
from .strategies.search import ROWS, make_locate, make_sum_around

#: particles below which nine threads share a particle on a GPU
FEW = 60_000


def shared(device, count: int, few: int) -> bool:
    """Whether so many particles are too few to keep the device busy with an item a particle."""
    return device.name == "cuda" and count < few


def listed(device, search, count: int, few: int) -> bool:
    """Whether so many particles have a list of their neighbours: the search makes one, and its places suffice."""
    return device.name == "cuda" and bool(search.find) and few <= count <= MOST_LISTED


@cache
def make_accumulate(real, kernel, walk, equation: str, types: tuple[str, ...], met: tuple[str, ...]):
    """What neighbours of the types `met` in a row of cells add: accumulate(sums, target, cell, row, species, p, cells).

    species[k] is of types[k], `equation` a field of `PairTerms`.
    """
    walks = tuple((k, walk(real, term)) for k, term in _pair_terms(real, kernel, equation, types, met))

    @unrolled
    def accumulate(sums, target, cell, row, species, p, cells):
        for k, along in each(walks):
            sums = along(sums, target, cell, row, species[k], p, cells)
        return sums

    return accumulate


def _pair_terms(real, kernel, equation: str, types, met) -> tuple[tuple[int, Callable], ...]:
    """The numbers of the types `met` that add to an equation, with their pair terms."""
    makers = [getattr(PARTICLE_TYPES[name], equation) for name in types]
    present = (k for k, name in enumerate(types) if makers[k] and name in met)
    return tuple((k, makers[k](real, kernel)) for k in present)


def _tuple(arguments: str, item: str, size: int):
    """A function that returns the tuple of so many items, each numbered; numba builds no tuple in a loop."""
    return device_function(eval(f"lambda {arguments}: ({''.join(f'{item}, '.format(k) for k in range(size))})"))


@cache
def _tuples(size: int):
    """Tuples of so many numbers: zeros, plus(a, b), and those that stand in a table `stride` apart."""
    plus = _tuple("a, b", "a[{0}] + b[{0}]", size)
    return (float64(0),) * size, plus, _tuple("table, place, stride", "table[place + {0} * stride]", size)


@cache
def make_particle_sums(terms: NeighbourSum, accumulate):
    """The kernel with one item a particle, which goes through all rows."""
    load, store, (zeros, plus, _) = terms.load, terms.store, _tuples(terms.size)

    @device_function
    def particle_sums(x, n, result, faces, p, cells, fluid, *others):
        for i in range(x, x + n):
            target, cell = load(i, faces, p, cells, fluid)
            sums = zeros
            for row in range(ROWS):
                sums = plus(sums, accumulate(zeros, target, cell, row, (fluid, *others), p, cells))
            store(i, sums, result, faces, p, fluid)

    return particle_sums


@cache
def make_listed_sums(real, kernel, search, terms: NeighbourSum, types: tuple[str, ...], writes: bool):
    """The kernel of a GPU with one item a particle, which visits a list of neighbours and, if it `writes`, makes it."""
    load, store, (zeros, plus, _) = terms.load, terms.store, _tuples(terms.size)
    accumulate = make_accumulate(real, kernel, search.walk_on_gpu, terms.equation, types, types)
    pair_terms = _pair_terms(real, kernel, terms.equation, types, types)
    write, visit = make_neighbour_list(search.find(real), pair_terms, zeros, plus, accumulate)

    @device_function
    def listed_sums(x, n, result, table, faces, p, cells, fluid, *others):
        for i in range(x, x + n):
            target, cell = load(i, faces, p, cells, fluid)
            if writes:
                write(target, cell, (fluid, *others), p, cells, table)
            store(i, visit(target, cell, (fluid, *others), p, cells, table), result, faces, p, fluid)

    return listed_sums


@cache
def make_row_sums(terms: NeighbourSum, accumulate):
    """The kernel with one item a particle and row, particles fastest; into ROWS * size numbers a particle."""
    load, size, (zeros, _, _) = terms.load, terms.size, _tuples(terms.size)

    @device_function
    def row_sums(x, n, table, faces, p, cells, fluid, *others):
        count = fluid.count
        for item in range(x, x + n):
            row, i = item // count, item % count
            target, cell = load(i, faces, p, cells, fluid)
            sums = accumulate(zeros, target, cell, row, (fluid, *others), p, cells)
            for k in range(size):
                table[(row * size + k) * count + i] = sums[k]

    return row_sums


@cache
def make_row_total(terms: NeighbourSum):
    """The kernel that adds up what `make_row_sums` has found, one item a particle."""
    store, size, (zeros, plus, read) = terms.store, terms.size, _tuples(terms.size)

    @device_function
    def row_total(x, n, result, table, faces, p, fluid):
        count = fluid.count
        for i in range(x, x + n):
            sums = zeros
            for row in range(ROWS):
                sums = plus(sums, read(table, row * size * count + i, count))
            store(i, sums, result, faces, p, fluid)

    return row_total


@cache
def make_pair_sums(real, kernel, terms: NeighbourSum, ahead, accumulate):
    """The kernel of one core that meets each pair of the fluid once, into size numbers a particle, zero before.

    `ahead` as of `Search`; `accumulate` are the sums over the other types.
    """
    load, size, (zeros, plus, read) = terms.load, terms.size, _tuples(terms.size)
    pair_term = getattr(PARTICLE_TYPES["fluid"], terms.equation)(real, kernel)
    others_of_pairs = ahead(real, _make_both_ways(terms, pair_term))

    @device_function
    def pair_sums(x, n, table, faces, p, cells, fluid, *others):
        for i in range(x, x + n):
            target, cell = load(i, faces, p, cells, fluid)
            # with itself
            sums = pair_term(zeros, target, uint32(i), fluid, p)
            sums = others_of_pairs(sums, table, target, cell, fluid, p, cells)
            for row in range(ROWS):
                sums = accumulate(sums, target, cell, row, (fluid, *others), p, cells)
            total = plus(read(table, i * size, 1), sums)
            for k in range(size):
                table[i * size + k] = total[k]

    return pair_sums


def _make_both_ways(terms: NeighbourSum, pair_term):
    """A pair's term for both: both(sums, table, target, j, species, p) adds to the sums and to those of j."""
    size, reaction, (zeros, plus, _) = terms.size, terms.reaction, _tuples(terms.size)

    @device_function
    def both(sums, table, target, j, species, p):
        added = pair_term(zeros, target, j, species, p)
        for k in range(size):
            if reaction[k] != 0:
                table[uint32(j * size + k)] += reaction[k] * added[k]
        return plus(sums, added)

    return both


@cache
def make_pair_total(terms: NeighbourSum):
    """The kernel that stores what `make_pair_sums` has found and empties its table, one item a particle."""
    store, size, (_, _, read) = terms.store, terms.size, _tuples(terms.size)

    @device_function
    def pair_total(x, n, result, table, faces, p, fluid):
        for i in range(x, x + n):
            store(i, read(table, i * size, 1), result, faces, p, fluid)
            for k in range(size):
                table[i * size + k] = 0

    return pair_total


@cache
def make_side_by_side(first, second, taken: int):
    """Two bodies in one kernel: `count` items of the first one, which has so many arguments, and then the second's."""

    @device_function
    def both(x, n, count, *arguments):
        begin = max(x, count)
        if x < count:
            first(x, min(n, count - x), *arguments[:taken])
        if x + n > begin:
            second(begin - count, x + n - begin, *arguments[taken:])

    return both


@cache
def make_extrapolation(real, kernel, search, walk):
    """The kernel with one item a ghost, which takes over the velocity of fluid around it, and in walls its pressure.

    Ghosts lie in the order of their cells. Those of a cell without fluid around it, most of a tank's, are passed over,
    and on a CPU without a look at each.
    """
    total, locate = make_sum_around(real, make_extrapolation_pair(real, kernel), walk), make_locate(real)
    mean, zero, zeros = make_xsph_mean(real), real(0), (float64(0),) * 5
    occupied = search.occupied

    @device_function
    def extrapolate(x, n, fluid, ghosts, p, cells):
        u, count, last, near = ghosts.u, ghosts.count, -1, False
        for i in range(x, x + n):
            kind, position = ghosts.kind[i], vector_of(ghosts.r, i, count)
            cell = locate(position, i, count, cells)
            number = cell_number(cell, cells)
            if number != last:
                last, near = number, occupied(cell, fluid, cells)
            if near and kind != UNUSED:
                sums = total(zeros, Position(position), cell, fluid, p, cells)
                u[i] = zero if kind & 1 else mean(sums[1], sums[0])
                u[count + i] = zero if kind & 2 else mean(sums[2], sums[0])
                u[2 * count + i] = zero if kind & 4 else mean(sums[3], sums[0])
                ghosts.s[i] = zero if kind == AIR else mean(sums[4], sums[0])
                ghosts.term[i] = pressure_term(ghosts.s[i], p.stiffness)

    return extrapolate
