"""The paper's strategy on several ranks: particles that leave one go on in the buffers of another, in the same step."""

import numpy as np

from repro.parallel.ranks.migration import Progress

from ..subdomain import Crossing
from .host_loop import HostLoop


class RankExchange(Crossing):
    """A step on one rank: launches go on until no particle is in transit on any rank (paper, section 3).

    Between launches the host sends what is in the outgoing buffers to the ranks whose subdomains they enter, and puts
    what has arrived into the incoming ones.
    """

    def __init__(self, simulation, host_loop: HostLoop):
        super().__init__(simulation, host_loop)
        self.host_loop = host_loop

    def count(self) -> None:
        """Count the particles that are here, before a step."""
        self._held = self._here()

    def __call__(self):
        """The particles' part of a step, on all ranks together."""
        super().__call__()
        self.host_loop.end()

    def _work(self, arrived: np.ndarray) -> Progress:
        host_loop, created = self.host_loop, 0
        if self._first:
            self._first, self._absorbed = False, 0
            host_loop.begin()
            created = len(host_loop.waiting)
        host_loop.wait_for_room(arrived)
        before = host_loop.set_free
        leavers = self._subdomain.sent_on(host_loop.departed())
        created += host_loop.set_free - before
        host_loop.fill()
        if host_loop.going:
            host_loop.launch()
            # they are counted when no particle is in transit
            return Progress(leavers, remaining=1, held=0, created=created)
        before, self._absorbed = self._absorbed, int(host_loop.threads.absorbed.sum())
        return Progress(leavers, 0, self._here(), created=created, absorbed=self._absorbed - before)
