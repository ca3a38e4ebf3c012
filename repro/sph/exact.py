"""What theory says: water at rest, and the first moments of a dam break."""

import numpy as np

from .equations import GAMMA
from .fluid import Fluid


def rest_condensation(depth, fluid: Fluid) -> np.ndarray:
    """(rho - rho0) / rho0 at `depth` in m below the surface of a Tait fluid at rest; zero above the surface.

    dp = rho g dz with equation 5 gives rho = rho0 (1 + (gamma - 1) g depth / c^2)^(1 / (gamma - 1)).
    """
    below = np.maximum(depth, 0.0)
    return np.expm1(np.log1p((GAMMA - 1) * fluid.gravity * below / fluid.sound_speed**2) / (GAMMA - 1))


def pressure(condensation, fluid: Fluid) -> np.ndarray:
    """Equation 5 in Pa."""
    return fluid.stiffness * np.expm1(GAMMA * np.log1p(condensation))


def rest_pressure(depth, fluid: Fluid) -> np.ndarray:
    """Pressure in Pa at `depth` in m below the surface of a Tait fluid at rest."""
    return pressure(rest_condensation(depth, fluid), fluid)


def ritter_front(time, height: float, gravity: float) -> np.ndarray:
    """How far the front has run in m after a dam of water of `height` in m has gone: 2 sqrt(g H) t.

    Ritter's solution of the shallow-water equations without friction (Z. VDI 36 (1892) 947): no front is faster.
    """
    return 2 * np.sqrt(gravity * height) * np.asarray(time, float)
