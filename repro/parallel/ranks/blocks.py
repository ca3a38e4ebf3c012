"""A grid cut by planes into boxes that need not be alike, one for each rank: any number of ranks cuts any grid."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from repro.errors import InputError

from .domain import Domain, factors, surfaces


@dataclass(frozen=True)
class Blocks:
    """A grid whose boxes begin and end at `bounds` along x, y and z: (0, ..., cells).

    `periodic` says for each axis whether the grid goes on at its other end; otherwise there are walls.
    """

    bounds: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    periodic: tuple[bool, bool, bool]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cells of the grid along x, y and z."""
        return tuple(ends[-1] for ends in self.bounds)

    @cached_property
    def matrix(self) -> Domain:
        """The matrix of boxes, a cell of it a box: who is beside whom."""
        ranks = tuple(len(ends) - 1 for ends in self.bounds)
        return Domain(ranks, self.periodic, ranks)

    def box(self, rank: int) -> tuple[tuple[int, int], ...]:
        """Along x, y and z the first cell of a rank's box, and the first one behind it."""
        return tuple((ends[at], ends[at + 1]) for ends, at in zip(self.bounds, self.matrix.place(rank), strict=True))


def blocks_for(shape, periodic, ranks: int, thinnest=(1, 1, 1), work=None, of: str = "nodes") -> Blocks:
    """The grid cut into `ranks` boxes, as equal as can be, of which the largest has the least surface to others.

    Of equals the one cut less along x, where rows stay long. `thinnest` are the least cells of a box along each axis;
    `work` is for each axis what there is to do in each plane across it, where that is not the same in all: then slices
    of the grid along each axis have equal shares. Raises InputError, naming a number of ranks that works, where boxes
    would be thinner; it says what the grid is made `of`.
    """
    cuts = _cuts(shape, ranks, thinnest)
    if not cuts:
        size, least = (" x ".join(map(str, cells)) for cells in (shape, thinnest))
        fewer = next(count for count in range(ranks - 1, 0, -1) if _cuts(shape, count, thinnest))
        raise InputError(f"{ranks} ranks for {size} {of}: each needs {least} of its own, so use {fewer}")
    cut = min(cuts, key=lambda cut: (*surfaces([-(-n // p) for n, p in zip(shape, cut, strict=True)], cut), cut))
    work = [np.ones(n) for n in shape] if work is None else work
    ends = (_shares(each, p, least) for each, p, least in zip(work, cut, thinnest, strict=True))
    return Blocks(tuple(ends), tuple(periodic))


def _shares(work: np.ndarray, parts: int, least: int) -> tuple[int, ...]:
    """Where parts of about the same work begin and end, none of fewer than `least` planes if there are several."""
    done, ends = np.cumsum(work), [0]
    for part in range(1, parts):
        # a plane belongs to the part in which its middle lies
        wanted = int(np.searchsorted(done - work / 2, done[-1] * part / parts))
        ends.append(min(max(wanted, ends[-1] + least), len(work) - (parts - part) * least))
    return (*ends, len(work))


def _cuts(shape, ranks: int, thinnest) -> list[tuple[int, int, int]]:
    """Numbers of boxes along the axes that leave no box too thin."""
    most = [max(1, n // least) for n, least in zip(shape, thinnest, strict=True)]
    return [cut for cut in factors(ranks) if all(p <= many for p, many in zip(cut, most, strict=True))]
