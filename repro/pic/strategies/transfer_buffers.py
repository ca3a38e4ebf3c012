"""The paper's own way (section 3, figure 1): a domain of particles for each thread, and transfer
buffers, its baskets, for each block.

The host launches one segment a thread again and again until all particles are at the end of the step; between
launches it fills the incoming buffers and empties the outgoing ones. Blocks keep currents of their own, which are
added up at the end. What the threads do is in `domains`, what the host does in `host_loop`.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated

import numpy as np

from repro.declared import Kind, OneOf, OrNone, Whole, checked
from repro.parallel import require_memory

from ..state import bytes_each
from .domains import Threads, bytes_of_currents
from .host_loop import HostLoop, Options
from .rank_exchange import RankExchange
from .strategy import Strategy

#: the paper's threads a block
PAPER_THREADS = 512

#: where the fields are
PLACES = ("host", "device")


@checked
def baskets(
    *,
    blocks: Annotated[int | None, OrNone(Whole(1, 2**16))] = None,
    threads: Annotated[int | None, OrNone(Whole(1, 1024))] = None,
    basket: Annotated[int, Whole(1, 2**24)] = 1024,
    every: Annotated[int, Whole(1, 10_000)] = 16,
    fields: Annotated[str, OneOf(PLACES)] = "host",
    exchange: Annotated[Callable | None, Kind(Callable, type(None))] = None,
) -> Strategy:
    """The paper's strategy: `blocks` blocks of `threads` threads, with buffers for `basket` particles each.

    By default a block of 512 on each multiprocessor of a GPU, and a few small blocks elsewhere. Each `every` launches
    the host looks whether all is done, and at the buffers. `fields` says where they are advanced: on the "host", as in
    the paper, or on the "device". Between ranks particles cross as `RankExchange` has it. Where something else is
    beside the mesh, `exchange(departed, done)` takes the particles that have left (see `repro.pic.packing`), and
    whether none here is in transit any more; it returns those that arrive, or None when the step is over there, too.
    """
    options = Options(blocks, threads, basket, every, exchange)
    return Strategy(
        "baskets",
        partial(_build, options),
        partial(_memory, options),
        crossing=RankExchange,
        by_host=True,
        media=("vacuum", "air"),
        fields_on_host=fields == "host",
    )


def shape_of(device, blocks: int | None, threads: int | None) -> tuple[int, int]:
    """Blocks, and threads a block, where they are not given: as in the paper on a GPU, few elsewhere."""
    if device.xp is not np:
        properties = device.xp.cuda.runtime.getDeviceProperties(device.xp.cuda.Device().id)
        return blocks or properties["multiProcessorCount"], threads or PAPER_THREADS
    return blocks or 2, threads or (4 if device.simulated else 64)


def _memory(options: Options, system, real, device) -> int:
    blocks, threads = shape_of(device, options.blocks, options.threads)
    pointers, buffers = 4 * len(Threads._fields) * threads, 2 * options.basket * bytes_each(real) + 8
    return bytes_of_currents(system.mesh.layout.nodes, blocks) + blocks * (pointers + buffers) + 8


def _build(options: Options, simulation) -> dict:
    """The launches of a step by name."""
    needed = _memory(options, simulation.system, simulation.real, simulation.device)
    require_memory(
        simulation.device, needed, "currents and baskets of each block", "use fewer blocks, or smaller baskets"
    )
    blocks, threads = shape_of(simulation.device, options.blocks, options.threads)
    return {"particles": HostLoop(simulation, options._replace(blocks=blocks, threads=threads))}
