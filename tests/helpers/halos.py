"""Guard cells of every rank against the one grid that they are parts of."""

from itertools import product
from types import SimpleNamespace

import numpy as np

from repro.parallel.ranks.domain import Domain, domain_for
from repro.parallel.ranks.halo import Halo


def untouched(rank: int) -> int:
    """What nobody may touch: another number on each rank, so that a copy of it is found."""
    return -1 - rank


class StagedDevice:
    """A device whose arrays reach the host by copies only, as a GPU's."""

    xp, page_locked = SimpleNamespace(zeros=np.zeros, take=np.take), staticmethod(np.empty)
    zeros, to_device = staticmethod(np.zeros), staticmethod(np.array)

    def upload(self, source, target):
        """From the host."""
        np.copyto(target, source)

    def download(self, source, target):
        """To the host."""
        np.copyto(target, source)


def guarded_cells(domain: Domain, rank: int):
    """The places of a box and its guards, z, y, x, with the cell of the grid each stands for; None beyond a wall."""
    offset, local = domain.offset(rank), domain.local
    for place in product(*(range(cells + 2) for cells in local[::-1])):
        cell = [at - 1 + start for at, start in zip(place[::-1], offset, strict=True)]
        wrapped = [at % cells for at, cells in zip(cell, domain.shape, strict=True)]
        wall = any(a != w and not p for a, w, p in zip(cell, wrapped, domain.periodic, strict=True))
        yield place, None if wall else tuple(wrapped[::-1])


def wrong_after_fill(
    shape, periodic, ranks, components: str, device=None, *, low: bool = True, high: bool = True
) -> list:
    """Places that do not hold what they must after `fill`, of three arrays of several types.

    Guards at the `low` or at the `high` ends, if they are not wanted, may hold anything.
    """
    domain = domain_for(shape, periodic, ranks.count)
    grid = np.arange(1, np.prod(shape) + 1).reshape(shape[::-1])
    size = tuple(cells + 2 for cells in domain.local[::-1])
    types = {(): np.float64, (3,): np.int16, (2,): np.complex64}
    arrays, cells = [], list(guarded_cells(domain, ranks.rank))
    for more, dtype in types.items():
        arrays.append(
            np.full((*more, *size) if components == "first" else (*size, *more), untouched(ranks.rank), dtype)
        )
    inside = [(place, cell) for place, cell in cells if _is_inside(place, domain)]
    for array, (place, cell) in product(arrays, inside):
        _at(array, place, components)[...] = grid[cell]
    for array in arrays:
        Halo(domain, ranks, array, device, components, low=low, high=high).fill()
    return [
        (list(place), str(array.dtype))
        for array, (place, cell) in product(arrays, cells)
        if (low or min(place) > 0) and (high or all(at <= n for at, n in zip(place[::-1], domain.local, strict=True)))
        if np.any(_at(array, place, components) != (untouched(ranks.rank) if cell is None else grid[cell]))
    ]


def _is_inside(place, domain: Domain) -> bool:
    return all(1 <= at <= cells for at, cells in zip(place[::-1], domain.local, strict=True))


def _at(array, place, components: str):
    return array[(..., *place)] if components == "first" else array[(*place, ...)]
