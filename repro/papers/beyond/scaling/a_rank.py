"""One of the ranks that are timed: python -m repro.papers.beyond.scaling.a_rank with the words of `main`."""

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from repro.files import write_json
from repro.parallel import GRAPH_STEPS, CpuDevice, host_clock, select
from repro.parallel.benchmark import REPEATS
from repro.parallel.ranks.exchange import Link
from repro.parallel.ranks.nonblocking import NonblockingExchange
from repro.parallel.ranks.world import HALO_TAG, world

from .methods import METHODS

#: numbers of a message by which a link is measured, in single precision
MESSAGES = (1 << 10, 1 << 16, 1 << 20)

#: how a step exchanges: while it computes, after that, or with nobody
HIDDEN, AFTER, ALONE = "hidden", "after", "none"


def main(device: str, cases: str, seconds: str, answer: str):
    """Time `cases`, JSON of [[scaling, method, shape], ...], and the link; rank 0 writes both into a file."""
    ranks = world()
    clock = Clock(_device(device, ranks), ranks, float(seconds))
    rows = []
    for scaling, method, shape in json.loads(cases):
        rows += [{"scaling": scaling} | row for row in _rows(method, tuple(shape), clock)]
    link = [_exchange(count, clock) for count in MESSAGES] if ranks.count > 1 else []
    if ranks.rank == 0:
        write_json(Path(answer), {"rows": rows, "link": link})
    ranks.finish()


def _device(name: str, ranks):
    """A core of its own for each rank, or a GPU, which talks to the others directly."""
    if name != "cuda":
        return CpuDevice("threads", workers=1)
    seen = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    os.environ["CUDA_VISIBLE_DEVICES"] = seen.split(",")[ranks.rank] if seen else str(ranks.rank)
    # of the GPUs: multicast over NVLink is not there in every container
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    device = select("cuda")
    ranks.connect_gpus()
    return device


class Clock:
    """Times what all ranks do together, by repetitions of about so many seconds."""

    def __init__(self, device, ranks, seconds: float):
        self.device, self.ranks, self._about = device, ranks, seconds

    def __call__(self, run: Callable[[int], None], few: int) -> dict[str, float]:
        """Seconds of one of the times that run(count) does something, and their spread; `few` is a unit of count."""
        run(few)
        count = few * int(np.clip(round(self._about / (few * self._once(run, few))), 1, 1000))
        each = [self._once(run, count) for _ in range(REPEATS)]
        return {"seconds": median(each), "spread": (max(each) - min(each)) / median(each)}

    def _once(self, run: Callable[[int], None], count: int) -> float:
        """From the same moment on all ranks until the last one has ended; all have the same number."""
        self.ranks.sum(np.zeros(1), "the start of a timing")
        own = host_clock(partial(run, count), self.device) / count
        return float(self.ranks.gather(np.array([own])).max())


def _rows(method: str, shape, clock: Clock) -> list[dict]:
    """The times of a step of a method, with its exchange hidden, and not."""
    known, ranks = METHODS[method], clock.ranks
    simulation = known.build(shape, clock.device, ranks)
    # a graph, and before it two steps that compile
    few = GRAPH_STEPS if clock.device.name == "cuda" else 2
    late = known.unhidden and known.unhidden(simulation)
    ways = {HIDDEN: simulation, AFTER: late} if late else {AFTER if ranks.count > 1 else ALONE: simulation}
    about = {"method": method, "shape": list(shape), "ranks": ranks.count}
    for loop in ways.values():
        loop.advance(2)
    return [about | {"exchange": way} | clock(loop.advance, few) for way, loop in ways.items()]


def _exchange(count: int, clock: Clock) -> dict[str, float]:
    """The time in which `count` numbers go to the rank on either side while as many arrive."""
    device, ranks = clock.device, clock.ranks
    places = np.arange(4 * count).reshape(4, count)
    before, behind = (ranks.rank - 1) % ranks.count, (ranks.rank + 1) % ranks.count
    links = [
        Link(before, HALO_TAG, HALO_TAG + 1, places[1], places[0]),
        Link(behind, HALO_TAG + 1, HALO_TAG, places[2], places[3]),
    ]
    exchange = NonblockingExchange(links, [device.zeros(4 * count, np.float32)], ranks, device, "a link's messages")

    def several():
        for _ in range(10):
            exchange.begin()
            exchange.end()

    several()
    recorded = device.capture(several)
    timed = clock(lambda times: [recorded() for _ in range(times // 10)] and None, 10)
    return {"bytes": 2 * 4 * count} | timed


if __name__ == "__main__":
    main(*sys.argv[1:])
