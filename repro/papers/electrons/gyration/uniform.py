"""An electron in a constant uniform electric and magnetic field: the exact solution, for any fields and momenta.

In proper time s the motion is linear, dU/ds = F U with U = (gamma, u), F U = (-E . u, -(gamma E + u x B)), so that
U(s) = exp(F s) U, and time and way are its integral. The proper time of a lab time is found by Newton's iteration,
whose slope gamma is known. For comparisons: nothing here is fast.
"""

from math import ceil

import numpy as np
from scipy.linalg import expm

from repro.declared import Number, Numbers


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
