"""Ways to find neighbours: one short file each, with a `Search`, which give the same neighbours in the same order.

That order is that of the cells, and within a cell that of the ids, so that sums have the same bits with every strategy.
A further type of particles is one more call of a walk.
"""

from .cell_table import SEARCH as CELL_TABLE
from .linked_list import SEARCH as LINKED_LIST
from .search import Lists
from .sorted_cells import SEARCH as SORTED_CELLS

STRATEGIES = {"cell table": CELL_TABLE, "linked list": LINKED_LIST, "sorted cells": SORTED_CELLS}

__all__ = ["STRATEGIES", "Lists"]
