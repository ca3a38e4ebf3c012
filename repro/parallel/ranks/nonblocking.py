"""Numbers that other ranks need, sent in two halves between which a device computes, so that the exchange is hidden.

They lie in few pieces without gaps, and go from where they are to where they belong.
"""

from collections.abc import Iterator

import numpy as np

from .exchange import Link, requests_of


class NonblockingExchange:
    """Fills what belongs to other ranks in flat arrays, in two halves; all ranks call both.

    Between `begin`, after which what leaves may not change, and `end`, after which the rest is there, kernels may run
    that touch neither; on a GPU messages go by a second stream. `links` are those of an Exchange, whose places have no
    gaps within each of their rows; `what` says what is waited for.
    """

    def __init__(self, links, arrays, ranks, device, what: str):
        #: of each message the link, the piece that leaves and the piece that arrives
        self._messages = [message for link in links for array in arrays for message in _messages(link, array)]
        self._ranks, self._device, self._what = ranks, device, what
        if device.xp is np:
            self.begin, self.end = self._send, self._wait
        elif ranks.gpus:
            self.begin, self.end = self._send_from_gpus, device.second_stream.join
        else:
            self._on_gpu, self._messages = self._messages, [self._staged(*message) for message in self._messages]
            self.begin, self.end = device.second_stream.fork, self._over_hosts

    def _send(self) -> None:
        """Between hosts."""
        self._requests = requests_of(self._messages, self._ranks)

    def _wait(self) -> None:
        self._ranks.wait(self._requests, self._what)

    def _send_from_gpus(self) -> None:
        stream = self._device.second_stream
        stream.fork()
        with stream.current():
            self._ranks.gpus.move(self._messages)

    def _staged(self, link: Link, *pieces) -> tuple:
        return link, *(self._device.page_locked(piece.shape, piece.dtype) for piece in pieces)

    def _over_hosts(self) -> None:
        """All of it, while the kernels run that have been launched."""
        stream, both = self._device.second_stream, list(zip(self._on_gpu, self._messages, strict=True))
        with stream.current():
            for (_, piece, _), (_, host, _) in both:
                self._device.download(piece, host)
            self._send()
            self._wait()
            for (_, _, piece), (_, _, host) in both:
                self._device.upload(host, piece)
        stream.join()


def _messages(link: Link, array) -> Iterator[tuple]:
    """What goes over a link of an array, row by row."""
    for leaving, arriving in zip(*(np.split(places, link.rows) for places in link[3:5]), strict=True):
        yield link, _piece(array, leaving), _piece(array, arriving)


def _piece(array, places: np.ndarray):
    """The part of an array that has these places, a view; one of them may be empty."""
    if not len(places):
        return array[:0]
    first, last = int(places[0]), int(places[-1])
    if last - first + 1 != len(places):
        raise ValueError(f"{len(places)} places from {first} to {last} have gaps")
    return array[first : last + 1]
