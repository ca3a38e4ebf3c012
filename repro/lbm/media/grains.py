"""Irregular grains in two dimensions: an image like that of figure 6.7 of the porous paper, which is not published."""

from typing import Annotated

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree

from repro.declared import Each, Number, Whole, checked
from repro.errors import InputError, require
from repro.parallel.options import Seed

from .pore_space import POROSITY, label_clusters

#: of the size of a grain: how far its edge is displaced by chance, over which length, and how round its corners are
ROUGHNESS, WAVE, ROUNDING = 0.08, 0.25, 0.055


@checked
def random_grains(
    shape: Annotated[tuple[int, int], Each(Whole(8, 2**15), 2)],
    porosity: Annotated[float, POROSITY],
    grain: Annotated[float, Number(4, unit="voxels")],
    seed: Seed,
) -> np.ndarray:
    """Irregular grains, `grain` voxels from one to the next, in a periodic image (ny, nx); solid of shape (1, ny, nx).

    The cells of points that keep away from each other shrink until channels of the same width lie between them, and
    smooth noise widens or closes the channels. Pores that no channel reaches are filled. The porosity is that of the
    connected pores, the first that is not below the given one. Raises InputError for what makes no such image, also
    where nothing can flow along x and y.
    """
    require(grain <= min(shape) / 2, f"grain = {grain} voxels: must be at most half the image, {min(shape) / 2:g}")
    shape = tuple(shape)
    chance = np.random.default_rng(seed)
    depth = _distance_to_edge(shape, _spread_points(shape, grain, chance))
    depth = ndimage.gaussian_filter(depth, ROUNDING * grain, mode="wrap")
    depth += ROUGHNESS * grain * _smooth_noise(shape, WAVE * grain, chance)
    pores = _cut(depth, porosity)
    for axis, copies in (("x", (1, 2)), ("y", (2, 1))):
        # two images side by side hang together only where a path leads from each into the other
        if label_clusters(np.tile(pores, copies))[1] > 1:
            raise InputError(
                f"porosity {porosity}: the grains close the pores along {axis}; choose more, or another seed"
            )
    return ~pores[None]


def _voxels(shape) -> np.ndarray:
    """Centres of all voxels, one a row."""
    return np.stack(np.meshgrid(*(np.arange(extent) + 0.5 for extent in shape), indexing="ij"), -1).reshape(-1, 2)


def _nearest_copy(offset: np.ndarray, box: np.ndarray) -> np.ndarray:
    return offset - box * np.round(offset / box)


def _spread_points(shape, grain: float, chance, sweeps: int = 2) -> np.ndarray:
    """Random points, one for a square of `grain` voxels, each moved to the middle of its cell in every sweep."""
    box, voxels = np.array(shape, float), _voxels(shape)
    points = chance.uniform(0, 1, (max(4, round(voxels.shape[0] / grain**2)), 2)) * box
    for _ in range(sweeps):
        owner = cKDTree(points, boxsize=box).query(voxels)[1]
        offset, size = _nearest_copy(voxels - points[owner], box), np.bincount(owner, minlength=len(points))
        moved = [np.bincount(owner, offset[:, axis], len(points)) / np.maximum(size, 1) for axis in (0, 1)]
        points = (points + np.stack(moved, 1)) % box
        # rounding can leave a point on the upper edge, which the tree refuses
        points[points >= box] = 0.0
    return points


def _distance_to_edge(shape, points: np.ndarray) -> np.ndarray:
    """Distance of each voxel from the edge between the cells of its nearest and its second nearest point."""
    box = np.array(shape, float)
    distance, nearest = cKDTree(points, boxsize=box).query(_voxels(shape), k=2)
    apart = np.linalg.norm(_nearest_copy(points[nearest[:, 1]] - points[nearest[:, 0]], box), axis=1)
    return ((distance[:, 1] ** 2 - distance[:, 0] ** 2) / (2 * np.maximum(apart, 1e-9))).reshape(shape)


def _smooth_noise(shape, length: float, chance) -> np.ndarray:
    """Periodic Gaussian noise of unit variance that varies over `length` voxels."""
    noise = ndimage.gaussian_filter(chance.standard_normal(shape), length, mode="wrap")
    return noise / noise.std()


def _cut(depth: np.ndarray, porosity: float) -> np.ndarray:
    """Pores where it is not deep: the largest cluster below the first level at which it has the porosity."""
    levels = np.sort(depth, axis=None)
    low, high = int(porosity * depth.size) - 1, depth.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        enough = np.count_nonzero(_largest(depth <= levels[middle])) >= porosity * depth.size
        low, high = (low, middle) if enough else (middle, high)
    return _largest(depth <= levels[high])


def _largest(pores: np.ndarray) -> np.ndarray:
    labels, _ = label_clusters(pores)
    return labels == 1 + np.argmax(np.bincount(labels.ravel())[1:])
