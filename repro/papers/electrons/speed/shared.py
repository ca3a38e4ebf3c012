"""Several processes that share a machine, as the paper's share a GPU: their speed, and what crosses between them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pandas as pd

from repro.errors import CheckError, require, require_whole
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


def shared(sizes, counts, device, *, steps: int, gpus=(1,)) -> pd.DataFrame:
    """Speeds of processes that share a machine with so many particles (`sizes`), a row a program and a way of sharing.

    On each number of `gpus` each of `counts` processes a GPU, and beside them the loop on the CPU's cores with as many
    processes and subdomains. Without a GPU `counts` processes share the cores.

    Columns: program, particles, sharing, gpus, processes (in all), ns (a particle and step), "over one" (how often that
    of one process), crossing (share of the particles that go from one process to another in a step), messages, kB,
    rounds (barriers) of all processes in the last step, waiting (share of the step in which a process had nothing to
    do, in the mean), currents (bytes of the sums of currents in one process). Each program first moves a small source;
    raises CheckError if that depends on the number of processes in a single bit.
    """
    for particles in sizes:
        require_whole("particles of several processes", particles, PER_CELL, 2**31 - 1)
    require_whole("steps of several processes", steps, 1, 10**6)
    if device.name == "cuda":
        found = device.xp.cuda.runtime.getDeviceCount()
        require(max(gpus) <= found, f"gpus = {list(gpus)}: this machine has {found}")
    with service() if device.name == "cuda" else nullcontext({}) as environment:
        runs = _runs(device.name, sorted(counts), gpus, environment)
        rows = [_row(particles, steps, *run) for particles in sizes for run in runs]
    names = ["program", "particles", "sharing", "gpus", "processes", "ns", *_COUNTED, "currents", "digest"]
    table = pd.DataFrame(rows, columns=names)
    for program, rows in table.groupby("program"):
        if rows["digest"].nunique() > 1:
            raise CheckError(f"{program}: electrons depend on the number of processes, {list(rows['processes'])}")
    alone = table[table["processes"] == 1].set_index(["program", "particles"])["ns"]
    one = alone.reindex(pd.MultiIndex.from_frame(table[["program", "particles"]])).to_numpy()
    table.insert(6, "over one", table["ns"] / one)
    return table.drop(columns="digest")


def _runs(device: str, counts: list[int], gpus, service: dict) -> list[tuple]:
    """(device, program, sharing, gpus, processes, environment) of each run of a size.

    The paper's program takes turns with the most processes of one GPU only; ours stands beside it alone and with the
    most. On the cores the loop has one process, and as many as the most on the GPUs.
    """
    if device != "cuda":
        return [(device, LOOP, CORES, 0, count, {}) for count in counts]
    runs = []
    for number in gpus:
        for each in counts:
            sharing, environment = (SERVICE, service) if each > 1 else (TURNS, {})
            if each == 1 or service:
                runs.append((device, PAPER, sharing, number, each * number, environment))
            if each in (1, counts[-1]) and (each == 1 or service):
                runs.append((device, PRODUCTION, sharing, number, each * number, environment))
            if each == counts[-1] > 1 and number == 1:
                runs.append((device, PAPER, TURNS, number, each, {}))
    most = counts[-1] * max(gpus)
    return runs + [("threads", LOOP, CORES, 0, count, {}) for count in dict.fromkeys((1, most))]


def _row(particles: int, steps: int, device: str, program: str, sharing: str, gpus: int, processes: int, environment):
    # not by what they print: programs that start ranks add to it
    with exclusive_timing(), tempfile.TemporaryDirectory(prefix="ranks") as folder:
        answer = Path(folder) / "answer.json"
        # it is quiet already, and they must not stop each other
        environment = environment | {VARIABLE: ""}
        words = [program, device, gpus, particles, steps, answer]
        launch(processes, _MODULE, words, timeout=240, environment=environment)
        result = read_json(answer)
    counted = [result[name] for name in _COUNTED]
    ns = 1e9 * result["seconds"] / particles
    return program, particles, sharing, gpus, processes, ns, *counted, result["currents"], result["digest"]


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
