"""A grid cut into equal boxes, one for each rank: the "matrix of processes" of the electrons paper, section 3."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import isqrt, prod
from typing import Annotated

import numpy as np

from repro.declared import Each, Flag, Whole, checked
from repro.errors import InputError

#: the six sides of a box as (axis, direction); a box's neighbours are listed in this order
SIDES = tuple((axis, direction) for axis in range(3) for direction in (-1, 1))

_MOST_RANKS = 1 << 20

_Shape = Annotated[tuple[int, int, int], Each(Whole(1, 1 << 31), 3)]


@dataclass(frozen=True)
@checked
class Domain:
    """A grid of `shape` (nx, ny, nz) cells cut into `ranks` (px, py, pz) boxes of one shape.

    `periodic` says for each axis whether the grid goes on at its other end; otherwise there are walls. Ranks are
    numbered with x fastest. Raises InputError where the ranks do not divide the grid.
    """

    shape: _Shape
    periodic: Annotated[tuple[bool, bool, bool], Each(Flag(), 3)]
    ranks: Annotated[tuple[int, int, int], Each(Whole(1, _MOST_RANKS), 3)]

    def __post_init__(self):
        for name, cells, ranks in zip("xyz", self.shape, self.ranks, strict=True):
            if cells % ranks:
                nearest = _nearest(_divisors(cells), ranks)
                raise InputError(f"{ranks} ranks do not divide {cells} cells along {name}: use {nearest}")

    @property
    def count(self) -> int:
        """Number of ranks."""
        return prod(self.ranks)

    @cached_property
    def local(self) -> tuple[int, int, int]:
        """Cells of one rank's box along x, y and z."""
        return tuple(cells // ranks for cells, ranks in zip(self.shape, self.ranks, strict=True))

    def place(self, rank: int) -> tuple[int, int, int]:
        """Where a rank's box stands in the matrix of boxes."""
        Whole(0, self.count - 1).check("rank", rank)
        return tuple(map(int, np.unravel_index(rank, self.ranks, order="F")))

    def rank_at(self, place: tuple[int, int, int]) -> int | None:
        """The rank whose box stands at a place of the matrix; beyond its edge the periodic one, None at a wall."""
        for at, ranks, periodic in zip(place, self.ranks, self.periodic, strict=True):
            if not periodic and not 0 <= at < ranks:
                return None
        return int(np.ravel_multi_index(place, self.ranks, mode="wrap", order="F"))

    def offset(self, rank: int) -> tuple[int, int, int]:
        """The cell of the grid that is the first one of a rank's box."""
        return tuple(at * cells for at, cells in zip(self.place(rank), self.local, strict=True))

    def owners(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ranks in whose boxes cells (count, 3) of the grid lie, and their places (count, 3) in these boxes.

        A cell beyond one end of the grid is the one as far from the other.
        """
        place, inside = np.divmod(cells % np.array(self.shape), self.local)
        return np.ravel_multi_index(place.T, self.ranks, order="F"), inside

    def neighbour(self, rank: int, axis: int, direction: int) -> int | None:
        """The rank beyond a side: `rank` itself where the axis is periodic and has one rank, None at a wall."""
        Whole(0, 2).check("axis", axis)
        place = list(self.place(rank))
        place[axis] += direction
        return self.rank_at(tuple(place))

    def neighbours(self, rank: int) -> tuple[int | None, ...]:
        """The ranks beyond the six sides, in the order of SIDES: -x, +x, -y, +y, -z, +z."""
        return tuple(self.neighbour(rank, axis, direction) for axis, direction in SIDES)


@checked
def split(shape: _Shape, ranks: Annotated[int, Whole(1, _MOST_RANKS)]) -> tuple[int, int, int]:
    """Ranks along x, y and z for `ranks` boxes with the least surface between them.

    Of equals the box with the smaller surface in all, then the one cut less along x, where rows stay long. Raises
    InputError, naming numbers of ranks that work, where no factors of `ranks` divide the grid.
    """
    cuts = [cut for cut in factors(ranks) if not any(n % p for n, p in zip(shape, cut, strict=True))]
    if not cuts:
        size, nearest = " x ".join(map(str, shape)), _nearest(_working(shape, ranks), ranks)
        raise InputError(f"{ranks} ranks do not divide a grid of {size} cells: use {nearest}")
    return min(cuts, key=lambda cut: (*surfaces([n // p for n, p in zip(shape, cut, strict=True)], cut), cut))


def domain_for(shape: tuple[int, int, int], periodic: tuple[bool, bool, bool], ranks: int) -> Domain:
    """The grid cut for a number of ranks, as `split` chooses."""
    return Domain(shape, periodic, split(shape, ranks))


def _divisors(number: int) -> list[int]:
    """In their order; a number of 31 bits has to be looked at up to its root only."""
    low = [count for count in range(1, isqrt(number) + 1) if number % count == 0]
    return sorted({*low, *(number // count for count in low)})


def factors(ranks: int) -> list[tuple[int, int, int]]:
    """The ways to write a number as a product of three, in order."""
    return [(px, py, ranks // px // py) for px in _divisors(ranks) for py in _divisors(ranks // px)]


def surfaces(local, cut) -> tuple[int, int]:
    """Cells on the sides of a box of the shape `local` that touch other ranks' boxes, and on all its sides."""
    sides = [2 * prod(local) // cells for cells in local]
    return sum(side for side, p in zip(sides, cut, strict=True) if p > 1), sum(sides)


def _working(shape, ranks: int) -> set[int]:
    """Numbers of ranks that divide the grid, and may be near to `ranks`."""
    # of each axis those that may be near, and the next one: a grid of 7 x 7 x 1 has none up to 6 but 1
    divisors = [[p for p in each if p <= 2 * ranks or p == each[1]] for each in map(_divisors, shape)]
    return {prod(cut) for cut in product(*divisors)}


def _nearest(numbers, ranks: int) -> str:
    """The six of some numbers that are nearest to `ranks`, in words."""
    *most, last = map(str, sorted(sorted(numbers, key=lambda count: (abs(count - ranks), count))[:6]))
    return f"{', '.join(most)} or {last}" if most else last
