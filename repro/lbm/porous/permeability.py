"""Permeability of an image: one call from the voxels to k."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from repro.declared import Flag, Kind, OneOf, OrNone, Whole, checked
from repro.parallel.options import OnDevice, Precision

from ..collision import COLLISIONS
from ..media import PoreSpace, Sample
from ..media.pore_space import AXES, IMAGE
from ..model import TIME
from ..simulation import Interval
from .problem import STORAGES, WALLS, PorousProblem
from .simulation import Permeability, PorousFlow
from .strategies import STRATEGIES

#: 1 darcy in square metres
DARCY = 9.869233e-13

#: Darcy velocity times sqrt(k) over the viscosity that the force aims at: so small that k does not depend on it
REYNOLDS = 0.01


@dataclass(frozen=True)
class FlowThrough:
    """A permeability run: k in squared voxels and what belongs to it."""

    result: Permeability
    porosity: float
    #: Darcy velocity times sqrt(k) over the viscosity
    reynolds: float
    #: velocity over the Darcy velocity, (3, nz, ny, nx)
    velocity: np.ndarray | None = None

    @property
    def k(self) -> float:
        """Permeability in squared voxels."""
        return self.result.value


def driving_force(space: PoreSpace, viscosity: float, reynolds: float = REYNOLDS) -> float:
    """Force per volume that drives a flow of about the given Reynolds number.

    From k = eps^3/(5 S^2), Kozeny and Carman's estimate with the specific surface S.
    """
    k = space.porosity**3 / (5 * max(space.specific_surface, 1e-3) ** 2)
    return reynolds * viscosity**2 / k**1.5


@checked
def flow_through(
    space: Annotated[PoreSpace, Kind(PoreSpace)],
    device: OnDevice,
    *,
    axis: Annotated[str, OneOf(AXES)] = "x",
    relaxation_time: Annotated[float, TIME] = 1.0,
    collision: Annotated[str, OneOf(COLLISIONS)] = "mrt",
    walls: Annotated[str, OneOf(WALLS)] = "half-way",
    storage: Annotated[str, OneOf(STORAGES)] = "deviation",
    precision: Precision = "single",
    strategy: Annotated[str | None, OrNone(OneOf(STRATEGIES))] = None,
    interval: Interval = 1000,
    keep_velocity: Annotated[bool, Flag()] = False,
) -> FlowThrough:
    """Drive the fluid along `axis` until k is steady and return it; raises InputError if nothing can flow.

    `strategy` is the one that takes the walls in least memory unless it is given, `interval` the steps between two
    looks at k.
    """
    space.require_flow(axis)
    if strategy is None:
        strategy = "sparse" if walls == "modified" else "sparse in place"
    viscosity = (relaxation_time - 0.5) / 3
    force = tuple(driving_force(space, viscosity) if name == axis else 0.0 for name in AXES)
    problem = PorousProblem(space, relaxation_time, force, collision, walls=walls, storage=storage)
    flow = PorousFlow(problem, device, strategy=strategy, precision=precision)
    result = flow.run_to_steady_permeability(interval=interval)
    velocity = flow.fields()[1] / result.darcy_velocity if keep_velocity else None
    reynolds = result.darcy_velocity * np.sqrt(abs(result.value)) / viscosity
    return FlowThrough(result, space.porosity, float(reynolds), velocity)


@checked
def refined(solid: Annotated[np.ndarray, IMAGE], times: Annotated[int, Whole(1, 64)]) -> np.ndarray:
    """The same image on a finer grid: each voxel becomes `times`^3 voxels."""
    for axis in range(3):
        solid = np.repeat(solid, times, axis)
    return solid


@checked
def mirrored(solid: Annotated[np.ndarray, IMAGE], axis: Annotated[str, OneOf(AXES)]) -> np.ndarray:
    """The image and its mirror image behind it along `axis`, so that its ends fit together periodically."""
    index = 2 - AXES.index(axis)
    return np.concatenate([solid, np.flip(solid, index)], index)


@checked
def closed_sides(solid: Annotated[np.ndarray, IMAGE], axis: Annotated[str, OneOf(AXES)]) -> np.ndarray:
    """The image with a wall one voxel thick at the sides, so that nothing crosses them."""
    width = [(0, 0) if index == 2 - AXES.index(axis) else (0, 1) for index in range(3)]
    return np.pad(solid, width, constant_values=True)


def fitted(solid: np.ndarray, sample: Sample) -> np.ndarray:
    """The image as the sample file wants it at its sides and ends."""
    if sample.sides == "wall":
        solid = closed_sides(solid, sample.axis)
    return mirrored(solid, sample.axis) if sample.ends == "mirror" else solid


def in_units(k: float, voxel_size: float) -> tuple[float, float]:
    """A permeability in squared voxels as (square metres, millidarcy)."""
    return k * voxel_size**2, k * voxel_size**2 / DARCY * 1000
