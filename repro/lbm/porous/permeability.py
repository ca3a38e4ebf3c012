"""Permeability of an image: one call from the voxels to k."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from repro.declared import Above, Flag, Kind, Numbers, OneOf, OrNone, Whole, checked
from repro.errors import DivergenceError
from repro.parallel.options import OnDevice, OnRanks, Precision

from ..boundaries import Boundaries
from ..collision import COLLISIONS
from ..equilibrium import VELOCITY_SHARE
from ..media import PoreSpace, Sample
from ..media.pore_space import AXES, IMAGE
from ..media.sample import SIDES
from ..model import MAGIC, TIME
from ..ranks import several
from ..simulation import Interval, Tolerance
from ..storage import STORAGES
from .problem import WALLS, PorousProblem
from .simulation import Permeability, PorousFlow
from .strategies import STRATEGIES

#: 1 darcy in square metres
DARCY = 9.869233e-13

#: Darcy velocity times sqrt(k) over the viscosity that the force aims at
REYNOLDS = 0.01

#: what a flow may come to whose permeability does not depend on its force: the largest Mach number, and the largest
#: difference of densities, as what drives it along the whole image would pile up before a wall
MACH, DENSITY_SPREAD = 0.03, 0.01

#: runs with smaller and smaller forces, until one is small enough
_ATTEMPTS = 4


@dataclass(frozen=True)
class FlowThrough:
    """A permeability run: k in squared voxels and what belongs to it."""

    result: Permeability
    #: per volume, along the axis
    force: float
    porosity: float
    #: Darcy velocity times sqrt(k) over the viscosity
    reynolds: float
    #: velocity over the Darcy velocity, (3, nz, ny, nx)
    velocity: np.ndarray | None = None

    @property
    def k(self) -> float:
        """Permeability in squared voxels."""
        return self.result.value

    @property
    def doubts(self) -> str:
        """Why k is not to be trusted, in words; empty if nothing speaks against it."""
        run, found = self.result, []
        if not run.converged:
            found.append(f"the flow is not steady after {run.steps} steps")
        if _too_strong(run):
            found.append(
                f"the force {self.force:.3g} drives Mach {run.mach:.2g} and densities {run.density_spread:.2g} apart "
                f"(at most {MACH:g} and {DENSITY_SPREAD:g}), so that k depends on it"
            )
        return " and ".join(found)


def _too_strong(run: Permeability) -> bool:
    return not (run.mach <= MACH and run.density_spread <= DENSITY_SPREAD)


def driving_force(space: PoreSpace, viscosity: float, reynolds: float = REYNOLDS) -> float:
    """Force per volume that drives a flow of about the given Reynolds number.

    From k = eps^3/(5 S^2), Kozeny and Carman's estimate with the specific surface S.
    """
    k = space.porosity**3 / (5 * max(space.specific_surface, 1e-3) ** 2)
    return reynolds * viscosity**2 / k**1.5


def gentle_force(space: PoreSpace, viscosity: float, along: int = 0) -> float:
    """The `driving_force`, or less where it would pile up densities before a wall; `along` is 0, 1 or 2 (x, y, z).

    A force F over a length L makes densities 3 F L apart.
    """
    return min(driving_force(space, viscosity), DENSITY_SPREAD / 3 / space.shape[along])


@checked
def flow_through(
    space: Annotated[PoreSpace, Kind(PoreSpace)],
    device: OnDevice,
    *,
    axis: Annotated[str, OneOf(AXES)] = "x",
    sides: Annotated[str, OneOf(SIDES)] = "periodic",
    relaxation_time: Annotated[float, TIME] = 1.0,
    collision: Annotated[str, OneOf(COLLISIONS)] = "mrt",
    forcing: Annotated[str, OneOf(VELOCITY_SHARE)] = "luo",
    walls: Annotated[str, OneOf(WALLS)] = "half-way",
    storage: Annotated[str, OneOf(STORAGES)] = "deviation",
    magic: Annotated[float, MAGIC] = 3 / 16,
    precision: Precision = "single",
    strategy: Annotated[str | None, OrNone(OneOf(STRATEGIES))] = None,
    force: Annotated[float | None, OrNone(Above(0))] = None,
    tolerance: Tolerance = 1e-5,
    interval: Interval = 1000,
    keep_velocity: Annotated[bool, Flag()] = False,
    ranks: OnRanks = None,
) -> FlowThrough:
    """Drive the fluid along `axis` until k is steady and return it; raises InputError if nothing can flow.

    With `sides` "wall" nothing crosses the image's sides; k and porosity are of its own section all the same.
    `strategy` is the one that takes the walls in least memory unless it is given, `interval` the steps between two
    looks at k, between which it may change by the share `tolerance`. Without a `force` (per volume) one is chosen by
    what it drives: a flow so slow that k does not depend on it. With one, look at the result's `doubts`. Pores that
    nothing flows through are taken for solid: fluid shut up in a voxel never comes to rest. With `ranks`, as of
    FlowSimulation, all have the same k; the velocity is on rank 0.
    """
    faces = (walls if sides == "wall" and name != axis else "periodic" for name in AXES for _ in range(2))
    settings = {"collision": collision, "forcing": forcing, "walls": walls, "storage": storage, "magic": magic}
    settings["boundaries"] = Boundaries(tuple(faces))
    # as it is kept: with walls at its sides a path leads through no side
    stored = PorousProblem(space, relaxation_time, (0.0, 0.0, 0.0), **settings).stored
    stored.require_flow(axis)
    stored, own = stored.reached(axis), tuple(map(slice, space.solid.shape))
    porosity, space = space.porosity, PoreSpace(stored.solid[own])
    if strategy is None:
        strategy = "sparse" if walls == "modified" or several(ranks) else "sparse in place"
    viscosity = (relaxation_time - 0.5) / 3
    given, along = force, np.array([name == axis for name in AXES])
    force = given or gentle_force(stored, viscosity, int(along.argmax()))
    for attempt in range(1, _ATTEMPTS + 1):
        problem = PorousProblem(space, relaxation_time, tuple(map(float, force * along)), **settings)
        flow = PorousFlow(problem, device, strategy=strategy, precision=precision, ranks=ranks)
        try:
            result = flow.run_to_steady_permeability(tolerance=tolerance, interval=interval)
        except DivergenceError:
            if given or attempt == _ATTEMPTS:
                raise
            force *= 0.01
            continue
        # the force is that of the result, also where that is still doubted
        if given or attempt == _ATTEMPTS or not _too_strong(result):
            break
        force *= 0.5 * min(MACH / result.mach, DENSITY_SPREAD / result.density_spread)
    velocity = flow.gathered(flow.fields()[1] / result.darcy_velocity) if keep_velocity else None
    reynolds = result.darcy_velocity * np.sqrt(abs(result.value)) / viscosity
    return FlowThrough(result, force, porosity, float(reynolds), velocity)


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


def fitted(solid: np.ndarray, sample: Sample) -> np.ndarray:
    """The image as the sample file wants it at its ends."""
    return mirrored(solid, sample.axis) if sample.ends == "mirror" else solid


@checked
def in_units(k: Annotated[float, Numbers()], voxel_size: Annotated[float, Above(0, "m")]) -> tuple[float, float]:
    """A permeability in squared voxels as (square metres, millidarcy); `voxel_size` is the side of a voxel in m."""
    return k * voxel_size**2, k * voxel_size**2 / DARCY * 1000
