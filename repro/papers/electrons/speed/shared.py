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
from repro.parallel.ranks.domain import split
from repro.parallel.ranks.launch import launch

from .programs import LOOP, PAPER, PRODUCTION
from .tables import DIVISIBLE, PER_CELL

#: how processes share a GPU: in turns, or at the same time by NVIDIA's Multi-Process Service; and without a GPU
TURNS, SERVICE, CORES = "in turns", "at once (MPS)", "cores"

_CONTROL = "nvidia-cuda-mps-control"


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
    if gpu := device.name == "cuda":
        found = device.xp.cuda.runtime.getDeviceCount()
        require(max(gpus) <= found, f"gpus = {list(gpus)}: this machine has {found}")
    with service() if gpu else nullcontext({}) as environment:
        on_cores = [(device.name, LOOP, CORES, 0, count) for count in sorted(counts)]
        runs = _runs_with_gpus(sorted(counts), gpus, bool(environment)) if gpu else on_cores
        for *_, processes in runs:
            # refused before the first of them has run
            split((DIVISIBLE,) * 3, processes)
        table = pd.DataFrame([_row(particles, steps, *run, environment) for particles in sizes for run in runs])
    for program, rows in table.groupby("program"):
        if rows["digest"].nunique() > 1:
            raise CheckError(f"{program}: electrons depend on the number of processes, {list(rows['processes'])}")
    alone = table[table["processes"] == 1].set_index(["program", "particles"])["ns"]
    one = alone.reindex(pd.MultiIndex.from_frame(table[["program", "particles"]])).to_numpy()
    table.insert(6, "over one", table["ns"] / one)
    return table.drop(columns="digest")


def _runs_with_gpus(counts: list[int], gpus, at_once: bool) -> list[tuple]:
    """(device, program, sharing, gpus, processes) of each run of a size.

    The paper's program takes turns with the most processes of one GPU only; ours stands beside it alone and with the
    most. On the cores the loop has one process, and as many as the most on the GPUs.
    """
    most = counts[-1]
    runs = [
        ("cuda", program, SERVICE if each > 1 else TURNS, number, each * number)
        for number in gpus
        for each in counts
        for program in (PAPER, PRODUCTION)
        if (program == PAPER or each in (1, most)) and (at_once or each == 1)
    ]
    if most > 1 and 1 in gpus:
        runs.append(("cuda", PAPER, TURNS, 1, most))
    return runs + [("threads", LOOP, CORES, 0, count) for count in dict.fromkeys((1, most * max(gpus)))]


def _row(particles, steps, device, program, sharing, gpus, processes, at_once) -> dict:
    # it is quiet already, and they must not stop each other
    environment = (at_once if sharing == SERVICE else {}) | {VARIABLE: ""}
    # not by what they print: programs that start ranks add to it
    with exclusive_timing(), tempfile.TemporaryDirectory(prefix="ranks") as folder:
        answer = Path(folder) / "answer.json"
        words = [program, device, gpus, particles, steps, answer]
        launch(processes, "repro.papers.electrons.speed.a_rank", words, timeout=240, environment=environment)
        result = read_json(answer)
    way = {"program": program, "particles": particles, "sharing": sharing, "gpus": gpus, "processes": processes}
    return way | {"ns": 1e9 * result.pop("seconds") / particles} | result


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
        # the daemon would hold on to a pipe that is read to its end; it has 30 s to start, or to end
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 30}
        subprocess.run([_CONTROL, "-d"], env=everything, check=True, **silent)
        try:
            yield environment
        finally:
            subprocess.run([_CONTROL], input="quit\n", text=True, env=everything, **silent)
