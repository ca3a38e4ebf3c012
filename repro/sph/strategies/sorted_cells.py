"""The fast search: the fluid is kept in the order of its cells, so that three cells in a row along x are one run.

The 27 cells are nine runs of fluid and nine of ghosts. Nothing lies over the periodic edge of x, where a cell stays
empty. Not in the paper.

On a CPU, the neighbours among 32 particles are found first, without a branch, as the bits of a word, and then visited:
six of seven in a run are no neighbours, and a branch on each would be mispredicted. A step's second sum reads the words
that its first one has written down. On a GPU some thread of a warp visits nearly every particle, so that to find the
neighbours first costs more.
"""

from functools import partial

from numpy import uint32

from repro.parallel import device_function, ones
from repro.particles.cell_permutation import CellPermutation
from repro.particles.sorted_cells import row_ahead, row_around

from ..equations import device_factory
from ..pair import separation
from .search import ROWS, Lists, Search, unchanged

#: particles of a word, and words a row that are cached; the rest of a longer run is looked at twice
WORD, WORDS = 32, 3

#: rows of half the stencil, without those over the edge of x
ROWS_AHEAD = 5


@device_function
def _around(row, cell, starts, cells):
    return row_around(row, cell[0], cell[1], cell[2], starts, cells)


@device_function
def _ahead(row, cell, starts, cells):
    return row_ahead(row, cell[3], cell[0], cell[1], cell[2], starts, cells)


@device_factory
def _walk_by_words(row_of, way: str, real, pair_term):
    """By the words of up to 32 particles; one is found, found and written down ("write"), or read there ("read")."""
    apart, reads, writes = separation(real), way == "read", way == "write"

    def along(sums, target, cell, row, species, p, cells):
        start, end = row_of(row, cell, species.starts, cells)
        for first in range(start, end, WORD):
            number, word = (first - start) // WORD, uint32(0)
            place = (row * WORDS + number) * cell[4] + cell[3]
            if reads and number < WORDS:
                word = uint32(species.cached_neighbours[place])
            else:
                for k in range(uint32(min(WORD, end - first))):
                    _, square = apart(target.position, uint32(first + k), species, p)
                    word |= uint32(square < p.reach) << uint32(k)
            if writes and number < WORDS:
                species.cached_neighbours[place] = word
            while word != uint32(0):
                # the number of its lowest bit
                k = ones(uint32(~word & uint32(word - uint32(1))))
                sums = pair_term(sums, target, uint32(first + k), species, p)
                word = uint32(word & uint32(word - uint32(1)))
        return sums

    return along


@device_factory
def _walk_one_by_one(row_of, real, pair_term):
    def along(sums, target, cell, row, species, p, cells):
        start, end = row_of(row, cell, species.starts, cells)
        for j in range(start, end):
            sums = pair_term(sums, target, uint32(j), species, p)
        return sums

    return along


@device_function
def occupied(cell, species, cells):
    """Whether the 27 cells hold a particle: they are nine rows of the first-index array."""
    for row in range(ROWS):
        start, end = _around(row, cell, species.starts, cells)
        if end > start:
            return True
    return False


def _lists(device, cells, state, real) -> Lists:
    """The order of the fluid's cells, into which all that a step needs is brought."""
    order = CellPermutation(device, cells, state.ids, real)
    return Lists(order.update(state.r, state.v, state.u, state.s), order.starts, order.order)


SEARCH = Search(
    _lists,
    unchanged,
    occupied,
    walk=partial(_walk_by_words, _around, "find"),
    walk_on_gpu=partial(_walk_one_by_one, _around),
    first_walk=partial(_walk_by_words, _around, "write"),
    second_walk=partial(_walk_by_words, _around, "read"),
    cached_words=WORDS * ROWS,
    shares=True,
)

#: on one core, each pair once: with a branch on each candidate, and with the neighbours found first
PAIRS_ONCE = SEARCH._replace(ahead=partial(_walk_one_by_one, _ahead), rows_ahead=ROWS_AHEAD)
PAIRS_ONCE_BY_WORDS = PAIRS_ONCE._replace(ahead=partial(_walk_by_words, _ahead, "find"))
