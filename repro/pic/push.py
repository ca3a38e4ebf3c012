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

from repro.parallel import fma, inline
from repro.parallel.elementary import polynomial

#: largest angle in radians that a particle may turn by in a step: the series hold to rounding up to twice that, and a
#: circle of fewer than six chords is none
LARGEST_TURN = 1.0

#: most iterations in search of the time at which a face is met
_SEARCHES = 60


@cache
def turning(real):
    """Returns factors(q, t): S, C and D for q = (t w)^2, to rounding for angles t w up to 2."""
    terms = 7 if real is np.float32 else 11
    sine, cosine, rest = (
        polynomial(tuple(real((-1) ** k / factorial(2 * k + odd)) for k in reversed(range(terms)))) for odd in (1, 2, 3)
    )

    @inline
    def factors(q, t):
        squared = t * t
        return t * sine(q), squared * cosine(q), t * squared * rest(q)

    return factors


@inline
def cross(a, b):
    """The vector product."""
    return (
        fma(a[1], b[2], -(a[2] * b[1])),
        fma(a[2], b[0], -(a[0] * b[2])),
        fma(a[0], b[1], -(a[1] * b[0])),
    )


@inline
def squared(a):
    """The square of a vector."""
    return fma(a[0], a[0], fma(a[1], a[1], a[2] * a[2]))


@cache
def circling(real):
    """Returns orbit(u, magnetic): how an electron of momentum u moves in the field B~.

    The parts are w^2, 1 / gamma, and the vectors u, g and h of the module's text.
    """
    one = real(1)

    @inline
    def orbit(u, magnetic):
        slow = one / sqrt(one + squared(u))
        omega = (magnetic[0] * slow, magnetic[1] * slow, magnetic[2] * slow)
        g = cross(omega, u)
        return squared(omega), slow, u, g, cross(omega, g)

    return orbit


@inline
def momentum(orbit, factors):
    """The momentum on an orbit, with the factors S, C and D of the time."""
    _, _, u, g, h = orbit
    s, c, _ = factors
    return (
        fma(s, g[0], fma(c, h[0], u[0])),
        fma(s, g[1], fma(c, h[1], u[1])),
        fma(s, g[2], fma(c, h[2], u[2])),
    )


@inline
def moved(x, k, speed, orbit, t, factors):
    """Where along axis k an orbit from x has come after t; `speed` is the way of light in a step, in cells."""
    _, slow, u, g, h = orbit
    _, c, d = factors
    return fma(speed * slow, fma(t, u[k], fma(c, g[k], d * h[k])), x)


@cache
def crossing(real):
    """Returns meeting(x, end, k, speed, orbit, t): when an orbit that is at `end` beyond the cell [0, 1] at t left it.

    Newton's iteration, kept between a time inside and one outside. An electron that starts on the face and turns
    towards the inside first is inside until it comes back.
    """
    factors = turning(real)
    zero, half, one = real(0), real(0.5), real(1)
    enough = real(np.finfo(real).eps)

    @inline
    def meeting(x, end, k, speed, orbit, t):
        q, slow, u, g, h = orbit
        face, way = (one, one) if end > one else (zero, -one)
        before, after = zero, t
        if x == face:
            if way * u[k] > zero:
                return zero
            found = t
        else:
            found = t * ((face - x) / (end - x))
        for _ in range(_SEARCHES):
            s, c, d = factors(q * found * found, found)
            beyond = moved(x, k, speed, orbit, found, (s, c, d)) - face
            if way * beyond > zero:
                after = found
            else:
                before = found
            rate = speed * slow * fma(s, g[k], fma(c, h[k], u[k]))
            step = beyond / rate if rate != zero else t
            next_ = found - step
            if not (before <= next_ <= after):
                next_ = half * (before + after)
            change = next_ - found
            found = next_
            if abs(change) <= enough * t:
                break
        return found

    return meeting
