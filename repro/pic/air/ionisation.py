"""Ionisation that sets an electron free with more energy than a cut: Moller scattering on an electron at rest.

    dsigma/deps = 2 pi r_e^2 / (beta^2 tau) [1/eps^2 + 1/(1 - eps)^2 + ((gamma - 1)/gamma)^2
                                              - (2 gamma - 1)/(gamma^2 eps (1 - eps))]

with eps = W / T from cut / T to 1/2: of the two electrons the slower is the secondary. A transfer eps is drawn from
1/eps^2 and accepted with the probability of `acceptance`; what is rejected is a collision that does nothing.
"""

from functools import cache
from math import sqrt

import numpy as np

from repro.parallel import device_function, fma
from repro.particles.random import uniform

from .event_numbers import ANGLES, REJECTION, event_words
from .kinematics import make_deflection
from .medium import Air
from .stopping import collision_scale, collision_stopping, speed_squared

#: as a process, see `processes`: the secondary has the energy that is taken
SECONDARY, ENERGY = True, None


def _parts(tau):
    gamma = 1 + np.asarray(tau, float)
    return ((gamma - 1) / gamma) ** 2, (2 * gamma - 1) / gamma**2


def differential(share, tau, air: Air) -> np.ndarray:
    """Macroscopic cross-section (1/m) per unit of eps, the share of the energy that the secondary takes."""
    square, mixed = _parts(tau)
    form = 1 / share**2 + 1 / (1 - share) ** 2 + square - mixed / (share * (1 - share))
    return collision_scale(air) / (speed_squared(tau) * tau) * form


def cross_section(tau, cut: float, air: Air) -> np.ndarray:
    """Macroscopic cross-section (1/m) of ionisation above `cut` (in m c^2), the integral of `differential`."""
    square, mixed = _parts(tau)
    x = np.minimum(cut / np.asarray(tau, float), 0.5)
    form = square * (0.5 - x) + 1 / x - 1 / (1 - x) - mixed * np.log((1 - x) / x)
    return collision_scale(air) / (speed_squared(tau) * tau) * form


def stopping_above(tau, cut: float, air: Air) -> np.ndarray:
    """Mean energy that secondaries above `cut` take per metre: the integral of W over `differential`, in m c^2 / m."""
    square, mixed = _parts(tau)
    x = np.minimum(cut / np.asarray(tau, float), 0.5)
    form = np.log(1 / (4 * x * (1 - x))) + 2 - 1 / (1 - x) + square * (0.125 - x**2 / 2)
    form += -mixed * np.log(2 * (1 - x))
    return collision_scale(air) / speed_squared(tau) * form


def candidates(tau, cut: float, air: Air) -> np.ndarray:
    """Macroscopic cross-section (1/m) at which transfers are drawn, those that are rejected included."""
    x = np.minimum(cut / np.asarray(tau, float), 0.5)
    square, mixed = _parts(tau)
    return collision_scale(air) / (speed_squared(tau) * tau) * (1 / x - 2) * np.maximum(1, 2 + square / 4 - mixed)


def loss(tau, cut: float, air: Air) -> np.ndarray:
    """Energy that the electrons of air take per metre in portions up to the cut, excitation included."""
    return collision_stopping(tau, air) - stopping_above(tau, cut, air)


@device_function
def transfer(unit, cut, tau):
    """eps with the density 1/eps^2 from cut / tau to 1/2, for a number from 0 to 1."""
    half, one, two = type(tau)(0.5), type(tau)(1), type(tau)(2)
    x = min(cut / tau, half)
    return x / fma(-unit, fma(-two, x, one), one)


@device_function
def acceptance(eps, tau):
    """The cross-section over that of the candidates.

    With r = eps / (1 - eps) the form times eps^2 is 1 + r^2 + ((gamma - 1)/gamma)^2 eps^2 - (2 gamma - 1)/gamma^2 r,
    which is convex, and so largest at an end: 1 at eps = 0, or its value at 1/2.
    """
    quarter, one, two = type(tau)(0.25), type(tau)(1), type(tau)(2)
    inverse = one / (one + tau)
    slowness = tau * inverse
    square, mixed = slowness * slowness, inverse * fma(slowness, one, one)
    r = eps / (one - eps)
    form = fma(r, r - mixed, fma(square * eps, eps, one))
    return form / max(one, fma(quarter, square, two) - mixed)


@device_function
def ejection(tau, energy):
    """The angle at which a secondary of an energy flies, and its momentum over m c.

    cos^2 of the angle is (W / T)(T + 2) / (W + 2), and 1 - cos is returned; the primary keeps u less that momentum, and
    T - W with it.
    """
    zero, one, two = type(tau)(0), type(tau)(1), type(tau)(2)
    across = two * (tau - energy) / (tau * (energy + two))
    return across / (one + sqrt(max(one - across, zero))), sqrt(energy * (energy + two))


@cache
def make_outcome(real):
    """What an ionisation leaves, see `processes`: two electrons, between which the momentum is shared."""
    unit, zero, turned = uniform(real), real(0), make_deflection(real)

    @device_function
    def outcome(u, u2, tau, key, event, cut):
        first, second = event_words(key, event, ANGLES)
        third, _ = event_words(key, event, REJECTION)
        eps = transfer(unit(first), cut, tau)
        if unit(third) > acceptance(eps, tau):
            return False, u, (zero, zero, zero)
        size, (polar, given) = sqrt(u2), ejection(tau, eps * tau)
        x, y, z = turned(u, size, polar, unit(second))
        factor = given / size
        x, y, z = factor * x, factor * y, factor * z
        return True, (u[0] - x, u[1] - y, u[2] - z), (x, y, z)

    return outcome
