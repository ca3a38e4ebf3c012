"""Positions as whole numbers: the box is 2^32 (double precision: 2^64) units long, and the edge is where they overflow.

A difference of two such numbers is the nearer way around the box, and as exact in a corner of a long box as at its
origin, where a float loses a bit with every doubling of the distance.
"""

from dataclasses import dataclass
from functools import cache
from math import floor

import numpy as np
from numpy import int64

from repro.parallel import device_function, fma

_LOW_BITS = (1 << 32) - 1

#: units of a position that a step must go, so that its length is right to a percent
_LEAST_UNITS = 100


def lost_to_rounding(dt: float, goes: str, way: float, least: float, unit: str = "") -> str:
    """Why steps of `dt` are too short, with dt that is not; empty where they are not, or nothing moves.

    What moves goes the `way` in a step, which must be `least`; `goes` says both in words, with {} for the way.
    """
    if not 0 < way < least:
        return ""
    enough = f"steps of {1.1 * dt * (least / way):.2g}{unit} or more"
    return f"in dt = {dt:g}{unit} {goes.format(f'{way:.2g}')}, which rounding takes away: {enough}"


@dataclass(frozen=True)
class Units:
    """The type of positions beside numbers of type `real`."""

    real: type

    @property
    def whole(self) -> type:
        """The integer type of a coordinate."""
        return {np.float32: np.int32, np.float64: np.int64}[self.real]

    @property
    def bits(self) -> int:
        """Bits of a coordinate."""
        return 8 * np.dtype(self.whole).itemsize

    def lengths(self, box) -> tuple:
        """The length of a unit along each axis."""
        return tuple(self.real(side / 2.0**self.bits) for side in box)

    def per_length(self, box) -> tuple:
        """Units in a length of one, along each axis."""
        return tuple(self.real(2.0**self.bits / side) for side in box)

    def lost_to_rounding(self, dt: float, speed: float, box, unit: str = "") -> str:
        """Why particles of this speed hardly move in steps of `dt`, see `lost_to_rounding`."""
        way = dt * 2.0**self.bits * speed / max(box)
        goes = f"a particle at a speed of {speed:.3g} goes {{}} of the unit of its position"
        return lost_to_rounding(dt, goes, way, _LEAST_UNITS, unit)

    def of(self, position: np.ndarray, box) -> np.ndarray:
        """Coordinates, of shape (count, 3), as whole numbers."""
        # a double has 53 bits to give; the others are zero
        kept = min(self.bits, 53)
        fraction = np.mod(position / np.array(box), 1.0)
        whole = np.floor(fraction * 2.0**kept).astype(np.uint64) << np.uint64(self.bits - kept)
        return whole.astype(f"uint{self.bits}").view(self.whole)

    def coordinates(self, whole: np.ndarray, box) -> np.ndarray:
        """Whole numbers, of shape (count, 3), as coordinates from 0 to the side of the box."""
        return whole.view(f"uint{self.bits}").astype(float) * (np.array(box) / 2.0**self.bits)


def vectors(device, rows: np.ndarray):
    """Vectors of shape (count, 3) as a flat array on the device: component k of particle i at k * count + i."""
    return device.to_device(np.ascontiguousarray(rows.T).ravel())


def vectors_by_id(device, ids, *arrays) -> list[np.ndarray]:
    """Such arrays on the host again, each of shape (count, 3), in the order of the ids."""
    order = np.argsort(device.to_host(ids))
    return [np.ascontiguousarray(device.to_host(array).reshape(3, -1).T[order]) for array in arrays]


@cache
def cell_bits(real):
    """The upper 32 bits of a coordinate, from 0 to 2^32 - 1, which tell its cell: upper(coordinate)."""
    shift = Units(real).bits - 32

    @device_function
    def upper(coordinate):
        return (int64(coordinate) >> shift) & _LOW_BITS

    return upper


@cache
def moved(real):
    """The coordinate after a move, over the periodic edge if need be: move(coordinate, per_length, length)."""
    whole, half = Units(real).whole, real(0.5)

    @device_function
    def move(coordinate, per_length, length):
        return whole(coordinate + int64(floor(fma(per_length, length, half))))

    return move


@cache
def periodic_difference(real):
    """first - second in units, the nearer way around the box: difference(first, second)."""
    whole = Units(real).whole

    @device_function
    def difference(first, second):
        return real(whole(first - second))

    return difference
