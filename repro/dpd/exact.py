"""What theory says, in units of cutoff radius, particle mass and kT."""

from math import pi, sqrt

import numpy as np

from .fluid import Fluid

#: Groot and Warren's (1997) factor of the repulsion in the pressure; good within about 5 %
ALPHA = 0.101


def pressure(fluid: Fluid) -> float:
    """Groot and Warren's fit p = rho kT + alpha a rho^2 (J. Chem. Phys. 107 (1997) 4423)."""
    return fluid.density * fluid.temperature + ALPHA * fluid.repulsion * fluid.density**2


def sound_speed(fluid: Fluid) -> float:
    """sqrt(dp/drho) at constant temperature, from the same fit."""
    return sqrt(fluid.temperature + 2 * ALPHA * fluid.repulsion * fluid.density)


def self_diffusion(fluid: Fluid) -> float:
    """Kinetic theory (Marsh, Backx and Ernst 1997), without the repulsion: a sanity band of 30 %."""
    return 45 * fluid.temperature / (2 * pi * fluid.friction * fluid.density)


def viscosity(fluid: Fluid) -> float:
    """Kinetic theory (Marsh, Backx and Ernst 1997), without the repulsion: rho (D / 2 + 2 pi gamma rho / 1575)."""
    return fluid.density * (self_diffusion(fluid) / 2 + 2 * pi * fluid.friction * fluid.density / 1575)


def poiseuille(z, height: float, drive: float, density: float, viscosity: float) -> np.ndarray:
    """Velocity between plates at 0 and `height`: rho g z (H - z) / (2 eta)."""
    return density * drive * np.asarray(z) * (height - np.asarray(z)) / (2 * viscosity)
