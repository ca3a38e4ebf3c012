"""The search that the paper compares with: a linked list of each cell's particles, and the 27 cells one by one.

Domínguez and others, Int. J. Numer. Methods Fluids 67 (2011) 2026: the first particle of a cell, and from each one the
next. A list is in the order of its particles' numbers (see `particles.linked_list`). One thread a particle.

Places in lists are unsigned: of a signed one each load would first ask whether it counts from the end of the array, and
in a list the next load waits for that.
"""

from functools import cache

from numpy import uint32

from repro.parallel import device_function
from repro.particles.cells import ALL_CELLS, OWN_CELL, neighbour, row_beside, wrapped
from repro.particles.linked_list import NO_PARTICLE, OrderedList, links_of

from ..pair import separation
from .search import Lists, Search


@cache
def walk(real, pair_term):
    """The lists of three cells, particle by particle."""

    @device_function
    def along(sums, target, cell, row, species, p, cells):
        base = row_beside(row, cell, cells)
        for k in range(-1, 2):
            j = species.starts[uint32(base + wrapped(cell[0] + k, cells[0]))]
            while j != NO_PARTICLE:
                sums = pair_term(sums, target, uint32(j), species, p)
                j = species.members[uint32(j)]
        return sums

    return along


@cache
def _ahead(real, both):
    apart = separation(real)

    @device_function
    def of_list(sums, table, target, j, species, p):
        while j != NO_PARTICLE:
            _, square = apart(target.position, uint32(j), species, p)
            if square < p.reach:
                sums = both(sums, table, target, uint32(j), species, p)
            j = species.members[uint32(j)]
        return sums

    @device_function
    def walk(sums, table, target, cell, species, p, cells):
        # the rest of its own list, and the lists of half the cells around
        sums = of_list(sums, table, target, species.members[uint32(cell[3])], species, p)
        for k in range(OWN_CELL + 1, ALL_CELLS):
            sums = of_list(sums, table, target, species.starts[uint32(neighbour(cell, k, cells))], species, p)
        return sums

    return walk


@device_function
def _occupied(cell, species, cells):
    found = False
    for k in range(ALL_CELLS):
        found |= species.starts[neighbour(cell, k, cells)] != NO_PARTICLE
    return found


def _lists(device, cells, state, real) -> Lists:
    """The fluid's list: its cells' first particles in place of `starts`, and the next ones in place of `members`."""
    links = OrderedList(device, cells, state.count, real)
    return Lists(links.update(state.r), links.first, links.after)


def _static(device, species):
    """A first-index array turned into a linked list."""
    first, after = links_of(device.to_host(species.starts), device.to_host(species.members))
    return species._replace(starts=device.to_device(first), members=device.to_device(after))


SEARCH = Search(_lists, _static, _occupied, *[walk] * 4)

#: on one core, each pair once
PAIRS_ONCE = SEARCH._replace(ahead=_ahead)
