"""The list of pores and `node_map`, where each population of a pore comes from (porous paper, section 5.3).

The map holds places in the array of populations, so bounce-back and the periodic box cost nothing afterwards: the place
of a population that would come from solid is that of its opposite at the node itself, after the collision.
"""

from dataclasses import dataclass

import numpy as np

from repro.parallel import InputError, Kernel, inline

from ..lattice import D3Q19
from ..layout import unsigned
from ..streaming import sides
from .node import OFFSET, Q

_LARGEST = np.iinfo(np.int32).max


@dataclass(frozen=True)
class NodeMap:
    """Number of pores, their flat indices in the box (host), and the map [(q - 1)][pore] on the device."""

    count: int
    cells: np.ndarray
    sources: object


def _map_kernel(modified: bool, reverse: bool) -> Kernel:
    """The kernel (index, sources, nx, ny, nz, count); index is the number of a pore, or -1 in solid."""
    opposite = D3Q19.opposite

    @inline
    def place(i, pore, count):
        return np.int32((opposite[i] if reverse else i) * count + pore)

    @inline
    def connect(x, n, y, z, index, sources, nx, ny, nz, count):
        xs, ys, zs = sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)
        for lane in range(n):
            here = x + lane + nx * (y + ny * z)
            pore = np.int64(index[here])
            if pore >= 0:
                for i in range(1, Q):
                    behind = index[here + OFFSET(i, -1, xs, ys, zs)]
                    ahead = index[here + OFFSET(i, 1, xs, ys, zs)]
                    source = place(i, behind, count)
                    if behind < 0:
                        source = place(opposite[i], pore, count)
                        if modified and ahead >= 0:
                            # what arrives from the other side, sent back at once
                            source = place(opposite[i], ahead, count)
                    sources[unsigned((i - 1) * count + pore)] = source

    return Kernel(connect, ndim=3, edges=True)


def map_pores(problem, device, *, reverse: bool = False) -> NodeMap:
    """Number the pores in the order of the box, x fastest, and find where their populations come from, on the device.

    `reverse` is for populations that are kept in the place of their opposites after the collision.
    """
    xp, shape = device.xp, problem.space.shape
    count = problem.space.pores
    if Q * count > _LARGEST:
        raise InputError(f"{count} pores: a map of 32-bit places holds at most {_LARGEST // Q}; take a smaller image")
    solid = device.to_device(problem.space.solid.ravel().view("u1"))
    index = xp.where(solid, np.int32(-1), xp.cumsum(1 - solid, dtype=np.int32) - np.int32(1)).astype(np.int32)
    sources = device.zeros((Q - 1) * count, np.int32)
    connect = device.compile(_map_kernel(problem.walls == "modified", reverse))
    connect(shape, index, sources, *shape, count)()
    return NodeMap(count, np.flatnonzero(~problem.space.solid.ravel()), sources)
