"""Watches the other ranks while one waits, so that nobody waits for ever for a rank that is dead, gone or stuck.

Five things can leave a rank waiting, and each ends the run with a line on every rank that waits: a rank has failed and
says why; its process, on the same machine, is no more (killed), or has been stopped for half a minute; it has left the
program before the others (`sys.exit`); nothing has moved anywhere for longer than one is patient (a process stopped on
another machine, or ranks that wait for one another).
"""

import os
import socket
import time

import numpy as np
import psutil

from .last_words import say

#: seconds without progress anywhere until the run is ended
PATIENCE = 300.0

#: seconds after which a process that has been stopped is not waited for, if one is not less patient
_STOPPED = 30.0

#: polls until a waiting rank begins to sleep between them, and for how many seconds each time
_POLLS, _NAP = 200, 5e-5

#: seconds between two looks at the others, and between two questions to them
_LOOK, _ASK = 0.25, 1.0

#: seconds for other ranks to hear why the run ends and to say so, before one ends it for all
_LAST_WORDS = 1.0

_QUESTION, _ANSWER, _END = 1, 2, 3

_give_way = getattr(os, "sched_yield", lambda: time.sleep(0))


class Watch:
    """What one rank knows of the others; `communicator` is for its own questions and answers only."""

    def __init__(self, communicator, mpi):
        self._comm, self._mpi = communicator, mpi
        self.patience, self.ended = PATIENCE, False
        self._others = [rank for rank in range(communicator.size) if rank != communicator.rank]
        self._processes = _processes_here(communicator)
        self._steps, self._polls, self._sends = 0, 0, []
        self._known, self._heard, self._missing, self._stopped = {}, {}, {}, {}
        self._asked, self._gone = {}, set()
        self._moved = self._next_look = self._next_question = time.monotonic()

    def progress(self) -> None:
        """Something was done here."""
        self._steps += 1
        self._polls = 0
        now = time.monotonic()
        self._moved, self._next_question = now, now + _ASK
        # who is busy all the time must answer, too
        if now >= self._next_look:
            self._next_look = now + _LOOK
            self._answer()

    def leave(self):
        """Answer from now on that this rank has nothing more to do; the request is done when no rank has."""
        self.ended = True
        # not the communicator of the program, where another rank may be in a barrier that this one has left out
        return self._comm.Ibarrier()

    def rest(self, what: str) -> None:
        """Between two polls for `what`: let others have the core, and look now and then how they are."""
        self._polls += 1
        if self._polls < _POLLS:
            _give_way()
            return
        time.sleep(_NAP)
        now = time.monotonic()
        if now >= self._next_look:
            # while this process was stopped (another one measured a speed) it did not wait
            late = now - self._next_look
            if late > _ASK:
                self._moved += late
                self._stopped.clear()
            self._next_look = now + _LOOK
            self._look(now, what)

    def end(self, message: str, reason: str) -> None:
        """Say a line, tell the reason to all other ranks that wait, and end the run."""
        say(self._comm.rank, self._comm.size, message)
        for rank in self._others:
            self._send(np.frombuffer(reason.encode(), np.uint8), rank, _END)
        time.sleep(_LAST_WORDS)
        self._mpi.COMM_WORLD.Abort(1)

    def _look(self, now: float, what: str) -> None:
        self._answer()
        self._listen(now)
        if now >= self._next_question:
            self._next_question = now + _ASK
            self._ask(now)
        if reason := self._told() or self._verdict(now):
            self.end(f"waited for {what}, but {reason}", reason)

    def _told(self) -> str:
        """Why another rank ends the run."""
        told = self._received(_END, np.uint8)
        return next(iter(told.values())).tobytes().decode() if told else ""

    def _verdict(self, now: float) -> str:
        """Why there is no use in waiting on; empty if there is."""
        for rank, process in self._processes.items():
            if reason := self._lost(rank, process, now):
                return f"rank {rank} (process {process}) has {reason}"
        # somebody who has not answered may be busy with what is waited for
        all_wait = all(self._heard.get(rank, 0.0) > self._moved for rank in self._others)
        if self._gone and not self.ended and all_wait and now - self._moved > 2 * _ASK:
            return f"{_named(sorted(self._gone))} left the program"
        if now - self._moved <= self.patience:
            return ""
        silent = sorted(rank for rank, asked in self._asked.items() if now - asked > _ASK)
        if self._asked and not silent:
            return ""  # they have been asked just now
        reason = f"{_named(silent)} not answered" if silent else "all ranks have answered that they wait, too"
        return f"nothing has moved for {self.patience:g} s: {reason}"

    def _lost(self, rank: int, process: int, now: float) -> str:
        """What has become of another rank's process; empty if it runs."""
        state, patience = _state(process), min(self.patience, _STOPPED)
        for what, since in ((psutil.STATUS_DEAD, self._missing), (psutil.STATUS_STOPPED, self._stopped)):
            if state != what:
                since.pop(rank, None)
        # what it sent before it died may still be on the way
        if state == psutil.STATUS_DEAD and now - self._missing.setdefault(rank, now) > 2 * _LOOK:
            return "died"
        if state == psutil.STATUS_STOPPED and now - self._stopped.setdefault(rank, now) > patience:
            return f"been stopped for {patience:g} s"
        return ""

    def _ask(self, now: float) -> None:
        for rank in self._others:
            if rank not in self._asked:
                self._asked[rank] = now
                self._send(np.zeros(2, np.int64), rank, _QUESTION)

    def _answer(self) -> None:
        for rank in self._received(_QUESTION, np.int64):
            self._send(np.array([self._steps, self.ended]), rank, _ANSWER)

    def _listen(self, now: float) -> None:
        for rank, (steps, ended) in self._received(_ANSWER, np.int64).items():
            self._asked.pop(rank, None)
            self._heard[rank] = now
            if ended:
                self._gone.add(rank)
            # the first answer tells nothing: it may be as old as the last progress here
            if self._known.setdefault(rank, steps) != steps:
                self._known[rank], self._moved = steps, now

    def _send(self, values: np.ndarray, rank: int, tag: int) -> None:
        self._sends = [send for send in self._sends if not send[0].Test()]
        self._sends.append((self._comm.Isend([values, self._mpi.BYTE], rank, tag), values))

    def _received(self, tag: int, dtype) -> dict[int, np.ndarray]:
        """The last message from each rank that has sent one."""
        found = {}
        while self._comm.Iprobe(self._mpi.ANY_SOURCE, tag, status := self._mpi.Status()):
            values = np.empty(status.Get_count(self._mpi.BYTE), np.uint8)
            self._comm.Recv([values, self._mpi.BYTE], status.source, tag)
            found[status.source] = values.view(dtype)
        return found


def _processes_here(communicator) -> dict[int, int]:
    """The process of every other rank on this machine."""
    everyone = communicator.allgather((socket.gethostname(), os.getpid()))
    here = everyone[communicator.rank][0]
    return {rank: pid for rank, (host, pid) in enumerate(everyone) if host == here and rank != communicator.rank}


def _state(process: int) -> str:
    """The state of a process in psutil's words; one that only its parent has yet to hear of is dead."""
    try:
        state = psutil.Process(process).status()
    except psutil.NoSuchProcess:
        return psutil.STATUS_DEAD
    except psutil.AccessDenied:
        # another user's, and so there
        return psutil.STATUS_RUNNING
    return psutil.STATUS_DEAD if state == psutil.STATUS_ZOMBIE else state


def _named(ranks: list[int]) -> str:
    *most, last = map(str, ranks)
    return f"ranks {', '.join(most)} and {last} have" if most else f"rank {last} has"
