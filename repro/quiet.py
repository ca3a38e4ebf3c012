"""Quiet while a speed is measured: the other notebooks of the same run stand still.

Notebooks that run at once compile, import and draw beside each other. Only while one of them looks at the clock, the
processes of the others are suspended, and afterwards they go on. They know each other by a file that the run names in
the environment of all of them; where it names none, nothing is suspended.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

#: the variable that names the file
VARIABLE = "REPRO_QUIET"

_alone = False


@contextmanager
def quiet() -> Iterator[None]:
    """Stop the other processes of this run while the block lasts; one process at a time may ask for it."""
    global _alone
    path = os.environ.get(VARIABLE)
    if not path or _alone:
        yield
        return
    with open(path, "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stopped, _alone = [], True
        try:
            for process in _others(path):
                process.suspend()
                stopped.append(process)
            yield
        finally:
            _alone = False
            _resume(stopped)


def wake(path: str) -> None:
    """Let processes go on that one which died had stopped; nothing if a speed is being measured."""
    with open(path, "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        _resume(_others(path))


def _others(path: str) -> list[psutil.Process]:
    """Processes of the run that are not of this process's family."""
    family = {os.getpid(), *(child.pid for child in psutil.Process().children(recursive=True))}
    return [p for p in psutil.process_iter() if p.pid not in family and _variable(p) == path]


def _variable(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(VARIABLE)
    except (psutil.Error, OSError):  # another user's, or gone
        return None


def _resume(processes: list[psutil.Process]) -> None:
    for process in processes:
        try:
            process.resume()
        except psutil.NoSuchProcess:
            continue
