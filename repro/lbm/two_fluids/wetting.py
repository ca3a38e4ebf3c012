"""What is observed of two phases in pores: how much of each, what it covers, how large the interface is, in how many
pieces.

Images are periodic, of shape (nz, ny, nx); on one layer of nodes an area is a length. Densities and `solid` are those
of `TwoFluidFlow.fields` and of the problem's `PoreSpace`.
"""

from typing import NamedTuple

import numpy as np
from scipy import ndimage
from skimage.measure import marching_cubes

from ..media.pore_space import label_clusters

#: values of an image of phases
SOLID, PHASE_A, PHASE_B = 0, 1, 2


class Wetting(NamedTuple):
    """What is observed of two phases at one time."""

    #: share of the pores that is in phase a
    saturation: float
    #: share of the solid surface that phase a covers; the rest is covered by phase b
    covered: float
    #: area between the phases, in squared spacings
    interface: float
    #: connected pieces of a and of b
    clusters: tuple[int, int]


def wetting(density_a: np.ndarray, density_b: np.ndarray, solid: np.ndarray) -> Wetting:
    """Everything observed here, of one state."""
    image = phases(density_a, density_b, solid)
    return Wetting(saturation(image), covered(image), interface_area(density_a, density_b, solid), clusters(image))


def phases(density_a: np.ndarray, density_b: np.ndarray, solid: np.ndarray) -> np.ndarray:
    """The image of phases: a node is in the phase of the fluid that is denser there, in b if none is."""
    return np.where(solid, SOLID, np.where(density_a > density_b, PHASE_A, PHASE_B)).astype(np.uint8)


def saturation(image: np.ndarray) -> float:
    """Share of the pores that is in phase a."""
    return float(np.count_nonzero(image == PHASE_A) / np.count_nonzero(image))


def covered(image: np.ndarray) -> float:
    """Share of the faces between pore and solid voxels behind which there is phase a; NaN where nothing is solid."""
    faces = [_faces(image, phase) for phase in (PHASE_A, PHASE_B)]
    return faces[0] / sum(faces) if sum(faces) else float("nan")


def _faces(image: np.ndarray, phase: int) -> int:
    here, solid = image == phase, image == SOLID
    steps = [(axis, step) for axis in range(3) for step in (-1, 1)]
    return sum(np.count_nonzero(here & np.roll(solid, step, axis)) for axis, step in steps)


def clusters(image: np.ndarray) -> tuple[int, int]:
    """Connected pieces of phase a and of phase b; nodes of a piece share faces, across the faces of the box too."""
    return tuple(label_clusters(image == phase)[1] for phase in (PHASE_A, PHASE_B))


def interface_area(density_a: np.ndarray, density_b: np.ndarray, solid: np.ndarray) -> float:
    """Area of the surface in the pores where both densities are equal, by marching cubes.

    Marching cubes because the densities vary smoothly over some spacings: the surface lies between the nodes where
    they say, and its area is right to second order. Faces between nodes of different phases would overstate it by half
    on average, whatever the resolution. Solid takes the mean of the pores beside it, so that the surface can be
    followed to the wall, half-way between nodes; of what it crosses only triangles in the voxels of pores are counted.
    """
    difference = into_solid(np.asarray(density_a - density_b, np.float32), solid)
    # the far faces of the box are the near ones again
    around = np.pad(difference, (0, 1), mode="wrap")
    if not around.min() < 0 < around.max():
        return 0.0
    corners, triangles, _, _ = marching_cubes(around, 0.0)
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    nearest = np.floor((a + b + c) / 3 + 0.5).astype(int) % solid.shape
    return float(areas[~solid[tuple(nearest.T)]].sum(dtype=float))


def into_solid(values: np.ndarray, solid: np.ndarray) -> np.ndarray:
    """Values with the mean of the pores among its 26 neighbours in each solid node that has any, else 0."""
    pores = (~solid).astype(values.dtype)
    share, total = (ndimage.uniform_filter(field, 3, mode="wrap") for field in (pores, values * pores))
    # less than one of 27: what rounding leaves of none
    return np.where(solid, np.where(share > 0.02, total / np.maximum(share, 0.02), 0.0), values)
