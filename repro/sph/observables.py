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
        """Their sum, which artificial viscosity and the diffusion of density can only lower."""
        return self.kinetic + self.potential + self.internal


def energy(particles: dict[str, np.ndarray], system: System, ranks=None) -> Energy:
    """Energies of all particles; with `ranks`, which must all call it, of those of all ranks.

    The internal energy of a Tait fluid is the integral of p / rho^2 over rho: with r = 1 + s, a particle of mass m has
    m B / rho0 ((r^6 - 1) / 6 + 1 / r - 1).
    """
    fluid, mass = system.fluid, system.mass
    square = np.square(particles["velocity"], dtype=float).sum()
    r = 1 + particles["condensation"].astype(float)
    stored = (r ** (GAMMA - 1) - 1) / (GAMMA - 1) + 1 / r - 1
    kinetic, potential = mass * square / 2, mass * fluid.gravity * particles["position"][:, 2].sum()
    found = np.array([kinetic, potential, mass * fluid.stiffness / fluid.density * stored.sum()], float)
    return Energy(*(found if ranks is None else ranks.sum(found, "the energy")).tolist())


def front(particles: dict[str, np.ndarray], system: System, ranks=None) -> float:
    """How far in m from the wall at x = 0 the water has come: the foremost particle and half a spacing.

    With `ranks`, which must all call it, that of all ranks.
    """
    foremost = particles["position"][:, 0].max(initial=-np.inf)
    if ranks is not None:
        foremost = ranks.gather(np.array([foremost]), "the front").max()
    return float(foremost) + system.resolution.spacing / 2


def reduced_time(time, width: float, gravity: float) -> np.ndarray:
    """t* = t sqrt(2 g / a) of times in s, for a column `width` = a in m wide (Martin and Moyce, Phil. Trans. R. Soc. A
    244 (1952) 312, for columns twice as high as wide; Z = front / a goes with it).
    """
    return np.asarray(time, float) * np.sqrt(2 * gravity / width)


class Advance(NamedTuple):
    """How a front runs: the slope dZ/dt*, and the t* at which it comes to Z = 3; NaN where it does not come so far."""

    slope: float
    arrival: float


#: a front's slope is that of the line through its points between these Z: it has gathered speed, and meets no wall yet
RUNNING = (2.0, 3.5)


def advance(reduced: np.ndarray, front_over_width: np.ndarray) -> Advance:
    """Slope and arrival of a front that is at Z = `front_over_width` at the ascending times t* = `reduced`."""
    t, z = np.asarray(reduced, float), np.asarray(front_over_width, float)
    runs = (z >= RUNNING[0]) & (z <= RUNNING[1])
    slope = np.polyfit(t[runs], z[runs], 1)[0] if runs.sum() > 1 else np.nan
    there = int(np.argmax(z >= 3)) if (z >= 3).any() else 0
    if there == 0:
        return Advance(float(slope), float("nan"))
    before = there - 1
    share = (3 - z[before]) / (z[there] - z[before])
    return Advance(float(slope), float(t[before] + share * (t[there] - t[before])))


def beyond_walls(particles: dict[str, np.ndarray], system: System) -> np.ndarray:
    """How far each particle lies beyond the nearest wall, in spacings; negative within the tank."""
    position = particles["position"]
    return np.maximum(-position, position - np.array(system.tank)).max(1) / system.resolution.spacing


def wall_unevenness(particles: dict[str, np.ndarray], system: System) -> float:
    """How uneven the water's boundary along the walls is, in spacings.

    Each wall is divided into squares one spacing wide; over each, the particle next to the wall is looked for, up to a
    spacing away: what is farther is a surface that ends there. The unevenness is the root mean square of how far these
    are off half a spacing, where the lattice has them: particles that lie on the wall count a half.
    """
    spacing, tank = system.resolution.spacing, np.array(system.tank)
    position, found = particles["position"], []
    for axis in range(3):
        others = [k for k in range(3) if k != axis]
        index = np.clip(position[:, others] / spacing, 0, np.rint(tank[others] / spacing) - 1).astype(int)
        square = np.unique(index, axis=0, return_inverse=True)[1].reshape(-1)
        for distance in (position[:, axis], tank[axis] - position[:, axis]):
            nearest = np.full(square.max() + 1, np.inf)
            np.minimum.at(nearest, square, distance)
            found.append(nearest[nearest < spacing])
    every = np.concatenate(found)
    return float(np.sqrt(np.mean((every / spacing - 0.5) ** 2))) if len(every) else 0.0


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
    height, mean = (np.bincount(layer, weights=values)[held] / count[held] for values in (z, p))
    return Profile(height, count[held], mean)


def density_deficit(summed: np.ndarray, particles: dict[str, np.ndarray], system: System, surface) -> tuple:
    """Root mean squares of how much of rho0 equation 3 misses near walls, near the surface and inside.

    `summed` are condensations of `Simulation.summed_condensation`; what is not missing counts as zero. `surface` says
    which particles see the air; of the others those within a support of a wall are near it.
    """
    position, reach = particles["position"], system.resolution.support
    off_wall = np.minimum(position, np.array(system.tank) - position).min(1)
    walls = (off_wall < reach) & ~surface
    missing = np.maximum(-summed.astype(float), 0)

    def mean(chosen):
        return float(np.sqrt(np.mean(missing[chosen] ** 2))) if chosen.any() else 0.0

    return mean(walls), mean(surface), mean(~walls & ~surface)
