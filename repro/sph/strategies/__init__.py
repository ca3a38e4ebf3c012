"""Ways to find neighbours: one short file each, with a `Search`, which give the same neighbours in the same order.

That order is that of the cells, and within a cell that of the ids, so that sums have the same bits with every strategy.
A further type of particles is one more call of a walk.
"""

from collections import ChainMap

from . import cell_table, linked_list, sorted_cells
from .search import Lists

STRATEGIES = {
    "cell table": cell_table.SEARCH,
    "linked list": linked_list.SEARCH,
    "sorted cells": sorted_cells.SEARCH,
    "cell table, block sort": cell_table.IN_BLOCKS,
}

#: on one core only, where a pair can be met once: another order of sums, so that the last bits differ
PAIRS_ONCE = {
    "linked list, pairs once": linked_list.PAIRS_ONCE,
    "sorted cells, pairs once": sorted_cells.PAIRS_ONCE,
    "sorted cells, pairs once, vectorised": sorted_cells.PAIRS_ONCE_BY_WORDS,
}

#: all of them by name, also those that a user adds
SEARCHES = ChainMap(PAIRS_ONCE, STRATEGIES)

__all__ = ["PAIRS_ONCE", "SEARCHES", "STRATEGIES", "Lists"]
