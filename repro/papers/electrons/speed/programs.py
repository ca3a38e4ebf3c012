"""The programs that are timed: a strategy on a device, and how often it sorts its particles."""

from repro.parallel import CpuDevice, select
from repro.pic.strategies import baskets

#: the paper's program on a GPU, and the same with the fields on the GPU
PAPER, ON_DEVICE = "baskets", "baskets, fields on the GPU"

#: what is fast on a GPU: ours for production, and the one with windows in shared memory
PRODUCTION, TILES = "warp sums", "tiles"

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


def programs(device) -> dict[str, tuple]:
    """Device and options (of `Simulation` and `measure_speed`) of all programs by name, a GPU's where `device` is one.

    The paper's own does not sort: a particle stays in its thread's domain. A CPU's particles are sorted, so that the
    share of each core lies in a part of the mesh of its own, as the paper's subdomains do.
    """
    found = {}
    if device.name == "cuda":
        found |= {name: (device, {"strategy": strategy, "sort_every": 0}) for name, strategy in _BASKETS.items()}
        found |= {name: (device, {"strategy": name, "sort_every": SORT_EVERY}) for name in (PRODUCTION, TILES)}
    loop, batches = ({"strategy": name, "sort_every": SORT_EVERY} for name in ("global sums", "batches"))
    # one core as one worker of `threads`, or a program would be charged for how `serial` calls its kernels
    cores, core = select("threads"), CpuDevice("threads", workers=1)
    found |= {LOOP: (cores, loop), BATCHES: (cores, batches)}
    return found | {LOOP_ON_CORE: (core, loop), BATCHES_ON_CORE: (core, batches)}
