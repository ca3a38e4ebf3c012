"""Randomly placed blocks: the most complex of the pore structures in figure 6.11 of the porous paper."""

import numpy as np

from repro.errors import InputError


def random_blocks(shape, porosity: float, edge: int, seed: int) -> np.ndarray:
    """Cubes of `edge` voxels at random, overlapping places of a periodic box (nz, ny, nx) until the porosity is met.

    The porosity is the first that is not above the given one: off by at most one cube.
    """
    if not 0 < porosity < 1:
        raise InputError(f"porosity {porosity}: it must lie between 0 (all solid) and 1 (no solid)")
    if len(shape) != 3 or not 1 <= edge <= min(shape):
        raise InputError(f"edge {edge} voxels: it must lie between 1 and the smallest side of the box {tuple(shape)}")
    generator = np.random.default_rng(seed)
    solid = np.zeros(shape, bool)
    pores, wanted = solid.size, porosity * solid.size
    while pores > wanted:
        corner = generator.integers(0, shape)
        block = np.ix_(*((start + np.arange(edge)) % extent for start, extent in zip(corner, shape, strict=True)))
        pores -= edge**3 - int(solid[block].sum())
        solid[block] = True
    return solid
