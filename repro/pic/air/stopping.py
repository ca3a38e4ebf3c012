"""Energy that electrons lose to the electrons of air: the collisional stopping power, which bremsstrahlung adds to.

Berger and Seltzer's formula (ICRU 37) with the mean excitation energy of dry air. Everything here is for the set-up:
energies tau are T / (m c^2), stopping powers are in m c^2 per metre.
"""

from math import log, pi

import numpy as np
from scipy import constants

from ..constants import REST_ENERGY
from .medium import EXCITATION_ENERGY, Air

#: classical radius of the electron in m
ELECTRON_RADIUS = constants.physical_constants["classical electron radius"][0]

#: eV: below, the formula falls with falling energy, which is not what electrons do: d/dT of ln(T / I)^2 / T is zero
LOWEST_ENERGY = 200.0

#: eV: above, the density effect sets in, which the formula here does without
HIGHEST_ENERGY = 20e6


def speed_squared(tau):
    """beta^2 of an electron."""
    return tau * (tau + 2) / (tau + 1) ** 2


def collision_scale(air: Air) -> float:
    """2 pi r_e^2 n_e in 1/m, to which all losses to electrons are proportional."""
    return 2 * pi * ELECTRON_RADIUS**2 * air.electrons


def collision_stopping(tau, air: Air) -> np.ndarray:
    """Berger and Seltzer's collisional stopping power without density effect."""
    tau = np.asarray(tau, float)
    beta2 = speed_squared(tau)
    per_excitation = tau * REST_ENERGY / EXCITATION_ENERGY
    rest = (1 - beta2) * (1 + tau**2 / 8 - (2 * tau + 1) * log(2))
    return collision_scale(air) / beta2 * (2 * np.log(per_excitation) + np.log1p(tau / 2) + rest)
