"""What is measured in a voxel image before anything flows: porosity, surface, clusters, percolation."""

from dataclasses import dataclass
from math import prod
from typing import Annotated

import numpy as np
from scipy import ndimage, sparse

from repro.declared import Above, OneOf, Rule, checked
from repro.errors import InputError, require

from .percolation import joints_of, label_slab, through

AXES = ("x", "y", "z")


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
    def voxels(self) -> int:
        """Number of voxels."""
        return prod(self.shape)

    @property
    def pores(self) -> int:
        """Number of pore voxels."""
        return int(self.solid.size - np.count_nonzero(self.solid))

    @property
    def porosity(self) -> float:
        """Volume of the pores over the volume of the image."""
        return self.pores / self.voxels

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
        it went in, see `percolation`.
        """
        return len(self._percolating(axis)[1]) > 0

    @checked
    def reached(self, axis: Annotated[str, OneOf(AXES)]) -> "PoreSpace":
        """The same image with the pores filled that no path along `axis` leads through, in which nothing flows."""
        labels, leading = self._percolating(axis)
        return PoreSpace(~np.isin(labels, leading))

    def _percolating(self, axis: str) -> tuple[np.ndarray, np.ndarray]:
        """The clusters of pores, labelled within the box, and the labels of those that percolate."""
        labels, _ = label_slab(~self.solid)
        return labels, through(joints_of(labels, labels[0], 2 - AXES.index(axis), last=True))

    def padded(self, layers: tuple[int, int, int]) -> "PoreSpace":
        """The image with layers of solid behind it along z, y and x."""
        return PoreSpace(np.pad(self.solid, [(0, count) for count in layers], constant_values=True))

    def cropped(self, shape: tuple[int, int, int]) -> "PoreSpace":
        """The first voxels along x, y and z, so many of them."""
        nx, ny, nz = shape
        return PoreSpace(self.solid[:nz, :ny, :nx])

    def pores_across(self) -> list[np.ndarray]:
        """Pores in each plane across x, y and z."""
        return [np.count_nonzero(~self.solid, axis=axes) for axes in ((0, 1), (0, 2), (1, 2))]

    def part(self, nodes: list, rank: int) -> "PoreSpace":
        """The image on the nodes of a rank, of those of all ranks: (along x, along y, along z) of each."""
        x, y, z = nodes[rank]
        return PoreSpace(self.solid[z[:, None, None], y[:, None], x])

    @checked
    def require_flow(self, axis: Annotated[str, OneOf(AXES)]) -> None:
        """Raises InputError unless something can flow along `axis`."""
        require(self.pores, "the image is all solid: nothing can flow")
        if self.pores == self.voxels:
            raise InputError("the image has no solid: without a wall a flow grows without end, and has no permeability")
        if not self.percolates(axis):
            raise InputError(
                f"the pores do not connect along {axis} (porosity {self.porosity:.3g}): "
                "nothing can flow; choose another axis or a larger piece of the image"
            )


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
