"""The end of a time step in which particles cross from rank to rank: nobody ends while one is on its way.

The electrons paper, section 3: every rank moves its particles and hands those that leave to the ranks they enter, where
they go on within the same step. A rank is ready when it has nothing to move and every message of its own has begun to
be received; then it enters a barrier without waiting, and comes back to work if particles arrive meanwhile. Once all
ranks have entered it, what is unfinished or on its way is counted; zero ends the step, anything else begins again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from repro.errors import CheckError

from .records import joined


@dataclass(frozen=True)
class Progress:
    """What a call of `work` has done on a rank.

    `leavers`: records for each rank that particles have left to; they must not be changed afterwards. `remaining`:
    particles here that have not reached the end of the step. `held`: all particles here, those included. `created` and
    `absorbed`: how many have appeared and disappeared in this call.
    """

    leavers: Mapping[int, np.ndarray]
    remaining: int
    held: int
    created: int = 0
    absorbed: int = 0


@dataclass
class Counts:
    """Particles of one rank in one step. `before` and `after` are held at its ends; all others are summed over it.

    `messages` of `bytes` together were sent, and `rounds` barriers were needed. For `waited` seconds the rank had
    nothing to do: it had entered a barrier, or waited for its messages to be taken.
    """

    before: int
    after: int
    created: int = 0
    absorbed: int = 0
    sent: int = 0
    received: int = 0
    messages: int = 0
    bytes: int = 0
    rounds: int = 0
    waited: float = 0.0

    @property
    def surplus(self) -> int:
        """Particles too many (doubled) or too few (lost, below zero)."""
        return self.after - (self.before + self.created + self.received - self.absorbed - self.sent)


#: what a rank can be told of a step: it begins and ends to move particles, sends or receives some, enters a barrier,
#: comes back to work although it has entered one, and passes it
MOVES, MOVED, SENT, RECEIVED, ENTERED, RESUMED, PASSED = NOTICES = (
    *("moves", "moved", "sent", "received", "entered", "resumed", "passed"),
)


def run_until_all_done(
    work: Callable[[np.ndarray], Progress],
    ranks,
    record: np.dtype,
    held: int,
    notice: Callable[[str, int], None] | None = None,
) -> Counts:
    """Take all particles of all ranks to the end of a step; returns what this rank has counted.

    `work(arrived)` takes over records that have arrived (an array of dtype `record`, a structure or a row such as
    `np.dtype((np.float64, 8))`; empty in the first call), moves particles and says what it has done; while it leaves
    some `remaining` it is called again, and messages are exchanged in between. `held` particles are here before.

    `notice(what, number)` is called with each of NOTICES that happens here, and the number of particles that it is of.
    All ranks must call it. Raises CheckError on all of them, naming ranks and numbers, if a particle was lost or
    doubled.
    """
    step = _Step(work, ranks, np.dtype(record), Counts(before=held, after=held), notice or (lambda what, number: None))
    step.move([])
    while True:
        ranks.until(step.passed_barrier, "the end of a step")
        counts = step.counts
        counts.rounds += 1
        step.notice(PASSED, 0)
        mine = np.array([counts.sent - counts.received, step.remaining, abs(counts.surplus)])
        flying, remaining, wrong = ranks.sum(mine, "the count of particles on their way")
        if flying == remaining == 0 or flying < 0:
            break
    if flying or wrong:
        _refuse(ranks, counts)
    # all has been received: give back the memory of the messages
    ranks.wait([request for request, _ in step.sends], "the last confirmations")
    return counts


@dataclass
class _Step:
    """One step of one rank."""

    work: Callable[[np.ndarray], Progress]
    ranks: object
    record: np.dtype
    counts: Counts
    notice: Callable[[str, int], None]
    remaining: int = 0
    sends: list = field(default_factory=list)
    _to_myself: list = field(default_factory=list)
    _barrier: object = None
    _idle_since: float | None = None

    def passed_barrier(self) -> bool:
        """Do what there is to do; whether all ranks have entered the barrier."""
        arrived = self._arrived()
        self._count_waiting(idle=not (arrived or self.remaining))
        if arrived or self.remaining:
            if arrived and self._barrier is not None:
                self.notice(RESUMED, sum(map(len, arrived)))
            self.move(arrived)
            self.ranks.progress()
        elif self._barrier is None and self._confirmed():
            self._barrier = self.ranks.barrier()
            self.notice(ENTERED, 0)
        if self._barrier is None or not self._barrier.Test():
            return False
        self._barrier = None
        self._count_waiting(idle=False)
        return True

    def _count_waiting(self, *, idle: bool) -> None:
        now = perf_counter()
        if self._idle_since is not None:
            self.counts.waited += now - self._idle_since
        self._idle_since = now if idle else None

    def move(self, arrived: list[np.ndarray]) -> None:
        """Let the particles move, and send those that leave."""
        records = joined(self.record, arrived)
        self.notice(MOVES, len(records))
        done = self.work(records)
        self.notice(MOVED, done.held)
        self.remaining, self.counts.after = done.remaining, done.held
        self.counts.created += done.created
        self.counts.absorbed += done.absorbed
        for rank, records in done.leavers.items():
            if len(records):
                self._send(rank, np.ascontiguousarray(records))

    def _send(self, rank: int, records: np.ndarray) -> None:
        self.counts.sent += len(records)
        self.counts.messages += 1
        self.counts.bytes += records.nbytes
        self.notice(SENT, len(records))
        if rank == self.ranks.rank:
            self._to_myself.append(records)
        else:
            # the records are kept as long as the message needs them
            self.sends.append((self.ranks.send_leavers(records, rank), records))

    def _arrived(self) -> list[np.ndarray]:
        arrived = self._to_myself + self.ranks.arrived(self.record)
        self._to_myself = []
        for records in arrived:
            self.counts.received += len(records)
            self.notice(RECEIVED, len(records))
        return arrived

    def _confirmed(self) -> bool:
        """Whether the addressees have begun to receive all that was sent."""
        self.sends = [send for send in self.sends if not send[0].Test()]
        return not self.sends


def _refuse(ranks, counts: Counts) -> None:
    """Raise on all ranks, with the numbers of those whose count is wrong (of all, if the messages are)."""
    names = ("before", "created", "absorbed", "sent", "received", "after")
    table = ranks.gather(np.array([counts.surplus, *(getattr(counts, name) for name in names)]))
    wrong = [row for row in enumerate(table) if row[1][0]] or list(enumerate(table))
    said = []
    for rank, (surplus, *numbers) in wrong:
        what = f"{abs(surplus)} {'doubled' if surplus > 0 else 'lost'}, " if surplus else ""
        said.append(f"rank {rank}: {what}" + ", ".join(f"{n} {v}" for n, v in zip(names, numbers, strict=True)))
    raise CheckError(f"particles lost or doubled within a step: {'; '.join(said)}")
