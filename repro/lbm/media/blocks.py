"""Randomly placed blocks: the most complex of the pore structures in figure 6.11 of the porous paper."""

from typing import Annotated

import numpy as np

from repro.declared import Each, Whole, checked
from repro.errors import InputError
from repro.parallel.options import Seed

from .pore_space import POROSITY


@checked
def random_blocks(
    shape: Annotated[tuple[int, int, int], Each(Whole(1, 2**15), 3)],
    porosity: Annotated[float, POROSITY],
    edge: Annotated[int, Whole(1)],
    seed: Seed,
) -> np.ndarray:
    """Cubes of `edge` voxels at random, overlapping places of a periodic box (nz, ny, nx) until the porosity is met.

    The porosity is the first that is not above the given one: off by at most one cube.
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
