"""An electron in a constant uniform electric and magnetic field: the exact solution, for any fields and momenta.

In proper time s the motion is linear, dU/ds = F U with U = (gamma, u), F U = (-E . u, -(gamma E + u x B)), so that
U(s) = exp(F s) U and the way is its integral. F has F^4 = p F^2 - m with p = E^2 - B^2 and m = -(E . B)^2, so

    exp(F s) = c0 + c1 F + c2 F^2 + c3 F^3,

with power series for the c that need neither roots nor cases (h_k = p h_(k-1) - m h_(k-2) are the complete symmetric
polynomials of the eigenvalues of F^2). The proper time of a lab time is found by Newton's iteration, whose slope gamma
is known. For comparisons: nothing here is fast.
"""

from math import ceil, factorial

import numpy as np

from repro.declared import Number, Numbers

#: terms of each series: to rounding for |F| s up to 1
_TERMS = 10

#: Newton's iterations
_SEARCHES = 8


def _coefficients(p, m, s):
    """c0 to c3, and the integrals of c0 to c3 from 0 to s."""
    older, newer = 0.0, 1.0
    found = [1.0, s, 0.0, 0.0, s, s * s / 2, 0.0, 0.0]
    for k in range(1, _TERMS + 1):
        for start, power in ((0, 2 * k), (4, 2 * k + 1)):
            for odd in (0, 1):
                term = s ** (power + odd) / factorial(power + odd)
                found[start + odd] = found[start + odd] - m * older * term
                found[start + odd + 2] = found[start + odd + 2] + newer * term
        older, newer = newer, p * newer - m * older
    return found


def _force(gamma, u, electric, magnetic):
    """F U."""
    return -(electric @ u), -(gamma * electric + np.cross(u, magnetic))


def _combined(coefficients, powers):
    gamma = sum(c * power[0] for c, power in zip(coefficients, powers, strict=True))
    return gamma, sum(c * power[1] for c, power in zip(coefficients, powers, strict=True))


def _part(u, electric, magnetic, t):
    """Momentum and way after a time in which neither field changes gamma or a direction by more than about 1."""
    p, m = electric @ electric - magnetic @ magnetic, -((electric @ magnetic) ** 2)
    powers = [(np.sqrt(1 + u @ u), u)]
    for _ in range(3):
        powers.append(_force(*powers[-1], electric, magnetic))
    s = t / powers[0][0]
    for _ in range(_SEARCHES):
        found = _coefficients(p, m, s)
        time, _ = _combined(found[4:], powers)
        gamma, _ = _combined(found[:4], powers)
        s = s - (time - t) / gamma
    found = _coefficients(p, m, s)
    return _combined(found[:4], powers)[1], _combined(found[4:], powers)[1]


def propagated(u, electric, magnetic, t: float):
    """Momentum (over m c) and way (in c times a step) of an electron after t steps in the fields E~ and B~.

    `u`, `electric` and `magnetic` are three numbers each; t may be below 0. Raises InputError for others.
    """
    vectors = {"momentum": u, "electric field": electric, "magnetic field": magnetic}
    u, electric, magnetic = (Numbers(3).array(what, values) for what, values in vectors.items())
    Number().check("t", t)
    parts = max(1, ceil(abs(t) * (np.linalg.norm(electric) + np.linalg.norm(magnetic))))
    way = np.zeros(3)
    for _ in range(parts):
        u, moved = _part(u, electric, magnetic, t / parts)
        way = way + moved
    return u, way
