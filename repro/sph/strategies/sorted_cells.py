"""The fast search: the fluid is kept in the order of its cells, so that three cells in a row along x are one run.

The 27 cells are nine runs of fluid and nine of ghosts. Nothing lies over the periodic edge of x, where a cell stays
empty. Not in the paper.

On a CPU, the neighbours among 32 particles are found first, without a branch, as the bits of a word, and then visited:
six of seven in a run are no neighbours, and a branch on each would be mispredicted. A step's second sum reads the words
that its first one has written down. On a GPU the words of a particle are a list of their own, see `neighbour_list`.
"""

from functools import cache, partial

from numpy import uint32

from repro.parallel import device_function
from repro.particles.candidates import WORD, lowest
from repro.particles.cell_permutation import CellPermutation
from repro.particles.sorted_cells import row_ahead, row_around

from ..pair import separation
from .neighbour_list import make_find
from .search import ROWS, Lists, Search, unchanged

#: words a row that are cached; the rest of a longer run is looked at twice
WORDS = 3

#: rows of half the stencil, without those over the edge of x
ROWS_AHEAD = 5


@cache
def _make_words(real):
    """Three ways to the word of n particles from `first` on: it is found, found and written down, or read there."""
    apart = separation(real)

    @device_function
    def find(target, place, number, first, n, species, p):
        word = uint32(0)
        for k in range(uint32(n)):
            _, square = apart(target.position, uint32(first + k), species, p)
            word |= uint32(square < p.reach) << uint32(k)
        return word

    @device_function
    def write(target, place, number, first, n, species, p):
        word = find(target, place, number, first, n, species, p)
        if number < WORDS:
            species.cached_neighbours[place] = word
        return word

    @device_function
    def read(target, place, number, first, n, species, p):
        if number < WORDS:
            return species.cached_neighbours[place]
        return find(target, place, number, first, n, species, p)

    return find, write, read


@cache
def _walk_by_words(way: int, real, pair_term):
    word_of = _make_words(real)[way]

    @device_function
    def along(sums, target, cell, row, species, p, cells):
        start, end = row_around(row, cell[0], cell[1], cell[2], species.starts, cells)
        for first in range(start, end, WORD):
            number = (first - start) // WORD
            place = (row * WORDS + number) * cell[4] + cell[3]
            word = word_of(target, place, number, first, min(WORD, end - first), species, p)
            while word != uint32(0):
                k, word = lowest(word)
                sums = pair_term(sums, target, uint32(first + k), species, p)
        return sums

    return along


@cache
def _walk_on_gpu(real, pair_term):
    @device_function
    def along(sums, target, cell, row, species, p, cells):
        j, end = row_around(row, cell[0], cell[1], cell[2], species.starts, cells)
        while j < end:
            sums = pair_term(sums, target, j, species, p)
            j = uint32(j + uint32(1))
        return sums

    return along


@cache
def _ahead_by_branches(real, both):
    apart = separation(real)

    @device_function
    def walk(sums, table, target, cell, species, p, cells):
        for piece in range(ROWS_AHEAD):
            start, end = row_ahead(piece, cell[3], cell[0], cell[1], cell[2], species.starts, cells)
            for j in range(start, end):
                _, square = apart(target.position, uint32(j), species, p)
                if square < p.reach:
                    sums = both(sums, table, target, uint32(j), species, p)
        return sums

    return walk


@cache
def _ahead_by_words(real, both):
    find, *_ = _make_words(real)

    @device_function
    def walk(sums, table, target, cell, species, p, cells):
        for piece in range(ROWS_AHEAD):
            start, end = row_ahead(piece, cell[3], cell[0], cell[1], cell[2], species.starts, cells)
            for first in range(start, end, WORD):
                word = find(target, 0, 0, first, min(WORD, end - first), species, p)
                while word != uint32(0):
                    k, word = lowest(word)
                    sums = both(sums, table, target, uint32(first + k), species, p)
        return sums

    return walk


@device_function
def occupied(cell, species, cells):
    """Whether the 27 cells hold a particle: they are nine rows of the first-index array."""
    for row in range(ROWS):
        start, end = row_around(row, cell[0], cell[1], cell[2], species.starts, cells)
        if end > start:
            return True
    return False


def _lists(device, cells, state, real) -> Lists:
    """The order of the fluid's cells, into which all that a step needs is brought."""
    order = CellPermutation(device, cells, state.ids, real)
    return Lists(order.update(*state.carried), order.starts, order.order)


SEARCH = Search(
    _lists,
    unchanged,
    occupied,
    walk=partial(_walk_by_words, 0),
    walk_on_gpu=_walk_on_gpu,
    first_walk=partial(_walk_by_words, 1),
    second_walk=partial(_walk_by_words, 2),
    cached_words=WORDS * ROWS,
    find=make_find,
    shares=True,
)

#: on one core, each pair once: with a branch on each candidate, and with the neighbours found first
PAIRS_ONCE = SEARCH._replace(ahead=_ahead_by_branches)
PAIRS_ONCE_BY_WORDS = SEARCH._replace(ahead=_ahead_by_words)
