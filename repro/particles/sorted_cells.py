"""The cells around a cell of sorted particles: those of a row along x lie one after the other (see `cell_permutation`).

So 27 cells are nine rows of particles, and nine short ones over the periodic edge.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from numpy import int32, uint32

from repro.parallel import device_function

from .cells import make_place, row_beside, wrapped


class Neighbours(NamedTuple):
    """How a kernel finds the rows of sorted particles around a particle, as compiled functions."""

    #: the cell of a point: place(x, y, z, cells) = (cx, cy, cz)
    place: Callable
    #: how many rows there are around a cell: rows(at, cells)
    rows: Callable
    #: one of them, as its first particle and its end: row(piece, at, starts, cells)
    row: Callable


@device_function
def row_within(piece, at, starts, cells, edges):
    """A row of sorted particles around a cell, as its first and its end.

    Pieces 0 to 8 are the rows of three cells around the own one, pieces 9 to 17 what lies over the edge of x. `edges`
    are the cells along x that lie at the low and at the high edge of the box, and those that lie beyond them.
    """
    cx, k = at[0], uint32(piece)
    base = row_beside(uint32(k % uint32(9)), at, cells)
    low, high = int32(max(cx - 1, edges[0])), int32(min(cx + 1, edges[1]))
    if k >= uint32(9):
        low = high = int32(edges[2]) if cx == edges[0] else int32(edges[3])
    return uint32(starts[uint32(base + low)]), uint32(starts[uint32(base + high + 1)])


@device_function
def row_around(piece, cx, cy, cz, starts, cells):
    """A row of sorted particles around a cell of a periodic box, see `row_within`."""
    last = int32(int32(cells[0]) - int32(1))
    return row_within(piece, (cx, cy, cz), starts, cells, (int32(0), last, last, int32(0)))


@device_function
def _rows(at, cells):
    return 18 if at[0] == 0 or at[0] == cells[0] - 1 else 9


@device_function
def _row(piece, at, starts, cells):
    return row_around(piece, at[0], at[1], at[2], starts, cells)


@cache
def all_neighbours(real) -> Neighbours:
    """The rows around a cell where one rank has all of the box."""
    return Neighbours(make_place(real), _rows, _row)


@device_function
def row_ahead(piece, i, cx, cy, cz, starts, cells):
    """A row of sorted particles that particle i meets in half the stencil, as its first and its end.

    Piece 0 is the rest of the own cell and the next one, 1 to 4 are rows of three cells; 5 to 9 are what lies over
    the edge of x.
    """
    m, last = piece % 5, cells[0] - 1
    # rows (y, z): own, (1, 0), (-1, 1), (0, 1), (1, 1)
    cy = wrapped(cy + (1 if m == 1 else (m - 3 if m > 1 else 0)), cells[1])
    cz = wrapped(cz + (1 if m > 1 else 0), cells[2])
    base = (cz * cells[1] + cy) * cells[0]
    if piece < 5:
        return i + 1 if m == 0 else starts[base + max(cx - 1, 0)], starts[base + min(cx + 1, last) + 1]
    if m == 0 and cx == 0:
        return 0, 0
    over = 0 if cx == last else last
    return starts[base + over], starts[base + over + 1]
