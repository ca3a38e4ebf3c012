"""Walkers on a grid that hop from cell to cell, several boxes far within a step: what ranks have to get right.

Where a walker hops depends on who it is, on the step and on the hops it has left, so that every number of ranks must
end alike. Walkers appear and are absorbed on the way.
"""

from itertools import product

import numpy as np

from repro.parallel.ranks.domain import SIDES, Domain
from repro.parallel.ranks.migration import Progress, run_until_all_done

RECORD = np.dtype([("id", np.int64), ("cell", np.int32, 3), ("hops", np.int32)])

MOST_HOPS = 6

#: walkers that appear in every step
BORN = 2

#: one hop of so many ends a walker
LIFE = 61

#: hops in one call of `work`: fewer than a rank has to do, as a launch on a GPU
PORTION = 4


def draw(*keys: int) -> int:
    """A number that looks random, of 32 bits, from what it is keyed by."""
    word = 0
    for key in keys:
        word = (word ^ key) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
        word ^= word >> 29
    return word * 0xBF58476D1CE4E5B9 >> 32 & 0xFFFFFFFF


class Walkers:
    """The walkers in the box of one rank."""

    def __init__(self, domain: Domain, ranks):
        self.domain, self.ranks, self.time = domain, ranks, 0
        self.waiting, self.arrived_at_end, self.absorbed = [], [], []
        # looked up, because it is asked at every hop
        cells = list(product(*map(range, domain.shape)))
        self.owner = dict(zip(cells, domain.owners(np.array(cells))[0].tolist(), strict=True))

    def step(self):
        """One step of all ranks; the counts of this one."""
        before = len(self.arrived_at_end)
        self.waiting = [(who, cell, 1 + draw(who, self.time) % MOST_HOPS) for who, cell in self.arrived_at_end]
        self.arrived_at_end = []
        self.first_call = True
        counts = run_until_all_done(self.work, self.ranks, RECORD, before)
        self.time += 1
        return counts

    def work(self, arrived: np.ndarray) -> Progress:
        """Take over who has arrived, and let walkers hop."""
        born = self._born() if self.first_call else []
        self.first_call = False
        columns = (arrived[name].tolist() for name in ("id", "cell", "hops"))
        self.waiting += born + [(who, tuple(cell), hops) for who, cell, hops in zip(*columns, strict=True)]
        ended, leavers = len(self.absorbed), {}
        for _ in range(PORTION):
            if self.waiting:
                self._hop(*self.waiting.pop(), leavers)
        return Progress(
            {rank: np.array(walkers, RECORD) for rank, walkers in leavers.items()},
            remaining=len(self.waiting),
            held=len(self.waiting) + len(self.arrived_at_end),
            created=len(born),
            absorbed=len(self.absorbed) - ended,
        )

    def _born(self) -> list:
        found = []
        for number in range(BORN):
            who = BORN * self.time + number
            cell = tuple(draw(who, axis, 7) % cells for axis, cells in enumerate(self.domain.shape))
            if self.owner[cell] == self.ranks.rank:
                found.append((who, cell, MOST_HOPS))
        return found

    def _hop(self, who: int, cell: tuple, hops: int, leavers: dict):
        if hops == 0:
            self.arrived_at_end.append((who, cell))
            return
        if draw(who, self.time, hops, 1) % LIFE == 0:
            self.absorbed.append((who, self.time, cell))
            return
        axis, direction = SIDES[draw(who, self.time, hops, 2) % 6]
        cells = self.domain.shape[axis]
        cell = (*cell[:axis], (cell[axis] + direction) % cells, *cell[axis + 1 :])
        owner = self.owner[cell]
        if owner == self.ranks.rank:
            self.waiting.append((who, cell, hops - 1))
        else:
            leavers.setdefault(owner, []).append((who, cell, hops - 1))
