"""The cells of one of several ranks: those of its block of the box, and a layer of others' cells around them.

The layer is where copies of the particles of other ranks are. Along an axis that is not cut there is none, and cells go
on over the periodic edge as they do on one rank.
"""

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy import int32

from repro.parallel import device_function
from repro.parallel.ranks.blocks import Blocks

from .cells import Cells, cell_along, wrapped
from .position import cell_bits
from .sorted_cells import Neighbours, row_within

#: of an axis that is not cut: all cells are own ones, and none lies at a side
_BEYOND = 2

#: the id of a place in the arrays that holds no particle: above all others, so that nothing moves there
NO_ID = np.int32(2**31 - 1)


class LocalNumbers(NamedTuple):
    """What a kernel knows of the cells here, most of it a number for each axis."""

    #: cells here, and in the box
    shape: object
    box: object
    #: the cell of the box that is the first one here, -1 for the last one of the box
    first: object
    #: own cells: from `low` on, below `end`
    low: object
    end: object
    #: along x, where rows of neighbours end at the edge of the box, and what lies over it, see `row_within`
    edges: object


@dataclass(frozen=True)
class LocalCells:
    """The part of the cells of a box that a rank has, if the box is cut into `blocks`."""

    cells: Cells
    blocks: Blocks
    rank: int

    @property
    def box(self) -> tuple[float, float, float]:
        """Sides of the whole box."""
        return self.cells.box

    @property
    def _axes(self) -> list[tuple[int, int, int, bool]]:
        """Along each axis the first own cell, how many there are, those of the box, and whether it is cut."""
        own = zip(self.blocks.box(self.rank), self.blocks.shape, self.blocks.matrix.ranks, strict=True)
        return [(first, end - first, cells, ranks > 1) for (first, end), cells, ranks in own]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cells here along x, y and z, the layer included."""
        return tuple(own + 2 * cut for _, own, _, cut in self._axes)

    @property
    def count(self) -> int:
        """Number of cells here, the layer included."""
        return prod(self.shape)

    @property
    def numbers(self) -> LocalNumbers:
        """For kernels."""
        axes = self._axes
        low = tuple(1 if cut else -_BEYOND for *_, cut in axes)
        end = tuple(own + 1 if cut else own + _BEYOND for _, own, _, cut in axes)
        start, own, cells, cut = axes[0]
        over = (0, own + 1) if cut else (cells - 1, 0)
        edges = (int(cut and start == 0), own if start + own == cells and cut else own + 2 * cut - 1, *over)
        return LocalNumbers(self.shape, self.cells.shape, tuple(a - c for a, *_, c in axes), low, end, edges)


@cache
def make_local_place(real):
    """Where the cell of a point lies among those here: place(x, y, z, cells); beyond `shape` it is another rank's."""
    upper = cell_bits(real)

    @device_function
    def along(coordinate, first, box):
        return wrapped(cell_along(upper(coordinate), box) - first, box)

    @device_function
    def place(x, y, z, cells):
        first, box = cells.first, cells.box
        return along(x, first[0], box[0]), along(y, first[1], box[1]), along(z, first[2], box[2])

    return place


@device_function
def is_here(at, cells):
    """Whether there is a cell at (cx, cy, cz) here."""
    shape = cells.shape
    return at[0] < shape[0] and at[1] < shape[1] and at[2] < shape[2]


@device_function
def is_own(at, cells):
    """Whether the cell at (cx, cy, cz) is one of this rank's own."""
    low, end = cells.low, cells.end
    inside = low[0] <= at[0] < end[0] and low[1] <= at[1] < end[1]
    return inside and low[2] <= at[2] < end[2]


@device_function
def _rows(at, cells):
    """Around a cell of another rank there is nothing to do."""
    if not is_own(at, cells):
        return 0
    return 18 if at[0] == cells.edges[0] or at[0] == cells.edges[1] else 9


@device_function
def _row(piece, at, starts, cells):
    return row_within(piece, at, starts, cells.shape, cells.edges)


@cache
def local_neighbours(real) -> Neighbours:
    """The rows around an own cell, in the order in which one rank has them."""
    return Neighbours(make_local_place(real), _rows, _row)


@device_function
def side_of(cell, low, end):
    """Along an axis, -1 or 1 for a cell at a side of the own ones, or beyond it; 0 for one in their midst."""
    return int32(cell >= end - 1) - int32(cell <= low)
