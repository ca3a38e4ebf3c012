"""The mesh: cells of one box with a layer of guard cells around them, and what lies beyond each of its faces."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from repro.declared import Each, Flag, Number, OneOf, Whole, checked
from repro.errors import InputError, require

from .constants import SMALLEST

#: what an end of an axis may be: the other end follows, a perfect conductor, or open space behind absorbing layers. A
#: conductor takes electrons up, and so do layers at their inner side: in layers the current of an electron would drive
#: fields that are not its own
BOUNDARIES = ("periodic", "conducting", "absorbing")

#: what `Mesh.neighbour_cell` says of a guard cell in which a particle ends: a wall takes it up, or it leaves there,
#: which is LEAVES less the number of the guard cell
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
@checked
class Mesh:
    """A box of `shape` cells of `spacing` m along x, y, z, with a boundary of each axis out of BOUNDARIES."""

    shape: Annotated[tuple[int, int, int], Each(Whole(1, _MOST_CELLS), 3)]
    spacing: Annotated[tuple[float, float, float], Each(Number(SMALLEST, unit="m"), 3)]
    boundaries: Annotated[tuple[str, str, str], Each(OneOf(BOUNDARIES), 3)] = ("periodic", "periodic", "periodic")
    #: the low and the high end of each axis: does a larger box go on there, of which this one is a part? Particles
    #: leave it there, and its guards belong to the neighbour
    divided: Annotated[tuple[tuple[bool, bool], ...], Each(Each(Flag(), 2), 3)] = ((False, False),) * 3
    #: cells at each end of an absorbing axis that take up waves
    layers: Annotated[int, Whole(1, _MOST_CELLS)] = 10

    def __post_init__(self):
        for axis, cells, boundary, layers, ends in zip(
            "xyz", self.shape, self.boundaries, self.absorbing, self.divided, strict=True
        ):
            if boundary == "periodic" and ends[0] != ends[1]:
                raise InputError(f"{axis} is periodic and divided at one end: its neighbour has the other end")
            if sum(layers) >= cells:
                raise InputError(
                    f"{cells} cells along {axis} of which {sum(layers)} absorb: take at least {sum(layers) + 1}"
                )
        if self.layout.nodes >= 2**31 // 12:
            raise InputError(f"{self.shape} cells: numbers of currents have 31 bits, so at most {2**31 // 12} nodes")

    @cached_property
    def layout(self) -> Layout:
        """Where nodes are, for kernels."""
        row, column, pile = (cells + 2 for cells in self.shape)
        return Layout(*self.shape, row, row * column, row * column * pile)

    @property
    def grid(self) -> tuple[int, ...]:
        """The shape of an array with a number on each node, z first, those at both ends of an axis among them."""
        return tuple(cells + 1 for cells in self.shape[::-1])

    @property
    def guarded_grid(self) -> tuple[int, ...]:
        """The shape with guards, as the nodes of `layout` lie."""
        return tuple(cells + 2 for cells in self.shape[::-1])

    @property
    def length(self) -> tuple[float, ...]:
        """Extent along each axis in m."""
        return tuple(cells * spacing for cells, spacing in zip(self.shape, self.spacing, strict=True))

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Cells along each axis that do not absorb, in which electrons can be."""
        return tuple(cells - low - high for cells, (low, high) in zip(self.shape, self.absorbing, strict=True))

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

    def require_inside(self, what: str, position: np.ndarray, slack: float = 0.0) -> None:
        """Refuse positions (count, 3) in m outside the box, by more than a share `slack` of it."""
        share = position / np.array(self.length)
        outside = ~((share >= -slack) & (share <= 1 + slack)).all(1)
        require(not outside.any(), f"{what}: {outside.sum()} electrons are outside the box of {self.length} m, from 0")

    def require_before_layers(self, what: str, position: np.ndarray) -> None:
        """Refuse positions (count, 3) in m in absorbing layers, in which there are no electrons."""
        first, last = np.array(self._inner_ends).T * self.spacing
        inside = ~((position >= first) & (position <= last)).all(1)
        if inside.any():
            places = ", ".join(f"{low:g} to {high:g}" for low, high in zip(first, last, strict=True))
            raise InputError(
                f"{what}: {inside.sum()} electrons are in absorbing layers, which take up those that come there: they "
                f"may be from {places} m along x, y, z"
            )

    @property
    def _inner_ends(self) -> list[tuple[int, int]]:
        """The first cell of each axis that does not absorb, and the first one after these that does."""
        return [(low, cells - high) for cells, (low, high) in zip(self.shape, self.absorbing, strict=True)]

    def inner_cells(self, cells: np.ndarray) -> np.ndarray:
        """Cells (count, 3) moved to the nearest ones that do not absorb: places on the face between are in both."""
        first, end = np.array(self._inner_ends).T
        return np.clip(cells, first, end - 1)

    @cached_property
    def neighbour_cell(self) -> np.ndarray:
        """For each node as a cell: where a particle that has come there goes on.

        Inside the box it is the cell itself, but ABSORBED in an absorbing layer; in a guard cell it is the one at the
        other end of a periodic axis, ABSORBED, or LEAVES less the guard. Particles cross one face at a time, so edges
        and corners of the guards are never met.
        """
        numbers = np.arange(self.layout.nodes, dtype=np.int32).reshape(self.guarded_grid)
        found = np.full_like(numbers, ABSORBED)
        inside = slice(1, -1)
        found[inside, inside, inside] = numbers[inside, inside, inside]
        for axis, (boundary, divided) in enumerate(zip(self.boundaries, self.divided, strict=True)):
            for high in (False, True):
                guard, other = [inside] * 3, [inside] * 3
                guard[2 - axis], other[2 - axis] = (-1, 1) if high else (0, -2)
                if divided[high]:
                    found[tuple(guard)] = LEAVES - numbers[tuple(guard)]
                elif boundary == "periodic":
                    found[tuple(guard)] = numbers[tuple(other)]
            first, end = self._inner_ends[axis]
            within = np.moveaxis(found[inside, inside, inside], 2 - axis, 0)
            within[:first], within[end:] = ABSORBED, ABSORBED
        return found.ravel()

    @property
    def walls(self) -> tuple[tuple[bool, bool], ...]:
        """Is there a conductor at the low and at the high end of each axis? Behind absorbing layers there is."""
        return tuple(
            tuple(boundary != "periodic" and not goes_on for goes_on in ends)
            for boundary, ends in zip(self.boundaries, self.divided, strict=True)
        )

    @property
    def absorbing(self) -> tuple[tuple[int, int], ...]:
        """How many cells absorb at the low and at the high end of each axis."""
        return tuple(
            tuple(self.layers * (wall and boundary == "absorbing") for wall in ends)
            for boundary, ends in zip(self.boundaries, self.walls, strict=True)
        )

    def guards(self, *, low: bool = True, high: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Nodes in guards that copy another node of this box, and those nodes: the periodic axes that are not divided.

        `low` and `high` are the ends whose guards are wanted. Where an axis is not periodic, its guards copy the planes
        beside them along the other axes.
        """
        own = np.arange(self.layout.nodes, dtype=np.int32).reshape(self.guarded_grid)
        source = own
        for axis, cells in enumerate(self.shape):
            along = np.arange(cells + 2)
            if self.boundaries[axis] == "periodic" and not any(self.divided[axis]):
                along[0] = cells if low else 0
                along[-1] = 1 if high else cells + 1
            source = source.take(along, 2 - axis)
        target = np.flatnonzero(source != own)
        return target.astype(np.int32), source.ravel()[target]
