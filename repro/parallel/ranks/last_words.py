"""What a rank says before the run ends: one line on the error output, in a form that `launch` finds again."""

import os
import re
import sys

LINE = re.compile(r"rank (\d+) of (\d+): (.*)")

#: this process's number among those that an `mpiexec` has started, by whom: MPICH (and Intel MPI), Open MPI
_NUMBER = ("PMI_RANK", "OMPI_COMM_WORLD_RANK")

#: how many processes were started, by whom: launch.py, MPICH (and Intel MPI), Open MPI
_STARTED = ("REPRO_RANKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE")


def started_processes() -> int:
    """How many processes of this run were started together; 0 if this one was started without `mpiexec`."""
    return _first(_STARTED)


def process_number() -> int:
    """Which of them this process is."""
    return _first(_NUMBER)


def say(rank: int, count: int, message: str) -> None:
    """One line that names the rank."""
    # in one piece: several ranks may write at once
    sys.stderr.write(f"rank {rank} of {count}: {' '.join(message.split())}\n")
    sys.stderr.flush()


def _first(names: tuple[str, ...]) -> int:
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), 0)
