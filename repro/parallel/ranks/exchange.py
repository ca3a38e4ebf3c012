"""Numbers of a rank's arrays that other ranks need: sent from their places here to those that they have there."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Link(NamedTuple):
    """Another rank, the tags of what is sent to it and received from it, and the places of both in a flat array.

    The places are those of so many `rows`, one after the other, of which each has as many.
    """

    rank: int
    tag_out: int
    tag_in: int
    leaving: np.ndarray
    arriving: np.ndarray
    rows: int = 1


class Exchange:
    """Fills what belongs to other ranks in a flat array of type `dtype`, over all links at once; all ranks call it.

    What crosses a link lies in one piece, and all links' together, so that a GPU copies once each way over the bus and
    messages travel from host to host: MPI need not know of GPUs. Where ranks have connected theirs, they send from GPU
    to GPU. `what` says what is waited for.
    """

    def __init__(self, links, ranks, device, dtype, what: str):
        self._ranks, self._what, gpus = ranks, what, ranks.gpus if device.xp is not np else None
        self._out, self._in = (_Buffer(places, device, dtype, direct=gpus) for places in _by_direction(links))
        #: each link with its pieces of both buffers
        self._links = list(zip(links, self._out.pieces, self._in.pieces, strict=True))
        self._move = (lambda: gpus.move(self._links)) if gpus else self._between_hosts

    def __call__(self, array) -> None:
        """Send what others need of the array, and put what arrives in its places."""
        self._out.pack(array)
        self._move()
        self._in.unpack(array)

    def _between_hosts(self) -> None:
        self._ranks.wait(requests_of(self._links, self._ranks), self._what)


def requests_of(messages, ranks) -> list:
    """Begin to send and receive `messages`, (link, piece out, piece in) on the host, of which some may be empty."""
    requests = [ranks.receive(there, link.rank, link.tag_in) for link, _, there in messages if len(there)]
    return requests + [ranks.send(here, link.rank, link.tag_out) for link, here, _ in messages if len(here)]


def _by_direction(links) -> tuple[list, list]:
    return [link.leaving for link in links], [link.arriving for link in links]


class _Buffer:
    """Numbers at some places of an array, in one piece on the device, and on the host unless they are sent `direct`."""

    def __init__(self, places: list[np.ndarray], device, dtype, *, direct):
        ends = np.cumsum([0, *map(len, places)])
        count, self._device = int(ends[-1]), device
        self._places = device.to_device(np.concatenate([*places, np.zeros(0, np.int64)]).astype(np.int64))
        self._here = self._host = device.zeros(count, dtype)
        if device.xp is not np and not direct:
            self._host = device.page_locked((count,), dtype)
        #: of each link
        self.pieces = [self._host[first:last] for first, last in pairwise(ends)]

    def pack(self, array) -> None:
        """Take the numbers from their places to the host."""
        self._device.xp.take(array, self._places, out=self._here)
        if self._host is not self._here:
            self._device.download(self._here, self._host)

    def unpack(self, array) -> None:
        """Put the numbers from the host in their places."""
        if self._host is not self._here:
            self._device.upload(self._host, self._here)
        array[self._places] = self._here
