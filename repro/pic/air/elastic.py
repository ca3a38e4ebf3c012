"""Elastic scattering on the atoms of air: screened Rutherford with Mott's factor for light nuclei.

    dsigma/dOmega ~ F(theta) / (1 - cos theta + 2 A)^2,
    F = 1 - beta^2 s^2 + pi alpha Z beta s (1 - s),   s = sin(theta / 2),
    A = (hbar / (2 p a))^2 (1.13 + 3.76 (alpha Z / beta)^2),   a = 0.885 a_0 Z^(-1/3).

Without F the cross-section is pi r_e^2 Z (Z + 1) / (u^2 beta^2 A (1 + A)), where Z + 1 for Z adds the electrons of the
atom. Angles are drawn without F and accepted with the probability F over its bound; what is rejected is a collision
that does nothing.
"""

from functools import cache
from math import pi, sqrt

import numpy as np
from scipy import constants

from repro.parallel import device_function, fma
from repro.particles.random import uniform

from .event_numbers import ANGLES, REJECTION, event_words
from .kinematics import make_deflection
from .medium import ELEMENTS, Air, Element
from .stopping import ELECTRON_RADIUS, speed_squared

#: as a process, see `processes`: it sets no electron free, and takes no energy
SECONDARY, ENERGY = False, None

_BOHR_RADIUS = constants.physical_constants["Bohr radius"][0]
_COMPTON = constants.hbar / (constants.m_e * constants.c)


def _bare(element: Element) -> float:
    """(hbar / (2 m c a))^2."""
    return (_COMPTON / (2 * 0.885 * _BOHR_RADIUS * element.number ** (-1 / 3))) ** 2


def screening(tau, element: Element) -> np.ndarray:
    """Moliere's screening parameter A for electrons of energy tau, in m c^2."""
    tau = np.asarray(tau, float)
    u2 = tau * (tau + 2)
    return _bare(element) / u2 * (1.13 + 3.76 * (constants.alpha * element.number) ** 2 / speed_squared(tau))


def bound(tau, element: Element) -> np.ndarray:
    """A bound of F, for s (1 - s) is at most 1/4."""
    return 1 + pi * constants.alpha * element.number * np.sqrt(speed_squared(tau)) / 4


def mott_factor(mu1, tau, element: Element) -> np.ndarray:
    """F at mu1 = 1 - cos theta."""
    beta2, s = speed_squared(tau), np.sqrt(np.asarray(mu1) / 2)
    return 1 - beta2 * s**2 + pi * constants.alpha * element.number * np.sqrt(beta2) * s * (1 - s)


def _rutherford(tau, element: Element, air: Air):
    a = screening(tau, element)
    size = pi * ELECTRON_RADIUS**2 * element.number * (element.number + 1) * air.atoms(element)
    return size / (tau * (tau + 2) * speed_squared(tau) * a * (1 + a))


def candidates(tau, cut: float, air: Air) -> np.ndarray:
    """Macroscopic cross-section (1/m) at which angles are drawn, those that are rejected included, whatever the cut."""
    tau = np.asarray(tau, float)
    return sum(_rutherford(tau, element, air) * bound(tau, element) for element in ELEMENTS)


def loss(tau, cut: float, air: Air) -> np.ndarray:
    """No continuous loss: an atom is so heavy that it takes no energy."""
    return np.zeros_like(tau, float)


def _mott_mean(tau, element: Element):
    """Mean of F over screened Rutherford angles, in closed form."""
    a, beta2 = screening(tau, element), speed_squared(tau)
    # means of s^2 and s with the density 2 s (1 + A) A / (s^2 + A)^2 from 0 to 1
    square = a * ((1 + a) * np.log1p(1 / a) - 1)
    first = a * (1 + a) * (np.arctan(1 / np.sqrt(a)) / np.sqrt(a) - 1 / (1 + a))
    return 1 - beta2 * square + pi * constants.alpha * element.number * np.sqrt(beta2) * (first - square)


def cross_section(tau, air: Air) -> np.ndarray:
    """Macroscopic cross-section (1/m) of elastic scattering with Mott's factor."""
    tau = np.asarray(tau, float)
    return sum(_rutherford(tau, element, air) * _mott_mean(tau, element) for element in ELEMENTS)


@cache
def make_scattering(real):
    """mu1 = 1 - cos(theta) of a collision, and whether it happens: angle(u2, targets, unit, chance).

    `targets`, `unit` and `chance` are three numbers from 0 to 1, for element, angle and Mott's factor. Without it mu1
    has the density 1 / (mu1 + 2 A)^2. A `unit` near 0 is a large angle: there it has the more digits, while A is 1e-7
    at 10 MeV.
    """
    bare = tuple(real(_bare(element)) for element in ELEMENTS)
    moliere = tuple(real(3.76 * (constants.alpha * element.number) ** 2) for element in ELEMENTS)
    mott = tuple(real(pi * constants.alpha * element.number) for element in ELEMENTS)
    size = tuple(real(e.number * (e.number + 1) * e.per_mass / ELEMENTS[0].per_mass) for e in ELEMENTS)
    quarter, half, one, two, thomas = real(0.25), real(0.5), real(1), real(2), real(1.13)

    @device_function
    def screen(k, u2, beta2):
        return bare[k] / u2 * (thomas + moliere[k] / beta2)

    @device_function
    def weight(k, a, beta):
        return size[k] * fma(quarter * mott[k], beta, one) / (a * (one + a))

    @device_function
    def angle(u2, targets, unit, chance):
        beta2 = u2 / (one + u2)
        beta = sqrt(beta2)
        a, b, c = screen(0, u2, beta2), screen(1, u2, beta2), screen(2, u2, beta2)
        first, second = weight(0, a, beta), weight(1, b, beta)
        aim = targets * (first + second + weight(2, c, beta))
        screened, tilt = c, mott[2]
        if aim <= first:
            screened, tilt = a, mott[0]
        elif aim <= first + second:
            screened, tilt = b, mott[1]
        mu1 = two * screened * (one - unit) / (screened + unit)
        s = sqrt(half * mu1)
        factor = fma(-beta2 * s, s, fma(tilt * beta * s, one - s, one))
        return mu1, chance * fma(quarter * tilt, beta, one) <= factor

    return angle


@cache
def make_outcome(real):
    """What an elastic collision leaves, see `processes`: the electron in another direction."""
    unit, zero = uniform(real), real(0)
    angle, turned = make_scattering(real), make_deflection(real)

    @device_function
    def outcome(u, u2, tau, key, event, cut):
        first, second = event_words(key, event, ANGLES)
        third, fourth = event_words(key, event, REJECTION)
        mu1, happens = angle(u2, unit(fourth), unit(first), unit(third))
        if happens:
            u = turned(u, sqrt(u2), mu1, unit(second))
        return happens, u, (zero, zero, zero)

    return outcome
