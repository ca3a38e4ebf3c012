"""How many particles a rank must have room for, and a message to another one; no rank need ask another one."""

from math import ceil, sqrt

import numpy as np

from repro.parallel.ranks.around import AROUND
from repro.parallel.ranks.blocks import Blocks

#: standard deviations of the number of particles in a part of a gas, and some for hardly any particles
_DEVIATIONS, _LEAST = 6, 4


def rooms_for(counts: np.ndarray, blocks: Blocks, room: float) -> tuple[int, list[int]]:
    """Room for the particles of any block, and for a message each way: `room` times what is expected.

    `counts` (nz, ny, nx) are the particles of each cell. Of what is there now and what would be there if all particles
    were spread evenly, the larger is expected. The same on all ranks.
    """
    boxes = [blocks.box(rank) for rank in range(blocks.matrix.count)]
    mean = counts.mean()

    def room_of(regions) -> int:
        expected = max(max(piece.sum(), mean * piece.size) for piece in (counts[region[::-1]] for region in regions))
        return ceil(room * expected + _DEVIATIONS * sqrt(expected)) + _LEAST

    def rooms(way) -> int:
        beside = all(ranks > 1 for ranks, there in zip(blocks.matrix.ranks, way, strict=True) if there)
        return room_of([_side(box, way) for box in boxes]) if any(way) and beside else 0

    each = np.array([rooms(way) for way in AROUND])
    # what one rank sends another one finds room there
    return room_of([_side(box, (0, 0, 0)) for box in boxes]), np.maximum(each, each[::-1]).tolist()


def _side(box, way) -> tuple[slice, ...]:
    """The cells of a block nearest to the one at a displacement, along x, y and z; all of it at none."""
    return tuple(
        slice(*{-1: (first, first + 1), 0: (first, end), 1: (end - 1, end)}[there])
        for (first, end), there in zip(box, way, strict=True)
    )
