"""Pieces of an array that ranks send each other whole, however much of them is filled: their sizes never change.

So a GPU need not tell its host how much there is to send, and what is launched can be recorded.
"""

import numpy as np

from .exchange import requests_of


class Pieces:
    """Sends pieces of a flat array `out` and receives those of `into`, both the device's; all ranks call it.

    `links` are `exchange.Link`s whose places are slices. A GPU copies all pieces at once over the bus, and messages
    travel from host to host; where ranks have connected their GPUs, from GPU to GPU. What no piece of `into` covers may
    hold anything. `what` says what is waited for.
    """

    def __init__(self, links, out, into, ranks, device, what: str):
        self._ranks, self._device, self._what = ranks, device, what
        self._out, self._into, gpus = out, into, ranks.gpus if device.xp is not np else None
        self._host_out, self._host_into = out, into
        if device.xp is not np and not gpus:
            self._host_out, self._host_into = (device.page_locked(each.shape, each.dtype) for each in (out, into))
        here, there = self._host_out, self._host_into
        self._links = [(link, here[link.leaving], there[link.arriving]) for link in links]
        self._gpus = gpus

    def __call__(self) -> None:
        """Send the pieces as they are, and receive those of other ranks."""
        if self._gpus:
            self._gpus.move(self._links)
            return
        if self._host_out is not self._out:
            self._device.download(self._out, self._host_out)
        self._ranks.wait(requests_of(self._links, self._ranks), self._what)
        if self._host_into is not self._into:
            self._device.upload(self._host_into, self._into)
