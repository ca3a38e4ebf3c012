"""Which clusters of pores lead through a periodic image, from what joins them across the faces of its slabs.

A slab is some planes of the image along z. Its clusters are labelled within it, and joined to those of the next slab
and across the sides of the image, counting how often a joint crosses the face in question. A joint that contradicts the
count closes a path that comes out where it went in, in the next copy of the image.
"""

from itertools import product

import numpy as np
from scipy import ndimage

#: steps that a population of D3Q19 can take, along z, y and x; none down along z, as a joint leads both ways
_LINKS = [c for c in product((0, 1), (-1, 0, 1), (-1, 0, 1)) if 1 <= sum(map(abs, c)) <= 2]


def label_slab(pores: np.ndarray) -> tuple[np.ndarray, int]:
    """Clusters of pores (planes, ny, nx) that hang together within a slab: labels from 1 on, and how many there are."""
    return ndimage.label(pores, ndimage.generate_binary_structure(3, 2))


def joints_of(labels, above, driven: int, *, last: bool, before: int = 0, beyond: int = 0) -> np.ndarray:
    """Joints of a slab, one a row: (cluster, cluster, crossings of the face of the axis `driven`, 0 to 2 for z to x).

    `above` is the first plane of labels of the next slab, of the `last` one that of the first. A cluster has
    as its number the label, and how many lie in the slabs `before` this one, or before the one `beyond` it.
    """
    planes, ny, nx = labels.shape
    found = [np.zeros((0, 3), np.int64)]
    for up, along_y, along_x in _LINKS:
        # across a side of the image, or into the next slab: all other neighbours are one cluster by their labels
        rows = _beyond(ny, along_y)
        columns = _beyond(nx, along_x)
        places = [(np.arange(planes), rows, np.arange(nx)), (np.arange(planes), np.arange(ny), columns)]
        if up:
            places.append((np.array([planes - 1]), np.arange(ny), np.arange(nx)))
        for z, y, x in places:
            if not (len(z) and len(y) and len(x)):
                continue
            z, y, x = np.meshgrid(z, y, x, indexing="ij")
            here = labels[z, y, x]
            other_y, other_x, inside = (y + along_y) % ny, (x + along_x) % nx, z + up < planes
            there = np.where(inside, labels[np.where(inside, z + up, 0), other_y, other_x], above[other_y, other_x])
            crossed = ((~inside) * last, (y + along_y) // ny, (x + along_x) // nx)[driven]
            joined = (here > 0) & (there > 0)
            names = here + np.int64(before), there + np.where(inside, before, beyond)
            rows_of = [np.broadcast_to(numbers, here.shape)[joined] for numbers in (*names, crossed)]
            found.append(np.unique(np.stack(rows_of, axis=1).astype(np.int64), axis=0))
    return np.unique(np.concatenate(found), axis=0)


def _beyond(extent: int, step: int) -> np.ndarray:
    """Where along an axis a step leads out of the image."""
    return np.array([extent - 1] if step > 0 else [0] if step < 0 else [], int)


def through(joints: np.ndarray) -> np.ndarray:
    """Labels of the clusters from which a path leads to their repetition, in order."""
    beside: dict[int, set] = {}
    for a, b, crossed in joints.tolist():
        beside.setdefault(a, set()).add((b, crossed))
        beside.setdefault(b, set()).add((a, -crossed))
    count: dict[int, int] = {}
    found: set[int] = set()
    for start in beside:
        if start in count:
            continue
        count[start], cluster, waiting, closes = 0, {start}, [start], False
        while waiting:
            here = waiting.pop()
            for other, crossed in beside[here]:
                if other not in count:
                    count[other] = count[here] + crossed
                    cluster.add(other)
                    waiting.append(other)
                closes |= count[other] != count[here] + crossed
        if closes:
            found |= cluster
    return np.array(sorted(found), np.int64)
