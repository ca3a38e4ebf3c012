"""What is stored of a population: its deviation from the weight, or itself.

"deviation", f - w, keeps small velocities accurate. "plain", f, lies near the weight w, and the force is added to it
last: 3 w (c.g), which is rounded to whole units in the last place of w. Programs that keep f are driven by that force
(`exact.rounded_force`).
"""

from functools import cache

import numpy as np

from repro.parallel import device_function, from_half, to_half

from .lattice import Lattice

STORAGES = ("deviation", "plain")

#: of deviations that are kept in half precision: what a stored 1 stands for. They reach from -2 to 2, and that of a
#: flow of 1e-4 still has all of its eleven digits
HALF_UNIT = 2.0**-15

_UNIT, _INVERSE = np.float32(HALF_UNIT), np.float32(1 / HALF_UNIT)


@device_function
def read_half(kept):
    """A number in single precision from what is kept of it."""
    return from_half(kept) * _UNIT


@device_function
def write_half(number):
    """What is kept of a number."""
    return to_half(number * _INVERSE)


@cache
def make_storage(lattice: Lattice, dtype, storage: str):
    """(enter, leave): from what is stored to the deviations that collide, and back.

    enter(s, n, force) returns the force that is left to the collision, leave(s, n, force) adds what was not.
    """
    q, zero, weights = lattice.q, dtype(0), tuple(map(dtype, lattice.weights))
    cx, cy, cz = (
        tuple(dtype(3 * w * c) for w, c in zip(lattice.weights, row, strict=True)) for row in lattice.components
    )

    @device_function
    def as_they_are(s, n, force):
        return force

    if storage == "deviation":
        return as_they_are, as_they_are

    @device_function
    def enter(s, n, force):
        for i in range(q):
            for k in range(n):
                s[i, k] -= weights[i]
        return zero, zero, zero

    @device_function
    def leave(s, n, force):
        fx, fy, fz = force
        for i in range(q):
            push = cx[i] * fx + cy[i] * fy + cz[i] * fz
            for k in range(n):
                s[i, k] += weights[i]
                s[i, k] += push

    return enter, leave
