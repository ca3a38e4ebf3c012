"""The steps of others, and ours as one step, for comparison: the solver itself uses none of these functions.

Each takes a momentum (over m c) and the fields E~ and B~ at an electron, and returns the momentum a step later and the
way of that step in c times a step. The leapfrogs' momenta are half a step before and after the fields, and the way is
the next step's velocity; ours are at whole steps.

And the exact solution in constant uniform fields, for any fields and momenta: in proper time s the motion is linear,
dU/ds = F U with U = (gamma, u), F U = (-E . u, -(gamma E + u x B)), so that U(s) = exp(F s) U, and time and way are its
integral. The proper time of a lab time is found by Newton's iteration, whose slope gamma is known. Nothing is fast.
"""

from math import ceil, sqrt

import numpy as np
from scipy.linalg import expm

from repro.declared import Number, Numbers
from repro.pic.motion.push import cross, make_rotation_factors, momentum, moved, orbit_of, squared


def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _plus(a, b, share):
    """a + share * b."""
    return tuple(p + share * q for p, q in zip(a, b, strict=True))


def _times(share, a):
    return tuple(share * p for p in a)


def _with_way(u):
    return u, _times(1 / sqrt(1 + squared(u)), u)


def _turned(u, t):
    """(u + (u . t) t + u x t) / (1 + t^2): half of Boris' rotation, which the others solve for."""
    share, along = 1 / (1 + squared(t)), _dot(u, t)
    return tuple(share * (p + along * q + side) for p, q, side in zip(u, t, cross(u, t), strict=True))


def _middle_gamma(u, half_turn):
    """gamma at the middle of the step, from what u is without the magnetic field's half turn (Vay, Higuera, Cary)."""
    rest, along = 1 + squared(u) - squared(half_turn), _dot(u, half_turn)
    return sqrt((rest + sqrt(rest * rest + 4 * (squared(half_turn) + along * along))) / 2)


def boris(u, electric, magnetic):
    """Boris (1970): half a kick, a rotation by 2 arctan(B~ / 2 gamma), half a kick."""
    early = _plus(u, electric, -0.5)
    t = _times(-0.5 / sqrt(1 + squared(early)), magnetic)
    late = _plus(early, cross(_plus(early, cross(early, t), 1.0), t), 2 / (1 + squared(t)))
    return _with_way(_plus(late, electric, -0.5))


def vay(u, electric, magnetic):
    """Vay (2008, Phys. Plasmas 15, 056701): the mean of the velocities at both ends goes into the magnetic force."""
    half_turn = _times(-0.5, magnetic)
    pushed = _plus(_plus(u, electric, -1.0), cross(u, half_turn), 1 / sqrt(1 + squared(u)))
    return _with_way(_turned(pushed, _times(1 / _middle_gamma(pushed, half_turn), half_turn)))


def higuera_cary(u, electric, magnetic):
    """Higuera and Cary (2017, Phys. Plasmas 24, 052104): the velocity of the mean momentum; it keeps volumes."""
    half_turn = _times(-0.5, magnetic)
    early = _plus(u, electric, -0.5)
    t = _times(1 / _middle_gamma(early, half_turn), half_turn)
    middle = _turned(early, t)
    return _with_way(_plus(_plus(middle, cross(middle, t), 1.0), electric, -0.5))


_FACTORS = make_rotation_factors(np.float64)


def splitting(u, electric, magnetic):
    """Ours: half a kick, the exact helix, half a kick; see `repro.pic.motion.push`."""
    orbit = orbit_of(_plus(u, electric, -0.5), magnetic)
    factors = _FACTORS(orbit[0], 1.0)
    _, slow, p, g, h = orbit
    way = tuple(moved(0.0, slow, *along, 1.0, factors) for along in zip(p, g, h, strict=True))
    return _plus(momentum(orbit, factors), electric, -0.5), way


#: by name
PUSHERS = {"Boris": boris, "Vay": vay, "Higuera and Cary": higuera_cary, "splitting": splitting}


def _after(u, electric, magnetic, t):
    """Momentum and way after a time in which neither field changes gamma or a direction by more than about 1."""
    motion = np.zeros((8, 8))
    motion[0, 1:4] = motion[1:4, 0] = -electric
    motion[1:4, 1:4] = np.cross(magnetic, np.eye(3)).T
    # the last four are the integrals of the first
    motion[4:, :4] = np.eye(4)
    start = np.array([np.sqrt(1 + u @ u), *u, 0, 0, 0, 0])
    s, found = t / start[0], start
    # Newton's iterations
    for _ in range(8):
        found = expm(motion * s) @ start
        s = s - (found[4] - t) / found[0]
    return found[1:4], found[5:]


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
        u, moved = _after(u, electric, magnetic, t / parts)
        way = way + moved
    return u, way
