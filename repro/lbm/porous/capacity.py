"""What a flow through pores takes of each rank's memory, said before it starts, and how many ranks would do."""

from itertools import pairwise
from math import prod

import numpy as np

from repro.errors import InputError, MemoryLimitError
from repro.parallel.memory import readable

from ..lattice import D3Q19
from ..ranks import cut
from .driven import Driven
from .simulation import bytes_needed
from .strategies import STRATEGIES

#: ranks of the largest machine that is thought of
_MOST_RANKS = 1024


def bytes_a_rank(shape, work: list[np.ndarray], ranks: int, strategy: str, itemsize: int) -> int:
    """Bytes that the rank with the largest part of an image needs; `work` are the pores across x, y and z.

    Its halo has as many pores among its nodes as its own nodes have.
    """
    cost, pores = STRATEGIES[strategy].COST, int(work[0].sum())
    blocks, _ = cut(shape, (True,) * 3, ranks, work=None if cost.dense else work)
    # the longest sides of any rank's box
    own = [max(end - first for first, end in pairwise(ends)) for ends in blocks.bounds]
    nodes = prod(cells + 2 * (cut > 1) for cells, cut in zip(own, blocks.matrix.ranks, strict=True))
    share = min(nodes, -(-pores * nodes // (ranks * prod(own))))
    return bytes_needed(cost, itemsize, nodes, share, D3Q19.q)


def capacity(driven: Driven, itemsize: int, ranks, sharing: int) -> str:
    """In a line, the image and what each rank needs for it; all ranks ask.

    `sharing` is how many ranks share this rank's memory, or GPU. Raises MemoryLimitError on all ranks where it does not
    fit, with a number of ranks that would do.
    """
    stored, strategy = driven.stored, driven.strategy
    work = stored.pores_across()
    needed = bytes_a_rank(stored.shape, work, ranks.count, strategy, itemsize)
    free = int(ranks.gather(np.array(driven.device.free_memory() // sharing), "free memory").min())
    sides = " x ".join(map(str, driven.image.shape))
    each = f"on each of {ranks.count} ranks" if ranks.count > 1 else "on one rank"
    line = f"{sides} voxels, porosity {driven.image.porosity:.3g}: {readable(needed)} {each}"
    if needed <= free:
        return line
    enough = _ranks_that_do(stored.shape, work, ranks.count, strategy, itemsize, free)
    place = "a GPU" if driven.device.name == "cuda" else "a machine"
    advice = f"use {enough} ranks, {sharing} on {place}" if enough else "take a smaller piece"
    raise MemoryLimitError(f"{line}, of which {readable(free)} are free: {advice}")


def _ranks_that_do(shape, work, ranks: int, strategy: str, itemsize: int, free: int) -> int | None:
    """The least number of ranks, more than some, with which each has no more than `free` bytes; None if none has."""
    # by what must be shared, and from there on one by one
    count = max(ranks + 1, bytes_a_rank(shape, work, 1, strategy, itemsize) // max(free, 1))
    for many in range(count, _MOST_RANKS + 1):
        try:
            if bytes_a_rank(shape, work, many, strategy, itemsize) <= free:
                return many
        except InputError:
            # a number that cuts no image into boxes
            continue
    return None
