"""An image of which only some planes are read: what it is by its file, and how its voxels are had."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from repro.parallel import select
from repro.parallel.memory import require_memory


@dataclass(frozen=True)
class Planes:
    """An image (nz, ny, nx) in a file: `voxels(first, end)` reads the planes from one to before another along z."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    voxels: Callable[[int, int], np.ndarray]

    def read(self, first: int, end: int) -> np.ndarray:
        """The voxels of some planes, (end - first, ny, nx); MemoryLimitError where there is no room for them."""
        # the voxels, and what it takes to look at their values
        count = 3 * (end - first) * prod(self.shape[1:]) * self.dtype.itemsize
        require_memory(select("serial"), count, self.name, "take a smaller piece")
        return self.voxels(first, end)

    def mirrored(self, axis: int) -> "Planes":
        """The image and its mirror image behind it along an axis of its array: 0, 1 or 2 for z, y or x."""
        shape = tuple(n * 2 if along == axis else n for along, n in enumerate(self.shape))
        if axis:
            return replace(self, shape=shape, voxels=lambda *ends: _with_mirror(self.voxels(*ends), axis))
        depth = self.shape[0]

        def read(first: int, end: int) -> np.ndarray:
            # the planes of the image itself, and those of the mirror image from its last one back
            found = [self.voxels(first, min(end, depth))] if first < depth else []
            if end > depth:
                found.append(self.voxels(2 * depth - end, 2 * depth - max(first, depth))[::-1])
            return np.concatenate(found)

        return replace(self, shape=shape, voxels=read)


def _with_mirror(image: np.ndarray, axis: int) -> np.ndarray:
    return np.concatenate([image, np.flip(image, axis)], axis)
