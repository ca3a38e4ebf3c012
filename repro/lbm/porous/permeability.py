"""Permeability of an image: one call from the voxels to k."""

from dataclasses import replace
from typing import Annotated

import numpy as np

from repro.declared import Above, Flag, Kind, Numbers, OneOf, OrNone, Whole, checked
from repro.parallel.options import OnDevice, OnRanks, Precision

from ..collision import COLLISIONS
from ..equilibrium import VELOCITY_SHARE
from ..media import PoreSpace, Sample
from ..media.pore_space import AXES, IMAGE
from ..media.sample import SIDES
from ..model import MAGIC, TIME
from ..ranks import several
from ..simulation import Interval, Tolerance
from ..storage import STORAGES
from .driven import Driven, FlowThrough
from .problem import WALLS
from .strategies import STRATEGIES

#: 1 darcy in square metres
DARCY = 9.869233e-13


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
    if strategy is None:
        strategy = "sparse" if walls == "modified" or several(ranks) else "sparse in place"
    settings = {"collision": collision, "forcing": forcing, "walls": walls, "storage": storage, "magic": magic}
    driven = Driven(space, device, axis, sides, relaxation_time, strategy, precision, ranks, settings)
    found, flow = driven.run(force, tolerance=tolerance, interval=interval)
    if keep_velocity:
        return replace(found, velocity=flow.gathered(flow.fields()[1] / found.result.darcy_velocity))
    return found


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
