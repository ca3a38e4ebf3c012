"""What a run tells, from the arrays of `Simulation.particles()`. SI units."""

from typing import NamedTuple

import numpy as np

from .equations import GAMMA
from .exact import pressure
from .system import System


class Energy(NamedTuple):
    """Energies of the fluid in J."""

    kinetic: float
    #: above the tank's bottom
    potential: float
    #: of the compression, zero at rho0
    internal: float

    @property
    def total(self) -> float:
        """Their sum, which artificial viscosity can only lower."""
        return self.kinetic + self.potential + self.internal


def energy(particles: dict[str, np.ndarray], system: System) -> Energy:
    """Energies of all particles.

    The internal energy of a Tait fluid is the integral of p / rho^2 over rho: with r = 1 + s, a particle of mass m has
    m B / rho0 ((r^6 - 1) / 6 + 1 / r - 1).
    """
    fluid, mass = system.fluid, system.mass
    square = np.square(particles["velocity"], dtype=float).sum()
    r = 1 + particles["condensation"].astype(float)
    stored = (r ** (GAMMA - 1) - 1) / (GAMMA - 1) + 1 / r - 1
    return Energy(
        kinetic=float(mass * square / 2),
        potential=float(mass * fluid.gravity * particles["position"][:, 2].sum()),
        internal=float(mass * fluid.stiffness / fluid.density * stored.sum()),
    )


def front(particles: dict[str, np.ndarray], system: System) -> float:
    """How far in m from the wall at x = 0 the water has come: the foremost particle and half a spacing."""
    return float(particles["position"][:, 0].max()) + system.resolution.spacing / 2


class Profile(NamedTuple):
    """Means in layers: the particles' mean height in m, how many they are, and their mean pressure in Pa."""

    height: np.ndarray
    count: np.ndarray
    pressure: np.ndarray


def pressure_profile(particles: dict[str, np.ndarray], system: System) -> Profile:
    """Pressure in layers one spacing high from the bottom; layers without a particle are left out."""
    z = particles["position"][:, 2]
    layer = np.maximum(z / system.resolution.spacing, 0).astype(int)
    count = np.bincount(layer)
    held = count > 0
    p = pressure(particles["condensation"].astype(float), system.fluid)
    means = (np.bincount(layer, weights=values)[held] / count[held] for values in (z, p))
    height, mean = means
    return Profile(height, count[held], mean)


class Deficit(NamedTuple):
    """Root mean squares of how much of rho0 equation 3 misses, zero for what is not missing."""

    near_walls: float
    near_surface: float
    inside: float


def density_deficit(summed: np.ndarray, particles: dict[str, np.ndarray], system: System, surface) -> Deficit:
    """The deficit of `summed` condensations (`Simulation.summed_condensation`) by where the particles are.

    `surface` says which particles see the air; of the others those within a support of a wall are near it.
    """
    position, reach = particles["position"], system.resolution.support
    off_wall = np.minimum(position, np.array(system.tank) - position).min(1)
    walls = (off_wall < reach) & ~surface
    missing = np.maximum(-summed.astype(float), 0)

    def mean(chosen):
        return float(np.sqrt(np.mean(missing[chosen] ** 2))) if chosen.any() else 0.0

    return Deficit(mean(walls), mean(surface), mean(~walls & ~surface))
