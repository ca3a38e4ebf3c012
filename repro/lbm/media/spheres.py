"""Crystals of equal spheres in a periodic cube (porous paper, section 5.4(1) and figures 5.4, 5.5)."""

from dataclasses import dataclass
from math import pi, sqrt
from typing import Annotated

import numpy as np

from repro.declared import Number, OneOf, Whole, checked


@dataclass(frozen=True)
class Crystal:
    """Centres in a unit cell, and the solid fraction c_max at which the spheres touch."""

    centres: tuple[tuple[float, float, float], ...]
    densest: float


_HALF = 0.5
PACKINGS = {
    "simple": Crystal(((0, 0, 0),), pi / 6),
    "body-centred": Crystal(((0, 0, 0), (_HALF,) * 3), sqrt(3) * pi / 8),
    "face-centred": Crystal(((0, 0, 0), (0, _HALF, _HALF), (_HALF, 0, _HALF), (_HALF, _HALF, 0)), sqrt(2) * pi / 6),
}


def solid_fraction(chi: float, packing: str = "body-centred") -> float:
    """c = c_max chi^3, the volume fraction of the spheres (the porosity is 1 - c; equation 5.2 lacks a factor 1/3)."""
    return PACKINGS[packing].densest * chi**3


def sphere_radius(chi: float, side: float, packing: str = "body-centred") -> float:
    """Radius of the spheres in a cell of length `side`, from c side^3 = (4/3) pi r^3 spheres."""
    return side * (3 * solid_fraction(chi, packing) / (4 * pi * len(PACKINGS[packing].centres))) ** (1 / 3)


@checked
def sphere_crystal(
    nodes: Annotated[int, Whole(4, 2**15)],
    chi: Annotated[float, Number(0, 1, open_low=True)],
    packing: Annotated[str, OneOf(PACKINGS)] = "body-centred",
) -> np.ndarray:
    """A unit cell on nodes^3 voxels; chi in (0, 1], 1 where the spheres touch. Raises InputError for other values.

    A voxel is solid if its centre lies in a sphere; a sphere's centre lies on the corner of voxels, so that the image
    has the symmetries of the crystal when `nodes` is even.
    """
    # in voxels, where squares of multiples of 1/4 are exact: rounding must not break the symmetry
    position, half = np.arange(nodes) + 0.5, nodes / 2
    radius_squared = sphere_radius(chi, nodes, packing) ** 2
    solid = np.zeros((nodes,) * 3, bool)
    for centre in PACKINGS[packing].centres:
        # squared distance to the nearest periodic image along each axis
        x, y, z = (np.square((position - c * nodes + half) % nodes - half) for c in centre)
        solid |= x + y[:, None] + z[:, None, None] < radius_squared
    return solid
