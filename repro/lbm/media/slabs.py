"""A voxel image of which each of several ranks has a slab, some planes along z, and none has all."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from repro.errors import require
from repro.parallel.ranks.together import joined, together
from repro.parallel.ranks.world import HALO_TAG

from .image import require_segmented
from .percolation import joints_of, label_slab, through
from .planes import Planes
from .pore_space import AXES, PoreSpace

#: of different values that are counted in a slab
_MOST_VALUES = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Slabs(PoreSpace):
    """A periodic image in slabs: `solid` is this rank's, of at least one plane, from plane `ends[rank]` on.

    What is asked of it, all ranks ask, and all have the same answer, bit for bit that of PoreSpace of the whole.
    """

    ranks: Any
    ends: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Voxels of the whole image along x, y and z."""
        _, ny, nx = self.solid.shape
        return nx, ny, self.ends[-1]

    @property
    def pores(self) -> int:
        """Number of pore voxels of the whole image."""
        # asked often; counted when all ranks ask for the first time
        if "_pores" not in vars(self):
            own = self.solid.size - np.count_nonzero(self.solid)
            object.__setattr__(self, "_pores", self._summed(own))
        return vars(self)["_pores"]

    @property
    def specific_surface(self) -> float:
        """As of PoreSpace, of the whole image."""
        beside = np.concatenate([self.solid, self._above(self.solid)[None]])
        faces = np.count_nonzero(beside[1:] != beside[:-1])
        faces += sum(np.count_nonzero(self.solid != np.roll(self.solid, 1, axis)) for axis in (1, 2))
        return 2 / 3 * self._summed(faces) / self.voxels

    def percolates(self, axis: str) -> bool:
        """As of PoreSpace, of the whole image."""
        return self._summed(len(self._percolating(axis)[1])) > 0

    def _percolating(self, axis: str) -> tuple[np.ndarray, np.ndarray]:
        """The clusters of pores, labelled within the slab, and the labels of those that percolate."""
        ranks, driven = self.ranks, 2 - AXES.index(axis)
        labels, count = label_slab(~self.solid)
        counts = ranks.gather(np.array(count), "clusters of pores").ravel().astype(np.int64)
        before = np.cumsum(counts) - counts
        rank, following = ranks.rank, (ranks.rank + 1) % ranks.count
        numbers = {"before": before[rank], "beyond": before[following]}
        joints = joints_of(labels, self._above(labels), driven, last=rank == ranks.count - 1, **numbers)
        leading = through(joined(ranks, joints, "pores that meet between slabs")) - before[rank]
        return labels, leading[(leading > 0) & (leading <= count)]

    def reached(self, axis: str) -> "Slabs":
        """The same image with the pores filled that no path along `axis` leads through, in which nothing flows."""
        labels, leading = self._percolating(axis)
        return self._with(~np.isin(labels, leading))

    def padded(self, layers: tuple[int, int, int]) -> "Slabs":
        """The image with layers of solid behind it along z, y and x: the last rank has those along z."""
        deep, *sides = layers
        last = deep if self.ranks.rank == self.ranks.count - 1 else 0
        solid = np.pad(self.solid, [(0, last), *((0, count) for count in sides)], constant_values=True)
        return self._with(solid, (*self.ends[:-1], self.ends[-1] + deep))

    def cropped(self, shape: tuple[int, int, int]) -> "Slabs":
        """The first voxels along x, y and z, so many of them, of which the last rank keeps some."""
        nx, ny, nz = shape
        return self._with(self.solid[: nz - self.ends[self.ranks.rank], :ny, :nx], (*self.ends[:-1], nz))

    def pores_across(self) -> list[np.ndarray]:
        """Pores in each plane of the whole image across x, y and z."""
        across = PoreSpace(self.solid).pores_across()
        planes = np.zeros(self.ends[-1], np.int64)
        planes[slice(*self.ends[self.ranks.rank :][:2])] = across[2]
        return [self.ranks.sum(counts.astype(np.int64)) for counts in (*across[:2], planes)]

    def part(self, nodes: list, rank: int) -> PoreSpace:
        """The image on the nodes that this rank shall have; each rank sends of its slab what others shall have."""
        found = np.empty(tuple(map(len, nodes[rank][::-1])), bool)
        leaving, arriving = [], []
        for other in range(self.ranks.count):
            here, there = self._of_slab(nodes[other][2], rank), self._of_slab(nodes[rank][2], other)
            x, y, z = nodes[other]
            piece = np.ascontiguousarray(self.solid[(z[here] - self.ends[rank])[:, None, None], y[:, None], x])
            if other == rank:
                found[here] = piece
                continue
            if len(here):
                leaving.append(self.ranks.send(piece, other, HALO_TAG))
            if len(there):
                piece = np.empty((len(there), *found.shape[1:]), bool)
                arriving.append((there, piece, self.ranks.receive(piece, other, HALO_TAG)))
        self.ranks.wait([*(request for *_, request in arriving), *leaving], "voxels of other ranks' slabs")
        for there, piece, _ in arriving:
            found[there] = piece
        return PoreSpace(found)

    def _of_slab(self, planes: np.ndarray, rank: int) -> np.ndarray:
        """Which of some planes lie in a rank's slab."""
        return np.flatnonzero((planes >= self.ends[rank]) & (planes < self.ends[rank + 1]))

    def _with(self, solid: np.ndarray, ends=None) -> "Slabs":
        return Slabs(solid, self.ranks, self.ends if ends is None else ends)

    def _summed(self, count: int) -> int:
        return int(self.ranks.sum(np.array([count], np.int64))[0])

    def _above(self, values: np.ndarray) -> np.ndarray:
        """The first plane of the next slab, beyond the last that of the first."""
        ranks, plane = self.ranks, np.ascontiguousarray(values[0])
        above = np.empty_like(plane)
        below, following = ((ranks.rank + step) % ranks.count for step in (-1, 1))
        # messages to oneself are no messages
        if ranks.count == 1:
            return plane
        requests = [ranks.receive(above, following, HALO_TAG), ranks.send(plane, below, HALO_TAG)]
        ranks.wait(requests, "the plane of the next slab")
        return above


def read_slabs(planes: Planes, pore: int, ranks) -> Slabs:
    """The solid voxels of an image, of which each rank reads about as many planes; errors as of `read_image`."""
    depth, count = planes.shape[0], ranks.count
    require(count <= depth, f"{planes.name}: {depth} planes along z for {count} ranks: use at most {depth}")
    ends = tuple(depth * rank // count for rank in range(count + 1))
    with together(ranks):
        image = planes.read(*ends[ranks.rank :][:2])
    # an image of grey levels is refused by a few of them
    values = joined(ranks, np.unique(image)[:_MOST_VALUES], "values of voxels")
    require_segmented(np.unique(values).tolist(), planes.name, pore)
    return Slabs(image != pore, ranks, ends)
