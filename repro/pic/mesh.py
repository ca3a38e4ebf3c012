"""The mesh: cells of one box with a layer of guard cells around them, and what lies beyond each of its faces."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from repro.errors import InputError, require_one_of, require_whole

#: what an end of an axis may be: the other end follows, a perfect conductor, or open space behind absorbing layers
BOUNDARIES = ("periodic", "conducting", "absorbing")

#: what `Mesh.beyond` says of a cell in which a particle ends: a wall takes it up, or it leaves through face k, which
#: is LEAVES - k (0 and 1 are the low and the high end of x, then y, then z)
ABSORBED, LEAVES = -1, -16

#: most cells along an axis: more rows do not fit into a launch on a GPU
_MOST_CELLS = 65535


class Layout(NamedTuple):
    """Numbers that kernels need to find a node: cells along the axes, and how far apart neighbours along y and z are.

    Node (i, j, k) of an array with guards is i + row * j + plane * k; inside, i goes from 1 to nx, and the guards are
    0 and nx + 1. Cell (i, j, k) has the node of the same number at its lowest corner.
    """

    nx: int
    ny: int
    nz: int
    row: int
    plane: int
    nodes: int


@dataclass(frozen=True)
class Mesh:
    """A box of `shape` cells of `spacing` m along x, y, z, with a boundary of each axis out of BOUNDARIES."""

    shape: tuple[int, int, int]
    spacing: tuple[float, float, float]
    boundaries: tuple[str, str, str] = ("periodic", "periodic", "periodic")
    #: for the axes along which the box is a part of a larger one: particles leave it there
    divided: tuple[bool, bool, bool] = (False, False, False)

    def __post_init__(self):
        for axis, cells, spacing, boundary in zip("xyz", self.shape, self.spacing, self.boundaries, strict=True):
            require_whole(f"cells along {axis}", cells, 1, _MOST_CELLS)
            if not 0 < spacing < np.inf:
                raise InputError(f"spacing along {axis} = {spacing} m: a finite length above 0")
            require_one_of(f"boundary along {axis}", boundary, BOUNDARIES)
        if self.layout.nodes >= 2**31 // 12:
            raise InputError(f"{self.shape} cells: numbers of currents have 31 bits, so at most {2**31 // 12} nodes")

    @cached_property
    def layout(self) -> Layout:
        """Where nodes are, for kernels."""
        row, column, pile = (cells + 2 for cells in self.shape)
        return Layout(*self.shape, row, row * column, row * column * pile)

    @property
    def length(self) -> tuple[float, ...]:
        """Extent along each axis in m."""
        return tuple(cells * spacing for cells, spacing in zip(self.shape, self.spacing, strict=True))

    @property
    def cell_volume(self) -> float:
        """Volume of a cell in m^3."""
        return float(np.prod(self.spacing))

    def nodes(self, cells: np.ndarray) -> np.ndarray:
        """Numbers of cells (i, j, k), counted from 0 without guards, of shape (count, 3)."""
        return (np.asarray(cells) + 1) @ np.array([1, self.layout.row, self.layout.plane])

    def cells(self, nodes: np.ndarray) -> np.ndarray:
        """The (i, j, k), counted from 0 without guards, of cells by number; shape (count, 3)."""
        _, _, _, row, plane, _ = self.layout
        nodes = np.asarray(nodes)
        return np.stack([nodes % row, nodes % plane // row, nodes // plane], axis=-1) - 1

    @cached_property
    def beyond(self) -> np.ndarray:
        """For each node as a cell: where a particle that has come there goes on.

        Inside the box it is the cell itself, in a guard cell the one at the other end of a periodic axis, ABSORBED, or
        LEAVES and the face. Particles cross one face at a time, so edges and corners of the guards are never met.
        """
        numbers = np.arange(self.layout.nodes, dtype=np.int32).reshape(tuple(cells + 2 for cells in self.shape)[::-1])
        found = np.full_like(numbers, ABSORBED)
        inside = slice(1, -1)
        found[inside, inside, inside] = numbers[inside, inside, inside]
        for axis, (boundary, divided) in enumerate(zip(self.boundaries, self.divided, strict=True)):
            for high in (False, True):
                guard, other = [inside] * 3, [inside] * 3
                guard[2 - axis], other[2 - axis] = (-1, 1) if high else (0, -2)
                if divided:
                    found[tuple(guard)] = LEAVES - (2 * axis + high)
                elif boundary == "periodic":
                    found[tuple(guard)] = numbers[tuple(other)]
        return found.ravel()

    def guards(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes in guards that copy another node of this box, and those nodes: the periodic axes that are not divided.

        Where an axis is not periodic, its guards copy the planes beside them along the other axes.
        """
        index = np.indices(tuple(cells + 2 for cells in self.shape)[::-1])[::-1]
        source, copied = [], np.zeros(index[0].shape, bool)
        for axis, cells in enumerate(self.shape):
            along = index[axis]
            if self.boundaries[axis] == "periodic" and not self.divided[axis]:
                wrapped = (along - 1) % cells + 1
                copied |= wrapped != along
                along = wrapped
            source.append(along)
        numbers = source[0] + self.layout.row * source[1] + self.layout.plane * source[2]
        target = np.flatnonzero(copied.ravel())
        return target.astype(np.int32), numbers.ravel()[target].astype(np.int32)
