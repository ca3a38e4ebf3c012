"""The fast search: the fluid is kept in the order of its cells, so that three cells in a row along x are one run.

The 27 cells are nine runs of fluid and nine of ghosts. Nothing lies over the periodic edge of x, where a cell stays
empty. Not in the paper.
"""

from functools import cache

from numpy import uint32

from repro.parallel import inline, ones
from repro.particles.cell_permutation import CellPermutation
from repro.particles.sorted_cells import row_around

from ..pair import separation
from .lists import ROWS, Lists

#: threads share the sum of a particle where there are few
SHARES = True

#: bits of the word that says which particles are near, and words a row that are kept; a longer run is looked at twice
WORD, WORDS = 32, 3

#: words that are kept for a particle and a kind of neighbours
KEPT = WORDS * ROWS


@cache
def _look(real):
    """Returns near(me, first, n, species, p): bit k says whether particle `first` + k is near, of n."""
    apart = separation(real)

    @inline
    def near(me, first, n, species, p):
        word = uint32(0)
        for k in range(uint32(n)):
            _, square = apart(me, uint32(first + k), species, p)
            word |= uint32(square < p.reach) << uint32(k)
        return word

    return near


@cache
def _visits(visit):
    """Returns visits(found, me, first, near, species, p): one visit after the other of those whose bit is set."""

    @inline
    def visits(found, me, first, near, species, p):
        while near != uint32(0):
            # the number of its lowest bit
            k = ones(uint32(~near & uint32(near - uint32(1))))
            found = visit(found, me, uint32(first + k), species, p)
            near = uint32(near & uint32(near - uint32(1)))
        return found

    return visits


@cache
def walk(real, visit):
    """See `strategies`. Which of 32 particles are near is found first, without a branch, and then these are visited.

    Six of seven in a run are not near, and a branch on each would be mispredicted on a CPU.
    """
    near, visits = _look(real), _visits(visit)

    @inline
    def along(found, me, at, row, species, p, cells):
        start, end = row_around(row, at[0], at[1], at[2], species.starts, cells)
        for first in range(start, end, WORD):
            found = visits(found, me, first, near(me, first, min(WORD, end - first), species, p), species, p)
        return found

    return along


@cache
def walk_and_keep(real, visit):
    """See `strategies`: keeps the bits, at[3] being the particle's number of at[4]."""
    near, visits = _look(real), _visits(visit)

    @inline
    def along(found, me, at, row, species, p, cells):
        start, end = row_around(row, at[0], at[1], at[2], species.starts, cells)
        place = row * WORDS * at[4] + at[3]
        for first in range(start, end, WORD):
            word, number = near(me, first, min(WORD, end - first), species, p), (first - start) // WORD
            if number < WORDS:
                species.near[place + number * at[4]] = word
            found = visits(found, me, first, word, species, p)
        return found

    return along


@cache
def walk_again(real, visit):
    """See `strategies`: who is near says what `walk_and_keep` has kept."""
    near, visits = _look(real), _visits(visit)

    @inline
    def along(found, me, at, row, species, p, cells):
        start, end = row_around(row, at[0], at[1], at[2], species.starts, cells)
        place = row * WORDS * at[4] + at[3]
        for first in range(start, end, WORD):
            number = (first - start) // WORD
            if number < WORDS:
                word = species.near[place + number * at[4]]
            else:
                word = near(me, first, min(WORD, end - first), species, p)
            found = visits(found, me, first, word, species, p)
        return found

    return along


@cache
def walk_on_gpu(real, visit):
    """See `strategies`. Some thread of a warp visits nearly every particle: to find out first costs a GPU more."""

    @inline
    def along(found, me, at, row, species, p, cells):
        start, end = row_around(row, at[0], at[1], at[2], species.starts, cells)
        for j in range(start, end):
            found = visit(found, me, uint32(j), species, p)
        return found

    return along


@inline
def anyone(at, species, cells):
    """See `strategies`: the 27 cells are nine rows of the first-index array."""
    for row in range(ROWS):
        start, end = row_around(row, at[0], at[1], at[2], species.starts, cells)
        if end > start:
            return True
    return False


def lists(device, cells, state, real) -> Lists:
    """The order of the fluid's cells, into which all that a step needs is brought."""
    order = CellPermutation(device, cells, state.ids, real)
    return Lists(order.update(state.r, state.v, state.u, state.s), order.starts, order.order)


def still(device, species):
    """Ghosts come with a first-index array."""
    return species
