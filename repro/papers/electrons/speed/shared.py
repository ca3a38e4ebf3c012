"""Several processes that share a machine, as the paper's share a GPU: their speed, and what crosses between them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pandas as pd

from repro.errors import CheckError, require_whole
from repro.exclusive_timing import VARIABLE, exclusive_timing
from repro.files import read_json
from repro.parallel.ranks.launch import launch

from .programs import LOOP, PAPER, PRODUCTION
from .tables import PER_CELL

#: the program of each process, see `a_rank`
_MODULE = "repro.papers.electrons.speed.a_rank"

#: how processes share a GPU: in turns, or at the same time by NVIDIA's Multi-Process Service; and without a GPU
TURNS, SERVICE, CORES = "in turns", "at once (MPS)", "cores"

_CONTROL = "nvidia-cuda-mps-control"

#: what the exchange between processes took in a step, see `shared`
_COUNTED = ("crossing", "messages", "kB", "rounds", "waiting")

#: seconds for the service to start, or to end
_PATIENCE = 30.0


def shared(particles: int, counts, device, *, steps: int) -> pd.DataFrame:
    """Speeds of `counts` processes that share the device, a row a program, number of processes and way of sharing.

    Columns: program, sharing, processes, ns (a particle and step), "over one" (how often that of one process),
    crossing (share of the particles that go from one process to another in a step), messages, kB, rounds (barriers) of
    all processes in the last step, waiting (share of the step in which a process had nothing to do, in the mean),
    currents (bytes of the sums of currents in one process). Each program first moves
    a small source; raises CheckError if that depends on the number of processes in a single bit.
    """
    require_whole("particles of several processes", particles, PER_CELL, 2**31 - 1)
    require_whole("steps of several processes", steps, 1, 10**6)
    gpu = device.name == "cuda"
    row = partial(_row, device.name, particles, steps)
    if gpu:
        rows = [row(name, 1, TURNS) for name in (PAPER, PRODUCTION) if 1 in counts]
        several = [count for count in counts if count > 1]
        rows += [row(PAPER, count, TURNS) for count in several[-1:]]
        with service() as environment:
            ways = [(name, n, SERVICE) for name in (PAPER, PRODUCTION) for n in several if environment]
            rows += [row(*way, environment) for way in ways]
    else:
        rows = [row(LOOP, count, CORES) for count in counts]
    names = ["program", "sharing", "processes", "ns", *_COUNTED, "currents", "digest"]
    table = pd.DataFrame(rows, columns=names)
    for program, rows in table.groupby("program"):
        if rows["digest"].nunique() > 1:
            raise CheckError(f"{program}: electrons depend on the number of processes, {list(rows['processes'])}")
    alone = table[table["processes"] == 1].set_index("program")["ns"]
    table.insert(4, "over one", table["ns"] / table["program"].map(alone))
    return table.drop(columns="digest")


def _row(
    device: str, particles: int, steps: int, program: str, processes: int, sharing: str, environment=None
) -> tuple:
    # not by what they print: programs that start ranks add to it
    with exclusive_timing(), tempfile.TemporaryDirectory(prefix="ranks") as folder:
        answer = Path(folder) / "answer.json"
        # it is quiet already, and they must not stop each other
        environment = (environment or {}) | {VARIABLE: ""}
        launch(processes, _MODULE, [program, device, particles, steps, answer], timeout=240, environment=environment)
        result = read_json(answer)
    ns = 1e9 * result["seconds"] / particles
    counted = [result[name] for name in _COUNTED]
    return program, sharing, processes, ns, *counted, result["currents"], result["digest"]


@contextmanager
def service() -> Iterator[dict[str, str]]:
    """The environment of processes that compute on the GPU at the same time; empty where there is no such service."""
    if not shutil.which(_CONTROL):
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="mps") as folder:
        environment = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        # who measures stops all that belongs to the run, and the service must go on
        everything = os.environ | environment | {VARIABLE: ""}
        # the daemon would hold on to a pipe that is read to its end
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": _PATIENCE}
        subprocess.run([_CONTROL, "-d"], env=everything, check=True, **silent)
        try:
            yield environment
        finally:
            subprocess.run([_CONTROL], input="quit\n", text=True, env=everything, **silent)
