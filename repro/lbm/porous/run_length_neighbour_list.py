"""`neighbour_list` as runs: along a row of pores, populations mostly come from places that lie in a row as well.

Where a pore's source in some direction follows that of the pore before, both belong to one run, and the distance from
pore to source is the same for all pores of a run. For 32 neighbouring pores and a direction, one word says which of
them begin a run, and how many runs lie before; each run has one distance.
"""

from typing import NamedTuple

from numpy import int32, int64, uint32

from repro.parallel import device_function, ones

from ..layout import unsigned
from .neighbour_list import NeighbourList

#: pores that share a word
GROUP = 32

#: most bytes a pore and a direction, where each pore begins a run
MOST_BYTES = 8 / GROUP + 4

_ALL = 0xFFFFFFFF


class RunLengthNeighbourList(NamedTuple):
    """The map of a list of pores, for kernels: words [(q - 1)][groups], and the distance of each run."""

    groups: int
    #: low half: bit k says that pore k of the group begins a run; high half: the number of the run before, -1 at first
    words: object
    distances: object


def as_runs(pores: NeighbourList, device) -> RunLengthNeighbourList:
    """The same map as runs, made on the device; every group begins a run of its own."""
    xp, row, groups = device.xp, pores.row, pores.row // GROUP
    directions = pores.sources.reshape(-1, row)
    words, distances, runs = xp.zeros((len(directions), groups), int64), [], 0
    pore = xp.arange(row, dtype=int32)
    for i, sources in enumerate(directions):
        distance = sources - pore
        begins = xp.ones(row, bool)
        begins[1:] = distance[1:] != distance[:-1]
        begins[::GROUP] = True
        begins[pores.count :] = False
        bits = xp.packbits(begins, bitorder="little").view(uint32).astype(int64)
        each = begins.reshape(groups, GROUP).sum(1)
        words[i] = ((xp.cumsum(each) - each + (runs - 1)) << 32) | bits
        distances.append(distance[begins])
        runs += int(each.sum())
    return RunLengthNeighbourList(groups, words.ravel(), xp.concatenate(distances))


@device_function
def source(runs, i, pore):
    """The place of population i of a pore, i from 1 on; pores are counted in 64 bits."""
    word = runs.words[unsigned((i - 1) * runs.groups + pore // GROUP)]
    begun = uint32(uint32(word & _ALL) & (uint32(_ALL) >> uint32(GROUP - 1 - pore % GROUP)))
    return int32(pore + runs.distances[unsigned((word >> 32) + ones(begun))])
