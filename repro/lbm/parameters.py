"""What kernels take beside their arrays, as named tuples."""

from math import prod
from typing import NamedTuple


class Grid(NamedTuple):
    """Nodes along each axis, and in an array how far a node's place in one row is from that in the next.

    A row holds something of all nodes: a population of each, or its density.
    """

    nx: int
    ny: int
    nz: int
    row: int

    @classmethod
    def packed(cls, shape) -> "Grid":
        """The grid of arrays in which a row begins where the one before ends."""
        return cls(*shape, prod(shape))


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
