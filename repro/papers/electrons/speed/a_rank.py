"""One of the processes that share a machine: python -m repro.papers.electrons.speed.a_rank with the words of `main`."""

import os
import sys
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from repro.files import write_json
from repro.parallel import host_clock, select
from repro.parallel.benchmark import REPEATS
from repro.parallel.ranks.migration import Counts
from repro.parallel.ranks.world import world
from repro.pic.benchmark import CHECK_STEPS
from repro.pic.cases import UniformSource
from repro.pic.segment_statistics import host_loop_of
from repro.pic.simulation import Simulation
from repro.pic.strategies import baskets
from repro.pic.strategies.transfer_buffers import shape_of

from .programs import PAPER, programs
from .tables import source_of

#: the GPUs that a process sees
_VISIBLE = "CUDA_VISIBLE_DEVICES"

#: cells along each axis of what is checked: many numbers of processes divide it
_CELLS = 8


def main(program: str, device: str, gpus: str, particles: str, steps: str, answer: str):
    """Check, and time so many steps; rank 0 writes what came of it into the file `answer`, as JSON."""
    ranks, gpus, particles, steps = world(), int(gpus), int(particles), int(steps)
    if gpus:
        os.environ[_VISIBLE] = gpu_of(ranks.rank, ranks.count, gpus, os.environ.get(_VISIBLE, ""))
    device = select(device)
    options = _options(program, device, ranks.count // max(gpus, 1)) | {"ranks": ranks}
    small = Simulation(UniformSource(cells=_CELLS, per_cell=4, births=0.01).system(), device, **options)
    small.step(CHECK_STEPS)
    simulation = Simulation(source_of(particles).system(), device, **options)
    simulation.step(1)
    simulation.advance(steps)
    seconds = median(_seconds(simulation, ranks, steps) for _ in range(REPEATS))
    counted = _exchange(simulation, ranks)
    counted["crossing"] = counted.pop("sent") / particles
    counted["waiting"] /= ranks.count * seconds
    host_loop = host_loop_of(simulation)
    result = {
        "seconds": seconds,
        "currents": (host_loop.sums if host_loop else simulation.fields.arrays).currents.nbytes,
        "digest": _digest(small, ranks),
    } | counted
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
    vectors = [particles["position"], particles["momentum"], particles["weight"][:, None]]
    words = np.column_stack([particles["ids"], *(v.view(np.int64) for v in vectors)]).view(np.uint64)
    mixed = np.zeros(len(words), np.uint64)
    for column in words.T:
        # multiply and shift: a bit that differs changes half of those above and below it
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return int(ranks.sum(np.array([mixed.sum()]))[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
