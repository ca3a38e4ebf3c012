"""Walls of frozen particles with a thin layer that turns fluid back (Fan and others, Phys. Fluids 15 (2003) 11)."""

from dataclasses import dataclass
from functools import cache
from math import inf, sqrt
from typing import Annotated

import numpy as np

from repro.declared import Number, checked
from repro.errors import require
from repro.parallel import device_function, fma
from repro.particles.position import cell_bits
from repro.particles.random import ROUNDS, Stream, normal, tea

#: what the tuple `walls` of a kernel holds
BOTTOM, TOP, MIDDLE_X, HALF_LENGTH, MIDDLE_Z, HALF_GAP, LAYER, SPEED, UNIT_X, UNIT_Z = range(10)

#: also of what is not there, infinitely far away
HEIGHT = Number(unit="cutoff radii", infinite=True)


@dataclass(frozen=True)
@checked
class Walls:
    """Two plates across z, and between them two blocks that leave a gap (figure 9); the default is no wall at all."""

    #: heights of the lower and the upper plate
    bottom: Annotated[float, HEIGHT] = -inf
    top: Annotated[float, HEIGHT] = inf
    #: the blocks' middle along x and half their length; no blocks without length
    middle_x: Annotated[float, Number()] = 0.0
    half_length: Annotated[float, HEIGHT] = -inf
    #: half the height of the gap between the blocks
    half_gap: Annotated[float, HEIGHT] = inf
    #: thickness of the layer in which a particle is turned back
    layer: Annotated[float, Number(unit="cutoff radii")] = 0.1

    def __post_init__(self):
        height, gap = self.top - self.bottom, 2 * self.half_gap
        require(height > 0 and gap > 0, f"walls at z = {self.bottom} and {self.top}, gap {gap}: no room for a fluid")
        half = min(height, gap) / 2
        within = f"it must be above 0 and below {half:g}, half the fluid's height"
        require(0 < self.layer < half, f"layer = {self.layer:g}: {within}")

    @property
    def middle_z(self) -> float:
        """Height of the channel's axis."""
        return (self.bottom + self.top) / 2 if self.top < inf else 0.0

    def numbers(self, real, temperature: float, box) -> tuple:
        """What the kernels need to know, in type `real`."""
        shape = (self.bottom, self.top, self.middle_x, self.half_length, self.middle_z, self.half_gap)
        values = (*shape, self.layer, sqrt(temperature), box[0] / 2**32, box[2] / 2**32)
        return tuple(real(value) for value in values)

    def depth(self, x, z) -> np.ndarray:
        """Distance of points from the nearest wall, negative inside a wall."""
        numbers = self.numbers(float, 1.0, (1, 1, 1))
        return np.array([nearest_wall(a, b, numbers)[0] for a, b in np.broadcast(x, z)])


@device_function
def nearest_wall(x, z, walls):
    """The distance from the nearest wall, negative inside it, and its normal.

    The normal points into the fluid; it lies in the plane of x and z.
    """
    zero, one = type(x)(0), type(x)(1)
    depth, nx, nz = z - walls[BOTTOM], zero, one
    if walls[TOP] - z < depth:
        depth, nz = walls[TOP] - z, -one
    # beyond the end of a block, and below or above its face: both negative inside the block
    aside, off = abs(x - walls[MIDDLE_X]) - walls[HALF_LENGTH], walls[HALF_GAP] - abs(z - walls[MIDDLE_Z])
    outward = one if x > walls[MIDDLE_X] else -one
    inward = -one if z > walls[MIDDLE_Z] else one
    if aside > zero and off > zero:
        edge = sqrt(fma(aside, aside, off * off))
        if edge < depth:
            depth, nx, nz = edge, outward * aside / edge, inward * off / edge
    elif max(aside, off) < depth:
        depth = max(aside, off)
        nx, nz = (outward, zero) if aside > off else (zero, inward)
    return depth, nx, nz


@cache
def make_bounce(real):
    """The velocity of a particle, turned back if it is near a wall: bounce(x, z, velocity, id, key, walls).

    x and z are positions in units, `key` is (seed, step). In the layer, and beyond it, a particle gets a Maxwellian
    velocity whose part along the normal points into the fluid: v = v_R + n (|n . v_R| - n . v_R).
    """
    words, deviates, upper = tea(ROUNDS), normal(real), cell_bits(real)
    along, across, zero = Stream.WALL.value, Stream.WALL_NORMAL.value, real(0)

    @device_function
    def bounce(x, z, velocity, number, key, walls):
        u, v, w = velocity
        # rounded here: what follows are differences, which a GPU would fuse with the products
        x, z = fma(real(upper(x)), walls[UNIT_X], zero), fma(real(upper(z)), walls[UNIT_Z], zero)
        depth, nx, nz = nearest_wall(x, z, walls)
        if depth < walls[LAYER]:
            first, second = words(number, 0, along, key[0], key[1])
            u, v = deviates(first, second)
            first, second = words(number, 0, across, key[0], key[1])
            w = deviates(first, second)[0]
            u, v, w = walls[SPEED] * u, walls[SPEED] * v, walls[SPEED] * w
            outward = fma(nx, u, nz * w)
            back = abs(outward) - outward
            u, w = fma(nx, back, u), fma(nz, back, w)
        return u, v, w

    return bounce
