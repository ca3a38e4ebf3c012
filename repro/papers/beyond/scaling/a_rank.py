"""One of the ranks that are timed: python -m repro.papers.beyond.scaling.a_rank with the words of `main`."""

import json
import os
import sys
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from repro.files import write_json
from repro.parallel import CpuDevice, host_clock, select
from repro.parallel.benchmark import REPEATS
from repro.parallel.ranks.world import world
from repro.parallel.timeloop import GRAPH_STEPS

from .methods import METHODS


def main(device: str, cases: str, seconds: str, answer: str):
    """Time each of `cases`, JSON of [[method, shape], ...]; rank 0 writes a list of rows into the file `answer`."""
    ranks = world()
    here = _device(device, ranks)
    rows = [_row(method, tuple(shape), here, ranks, float(seconds)) for method, shape in json.loads(cases)]
    if ranks.rank == 0:
        write_json(Path(answer), rows)
    ranks.finish()


def _device(name: str, ranks):
    """A core of its own for each rank, or a GPU, which talks to the others directly."""
    if name != "cuda":
        return CpuDevice("threads", workers=1)
    seen = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    os.environ["CUDA_VISIBLE_DEVICES"] = seen.split(",")[ranks.rank] if seen else str(ranks.rank)
    device = select("cuda")
    ranks.connect_gpus()
    return device


def _row(method: str, shape, device, ranks, seconds: float) -> dict:
    simulation = METHODS[method].build(shape, device, ranks)
    # compiles, and on a GPU records
    few = 2 * GRAPH_STEPS if device.name == "cuda" else 2
    simulation.advance(few)
    steps = _steps(simulation, ranks, few, seconds)
    each = [_seconds(simulation, ranks, steps) for _ in range(REPEATS)]
    return {
        "method": method,
        "shape": list(shape),
        "ranks": ranks.count,
        "work": METHODS[method].work(simulation),
        "seconds": median(each),
        "spread": (max(each) - min(each)) / median(each),
    }


def _steps(simulation, ranks, few: int, seconds: float) -> int:
    """Steps that take about so many seconds, the same number on all ranks."""
    return few * int(np.clip(round(seconds / (few * _seconds(simulation, ranks, few))), 1, 1000))


def _seconds(simulation, ranks, steps: int) -> float:
    """Seconds of a step, from the same moment on all ranks until the last one has ended it."""
    ranks.sum(np.zeros(1), "the start of a timing")
    own = host_clock(partial(simulation.advance, steps), simulation.device) / steps
    return float(ranks.gather(np.array([own])).max())


if __name__ == "__main__":
    main(*sys.argv[1:])
