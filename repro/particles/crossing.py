"""Particles that cross to other ranks, and copies of those near to them, all in one message to each rank around.

After a move a particle lies in an own cell or in the layer around them (see `local_cells`). Every rank on whose own
cells or layer it then lies is told of it, and finds by its cell whether it is there or only near: so a rank that loses
a particle still has the copy it needs. That takes one message a step, as long as a block has two cells along an axis
that is cut. How much a message holds is known on the device only, so each has room for more than is ever sent.
"""

from dataclasses import dataclass

import numpy as np

from repro.parallel import Kernel
from repro.parallel.ranks.around import AROUND, rank_beside, tags_of
from repro.parallel.ranks.exchange import Link
from repro.parallel.ranks.pieces import Pieces

from .launch import launch_of
from .local_cells import LocalCells
from .local_particles import Arrays
from .messages import WORDS, Messages, arrive_body, clear, send_body

#: name of the part of a step in which messages travel
EXCHANGE = "exchange"

#: cells that a block must have along an axis that is cut
THINNEST = 2


@dataclass(frozen=True)
class Crossed:
    """What a rank has seen since the start: the fullest message and its room, most particles at once, lost ones."""

    most: int
    room: int
    held: int
    lost: int


class Crossing:
    """Sends the particles of `source` (r, v, u, ids) that other ranks must know of, and takes in theirs.

    `rooms[w]` is the room of a message the way AROUND[w], and of one from there; `held` as of `LocalParticles`.
    """

    def __init__(self, device, source, cells: LocalCells, real, held, ranks, rooms):
        self._device, self._cells, self._real, self._held, self._rooms = device, cells, real, held, np.array(rooms)
        self._source = Arrays(source.r, source.v, source.u, source.ids, len(source.ids))
        self._starts = np.cumsum([0, *(1 + WORDS * room for room in rooms)])
        out, into = (device.zeros(int(self._starts[-1]), source.r.dtype) for _ in range(2))
        numbers = [device.to_device(each.astype(np.int32)) for each in (self._starts[:-1], self._rooms)]
        self._out, self._into = Messages(out, *numbers), Messages(into, *numbers)
        self._exchange = Pieces(self._links(ranks), out, into, ranks, device, "the particles near and of other ranks")
        self._lost, self._peaks = device.zeros(1, np.int32), device.zeros(len(AROUND) + 1, np.int64)

    def _links(self, ranks) -> list[Link]:
        matrix, links = self._cells.blocks.matrix, []
        here = matrix.place(ranks.rank)
        for way, displaced in enumerate(AROUND):
            if self._rooms[way]:
                piece = slice(int(self._starts[way]), int(self._starts[way + 1]))
                links.append(Link(rank_beside(matrix, here, displaced), *tags_of(way), piece, piece))
        return links

    def launches(self) -> dict:
        """What comes between a move and the sort, by name."""
        device, count, cells = self._device, self._source.count, self._cells.numbers
        send, arrive = send_body(self._real, device.add), Kernel(arrive_body(self._real), ndim=2)
        ways = np.flatnonzero(self._rooms).astype(np.int32)
        arriving = device.to_device(ways), self._source, self._into, self._held, self._peaks
        return {
            "clear the messages": launch_of(device, clear, len(AROUND), self._out),
            "send": launch_of(device, send, count, self._source, self._out, self._lost, cells),
            EXCHANGE: self._exchange,
            "arrive": device.compile(arrive)((int(self._rooms.max()), len(ways)), *arriving),
        }

    def crossed(self) -> Crossed:
        """What has been seen here."""
        peaks, lost = self._device.to_host(self._peaks), self._device.to_host(self._lost)
        fullest = int(np.argmax(peaks[:-1] - self._rooms))
        return Crossed(int(peaks[fullest]), int(self._rooms[fullest]), int(peaks[-1]), int(lost[0]))
