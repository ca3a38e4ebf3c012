"""One of the processes that share a machine: python -m repro.papers.electrons.speed.a_rank with the words of `main`."""

import os
import sys
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from repro.files import write_json
from repro.parallel import host_clock, select
from repro.parallel.benchmark import REPEATS
from repro.parallel.ranks.migration import Counts
from repro.parallel.ranks.world import world
from repro.pic.benchmark import CHECK_STEPS, host_loop_of
from repro.pic.cases import UniformSource
from repro.pic.simulation import Simulation
from repro.pic.strategies import baskets
from repro.pic.strategies.transfer_buffers import shape_of

from .programs import PAPER, programs
from .tables import DIVISIBLE, cube


def main(program: str, device: str, gpus: str, particles: str, steps: str, answer: str):
    """Check, and time so many steps; rank 0 writes what came of it into the file `answer`, as JSON."""
    ranks, gpus, particles, steps = world(), int(gpus), int(particles), int(steps)
    if gpus:
        seen = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu_of(ranks.rank, ranks.count, gpus, seen)
    device = select(device)
    options = _options(program, device, ranks.count // max(gpus, 1)) | {"ranks": ranks}
    small = Simulation(UniformSource(cells=DIVISIBLE, per_cell=4, births=0.01).system(), device, **options)
    small.step(CHECK_STEPS)
    simulation = Simulation(cube(particles, multiple=DIVISIBLE).system(), device, **options)
    simulation.step(1)
    simulation.advance(steps)
    seconds = median(_seconds(simulation, ranks, steps) for _ in range(REPEATS))
    counted = _exchange(simulation, ranks)
    result = {"seconds": seconds, "crossing": counted.pop("sent") / particles} | counted
    result["waiting"] /= ranks.count * seconds
    sums = host_loop.sums if (host_loop := host_loop_of(simulation)) else simulation.fields.arrays
    result |= {"currents": sums.currents.nbytes, "digest": _digest(small, ranks)}
    if ranks.rank == 0:
        write_json(Path(answer), result)
    ranks.finish()


def gpu_of(rank: int, count: int, gpus: int, visible: str) -> str:
    """The GPU of a rank, of the first `gpus` that it sees: ranks that are neighbours share one."""
    names = visible.split(",") if visible else [str(k) for k in range(gpus)]
    return names[rank * gpus // count]


def _options(program: str, device, processes: int) -> dict:
    """Of `Simulation`; the processes of a GPU have its multiprocessors' blocks between them, as in the paper."""
    _, options = programs(device)[program]
    if program == PAPER:
        options |= {"strategy": baskets(blocks=max(1, shape_of(device, None, None)[0] // processes))}
    return options


def _exchange(simulation: Simulation, ranks) -> dict[str, float]:
    """What the exchange took in the last step, of all ranks together; rounds are of one, for all have as many."""
    counts = simulation.crossing.counts if ranks.count > 1 else Counts(0, 0)
    mine = np.array([counts.sent, counts.messages, counts.bytes / 1e3, counts.rounds / ranks.count, counts.waited])
    return dict(zip(("sent", "messages", "kB", "rounds", "waiting"), ranks.sum(mine).tolist(), strict=True))


def _seconds(simulation: Simulation, ranks, steps: int) -> float:
    """Seconds of a step, from the same moment on all ranks until the last one has ended it."""
    ranks.sum(np.zeros(1), "the start of a timing")
    own = host_clock(partial(simulation.advance, steps), simulation.device) / steps
    return float(ranks.gather(np.array([own])).max())


def _digest(simulation: Simulation, ranks) -> int:
    """A number for all bits of all particles, in whatever order and on whatever rank they are."""
    particles = simulation.particles()
    table = pd.DataFrame(np.column_stack([particles[name] for name in ("ids", "position", "momentum", "weight")]))
    return int(ranks.sum(np.array([pd.util.hash_pandas_object(table, index=False).sum()]))[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
