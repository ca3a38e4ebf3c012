"""The cells around a cell of sorted particles: those of a row along x lie one after the other (see `cell_permutation`).

So 27 cells are nine rows of particles, and nine short ones over the periodic edge.
"""

from numpy import int32, uint32

from repro.parallel import device_function

from .cells import row_beside, wrapped


@device_function
def row_around(piece, cx, cy, cz, starts, cells):
    """A row of sorted particles around a cell, as its first and its end.

    Pieces 0 to 8 are the rows of three cells around the own one, pieces 9 to 17 what lies over the edge of x.
    """
    last, k = int32(int32(cells[0]) - int32(1)), uint32(piece)
    base = row_beside(uint32(k % uint32(9)), (cx, cy, cz), cells)
    low, high = int32(max(cx - 1, 0)), int32(min(cx + 1, last))
    if k >= uint32(9):
        low = high = last if cx == 0 else int32(0)
    return uint32(starts[uint32(base + low)]), uint32(starts[uint32(base + high + 1)])


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
