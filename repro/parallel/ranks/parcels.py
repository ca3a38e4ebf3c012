"""Records of which each step sends another number: a parcel for each rank around, with room for the most.

A parcel is words: one that says how many records follow, words of a fixed number, and the records one after the other.
Kernels fill and read it where it lies, so that the host need not know what is in it.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .exchange import requests_of


class Route(NamedTuple):
    """Another rank, the tags of what is sent to it and received from it, and the most words of each."""

    rank: int
    tag_out: int
    tag_in: int
    out: int
    arriving: int


class Parcels:
    """A parcel each way for each route, in words of type `dtype`; calling it sends and receives them, on all ranks.

    Those to be sent lie in `out`, of route k from out_begins[k] on; those that have arrived in `arrived`. Each has
    `fixed` words before its records of `width` words, numbers for each route, out and arriving. From host to host as
    many are sent as there are; where ranks have connected their GPUs, they send all the room, and nobody waits for the
    number. `what` says what is waited for.
    """

    def __init__(self, routes, fixed, width: int, ranks, device, dtype, what: str):
        self._ranks, self._device, self._what, self._width = ranks, device, what, width
        self._gpus = ranks.gpus if device.xp is not np else None
        fixed_out, fixed_in = zip(*fixed, strict=True) if routes else ((), ())
        self._out = _Side([route.out for route in routes], fixed_out, device, dtype, direct=self._gpus)
        self._in = _Side([route.arriving for route in routes], fixed_in, device, dtype, direct=self._gpus)
        self.out, self.out_begins = self._out.here, self._out.begins
        self.arrived, self.in_begins = self._in.here, self._in.begins
        self._routes, self._expected = routes, [1] * len(routes)

    def __call__(self) -> None:
        """Send what lies in `out`; what others have sent is in `arrived` afterwards."""
        if self._gpus:
            pieces = (self._out.pieces(self.out), self._in.pieces(self.arrived))
            self._gpus.move(list(zip(self._routes, *pieces, strict=True)))
            self._ranks.progress()
            return
        self._between_hosts()

    def _between_hosts(self) -> None:
        there = self._in.pieces(self._in.host)
        messages = list(zip(self._routes, self._leave(), there, strict=True))
        self._ranks.wait(requests_of(messages, self._ranks), self._what)
        if self._in.host is not self.arrived:
            for piece, target, fixed in zip(there, self._in.pieces(self.arrived), self._in.fixed, strict=True):
                used = self._used(piece, fixed)
                self._device.upload(piece[:used], target[:used])

    def _used(self, piece: np.ndarray, fixed: int) -> int:
        """Words of a parcel that are used."""
        return 1 + fixed + self._width * int(piece[0])

    def _leave(self) -> list[np.ndarray]:
        """What is used of each parcel, on the host."""
        pieces = self._out.pieces(self._out.host)
        if self._out.host is not self.out:
            sources = self._out.pieces(self.out)
            for k, (source, piece, fixed) in enumerate(zip(sources, pieces, self._out.fixed, strict=True)):
                # about as many as the last time: the number comes along, and nobody waits for it alone
                some = min(self._expected[k], len(piece))
                self._device.download(source[:some], piece[:some])
                used = self._used(piece, fixed)
                if used > some:
                    self._device.download(source[some:used], piece[some:used])
                self._expected[k] = used + used // 16 + 64
        return [piece[: self._used(piece, fixed)] for piece, fixed in zip(pieces, self._out.fixed, strict=True)]


class _Side:
    """Parcels of one way: all in one array on the device, where each begins, and the same on the host."""

    def __init__(self, rooms, fixed, device, dtype, *, direct):
        ends, self.fixed = np.cumsum([0, *rooms]), fixed
        self._bounds = list(pairwise(ends.tolist()))
        self.here = self.host = device.zeros(int(ends[-1]), dtype)
        if device.xp is not np and not direct:
            self.host = device.page_locked(self.here.shape, dtype)
        self.begins = device.to_device(ends[:-1].astype(np.int32))

    def pieces(self, array) -> list:
        """The parcels in the array on the device, or in that on the host."""
        return [array[first:end] for first, end in self._bounds]
