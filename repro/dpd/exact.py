"""What theory says, in units of cutoff radius, particle mass and kT."""

from math import pi, sqrt

import numpy as np
from scipy.integrate import quad

from repro.errors import require

from .fluid import Fluid
from .forces import GROOT_WARREN

#: Groot and Warren's (1997) factor of the repulsion in the pressure; good within about 5 %
ALPHA = 0.101


def pressure(fluid: Fluid) -> float:
    """Groot and Warren's fit p = rho kT + alpha a rho^2 (J. Chem. Phys. 107 (1997) 4423), for their law only."""
    _require_groot_warren(fluid)
    return fluid.density * fluid.temperature + ALPHA * fluid.repulsion * fluid.density**2


def sound_speed(fluid: Fluid) -> float:
    """sqrt(dp/drho) at constant temperature, from the same fit, for Groot and Warren's law only."""
    _require_groot_warren(fluid)
    return sqrt(fluid.temperature + 2 * ALPHA * fluid.repulsion * fluid.density)


def unstructured_pressure(fluid: Fluid) -> float:
    """rho kT + 2 pi / 3 rho^2 times the integral of r^3 F(r), for any law: the virial with g(r) = 1, in kT per volume.

    Exact for a force that is weak beside kT. Structure lowers it: by 4 % for Groot and Warren's law at a rho = 75.
    """
    virial = quad(lambda r: r**3 * fluid.conservative_force(r), 0, 1)[0]
    return fluid.density * fluid.temperature + 2 * pi / 3 * fluid.density**2 * virial


def _require_groot_warren(fluid: Fluid) -> None:
    other = f"not for {fluid.law.name}: use unstructured_pressure"
    require(fluid.law is GROOT_WARREN, f"the fit holds for the law {GROOT_WARREN.name}, {other}")


def self_diffusion(fluid: Fluid) -> float:
    """Kinetic theory (Marsh, Backx and Ernst 1997), without the repulsion: a sanity band of 30 %."""
    return 45 * fluid.temperature / (2 * pi * fluid.friction * fluid.density)


def viscosity(fluid: Fluid) -> float:
    """Kinetic theory (Marsh, Backx and Ernst 1997), without the repulsion: rho (D / 2 + 2 pi gamma rho / 1575)."""
    return fluid.density * (self_diffusion(fluid) / 2 + 2 * pi * fluid.friction * fluid.density / 1575)


def poiseuille(z, height: float, drive: float, density: float, viscosity: float) -> np.ndarray:
    """Velocity between plates at 0 and `height`: rho g z (H - z) / (2 eta)."""
    return density * drive * np.asarray(z) * (height - np.asarray(z)) / (2 * viscosity)
