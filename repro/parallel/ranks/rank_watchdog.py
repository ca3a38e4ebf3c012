"""Looks at the other ranks while one waits, so that no rank waits for ever.

A process that dies ends the run by its supervisor (see `rank_main`) and `mpiexec`. What these cannot see is looked for
here: a rank that has left the program before the others, one that is stuck or stopped, ranks that wait for one another.
Ranks of one machine share a table in which each counts what it does; of ranks elsewhere only the patience is known.
"""

import os
import time

import numpy as np

from .rank_errors import say

#: seconds without progress anywhere until the run is ended
PATIENCE = 300.0

#: polls until a waiting rank begins to sleep between them, and for how many seconds each time
_POLLS, _NAP = 200, 5e-5

#: seconds between two looks at the others, and after which a rank that has not looked is not waiting
_LOOK, _WAITS = 0.25, 1.0

#: columns of the table: the rank, its process, what it has done, its looks while it waits, whether it has left
_RANK, _PROCESS, _STEPS, _LOOKS, _LEFT = range(5)

_give_way = getattr(os, "sched_yield", lambda: time.sleep(0))


class Watchdog:
    """What one rank knows of the others; `communicator` is for this only."""

    def __init__(self, communicator, mpi):
        self._comm, self._mpi, self.patience = communicator, mpi, PATIENCE
        here = communicator.Split_type(mpi.COMM_TYPE_SHARED)
        # kept, as long as its memory is used
        self._window = mpi.Win.Allocate_shared(8 * (_LEFT + 1), 8, comm=here)
        self._rows = [np.frombuffer(self._window.Shared_query(k)[0], np.int64) for k in range(here.size)]
        self._own, self._all_here = self._rows[here.rank], here.size == communicator.size
        self._own[:] = communicator.rank, os.getpid(), 0, 0, 0
        here.Barrier()
        self._seen, self._polls, now = np.array(self._rows), 0, time.monotonic()
        self._waited, self._moved, self._next_look = np.full(here.size, -np.inf), now, now

    def progress(self) -> None:
        """Something was done here."""
        self._own[_STEPS] += 1
        self._polls, self._moved = 0, time.monotonic()

    def leave(self):
        """Say from now on that this rank has nothing more to do; the request is done when no rank has."""
        self._own[_LEFT] = 1
        # not the communicator of the program, where another rank may be in a barrier that this one has left out
        return self._comm.Ibarrier()

    def rest(self, what: str) -> None:
        """Between two polls for `what`: let others have the core, and look now and then how they are."""
        self._polls += 1
        if self._polls <= _POLLS:
            self._next_look = time.monotonic() + _LOOK
            _give_way()
            return
        time.sleep(_NAP)
        now = time.monotonic()
        if now < self._next_look:
            return
        # while this process was stopped (another one measured a speed) it did not wait
        late = now - self._next_look
        self._moved += late if late > _WAITS else 0
        self._next_look = now + _LOOK
        if reason := self._look(now):
            self.end(f"waited for {what}, but {reason}")

    def end(self, message: str) -> None:
        """Say a line and end the run."""
        say(message, self._comm.rank, self._comm.size)
        self._mpi.COMM_WORLD.Abort(1)

    def _look(self, now: float) -> str:
        """Why there is no use in waiting on; empty if there is."""
        self._own[_LOOKS] += 1
        table = np.array(self._rows)
        if (table[:, _STEPS] != self._seen[:, _STEPS]).any():
            self._moved = now
        self._waited[table[:, _LOOKS] != self._seen[:, _LOOKS]] = now
        self._seen, still = table, now - self._moved
        # a rank that does not look may be busy with what is waited for
        busy, left = now - self._waited > _WAITS, table[:, _LEFT] == 1
        if left.any() and not self._own[_LEFT] and self._all_here and not busy.any() and still > 2 * _WAITS:
            return f"{_named(table[left])} left the program"
        if still <= self.patience:
            return ""
        reason = f"{_named(table[busy])} been busy or stopped" if busy.any() else "all ranks wait for one another"
        return f"nothing has moved for {self.patience:g} s: {reason}"


def _named(rows: np.ndarray) -> str:
    names = [f"rank {row[_RANK]} (process {row[_PROCESS]})" for row in rows]
    return f"{', '.join(names)} {'has' if len(names) == 1 else 'have'}"
