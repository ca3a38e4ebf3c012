"""One layer of guard cells around a rank's box, filled from the boxes beside it.

Axis after axis, x, y, z, each with the guards that are filled already: so edges and corners come right without messages
across them. What lies beyond a wall is left alone.
"""

from math import prod

import numpy as np

from repro.errors import InputError

from .domain import Domain
from .world import HALO_TAG

#: arrays begin in a message where any type may begin
_ALIGNMENT = 16


class Halo:
    """Fills the guard cells of arrays of one rank, all of them with one message for each side.

    Arrays have shape (..., nz + 2, ny + 2, nx + 2), or (nz + 2, ny + 2, nx + 2, ...) with components "last", where
    (nx, ny, nz) is the box of a rank, and any type; they are the device's and stay the same arrays. A GPU's faces cross
    the bus in one piece for each axis and travel from host to host: MPI need not know of GPUs.
    """

    def __init__(self, domain: Domain, ranks, arrays, device=None, components: str = "first"):
        if domain.count != ranks.count:
            raise InputError(f"{ranks.count} ranks for a grid cut for {domain.count}: cut it with domain_for")
        self._steps = []
        grids = [_Grid(array, domain, ranks.rank, components) for array in arrays]
        for axis in range(3):
            sides = [domain.neighbour(ranks.rank, axis, direction) for direction in (-1, 1)]
            if sides == [ranks.rank, ranks.rank]:
                self._steps.append(_Copies(grids, axis))
            elif any(side is not None for side in sides):
                self._steps.append(_Messages(grids, axis, sides, ranks, device))

    def fill(self) -> None:
        """Give every guard cell the value of the cell that it stands for; all ranks must call it."""
        for step in self._steps:
            step.fill(False)

    def collect(self) -> None:
        """Add every guard cell to the cell that it stands for: the reverse of `fill`; all ranks must call it.

        What the guard cells hold afterwards means nothing.
        """
        for step in reversed(self._steps):
            step.fill(True)


class _Grid:
    """An array with guard cells, and which of its planes are whose."""

    def __init__(self, array, domain: Domain, rank: int, components: str):
        local = domain.local[::-1]
        guarded = tuple(cells + 2 for cells in local)
        first = array.ndim - 3 if components == "first" else 0
        if array.ndim < 3 or array.shape[first : first + 3] != guarded:
            raise InputError(f"an array of shape {array.shape}: {guarded} cells are due, components {components}")
        self.array, self._first = array, first
        self._sizes = domain.local
        # beyond a wall there is nothing to send
        self._open = [
            [domain.neighbour(rank, axis, direction) is not None for direction in (-1, 1)] for axis in range(3)
        ]

    def plane(self, axis: int, index: int):
        """The cells of one plane across an axis, with the guards of the axes before it."""
        slices = [slice(None)] * self.array.ndim
        for other in range(3):
            below, above = self._open[other] if other < axis else (False, False)
            slices[self._first + 2 - other] = slice(1 - below, self._sizes[other] + 1 + above)
        slices[self._first + 2 - axis] = slice(index, index + 1)
        return self.array[tuple(slices)]

    def sides(self, axis: int, guards: bool) -> list:
        """The lowest and the highest plane across an axis: of the cells, or of the guards."""
        last = self._sizes[axis]
        return (
            [self.plane(axis, 0), self.plane(axis, last + 1)]
            if guards
            else [self.plane(axis, 1), self.plane(axis, last)]
        )


class _Copies:
    """An axis whose one box is its own neighbour."""

    def __init__(self, grids: list[_Grid], axis: int):
        self._pairs = []
        for grid in grids:
            guards, cells = grid.sides(axis, guards=True), grid.sides(axis, guards=False)
            self._pairs += list(zip(guards, reversed(cells), strict=True))

    def fill(self, back: bool) -> None:
        for guard, cell in self._pairs:
            if back:
                cell += guard
            else:
                guard[...] = cell


class _Messages:
    """An axis with other ranks beyond one or both of its sides."""

    def __init__(self, grids: list[_Grid], axis: int, sides: list[int | None], ranks, device):
        self._ranks, self._what = ranks, f"the guard cells along {'xyz'[axis]}"
        self._sides = [(which, rank) for which, rank in enumerate(sides) if rank is not None]
        guards, cells = ([grid.sides(axis, guards=kind) for grid in grids] for kind in (True, False))
        # one piece of memory for both sides, so that a GPU copies once
        used = [[of_grid[which] for of_grid in planes] for planes in (guards, cells) for which, _ in self._sides]
        count = len(self._sides)
        self._guards, self._cells = used[:count], used[count:]
        self._out, self._in = (_Buffer(self._cells, device) for _ in range(2))

    def fill(self, back: bool) -> None:
        source, target = (self._guards, self._cells) if back else (self._cells, self._guards)
        self._out.pack(source)
        self._ranks.wait(self._requests(), self._what)
        self._in.unpack(target, back)

    def _requests(self) -> list:
        requests = []
        for (which, rank), piece in zip(self._sides, self._in.pieces, strict=True):
            requests.append(self._ranks.receive(piece, rank, HALO_TAG + 1 - which))
        for (which, rank), piece in zip(self._sides, self._out.pieces, strict=True):
            # two ranks along a periodic axis are neighbours on both sides: the side tells the messages apart
            requests.append(self._ranks.send(piece, rank, HALO_TAG + which))
        return requests


class _Buffer:
    """Planes of several arrays one behind the other, on the device and on the host; a piece for each side."""

    def __init__(self, sides: list[list], device):
        places, size, ends = [], 0, []
        for planes in sides:
            for plane in planes:
                places.append(size)
                size += -(-prod(plane.shape) * plane.dtype.itemsize // _ALIGNMENT) * _ALIGNMENT
            ends.append(size)
        on_gpu = device is not None and device.xp is not np
        self._device = device if on_gpu else None
        self._memory = (device.xp if on_gpu else np).zeros(size, np.uint8)
        self._host = _page_locked(device, size) if on_gpu else self._memory
        #: what is sent to each side, or received from it
        self.pieces = [self._host[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        self._views = iter(places)
        self._views = [[self._view(plane, next(self._views)) for plane in planes] for planes in sides]

    def _view(self, plane, start: int):
        stop = start + prod(plane.shape) * plane.dtype.itemsize
        return self._memory[start:stop].view(plane.dtype).reshape(plane.shape)

    def pack(self, sides: list[list]) -> None:
        for views, planes in zip(self._views, sides, strict=True):
            for view, plane in zip(views, planes, strict=True):
                view[...] = plane
        if self._device:
            self._device.download(self._memory, self._host)

    def unpack(self, sides: list[list], add: bool) -> None:
        if self._device:
            self._device.upload(self._host, self._memory)
        for views, planes in zip(self._views, sides, strict=True):
            for view, plane in zip(views, planes, strict=True):
                if add:
                    plane += view
                else:
                    plane[...] = view


def _page_locked(device, size: int) -> np.ndarray:
    """Memory of the host that a GPU reads and writes at full speed."""
    return np.frombuffer(device.xp.cuda.alloc_pinned_memory(size), np.uint8, size)
