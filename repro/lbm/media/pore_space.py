"""What is measured in a voxel image before anything flows: porosity, surface, clusters, percolation."""

from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np
from scipy import ndimage, sparse

from repro.declared import Above, OneOf, Rule, checked
from repro.errors import InputError, require

AXES = ("x", "y", "z")

#: steps between neighbours that a population of D3Q19 can take
_LINKS = [c for c in product((-1, 0, 1), repeat=3) if 1 <= sum(map(abs, c)) <= 2]


def is_mask(value) -> bool:
    """Whether something is an array of booleans in three dimensions."""
    plain = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)
    return plain and value.dtype == bool and value.ndim == 3


IMAGE = Rule(
    "an array of booleans of the shape (nz, ny, nx), none of them 0, true where there is solid",
    lambda value: is_mask(value) and value.size > 0,
)

#: between all solid and no solid
POROSITY = Above(0, below=1)


@dataclass(frozen=True, eq=False, repr=False)
@checked
class PoreSpace:
    """A periodic voxel image, `solid` of shape (nz, ny, nx); raises InputError if it is no such image."""

    solid: Annotated[np.ndarray, IMAGE]

    def __repr__(self):
        return f"PoreSpace({' x '.join(map(str, self.shape))} voxels, porosity {self.porosity:.3g})"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Voxels along x, y and z."""
        nz, ny, nx = self.solid.shape
        return nx, ny, nz

    @property
    def pores(self) -> int:
        """Number of pore voxels."""
        return int(self.solid.size - np.count_nonzero(self.solid))

    @property
    def porosity(self) -> float:
        """Volume of the pores over the volume of the image."""
        return self.pores / self.solid.size

    @property
    def specific_surface(self) -> float:
        """Area of the pore walls over the volume of the image, per voxel length.

        2/3 of the area of the voxels' faces: so much a staircase overstates a surface of random orientation.
        """
        faces = sum(np.count_nonzero(self.solid != np.roll(self.solid, 1, axis)) for axis in range(3))
        return 2 / 3 * faces / self.solid.size

    def percolates(self, axis: str) -> bool:
        """Whether a path through pores leads from the image to its periodic repetition along `axis`.

        A path takes the steps of D3Q19. A cluster that touches both faces is not enough: the path must come out where
        it went in. Clusters are joined across the faces, counting how often the joint crosses the face in question; a
        joint that contradicts the count closes such a path.
        """
        return bool(self._percolating(axis)[1])

    @checked
    def reached(self, axis: Annotated[str, OneOf(AXES)]) -> "PoreSpace":
        """The same image with the pores filled that no path along `axis` leads through, in which nothing flows."""
        labels, through = self._percolating(axis)
        return PoreSpace(~np.isin(labels, list(through)))

    def _percolating(self, axis: str) -> tuple[np.ndarray, set[int]]:
        """The clusters of pores, labelled within the box, and the labels of those that percolate."""
        labels, _ = ndimage.label(~self.solid, ndimage.generate_binary_structure(3, 2))
        joints: dict[int, set] = {}
        for a, b, crossed in _seam(labels, 2 - AXES.index(axis)):
            joints.setdefault(a, set()).add((b, crossed))
            joints.setdefault(b, set()).add((a, -crossed))
        count: dict[int, int] = {}
        through: set[int] = set()
        for start in joints:
            if start in count:
                continue
            count[start], cluster, waiting, closes = 0, {start}, [start], False
            while waiting:
                here = waiting.pop()
                for other, crossed in joints[here]:
                    if other not in count:
                        count[other] = count[here] + crossed
                        cluster.add(other)
                        waiting.append(other)
                    closes |= count[other] != count[here] + crossed
            if closes:
                through |= cluster
        return labels, through

    @checked
    def require_flow(self, axis: Annotated[str, OneOf(AXES)]) -> None:
        """Raises InputError unless something can flow along `axis`."""
        require(self.pores, "the image is all solid: nothing can flow")
        if self.pores == self.solid.size:
            raise InputError("the image has no solid: without a wall a flow grows without end, and has no permeability")
        if not self.percolates(axis):
            raise InputError(
                f"the pores do not connect along {axis} (porosity {self.porosity:.3g}): "
                "nothing can flow; choose another axis or a larger piece of the image"
            )


def _seam(labels: np.ndarray, driven: int):
    """Joints (cluster, cluster, crossings of the face of the axis `driven`) of neighbours across the box's faces."""
    shape = np.array(labels.shape)
    found = set()
    for axis in range(3):
        for link in _LINKS:
            if not link[axis]:
                continue
            sides = [np.arange(extent) for extent in shape]
            sides[axis] = np.array([shape[axis] - 1 if link[axis] > 0 else 0])
            here = np.meshgrid(*sides, indexing="ij")
            there = [position + step for position, step in zip(here, link, strict=True)]
            crossed = np.floor_divide(there[driven], shape[driven])
            a = labels[tuple(here)]
            b = labels[tuple(position % extent for position, extent in zip(there, shape, strict=True))]
            inside = (a > 0) & (b > 0)
            found.update(map(tuple, np.unique(np.stack([a[inside], b[inside], crossed[inside]]), axis=1).T.tolist()))
    return found


def label_clusters(mask: np.ndarray) -> tuple[np.ndarray, int]:
    """Number the clusters of true voxels of a periodic image: (labels, 0 where it is false, and how many there are).

    Voxels that share a face belong together, across the faces of the box too: what leaves it comes back.
    """
    labels, count = ndimage.label(mask)
    pairs = [np.empty((2, 0), int)]
    for axis in range(mask.ndim):
        first, last = np.take(labels, 0, axis).ravel(), np.take(labels, -1, axis).ravel()
        pairs.append(np.stack([first, last])[:, (first > 0) & (last > 0)])
    joined = np.concatenate(pairs, axis=1)
    graph = sparse.coo_array((np.ones(joined.shape[1]), joined), shape=(count + 1, count + 1))
    # what is false is a cluster of the graph as well, the first one
    found, names = sparse.csgraph.connected_components(graph, directed=False)
    return names[labels], found - 1
