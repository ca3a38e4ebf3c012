"""Which voxels of a periodic image hang together."""

import numpy as np
from scipy import ndimage, sparse


def label_clusters(mask: np.ndarray) -> tuple[np.ndarray, int]:
    """Number the clusters of true voxels: (labels of the mask's shape, 0 where it is false, and how many there are).

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
