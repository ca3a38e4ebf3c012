"""Random packings with a given porosity: of equal spheres, and of cubes."""

from typing import Annotated

import numpy as np
from scipy.spatial import cKDTree

from repro.declared import Each, Number, Whole, checked
from repro.errors import InputError
from repro.parallel.options import Seed

from .pore_space import POROSITY


def _relaxed_centres(shape, diameter: float, count: int, generator, sweeps: int = 60) -> np.ndarray:
    """Centres (count, 3) in voxels, z first, pushed apart while they are closer than a diameter."""
    box = np.array(shape, float)
    centres = generator.uniform(0, 1, (count, 3)) * box
    for _ in range(sweeps):
        pairs = cKDTree(centres, boxsize=box).query_pairs(min(diameter, box.min() / 2), output_type="ndarray")
        if not len(pairs):
            break
        apart = centres[pairs[:, 0]] - centres[pairs[:, 1]]
        apart -= box * np.round(apart / box)
        distance = np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-9)
        push = 0.5 * (diameter - distance) * apart / distance
        np.add.at(centres, pairs[:, 0], 0.5 * push)
        np.add.at(centres, pairs[:, 1], -0.5 * push)
        # rounding can leave a centre on the upper face, which the tree refuses
        centres = np.where((centres := centres % box) < box, centres, 0.0)
    return centres


def _distance_to_nearest(shape, centres: np.ndarray, reach: float) -> np.ndarray:
    """Squared distance of each voxel's centre to the nearest sphere's, as far as `reach`; infinity beyond."""
    squared = np.full(shape, np.inf, np.float32)
    for centre in centres:
        spans, parts = [], []
        for c, extent in zip(centre, shape, strict=True):
            voxels = np.arange(max(int(c - reach), int(c - extent / 2)), min(int(c + reach), int(c + extent / 2)) + 1)
            spans.append(voxels[:extent] % extent)
            parts.append(np.square(voxels[:extent] + 0.5 - c, dtype=np.float32))
        window = np.ix_(*spans)
        distance = parts[0][:, None, None] + parts[1][:, None] + parts[2]
        squared[window] = np.minimum(squared[window], distance)
    return squared


@checked
def random_spheres(
    shape: Annotated[tuple[int, int, int], Each(Whole(4, 2**15), 3)],
    porosity: Annotated[float, POROSITY],
    diameter: Annotated[float, Number(2, unit="voxels")],
    seed: Seed,
) -> np.ndarray:
    """Equal spheres of about `diameter` voxels at random places in a periodic box of `shape` (nz, ny, nx).

    The centres repel each other until the spheres hardly overlap; then the radius is chosen so that the porosity is met
    to one voxel. Below a porosity of about 0.36, where no random packing is that dense, the spheres overlap more.
    """
    if diameter > min(shape) / 2:
        raise InputError(f"diameter = {diameter} voxels: must be at most half the box, {min(shape) / 2:g}")
    voxels = int(np.prod(shape))
    count = max(1, round(voxels * (1 - porosity) / (np.pi / 6 * diameter**3)))
    centres = _relaxed_centres(shape, diameter, count, np.random.default_rng(seed))
    solid_voxels = round(voxels * (1 - porosity))
    if solid_voxels == voxels:
        raise InputError(f"porosity = {porosity}: not a pore among {voxels} voxels: must be at least {1 / voxels:.2g}")
    reach = 0.75 * diameter
    while True:
        squared = _distance_to_nearest(shape, centres, reach)
        limit = np.partition(squared, solid_voxels, axis=None)[solid_voxels]
        if limit < reach**2:
            return squared < limit
        reach *= 1.5


@checked
def random_blocks(
    shape: Annotated[tuple[int, int, int], Each(Whole(1, 2**15), 3)],
    porosity: Annotated[float, POROSITY],
    edge: Annotated[int, Whole(1)],
    seed: Seed,
) -> np.ndarray:
    """Cubes of `edge` voxels at random, overlapping places of a periodic box (nz, ny, nx) until the porosity is met.

    The most complex of the pore structures in figure 6.11 of the porous paper. The porosity is the first that is not
    above the given one: off by at most one cube.
    """
    if edge > min(shape):
        raise InputError(f"edge = {edge} voxels: must be at most the smallest side of the box {tuple(shape)}")
    generator = np.random.default_rng(seed)
    solid = np.zeros(shape, bool)
    pores, wanted = solid.size, porosity * solid.size
    while pores > wanted:
        corner = generator.integers(0, shape)
        block = np.ix_(*((start + np.arange(edge)) % extent for start, extent in zip(corner, shape, strict=True)))
        pores -= edge**3 - int(solid[block].sum())
        solid[block] = True
    return solid
