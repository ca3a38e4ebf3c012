"""A pair of particles in the arrays of a state: how far apart, and which force.

Arrays of vectors are flat: component k of particle i is at k * count + i. The numbers that every pair needs come as
one tuple (or array) `p`, in the order of `constants`.
"""

from math import sqrt

import numpy as np

from repro.parallel import inline

from .cells import nearest_image
from .fluid import Fluid
from .forces import pair_force

#: what `p` holds: equation 1's a, equation 2's gamma, sigma / sqrt(dt), and the sides of the box
REPULSION, FRICTION, NOISE, SIDE_X, SIDE_Y, SIDE_Z = range(6)


def constants(fluid: Fluid, box, real) -> tuple:
    """The numbers that every pair needs, in type `real`."""
    return tuple(real(value) for value in (fluid.repulsion, fluid.friction, fluid.noise, *box))


def separation(real):
    """Returns apart(x, y, z, j, r, count, p): the vector from particle j to (x, y, z), and its length squared."""
    half = real(0.5)

    @inline
    def apart(x, y, z, j, r, count, p):
        dx = nearest_image(x - r[j], p[SIDE_X], half * p[SIDE_X])
        dy = nearest_image(y - r[count + j], p[SIDE_Y], half * p[SIDE_Y])
        dz = nearest_image(z - r[2 * count + j], p[SIDE_Z], half * p[SIDE_Z])
        return dx, dy, dz, dx * dx + dy * dy + dz * dz

    return apart


def force_on_first(real):
    """Returns force(dx, dy, dz, square, du, dv, dw, deviate, p): the force's components, and r . F of the pair.

    Two particles at the same place have no line of centres, and so no force.
    """
    one, least = real(1), real(np.finfo(real).tiny)

    @inline
    def force(dx, dy, dz, square, du, dv, dw, deviate, p):
        distance = sqrt(square)
        inverse = one / max(distance, least)
        approach = (dx * du + dy * dv + dz * dw) * inverse
        along = pair_force(distance, approach, deviate, p[REPULSION], p[FRICTION], p[NOISE], one)
        scaled = along * inverse
        return scaled * dx, scaled * dy, scaled * dz, along * distance

    return force
