"""The list of pores and `neighbour_list`, where each population of a pore comes from (porous paper, section 5.3).

The map holds places in the array of populations, so bounce-back and the periodic box cost nothing afterwards: the place
of a population that would come from solid is that of its opposite at the node itself, after the collision.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from repro.errors import InputError
from repro.parallel import Kernel, device_function

from ..lattice import Lattice
from ..layout import row_length, unsigned
from ..neighbours import index_of, make_offset, steps_of
from ..parameters import Grid

_LARGEST = np.iinfo(np.int32).max


@dataclass(frozen=True)
class NeighbourList:
    """Number of pores, length of a row, the pores' flat indices in the box (host), and the map [(q - 1)][row]."""

    count: int
    row: int
    cells: np.ndarray
    sources: object


@cache
def list_kernel(lattice: Lattice, modified: bool, reverse: bool) -> Kernel:
    """The kernel (index, sources, grid, row); index is the number of a pore, or -1 in solid."""
    q, opposite, offset = lattice.q, lattice.opposite, make_offset(lattice)

    @device_function
    def place(i, pore, row):
        return np.int32((opposite[i] if reverse else i) * row + pore)

    @device_function
    def connect(x, n, y, z, index, sources, grid, row):
        steps = steps_of(x, y, z, grid)
        for k in range(n):
            here, _ = index_of(x + k, y, z, grid)
            pore = np.int64(index[here])
            if pore >= 0:
                for i in range(1, q):
                    behind = index[here + offset(i, -1, steps)]
                    ahead = index[here + offset(i, 1, steps)]
                    source = place(i, behind, row)
                    if behind < 0:
                        source = place(opposite[i], pore, row)
                        if modified and ahead >= 0:
                            # what arrives from the other side, sent back at once
                            source = place(opposite[i], ahead, row)
                    sources[unsigned((i - 1) * row + pore)] = source

    return Kernel(connect, ndim=3, edges=True)


def list_neighbours(problem, device, *, reverse: bool = False) -> NeighbourList:
    """Number the pores in the order of the box, x fastest, and find where their populations come from, on the device.

    `reverse` is for populations that are kept in the place of their opposites after the collision.
    """
    xp, shape = device.xp, problem.stored.shape
    count = problem.stored.pores
    row, q = row_length(count), problem.lattice.q
    if q * row > _LARGEST:
        raise InputError(f"{count} pores: a map of 32-bit places holds at most {_LARGEST // q}; take a smaller image")
    solid = device.to_device(problem.stored.solid.ravel().view("u1"))
    index = xp.where(solid, np.int32(-1), xp.cumsum(1 - solid, dtype=np.int32) - np.int32(1)).astype(np.int32)
    sources = device.zeros((q - 1) * row, np.int32)
    connect = device.compile(list_kernel(problem.lattice, problem.walls == "modified", reverse))
    connect(shape, index, sources, Grid.packed(shape), row)()
    return NeighbourList(count, row, np.flatnonzero(~problem.stored.solid.ravel()), sources)
