"""The paper's strategy on several ranks: particles that leave one go on in the buffers of another, in the same step."""

import numpy as np

from repro.parallel.ranks.migration import Progress, run_until_all_done

from ..packing import record_type
from .host_loop import HostLoop


class RankExchange:
    """A step on one rank: launches go on until no particle is in transit on any rank (paper, section 3).

    Between launches the host sends what is in the outgoing buffers to the ranks whose subdomains they enter, and puts
    what has arrived into the incoming ones. `counts` are those of the last step, see `repro.parallel.ranks.migration`.
    """

    def __init__(self, simulation, host_loop: HostLoop):
        self.host_loop, self.counts = host_loop, None
        self._subdomain, self._cell = simulation.subdomain, simulation.particles_on_device.cell
        self._record = record_type(simulation.real)
        self._held, self._begun = 0, False
        #: called with what happens in a step, see `repro.parallel.ranks.migration`
        self.notice = None

    def count(self) -> None:
        """Count the particles that are here, before a step."""
        self._held = self._here()

    def __call__(self):
        """The particles' part of a step, on all ranks together."""
        self._begun = False
        self.counts = run_until_all_done(self._work, self._subdomain.ranks, self._record, self._held, self.notice)
        self.host_loop.end()

    def _here(self) -> int:
        return int((self._cell >= 0).sum())

    def _work(self, arrived: np.ndarray) -> Progress:
        host_loop, created = self.host_loop, 0
        if not self._begun:
            self._begun, self._absorbed = True, 0
            host_loop.begin()
            created = len(host_loop.waiting)
        host_loop.waiting = np.concatenate([host_loop.waiting, arrived])
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
