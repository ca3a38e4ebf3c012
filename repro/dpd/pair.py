"""A pair of particles in the arrays of a state: how far apart, and which force.

Arrays of vectors are flat: component k of particle i is at k * count + i. The numbers that every pair needs come as
one tuple (or array) `p`, in the order of `constants`.
"""

from math import sqrt

from numpy import uint32

from repro.parallel import fma, inline

from .fluid import Fluid
from .forces import pair_force
from .position import Units, between

#: what `p` holds: equation 1's a, equation 2's gamma, sigma / sqrt(dt), and the length of a coordinate's unit
REPULSION, FRICTION, NOISE, UNIT_X, UNIT_Y, UNIT_Z = range(6)


def constants(fluid: Fluid, box, real) -> tuple:
    """The numbers that every pair needs, in type `real`."""
    return (real(fluid.repulsion), real(fluid.friction), real(fluid.noise), *Units(real).lengths(box))


def separation(real):
    """Returns apart(x, y, z, j, r, count, p): the vector from particle j to (x, y, z), and its length squared."""
    difference = between(real)

    @inline
    def apart(x, y, z, j, r, count, p):
        # an unsigned index is never counted from the end, which saves a GPU half of the candidates' instructions
        dx = difference(x, r[uint32(j)]) * p[UNIT_X]
        dy = difference(y, r[uint32(count + j)]) * p[UNIT_Y]
        dz = difference(z, r[uint32(2 * count + j)]) * p[UNIT_Z]
        return dx, dy, dz, fma(dx, dx, fma(dy, dy, dz * dz))

    return apart


def force_on_first(real):
    """Returns force(dx, dy, dz, square, du, dv, dw, deviate, p): the force's components, and r . F of the pair.

    Two particles at the same place have no line of centres, and so no force.
    """
    one, least = real(1), real(1e-18)

    @inline
    def force(dx, dy, dz, square, du, dv, dw, deviate, p):
        distance = sqrt(max(square, least))
        inverse = one / distance
        approach = fma(dx, du, fma(dy, dv, dz * dw)) * inverse
        along = pair_force(distance, approach, deviate, p[REPULSION], p[FRICTION], p[NOISE], one)
        scaled = along * inverse
        return scaled * dx, scaled * dy, scaled * dz, along * distance

    return force
