"""How an electron moves: kicked by the electric field, and on a helix around the magnetic field, which is exact.

Over a time t (a share of the step) in a constant field the momentum u turns around B by the angle t |omega|, where
omega = B~ / gamma, and with g = omega x u and h = omega x g

    u(t) = u + S g + C h,        integral of u = t u + C g + D h,

    S = sin(t w) / w,   C = (1 - cos(t w)) / w^2,   D = (t w - sin(t w)) / w^3,   w = |omega|.

All three are power series in (t w)^2, so they need no sine, no root and no exception for a vanishing field. The energy
does not change, and neither does the momentum along B. A kick by E at both ends of a step and this motion between them
is a splitting of the Hamiltonian: it is reversible, and drifts across B with E/B exactly (He et al. 2015, Phys. Plasmas
22, 124503).
"""

from functools import cache
from math import factorial, sqrt

import numpy as np

from repro.parallel import device_function, fma
from repro.parallel.elementary import polynomial

#: largest angle in radians that a particle may turn by in a step: the series hold to rounding up to twice that, and a
#: circle of fewer than six chords is none
LARGEST_TURN = 1.0


@cache
def make_rotation_factors(real):
    """S, C and D for q = (t w)^2, to rounding for angles t w up to 2: factors(q, t)."""
    terms = 7 if real is np.float32 else 11
    sine, cosine, rest = (
        polynomial(tuple(real((-1) ** k / factorial(2 * k + odd)) for k in reversed(range(terms)))) for odd in (1, 2, 3)
    )

    @device_function
    def factors(q, t):
        squared = t * t
        return t * sine(q), squared * cosine(q), t * squared * rest(q)

    return factors


@device_function
def cross(a, b):
    """The vector product."""
    return (
        fma(a[1], b[2], -(a[2] * b[1])),
        fma(a[2], b[0], -(a[0] * b[2])),
        fma(a[0], b[1], -(a[1] * b[0])),
    )


@device_function
def squared(a):
    """The square of a vector."""
    return fma(a[0], a[0], fma(a[1], a[1], a[2] * a[2]))


@device_function
def orbit_of(u, magnetic):
    """How an electron of momentum u moves in the field B~.

    The parts are w^2, 1 / gamma, and the vectors u, g and h of the module's text.
    """
    one = type(u[0])(1)
    slow = one / sqrt(one + squared(u))
    omega = (magnetic[0] * slow, magnetic[1] * slow, magnetic[2] * slow)
    g = cross(omega, u)
    return squared(omega), slow, u, g, cross(omega, g)


@device_function
def momentum(orbit, factors):
    """The momentum on an orbit, with the factors S, C and D of the time."""
    _, _, u, g, h = orbit
    s, c, _ = factors
    return (
        fma(s, g[0], fma(c, h[0], u[0])),
        fma(s, g[1], fma(c, h[1], u[1])),
        fma(s, g[2], fma(c, h[2], u[2])),
    )


@device_function
def moved(x, speed, u, g, h, t, factors):
    """Where along an axis an orbit from x has come after t: u, g and h are the components along it.

    `speed` is the way in a step, in cells, of what has a momentum of 1.
    """
    _, c, d = factors
    return fma(speed, fma(t, u, fma(c, g, d * h)), x)


@cache
def make_fly(real):
    """Where an orbit has come after t of a step, and the momentum there: fly(position, orbit, courant, t)."""
    factors_of = make_rotation_factors(real)

    @device_function
    def fly(position, orbit, courant, t):
        q, slow, u, g, h = orbit
        factors = factors_of(q * t * t, t)
        x = moved(position[0], courant[0] * slow, u[0], g[0], h[0], t, factors)
        y = moved(position[1], courant[1] * slow, u[1], g[1], h[1], t, factors)
        z = moved(position[2], courant[2] * slow, u[2], g[2], h[2], t, factors)
        return (x, y, z), momentum(orbit, factors)

    return fly


@device_function
def rate(speed, u, g, h, factors):
    """How fast it moves along the axis then, in cells a step."""
    s, c, _ = factors
    return speed * fma(s, g, fma(c, h, u))


@device_function
def _share(x, end):
    """The share of a chord along an axis that is before the face beyond which it ends, 2 where it ends inside."""
    zero, one, never = type(x)(0), type(x)(1), type(x)(2)
    apart = end - x
    chord = ((one if end > one else zero) - x) / (apart if apart != zero else one)
    return chord if (end > one) | (end < zero) else never


@device_function
def first_face(position, end):
    """The face that the chord to `end`, beyond the cell, meets first, and its share.

    The face is 2 * axis, and 1 more at the high end; the share of the chord is 1 at its end.
    """
    x, y, z = _share(position[0], end[0]), _share(position[1], end[1]), _share(position[2], end[2])
    axis = np.int32(0) if (x <= y) & (x <= z) else (np.int32(1) if y <= z else np.int32(2))
    beyond = end[0] if axis == 0 else (end[1] if axis == 1 else end[2])
    return 2 * axis + np.int32(beyond > type(beyond)(1)), min(x, min(y, z))


@device_function
def along_axis(axis, position, orbit, courant):
    """Place, speed and the three components of an orbit along an axis that is known at run time only."""
    _, slow, u, g, h = orbit
    x = position[0] if axis == 0 else (position[1] if axis == 1 else position[2])
    speed = courant[0] if axis == 0 else (courant[1] if axis == 1 else courant[2])
    u_k = u[0] if axis == 0 else (u[1] if axis == 1 else u[2])
    g_k = g[0] if axis == 0 else (g[1] if axis == 1 else g[2])
    h_k = h[0] if axis == 0 else (h[1] if axis == 1 else h[2])
    return x, speed * slow, u_k, g_k, h_k
