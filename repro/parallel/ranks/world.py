"""The ranks of a run: processes that share the work over MPI, or the one process that there is without it.

mpi4py is imported only in a process that `mpiexec` has started; any other is one rank alone.
"""

import sys
from collections.abc import Callable, Iterable
from functools import cache
from types import SimpleNamespace

import numpy as np

from repro.declared import Number
from repro.errors import InputError

from .rank_errors import say, started_processes

#: messages on the communicator of the ranks; those of guard cells have two, one for each side
LEAVERS_TAG, HALO_TAG = 1, 2


class Alone:
    """One rank: nobody to send to, nobody to wait for."""

    rank, count, patience, gpus = 0, 1, 0.0, None

    def connect_gpus(self) -> None:
        """There is one."""

    def progress(self) -> None:
        """Nobody asks whether this rank is alive."""

    def until(self, done: Callable[[], bool], what: str) -> None:
        """Call `done` until it is true."""
        while not done():
            pass

    def wait(self, requests: Iterable, what: str) -> None:
        """There are no requests to wait for."""

    def barrier(self):
        """A barrier that is reached at once."""
        return SimpleNamespace(Test=lambda: True)

    def sum(self, values: np.ndarray, what: str = "sum") -> np.ndarray:
        """The values themselves."""
        return np.array(values)

    def gather(self, values: np.ndarray, what: str = "values") -> np.ndarray:
        """The values, as the one row of a table."""
        return np.array(values)[None]

    def arrived(self, record: np.dtype) -> list[np.ndarray]:
        """Nothing arrives."""
        return []

    def finish(self) -> None:
        """Nobody is left behind."""

    def end(self, reason: str) -> None:
        """End the program, with a line that says why."""
        say(reason, 0, 1)
        sys.exit(1)


class Ranks:
    """The ranks of an MPI communicator (mpi4py's), which is duplicated: messages of others are not mixed with ours.

    Every wait polls, so that a rank which waits neither keeps a core from those that work nor waits for ever: what
    `rank_watchdog` finds out about the others ends the run. `patience`: seconds without any progress anywhere after
    which it does so; longer than any rank computes or compiles between two messages. `gpus` are those of all ranks once
    they are connected.
    """

    gpus = None

    def __init__(self, communicator):
        from mpi4py import MPI

        from .rank_watchdog import Watchdog

        self._mpi, self.comm = MPI, communicator.Dup()
        self.rank, self.count = self.comm.rank, self.comm.size
        self._watchdog = Watchdog(communicator.Dup(), MPI)

    @property
    def patience(self) -> float:
        """Seconds without progress anywhere after which the run is ended."""
        return self._watchdog.patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        Number(0, unit="s", open_low=True, infinite=True).check("patience", seconds)
        self._watchdog.patience = seconds

    def connect_gpus(self) -> None:
        """Let what `Exchange` moves go from GPU to GPU from now on (NCCL); each rank has one of its own, all do it."""
        from .nccl import GpuMessages

        self.gpus = GpuMessages(self)

    def progress(self) -> None:
        """Say that something was done: the run is alive."""
        self._watchdog.progress()

    def until(self, done: Callable[[], bool], what: str) -> None:
        """Call `done` until it is true, and watch the other ranks meanwhile; `what` says what is waited for."""
        while not done():
            self._watchdog.rest(what)
        self._watchdog.progress()

    def wait(self, requests: Iterable, what: str) -> None:
        """Wait until nonblocking messages are done."""
        requests = list(requests)
        if requests:
            self.until(lambda: self._mpi.Request.Testall(requests), what)

    def barrier(self):
        """Enter a barrier without waiting; the request's Test() is true once all ranks have entered it."""
        return self.comm.Ibarrier()

    def sum(self, values: np.ndarray, what: str = "sum") -> np.ndarray:
        """The sum of an array over all ranks, on all ranks."""
        mine, total = np.ascontiguousarray(values), np.empty_like(values, order="C")
        self.wait([self.comm.Iallreduce(mine, total)], what)
        return total

    def gather(self, values: np.ndarray, what: str = "values") -> np.ndarray:
        """Arrays of one shape of all ranks, on all ranks: the first axis is the rank."""
        mine = np.ascontiguousarray(values)
        table = np.empty((self.count, *mine.shape), mine.dtype)
        self.wait([self.comm.Iallgather(mine, table)], what)
        return table

    def send(self, buffer: np.ndarray, to: int, tag: int):
        """Send bytes without waiting; they must stay as they are until the request is done."""
        return self.comm.Isend([buffer, buffer.nbytes, self._mpi.BYTE], to, tag)

    def receive(self, buffer: np.ndarray, source: int, tag: int):
        """Receive bytes without waiting; they are there once the request is done."""
        return self.comm.Irecv([buffer, buffer.nbytes, self._mpi.BYTE], source, tag)

    def send_leavers(self, records: np.ndarray, to: int):
        """Send records without waiting; the request's Test() is true once the addressee has begun to receive them.

        The array must stay as it is until then.
        """
        # as bytes: a record may be any structure
        return self.comm.Issend([records, records.nbytes, self._mpi.BYTE], to, LEAVERS_TAG)

    def arrived(self, record: np.dtype) -> list[np.ndarray]:
        """Arrays of records that other ranks have sent and that are here now."""
        found = []
        while (
            message := self.comm.Improbe(self._mpi.ANY_SOURCE, LEAVERS_TAG, status := self._mpi.Status())
        ) is not None:
            size = status.Get_count(self._mpi.BYTE)
            records = np.empty(size // record.itemsize, record)
            request = message.Irecv([records, size, self._mpi.BYTE])
            self.wait([request], f"{len(records)} records from rank {status.source}")
            found.append(records)
        return found

    def end(self, reason: str) -> None:
        """End all ranks, with a line on this one that says why."""
        self._watchdog.end(reason)

    def finish(self) -> None:
        """Wait at the end of the program for the other ranks; those that wait for this one learn that it is gone."""
        self.until(self._watchdog.leave().Test, "the end of the program")


@cache
def world() -> Alone | Ranks:
    """All ranks of this run; one alone where `mpiexec` has not started it.

    Raises InputError where several processes were started but MPI is missing or does not know of them.
    """
    started = started_processes()
    if started <= 1:
        return Alone()
    try:
        import mpi4py

        # the threads of kernels send nothing
        mpi4py.rc.thread_level = "funneled"
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{started} ranks need MPI, which does not load ({reason}): pip install mpi4py mpich"
        ) from None
    if MPI.COMM_WORLD.size != started:
        library = MPI.Get_library_version().split("\n")[0].strip("\0 ")
        raise InputError(
            f"mpiexec started {started} processes, but MPI sees {MPI.COMM_WORLD.size}: "
            f"use the mpiexec that belongs to {library}"
        )
    return Ranks(MPI.COMM_WORLD)
