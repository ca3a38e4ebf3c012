"""The paper's search (section 2, figure 5): a radix sort by cell and a first-index array, and the 27 cells one by one.

It calls it the sliding dynamic vector: algorithm A of its reference 3, Domínguez and others, Int. J. Numer. Methods
Fluids 67 (2011) 2026, in which the linked list is D.

The particles stay in their order; what is sorted are their numbers. One thread a particle, as the paper has it.
"""

from functools import cache

from numpy import uint32

from repro.parallel import device_function
from repro.particles.block_sort import BlockSort
from repro.particles.cells import row_beside, wrapped
from repro.particles.radix_sort import RadixSort

from .search import Lists, Search, unchanged
from .sorted_cells import occupied


@cache
def walk(real, pair_term):
    """The particles of three cells, one by one."""

    @device_function
    def along(sums, target, cell, row, species, p, cells):
        base = row_beside(row, cell, cells)
        for k in range(-1, 2):
            c = base + wrapped(cell[0] + k, cells[0])
            for slot in range(species.starts[c], species.starts[c + 1]):
                sums = pair_term(sums, target, uint32(species.members[uint32(slot)]), species, p)
        return sums

    return along


def _make_lists(sort_of):
    def lists(device, cells, state, real) -> Lists:
        """The fluid's first-index array."""
        sort = sort_of(device, cells, state.count, real)
        return Lists(sort.update(state.r), sort.starts, sort.members)

    return lists


SEARCH = Search(_make_lists(RadixSort), unchanged, occupied, *[walk] * 4)

#: with the paper's sort, in the memory that a block shares
IN_BLOCKS = SEARCH._replace(lists=_make_lists(BlockSort))
