"""The paper's search (section 2, figure 5): a radix sort by cell and a first-index array, and the 27 cells one by one.

The particles stay in their order; what is sorted are their numbers.
"""

from functools import cache

from numpy import uint32

from repro.parallel import inline
from repro.particles.cells import neighbour
from repro.particles.radix_sort import RadixSort

from .lists import Lists, cell_number
from .runs import anyone

__all__ = ["anyone", "lists", "still", "walk"]


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
            c = neighbour(own, k, cells)
            for slot in range(species.starts[c], species.starts[c + 1]):
                found = visit(found, me, uint32(species.members[slot]), species, p)
        return found

    return along


walk_on_gpu = walk_and_keep = walk_again = walk


def lists(device, cells, state, real) -> Lists:
    """The fluid's first-index array."""
    sort = RadixSort(device, cells, state.count, real)
    return Lists(sort.update(state.r), sort.starts, sort.members)


def still(device, species):
    """Ghosts come with a first-index array."""
    return species
