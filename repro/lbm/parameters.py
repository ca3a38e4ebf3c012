"""What kernels take beside their arrays, as named tuples."""

from typing import NamedTuple


class Grid(NamedTuple):
    """Nodes along each axis."""

    nx: int
    ny: int
    nz: int


class Rates(NamedTuple):
    """Relaxation rates of the even and of the odd populations."""

    even: float
    odd: float


class Vector(NamedTuple):
    """A force per volume, or the velocity of the moving wall."""

    x: float
    y: float
    z: float


class MarkedWalls(NamedTuple):
    """Velocity of the moving wall, and for each node of the box whether it is solid."""

    x: float
    y: float
    z: float
    solid: object


class Parameters(NamedTuple):
    """All that an update takes, in the order of its arguments."""

    grid: Grid
    rates: Rates
    force: Vector
    wall: Vector | MarkedWalls


def in_precision(kind, numbers, dtype):
    """A named tuple of numbers of type `dtype`."""
    return kind(*(dtype(number) for number in numbers))
