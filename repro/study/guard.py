"""Watches over a child from a process of its own: `python -m repro.study.guard SECONDS CLOCK COMMAND...`.

What executes a notebook may hang where no thread of its own gets to run, or be killed and leave a kernel that computes
on. The guard does nothing but look, and ends the child with all that it started when the child ends, when standard
input closes (the run is gone, or wants an end), and when the file CLOCK is older than SECONDS (0: any age is right).
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

#: seconds between two looks at the child
LOOK = 0.1

#: exit status after the time limit, and when nobody is there any more to be told
LATE, ALONE = 124, 125

_SET_DEATH_SIGNAL, _ADOPT_ORPHANS = 1, 36

# loaded here: between fork and exec it would be too late
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Have the system kill this process when its parent ends; only Linux can."""
    if _libc:
        _libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def main(seconds: float, clock: Path, command: list[str]) -> int:
    """Run the command; its exit status, LATE, or ALONE."""
    if _libc:
        # whoever loses its parent becomes ours, so that nobody is overlooked
        _libc.prctl(_ADOPT_ORPHANS, 1)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
    try:
        status = _watch(child, seconds, clock)
    finally:
        _end(psutil.Process())
    return status if status >= 0 else 128 - status


def _watch(child: subprocess.Popen, seconds: float, clock: Path) -> int:
    while (status := child.poll()) is None:
        heard, _, _ = select.select([0], [], [], LOOK)
        if heard and not os.read(0, 4096):
            return ALONE
        if seconds and _age(clock) > seconds:
            return LATE
    return status


def _age(clock: Path) -> float:
    try:
        return time.time() - clock.stat().st_mtime
    except OSError:  # nothing is being timed
        return 0.0


def _end(process: psutil.Process) -> None:
    """Kill all that the process started, and what that started meanwhile."""
    while family := process.children(recursive=True):
        for member in family:
            with suppress(psutil.Error):
                member.kill()
        psutil.wait_procs(family, timeout=LOOK)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
