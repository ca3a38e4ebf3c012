"""The line that a rank writes before the run ends, in a form that `launch` finds again, and who this rank is."""

import os
import re
import sys
from contextlib import suppress

LINE = re.compile(r"rank (\d+) of (\d+): (.*)")

#: the variable that names a file for these lines: `mpiexec` may end without having read what a rank wrote just before
SAID = "REPRO_SAID"


def _first(*names: str) -> int:
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), 0)


def started_processes() -> int:
    """How many processes were started together (by launch.py, MPICH or Open MPI); 0 without `mpiexec`."""
    return _first("REPRO_RANKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE")


def say(message: str, rank: int | None = None, count: int | None = None) -> None:
    """One line on the error output that names the rank: the one that `mpiexec` has made of this process, or another."""
    rank = _first("PMI_RANK", "OMPI_COMM_WORLD_RANK") if rank is None else rank
    line = f"rank {rank} of {count or started_processes()}: {' '.join(message.split())}\n"
    if path := os.environ.get(SAID):
        # a full disk shall not hide the reason
        with suppress(OSError), open(path, "a") as file:
            file.write(line)
    # in one piece: several ranks may write at once
    sys.stderr.write(line)
    sys.stderr.flush()
