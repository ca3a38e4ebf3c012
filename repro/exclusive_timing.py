"""Quiet while a speed is measured: the other notebooks of the same run stand still.

Notebooks that run at once compile, import and draw beside each other. Only while one of them looks at the clock, the
processes of the others are suspended, and afterwards they go on. They know each other by a file that the run names in
the environment of all of them; where it names none, or the file system has no locks, nothing is suspended.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from .files import Lock, lock

#: the variable that names the file
VARIABLE = "REPRO_QUIET"

_alone = False


@contextmanager
def exclusive_timing() -> Iterator[None]:
    """Stop the other processes of this run while the block lasts; one process at a time may ask for it."""
    global _alone
    path = os.environ.get(VARIABLE)
    if not path or _alone:
        yield
        return
    with open(path, "a+") as file:
        if lock(file) is Lock.NONE:
            yield
            return
        stopped, _alone = [], True
        try:
            family = {os.getpid(), *(child.pid for child in psutil.Process().children(recursive=True))}
            for process in (p for p in _of_the_run(path) if p.pid not in family):
                # first noted: whatever happens, it goes on
                stopped.append(process)
                with suppress(psutil.NoSuchProcess):
                    process.suspend()
            yield
        finally:
            _alone = False
            _resume(stopped)


@contextmanager
def no_measuring(path: str) -> Iterator[None]:
    """Wait until no process of the run measures, and let none begin while the block lasts: for what starts anew."""
    with open(path, "a+") as file:
        lock(file, shared=True)
        yield


def wake(path: str) -> None:
    """Let processes go on that one which died had stopped; nothing if a speed is being measured."""
    with open(path, "a+") as file:
        if lock(file, wait=False) is Lock.HELD:
            _resume(_of_the_run(path))


def _of_the_run(path: str) -> list[psutil.Process]:
    # another user's has no environment for us
    found = psutil.process_iter(["environ"])
    return [process for process in found if (process.info["environ"] or {}).get(VARIABLE) == path]


def _resume(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.resume()
