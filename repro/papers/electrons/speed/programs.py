"""The programs that are timed: a strategy on a device, and how often it sorts its particles."""

from dataclasses import dataclass

from repro.parallel import CpuDevice, select
from repro.pic.strategies import Strategy, baskets

#: the paper's program on a GPU, and the same with the fields on the GPU
PAPER, ON_DEVICE = "baskets", "baskets, fields on the GPU"

#: what is fast on a GPU: ours for production, and the one with windows in shared memory
PRODUCTION, TILES = "global sums", "tiles"

#: the paper's kind of program for a CPU, particle by particle, and the fast one; on all cores and on one
LOOP, BATCHES = "loop, all cores", "batches, all cores"
LOOP_ON_CORE, BATCHES_ON_CORE = "loop, one core", "batches, one core"

#: programs of a GPU, and those of all cores over which a speedup is
ON_GPU, ON_CORES = (PAPER, ON_DEVICE, PRODUCTION, TILES), (LOOP, BATCHES)

#: programs of one core, which are for few particles
ON_ONE_CORE = (LOOP_ON_CORE, BATCHES_ON_CORE)

#: steps from one sort to the next, of programs that sort
SORT_EVERY = 20

#: one object each, since the check of a strategy is remembered by it
_BASKETS = {PAPER: baskets(), ON_DEVICE: baskets(fields="device")}


@dataclass(frozen=True)
class Program:
    """How particles are moved, and where."""

    name: str
    device: object
    strategy: str | Strategy
    sort_every: int = SORT_EVERY

    @property
    def options(self) -> dict:
        """Of `Simulation` and of `measure_speed`."""
        return {"strategy": self.strategy, "sort_every": self.sort_every}


def programs(device) -> dict[str, Program]:
    """All programs by name: those of a GPU only where `device` is one.

    The paper's own does not sort: a particle stays in its thread's domain. A CPU's particles are sorted, so that the
    share of each core lies in a part of the mesh of its own, as the paper's subdomains do.
    """
    listed = []
    if device.name == "cuda":
        listed += [Program(name, device, strategy, 0) for name, strategy in _BASKETS.items()]
        listed += [Program(name, device, name) for name in (PRODUCTION, TILES)]
    cores = select("threads")
    listed += [
        Program(LOOP, cores, "global sums"),
        Program(BATCHES, cores, "batches"),
        Program(LOOP_ON_CORE, select("serial"), "global sums"),
        Program(BATCHES_ON_CORE, CpuDevice("threads", workers=1), "batches"),
    ]
    return {program.name: program for program in listed}
