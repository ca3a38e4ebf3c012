"""Locks between processes, which the system lets go of even after kill -9; some file systems have none."""

import fcntl
from enum import Enum


class Lock(Enum):
    """What became of asking for a lock."""

    HELD = "this process has it, as long as the file is open"
    TAKEN = "another process has it"
    NONE = "the file system has no locks"


def lock(file, *, shared: bool = False, wait: bool = True) -> Lock:
    """Ask for the lock of an open file, of which many processes may have a `shared` one; TAKEN only without `wait`.

    The file must be open for reading and writing: network file systems ask for that.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(file, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return Lock.TAKEN
    except OSError:
        return Lock.NONE
    return Lock.HELD
