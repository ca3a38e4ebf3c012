"""The cells of a periodic box: at least one cutoff radius wide, at least three along each axis."""

from dataclasses import dataclass
from functools import cached_property
from math import floor, isfinite

import numpy as np

from repro.parallel import InputError, inline

#: numbers of the 27 cells around a cell, its own in the middle; from there on, the paper's fourteen, which meet each
#: pair of cells once (section 4.3)
ALL_CELLS, OWN_CELL = 27, 13


@dataclass(frozen=True)
class Cells:
    """The grid of cells of a periodic box with sides `box` (cutoff radii)."""

    box: tuple[float, float, float]

    def __post_init__(self):
        for axis, side in zip("xyz", self.box, strict=True):
            if not (isfinite(side) and side >= 3):
                raise InputError(f"box side {axis} = {side:g}: at least 3 cutoff radii, one for each of three cells")

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Cells along x, y, z."""
        return tuple(floor(side) for side in self.box)

    @property
    def count(self) -> int:
        """Number of cells."""
        return int(np.prod(self.shape))

    @property
    def per_length(self) -> tuple[float, float, float]:
        """Cells per cutoff radius along each axis."""
        return tuple(n / side for n, side in zip(self.shape, self.box, strict=True))


@inline
def cell_along(coordinate, per_length, cells):
    """The cell of a coordinate along one axis; a coordinate that is not finite gets a cell too, so nothing is lost."""
    return min(max(int(coordinate * per_length), 0), cells - 1)


@inline
def cell_of(x, y, z, per_length, cells):
    """The number of the cell of a point, x fastest."""
    cx, cy = cell_along(x, per_length[0], cells[0]), cell_along(y, per_length[1], cells[1])
    return (cell_along(z, per_length[2], cells[2]) * cells[1] + cy) * cells[0] + cx


@inline
def wrapped(value, period):
    """A coordinate or a cell after at most one step over a periodic edge."""
    return value + period if value < 0 else (value - period if value >= period else value)


@inline
def neighbour(cell, k, cells):
    """The number of the k-th of the 27 cells around a cell."""
    row = cell // cells[0]
    cx = wrapped(cell % cells[0] + k % 3 - 1, cells[0])
    cy = wrapped(row % cells[1] + (k // 3) % 3 - 1, cells[1])
    cz = wrapped(row // cells[1] + k // 9 - 1, cells[2])
    return (cz * cells[1] + cy) * cells[0] + cx


@inline
def nearest_image(distance, side, half):
    """A difference of coordinates, over the nearer way around the box."""
    return distance - side if distance > half else (distance + side if distance < -half else distance)
