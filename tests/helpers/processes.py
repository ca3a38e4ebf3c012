"""Whether processes that a test has started are still there."""

import time

import psutil


def gone(process: int) -> bool:
    """Whether a process ends within ten seconds; one that only its parent has not asked for has ended."""
    try:
        return _ends(psutil.Process(process))
    except psutil.NoSuchProcess:  # also between two questions
        return True


def _ends(process: psutil.Process) -> bool:
    for _ in range(100):
        if process.status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False
