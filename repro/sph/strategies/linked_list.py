"""The search that the paper compares with: a linked list of each cell's particles, and the 27 cells one by one.

Domínguez and others, Int. J. Numer. Methods Fluids 67 (2011) 2026: the first particle of a cell, and from each one the
next. A list is in the order of its particles' numbers (see `particles.ordered_list`).
"""

from functools import cache

from numpy import uint32

from repro.parallel import inline
from repro.particles.cells import ALL_CELLS, neighbour
from repro.particles.linked_list import NO_PARTICLE
from repro.particles.ordered_list import OrderedList, links_of

from .lists import Lists, cell_number

#: one thread a particle, as the paper has it
SHARES = False

#: nothing is kept of who is near
KEPT = 0


@cache
def walk(real, visit):
    """See `strategies`."""

    @inline
    def along(found, me, at, row, species, p, cells):
        own = cell_number(at, cells)
        for k in range(3 * row, 3 * row + 3):
            j = species.starts[neighbour(own, k, cells)]
            while j != NO_PARTICLE:
                found = visit(found, me, uint32(j), species, p)
                j = species.members[j]
        return found

    return along


walk_on_gpu = walk_and_keep = walk_again = walk


@inline
def anyone(at, species, cells):
    """See `strategies`."""
    own = cell_number(at, cells)
    someone = False
    for k in range(ALL_CELLS):
        someone |= species.starts[neighbour(own, k, cells)] != NO_PARTICLE
    return someone


def lists(device, cells, state, real) -> Lists:
    """The fluid's list: its cells' first particles in place of `starts`, and the next ones in place of `members`."""
    links = OrderedList(device, cells, state.count, real)
    return Lists(links.update(state.r), links.first, links.after)


def still(device, species):
    """Ghosts, which come with a first-index array, as a linked list; they do not move."""
    first, after = links_of(device.to_host(species.starts), device.to_host(species.members))
    return species._replace(starts=device.to_device(first), members=device.to_device(after))
