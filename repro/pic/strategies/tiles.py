"""One thread a particle, and each block adds currents in its shared memory first. Not in the paper.

Particles that were put in the order of their cells not long ago are near each other, so a block's currents fall into a
few cells one after the other: the window. What falls outside is added to the sums of all at once. It is for a GPU only.
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, device_function

from ..advance import make_follow
from ..deposition import EDGES
from ..maxwell.fields import FieldArrays
from . import global_sums

#: cells in a window, and threads of a block
WINDOW, BLOCK = 32, 128

#: rows of shared memory, a number for each thread of the block
_ROWS = EDGES * WINDOW // BLOCK


@cache
def _body(real, add, barrier):
    @device_function
    def add_within(currents, edge, value):
        """Add to a window (numbers, first edge in it, sums of all), or beside it to the sums of all."""
        window, first, global_sums = currents
        near = edge - first
        if 0 <= near < EDGES * WINDOW:
            add(window, (near // BLOCK, near % BLOCK), value)
        else:
            add(global_sums, edge, value)

    follow_within = make_follow(real, add, add_within)

    @device_function
    def follow(x, n, t, particles, count, fields, context):
        lane = x % BLOCK
        # before a thread moves the particle: the block's first one begins the window
        first = EDGES * (particles.cell[x - lane] - WINDOW // 4)
        for row in range(_ROWS):
            t[row, lane] = 0
        barrier()
        if x < count:
            windowed = FieldArrays(fields.electric, fields.magnetic, (t, first, fields.currents))
            follow_within(x, 1, particles, count, windowed, context, 0)
        barrier()
        for row in range(_ROWS):
            value = t[row, lane]
            if value != 0:
                add(fields.currents, first + row * BLOCK + lane, value)

    return follow


def build(simulation) -> dict:
    """The launches of a step by name."""
    device = simulation.device
    body = _body(simulation.real, device.add, device.barrier)
    kernel = Kernel(body, dtype=np.int64, shared_rows=_ROWS, block=BLOCK, strict=True)
    # whole blocks, whose threads all take a share of the window
    blocks = -(-len(simulation.particles_on_device.cell) // BLOCK)
    move = simulation.bind(kernel, items=blocks * BLOCK)
    move.resume = global_sums.build(simulation)["particles"].resume
    return {"particles": move}
