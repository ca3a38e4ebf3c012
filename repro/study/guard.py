"""Watches over a child from a process of its own: `python -m repro.study.guard SECONDS CLOCK BYTES COMMAND...`.

What executes a notebook may hang where no thread of its own gets to run, or be killed and leave a kernel that computes
on. The guard does nothing but look, and ends the child with all that it started when the child ends, when standard
input closes (the run is gone, or wants an end), when the file CLOCK has stood there for SECONDS (0: for ever is right),
and when all of them together keep more than BYTES in memory (0: any number is right).
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

#: seconds between two looks at the child, and at the memory, which takes longer
LOOK, WEIGH = 0.1, 1.0

#: exit status after the time limit, when nobody is there any more to be told, and above the limit of memory
LATE, ALONE, HEAVY = 124, 125, 126

_SET_DEATH_SIGNAL, _ADOPT_ORPHANS = 1, 36

# loaded here: between fork and exec it would be too late
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Have the system kill this process when its parent ends; only Linux can."""
    if _libc:
        _libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def main(seconds: float, clock: Path, memory: int, command: list[str]) -> int:
    """Run the command; its exit status, LATE, ALONE, or HEAVY."""
    if _libc:
        # whoever loses its parent becomes ours, so that nobody is overlooked
        _libc.prctl(_ADOPT_ORPHANS, 1)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
    try:
        status = _watch(child, seconds, clock, memory)
    finally:
        _end(psutil.Process())
    return status if status >= 0 else 128 - status


def _watch(child: subprocess.Popen, seconds: float, clock: Path, memory: int) -> int:
    weighed, cell, begun = time.monotonic(), None, time.monotonic()
    while (status := child.poll()) is None:
        heard, _, _ = select.select([0], [], [], LOOK)
        if heard and not os.read(0, 4096):
            return ALONE
        # by our own clock: that of the day may jump
        if (now := _stamp(clock)) != cell or now is None:
            cell, begun = now, time.monotonic()
        if seconds and time.monotonic() - begun > seconds:
            return LATE
        if memory and time.monotonic() - weighed > WEIGH:
            weighed = time.monotonic()
            if _held() > memory:
                return HEAVY
    return status


def _held() -> int:
    """Bytes that all that was started keeps in memory."""
    total = 0
    for member in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            total += member.memory_info().rss
    return total


def _stamp(clock: Path) -> int | None:
    """What changes when another cell begins; None while nothing is being timed."""
    try:
        return clock.stat().st_mtime_ns
    except OSError:
        return None


def _end(process: psutil.Process) -> None:
    """Kill all that the process started, and what that started meanwhile."""
    while family := process.children(recursive=True):
        for member in family:
            with suppress(psutil.Error):
                member.kill()
        psutil.wait_procs(family, timeout=LOOK)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]))
