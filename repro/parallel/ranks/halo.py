"""One layer of guard cells around a rank's box, filled from the boxes beside it.

Axis after axis, x, y, z, each with the guards that are filled already: so edges and corners come right without messages
across them. What lies beyond a wall is left alone.
"""

from functools import partial

import numpy as np

from repro.errors import InputError

from .domain import Domain
from .world import HALO_TAG


class Halo:
    """Fills the guard cells of an array of one rank, with one message for each side.

    The array has shape (..., nz + 2, ny + 2, nx + 2), or (nz + 2, ny + 2, nx + 2, ...) with components "last", where
    (nx, ny, nz) is the box of a rank, and any type; it is the device's and stays the same array. A GPU's faces cross
    the bus in one piece for each axis and travel from host to host: MPI need not know of GPUs. Guards at the `low` or
    at the `high` ends that nobody reads need no message, and may hold anything.
    """

    def __init__(
        self,
        domain: Domain,
        ranks,
        array,
        device=None,
        components: str = "first",
        *,
        low: bool = True,
        high: bool = True,
    ):
        if domain.count != ranks.count:
            raise InputError(f"{ranks.count} ranks for a grid cut for {domain.count}: cut it with domain_for")
        guarded = tuple(cells + 2 for cells in domain.local[::-1])
        first = array.ndim - 3 if components == "first" else 0
        if array.ndim < 3 or array.shape[first : first + 3] != guarded:
            raise InputError(f"an array of shape {array.shape}: {guarded} cells are due, components {components}")
        neighbours = domain.neighbours(ranks.rank)
        beside = [neighbours[2 * axis : 2 * axis + 2] for axis in range(3)]
        self._steps = []
        for axis, (last, sides) in enumerate(zip(domain.local, beside, strict=True)):
            cells, guards = (
                [_plane(array, first, domain.local, beside, axis, index) for index in ends]
                for ends in ((1, last), (0, last + 1))
            )
            if sides == (ranks.rank, ranks.rank):
                self._steps.append(partial(_copy, cells[::-1], guards))
            elif any(side is not None for side in sides):
                self._steps.append(_Messages(axis, sides, (low, high), cells, guards, ranks, device).exchange)

    def fill(self) -> None:
        """Give every guard cell the value of the cell that it stands for; all ranks must call it."""
        for step in self._steps:
            step()


def _plane(array, first: int, local, beside, axis: int, index: int):
    """The cells of one plane across an axis, with the guards of the axes before it but those beyond walls."""
    slices = [slice(None)] * array.ndim
    for other, (cells, sides) in enumerate(zip(local, beside, strict=True)):
        below, above = (side is not None and other < axis for side in sides)
        slices[first + 2 - other] = slice(1 - below, cells + 1 + above)
    slices[first + 2 - axis] = slice(index, index + 1)
    return array[tuple(slices)]


def _copy(sources, targets) -> None:
    for source, target in zip(sources, targets, strict=True):
        target[...] = source


class _Messages:
    """An axis with other ranks beyond one or both of its sides, of which the guards at some `ends` are wanted."""

    def __init__(self, axis: int, sides, ends, cells, guards, ranks, device):
        self._ranks, self._what = ranks, f"the guard cells along {'xyz'[axis]}"
        # cells at one side are the guards at the other side of the rank beyond
        self._to, self._from = (
            [(which, rank) for which, rank in enumerate(sides) if rank is not None and wanted[which]]
            for wanted in (ends[::-1], ends)
        )
        self._cells, self._guards = [cells[which] for which, _ in self._to], [guards[which] for which, _ in self._from]
        self._device = device if device is not None and device.xp is not np else None
        self._out, self._in = self._buffer(self._to, cells[0]), self._buffer(self._from, cells[0])

    def _buffer(self, sides, plane) -> tuple:
        """Room for the planes of some sides in one piece, so that a GPU copies once: on the device and on the host."""
        shape = (len(sides), *plane.shape)
        if self._device is None:
            return (np.zeros(shape, plane.dtype),) * 2
        return self._device.xp.zeros(shape, plane.dtype), self._device.page_locked(shape, plane.dtype)

    def exchange(self) -> None:
        """Send the outermost cells, and receive the guards."""
        (here, out), (there, arriving) = self._out, self._in
        _copy(self._cells, here)
        if self._device:
            self._device.download(here, out)
        # two ranks along a periodic axis are neighbours on both sides: the side tells the messages apart
        requests = [
            self._ranks.receive(piece, rank, HALO_TAG + 1 - which)
            for (which, rank), piece in zip(self._from, arriving, strict=True)
        ]
        requests += [
            self._ranks.send(piece, rank, HALO_TAG + which) for (which, rank), piece in zip(self._to, out, strict=True)
        ]
        self._ranks.wait(requests, self._what)
        if self._device:
            self._device.upload(arriving, there)
        _copy(there, self._guards)
