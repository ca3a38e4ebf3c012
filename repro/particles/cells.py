"""The cells of a periodic box: at least one cutoff radius wide, at least three along each axis."""

from dataclasses import dataclass
from functools import cache, cached_property
from math import floor, isfinite, prod

import numpy as np
from numpy import int32, uint32

from repro.errors import InputError
from repro.parallel import device_function

from .position import Units, cell_bits

#: numbers of the 27 cells around a cell, its own in the middle; from there on, the paper's fourteen, which meet each
#: pair of cells once (section 4.3)
ALL_CELLS, OWN_CELL = 27, 13

#: their numbers have 32 bits and a sign, and the table of them one number more
MOST_CELLS = 2**31 - 2


@dataclass(frozen=True)
class Cells:
    """The grid of cells of a periodic box with sides `box` (cutoff radii)."""

    box: tuple[float, float, float]

    def __post_init__(self):
        for axis, side in zip("xyz", self.box, strict=True):
            if not (isfinite(side) and side >= 3):
                raise InputError(f"box side {axis} = {side:g}: at least 3 cutoff radii, one for each of three cells")
        if self.count > MOST_CELLS:
            sides = " x ".join(f"{side:g}" for side in self.box)
            raise InputError(f"a box of {sides} cutoff radii has {self.count} cells: at most {MOST_CELLS}")

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Cells along x, y, z."""
        return tuple(floor(side) for side in self.box)

    @property
    def count(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    def of(self, position: np.ndarray, real=np.float32) -> np.ndarray:
        """The cell of each position of shape (count, 3), exactly as kernels find it, on the host."""
        return self.of_units(Units(real).of(position, self.box))

    def of_units(self, whole: np.ndarray) -> np.ndarray:
        """The cell of each position of shape (count, 3) in whole numbers, see `position`."""
        bits = whole.view(f"uint{8 * whole.itemsize}")
        upper = (bits >> np.array(8 * whole.itemsize - 32, bits.dtype)).astype(np.int64)
        x, y, z = (upper[:, axis] * self.shape[axis] >> 32 for axis in range(3))
        return (z * self.shape[1] + y) * self.shape[0] + x


@device_function
def cell_along(upper, cells):
    """The cell along one axis of a coordinate's upper 32 bits."""
    return int32((upper * cells) >> 32)


@cache
def make_place(real):
    """Where the cell of a point lies along each axis: place(x, y, z, cells) = (cx, cy, cz)."""
    upper = cell_bits(real)

    @device_function
    def place(x, y, z, cells):
        return cell_along(upper(x), cells[0]), cell_along(upper(y), cells[1]), cell_along(upper(z), cells[2])

    return place


@device_function
def cell_number(at, cells):
    """The number of the cell at (cx, cy, cz, ...), x fastest."""
    return (at[2] * cells[1] + at[1]) * cells[0] + at[0]


@cache
def cell_of(real):
    """The number of the cell of a point, x fastest: cell(x, y, z, cells)."""
    place = make_place(real)

    @device_function
    def cell(x, y, z, cells):
        return cell_number(place(x, y, z, cells), cells)

    return cell


@device_function
def wrapped(cell, cells):
    """A cell's number along an axis after at most one step over a periodic edge."""
    cell, cells = int32(cell), int32(cells)
    return int32(cell + cells) if cell < 0 else (int32(cell - cells) if cell >= cells else cell)


@device_function
def place_of(cell, cells):
    """Where a cell of that number lies along each axis, (cx, cy, cz)."""
    row = cell // cells[0]
    return cell % cells[0], row % cells[1], row // cells[1]


@device_function
def row_beside(row, at, cells):
    """The number of the first cell of a row along x: of nine, with z slowest, those around the cell at (cx, cy, cz)."""
    # in 32 bits, and without a division of a number with a sign: on a GPU each is several instructions
    dz, dy = int32(uint32(row) // uint32(3)), int32(uint32(row) % uint32(3))
    cz, cy = wrapped(at[2] + dz - 1, cells[2]), wrapped(at[1] + dy - 1, cells[1])
    return int32(int32(int32(cz * int32(cells[1])) + cy) * int32(cells[0]))


@device_function
def neighbour(at, k, cells):
    """The number of the k-th of the 27 cells around the cell at (cx, cy, cz), without a division by `cells`."""
    return row_beside(k // 3, at, cells) + wrapped(at[0] + k % 3 - 1, cells[0])
