"""What a run tells: temperature, pressure, structure, diffusion, viscosity, each with its error."""

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from repro.errors import require

from .averages import Field
from .system import System

#: blocks into which a series is cut for its error
BLOCKS = 20


class Estimate(NamedTuple):
    """A mean and its standard error, numbers or arrays."""

    value: float
    error: float

    def __str__(self):
        return f"{self.value:.4g} +- {self.error:.1g}"


def mean_of(values) -> Estimate:
    """The mean of independent values and its standard error; of arrays, number by number."""
    values = np.asarray(values)
    require(len(values) >= 2, f"{len(values)} value: an error needs at least two independent ones")
    return Estimate(values.mean(0), values.std(0, ddof=1) / np.sqrt(len(values)))


def block_average(series, blocks: int = BLOCKS) -> Estimate:
    """The mean of a correlated series, its error from the scatter of the means of blocks."""
    series = np.asarray(series, float)
    require(len(series) >= 2 * blocks, f"{len(series)} samples: {blocks} blocks need at least {2 * blocks}")
    return mean_of(series[: len(series) // blocks * blocks].reshape(blocks, -1).mean(1))


def temperature(simulation) -> float:
    """kT of a fluid at rest on the whole, from the mean square velocity; its momentum is conserved."""
    state = simulation.state
    return simulation.total(simulation.device.xp.square(state.v, dtype=np.float64)) / (3 * state.moving - 3)


def pressure(simulation) -> float:
    """rho kT and a third of the virial of all three forces, over the volume; for a box without walls."""
    frozen = simulation.system.moving != simulation.system.count
    require(not frozen, "the pressure of a box with frozen particles is not that of the fluid: use a box without walls")
    volume = float(np.prod(simulation.system.box))
    virial = simulation.total(simulation.state.virial)
    return (simulation.state.moving * temperature(simulation) + virial / 3) / volume


def radial_distribution(position: np.ndarray, box, edges: np.ndarray) -> np.ndarray:
    """g(r) in the bins between `edges` (ascending, below half the box), from positions of shape (count, 3)."""
    half = min(box) / 2
    require(edges[-1] < half, f"distances up to {edges[-1]:g}: less than half the box, {half:g}")
    tree, count = cKDTree(np.mod(position, box), boxsize=box), len(position)
    pairs = np.diff(tree.count_neighbors(tree, edges)).astype(float)
    shells = np.diff(4 / 3 * np.pi * np.asarray(edges) ** 3)
    return pairs / (count * (count / np.prod(box)) * shells)


def nearest_move(after: np.ndarray, before: np.ndarray, box) -> np.ndarray:
    """Displacements over the nearer way around the box."""
    move = after - before
    return move - np.array(box) * np.round(move / np.array(box))


def parabola_viscosity(field: Field, system: System, *, margin: float = 1.0) -> tuple[Estimate, np.ndarray]:
    """Viscosity from the curvature of the velocity between two plates, and the fit's coefficients in z - middle.

    Fitted by least squares without the bins within `margin` of a wall; the density is that of the fitted bins. The
    error is the fit's own.
    """
    walls = system.walls
    inside = (field.z > walls.bottom + margin) & (field.z < walls.top - margin)
    density = float(field.density[0, inside].mean())
    return _curvature(field.z[inside] - walls.middle_z, field.velocity_x[0, inside], density * system.drive)


def reverse_viscosity(field: Field, system: System) -> Estimate:
    """Viscosity from reverse Poiseuille flow (Backer and others 2005): a parabola in either half of the box."""
    half, lower = system.turn, field.z < system.turn
    # the upper half is the lower one, turned round
    z = np.where(lower, field.z, field.z - half) - half / 2
    velocity = np.where(lower, field.velocity_x[0], -field.velocity_x[0])
    return _curvature(z, velocity, float(field.density.mean()) * system.drive)[0]


def _curvature(z, velocity, force_density: float) -> tuple[Estimate, np.ndarray]:
    coefficients, covariance = np.polyfit(z, velocity, 2, cov=True)
    viscosity = -force_density / (2 * coefficients[0])
    return Estimate(viscosity, abs(viscosity / coefficients[0]) * float(np.sqrt(covariance[0, 0]))), coefficients
