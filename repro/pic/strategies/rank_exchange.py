"""The paper's strategy on several ranks: who leaves one goes on in the baskets of another, in the same step."""

import numpy as np

from repro.parallel.ranks.migration import Progress, run_until_all_done

from ..part import Part
from ..records import record_type
from .rounds import Rounds


class Relay:
    """A step on one rank: launches go on until nobody is on the way on any rank (paper, section 3).

    Between launches the host sends what is in the outgoing baskets to the ranks whose parts they enter, and puts what
    has arrived into the incoming ones. `counts` are those of the last step, see `repro.parallel.ranks.migration`.
    """

    def __init__(self, part: Part, setup, rounds: Rounds):
        self.rounds, self.counts = rounds, None
        self._part, self._cell, self._record = part, setup.particles.cell, record_type(setup.real)
        self._held, self._begun = 0, False

    def count(self) -> None:
        """Count those who are here, before a step."""
        self._held = self._here()

    def __call__(self):
        """The particles' part of a step, on all ranks together."""
        self._begun = False
        self.counts = run_until_all_done(self._work, self._part.ranks, self._record, self._held)
        self.rounds.end()

    def _here(self) -> int:
        return int((self._cell >= 0).sum())

    def _work(self, arrived: np.ndarray) -> Progress:
        rounds, created = self.rounds, 0
        if not self._begun:
            self._begun, self._absorbed = True, 0
            rounds.begin()
            created = len(rounds.waiting)
        rounds.waiting = np.concatenate([rounds.waiting, arrived])
        leavers = self._part.sent_on(rounds.departed())
        rounds.fill()
        if rounds.going:
            rounds.launch()
            # they are counted when nobody is on the way
            return Progress(leavers, remaining=1, held=0, created=created)
        before, self._absorbed = self._absorbed, int(rounds.threads.absorbed.sum())
        return Progress(leavers, 0, self._here(), created=created, absorbed=self._absorbed - before)


def crossing(part: Part, setup, moves: dict) -> Relay:
    """What crosses between ranks, as `Strategy.crossing` has it."""
    return Relay(part, setup, moves["particles"])
