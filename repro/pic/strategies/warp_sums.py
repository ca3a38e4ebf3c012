"""One thread a particle, and each warp adds its currents cell by cell. Not in the paper.

A segment adds to the twelve edges of its cell, which lie side by side: three sectors of 32 bytes. In `global sums` the
32 threads of a warp add to one edge of 32 cells at a time, so 8 bytes of each sector. Here each thread puts its twelve
numbers into shared memory, and then twelve threads take an edge each of particle after particle, and add whole sectors.
Particles of the same cell that follow each other are added up on the way. It is for a GPU only.
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, device_function

from ..advance import kicked, make_cross_face, place_of, set_place, turned_by
from ..deposition import EDGES, make_deposit
from ..gather import electric_at, magnetic_at
from ..motion.segment import make_segment
from ..state import FRESH, MOST_SEGMENTS, STUCK
from . import global_sums

#: threads of a warp, which is a block; and twelve threads each take so many of its particles
WARP, EACH = 32, 16

#: from a particle's numbers to the next one's in shared memory, odd so that they are in different banks; and the row
#: with the cells
STRIDE = CELLS = EDGES + 1

#: in place of a cell, of a thread without a segment
NO_CELL = -1

#: most registers a thread: the warps that a limit makes room for gain more than it costs, see docs/performance.md
REGISTERS = {np.float32: 80, np.float64: 96}


@device_function
def at(number):
    """Where a number is in shared memory, of rows of a warp."""
    number = np.uint32(number)
    return number // np.uint32(WARP), number % np.uint32(WARP)


@device_function
def store(t, number, value):
    """Put a number into shared memory."""
    t[at(number)] = value


@cache
def make_add_up(add):
    """Add what a warp's threads have put to the sums of all: add_up(t, lane, currents, each).

    `each` is EACH, as an argument: a loop of known length would be unrolled, and take more registers.
    """

    @device_function
    def add_up(t, lane, currents, each):
        if lane >= 2 * EDGES:
            return
        group, edge = lane // EDGES, lane % EDGES
        current, total = np.int32(NO_CELL), np.int64(0)
        for p in range(group * each, (group + 1) * each):
            cell = np.int32(t[CELLS, p])
            value = t[at(STRIDE * p + edge)]
            if cell != current:
                if current >= 0:
                    add(currents, EDGES * current + edge, total)
                current, total = cell, np.int64(0)
            total += value
        if current >= 0:
            add(currents, EDGES * current + edge, total)

    return add_up


@cache
def make_body(real, add, barrier, barrier_any):
    """A kernel's body: each item is a particle that takes a step, and no thread ends before all of its warp have."""
    segment, cross = make_segment(real), make_cross_face(real, add)
    put, add_up = make_deposit(real, store), make_add_up(add)
    one, fresh = real(1), real(FRESH)

    @device_function
    def follow(x, n, t, particles, count, fields, context, each):
        lane, i = np.int32(x % WARP), min(x, count - 1)
        cell = particles.cell[i]
        active = x < count and cell >= 0
        position, momentum = place_of(particles, i, count)
        left, amount, met = particles.left[i], particles.weight[i] * real(context.unit), particles.event[i]
        if active and left > one:
            momentum, left = kicked(momentum, electric_at(fields.electric, cell, position, context.layout), one), one
        going = active
        for _ in range(MOST_SEGMENTS):
            t[CELLS, lane] = np.int64(cell if going else NO_CELL)
            if going:
                magnetic = turned_by(met, magnetic_at(fields.magnetic, cell, position, context.layout))
                end, momentum, used, face = segment(position, momentum, magnetic, context.courant, left)
                put(t, STRIDE * lane, position, end, amount)
                cell, position, going = cross(cell, end, face, amount, context)
                left -= used
                met += going
            barrier()
            add_up(t, lane, fields.currents, each)
            # nor may a thread put more there before all have read it
            if not barrier_any(going):
                break
        if active:
            particles.cell[i] = STUCK if going else cell
            particles.left[i], particles.event[i] = (left, met + 1) if cell < 0 else (fresh, 0)
            set_place(particles, i, count, position, momentum)

    return follow


def build(simulation) -> dict:
    """The launches of a step by name."""
    device, real = simulation.device, simulation.real
    body = make_body(real, device.add, device.barrier, device.barrier_any)
    kernel = Kernel(body, dtype=np.int64, shared_rows=CELLS + 1, block=WARP, registers=REGISTERS[real], strict=True)
    # whole warps, whose threads all take part in the sums
    warps = -(-len(simulation.particles_on_device.cell) // WARP)
    move = simulation.bind(kernel, np.int32(EACH), items=warps * WARP)
    move.resume = global_sums.build(simulation)["particles"].resume
    return {"particles": move}
