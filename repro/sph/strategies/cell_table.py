"""The paper's search (section 2, figure 5): a radix sort by cell and a first-index array, and the 27 cells one by one.

The particles stay in their order; what is sorted are their numbers. One thread a particle, as the paper has it.
"""

from numpy import uint32

from repro.parallel import device_function
from repro.particles.radix_sort import RadixSort

from .search import Lists, Search, cell_by_cell, unchanged
from .sorted_cells import occupied


def _make_cell_sum(pair_term):
    @device_function
    def one(sums, target, c, species, p):
        for slot in range(species.starts[c], species.starts[c + 1]):
            sums = pair_term(sums, target, uint32(species.members[slot]), species, p)
        return sums

    return one


def _lists(device, cells, state, real) -> Lists:
    """The fluid's first-index array."""
    sort = RadixSort(device, cells, state.count, real)
    return Lists(sort.update(state.r), sort.starts, sort.members)


SEARCH = Search(_lists, unchanged, occupied, *[cell_by_cell(_make_cell_sum)] * 4)
