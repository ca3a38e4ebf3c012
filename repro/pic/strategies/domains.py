"""What the threads of the paper's strategy do: one segment a launch, in a domain of their own that stays compact.

Element i of thread t's domain is entry i * threads + t of the particles' arrays, so that neighbouring threads read
neighbouring entries. Behind a domain's particles its entries are EMPTY.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from repro.parallel import device_function

from ..advance import copy_particle, load, make_cross_face, set_place, turned_by
from ..deposition import EDGES, make_deposit
from ..gather import magnetic_at
from ..mesh import ABSORBED, LEAVES
from ..motion.segment import make_segment
from ..state import DEFERRED, EMPTY, FRESH, MOST_SEGMENTS, STUCK, Particles


class Threads(NamedTuple):
    """Each thread's pointers into its domain: elements, not entries."""

    #: the particle in work (the paper's text calls it I_write), and where it goes when it is done (its I_read)
    read: np.ndarray
    write: np.ndarray
    #: the end of what is to be read
    end: np.ndarray
    #: segments that the particle in work has had in this step, and in air the faces that it has met
    segments: np.ndarray
    faces: np.ndarray
    #: launches in which the thread had a particle, in this step, and its particles that a wall took up
    busy: np.ndarray
    absorbed: np.ndarray


#: what `take_stock` finds: are there particles in transit, and particles that have left?
ON_THE_WAY, LEFT = 0, 1


class Counts(NamedTuple):
    """Particles in each block's transfer buffers: the paper's I_in and I_out; `room` is what a buffer holds."""

    incoming: np.ndarray
    outgoing: np.ndarray
    room: int
    #: threads a block, and all threads
    block: int
    threads: int


@device_function
def leaving(cell):
    """Whether a particle's cell says that it leaves, see `Mesh.neighbour_cell`."""
    return DEFERRED < cell <= LEAVES


@device_function
def entry_of(k, block, blocks):
    """The entry of the buffers' arrays that is number k of a block's buffer: the host copies what they have used."""
    return k * blocks + block


@device_function
def copied(source, i, count, target, k, room):
    """Copy entry i of `count` to entry k of `room`."""
    copy_particle(source, i, count, target, k, room)
    target.event[k] = source.event[i]


@device_function
def find_ends(x, n, particles, count, threads, counts, used):
    """A kernel's body: pointers to the start of each domain, and its end behind its particles; all entries are used."""
    for t in range(x, x + n):
        if t == 0:
            used[0] = count
        end, i = 0, t
        while i < count and particles.cell[i] != EMPTY:
            end += 1
            i += counts.threads
        threads.read[t], threads.write[t], threads.end[t] = 0, 0, end
        threads.segments[t], threads.faces[t], threads.busy[t], threads.absorbed[t] = 0, 0, 0, 0


@device_function
def take_stock(x, n, threads, counts, stock):
    """A kernel's body: whether particles are in transit, and whether any have left. All threads write the same."""
    for t in range(x, x + n):
        if threads.read[t] < threads.end[t]:
            stock[ON_THE_WAY] = 1
        if t < len(counts.incoming):
            if counts.incoming[t]:
                stock[ON_THE_WAY] = 1
            if counts.outgoing[t]:
                stock[LEFT] = 1


@cache
def make_take(add):
    """Whether thread t has a particle to work on: take(t, particles, count, threads, incoming, counts).

    Only when its own are done does a thread take one from its block's buffer, to where it will be written.
    """

    @device_function
    def take(t, particles, count, threads, incoming, counts):
        if threads.read[t] < threads.end[t]:
            return True
        place, block = threads.write[t], t // counts.block
        entry = place * counts.threads + t
        if entry >= count or counts.incoming[block] <= 0:
            return False
        before = add(counts.incoming, block, -1)
        if before <= 0:
            add(counts.incoming, block, 1)
            return False
        waits = entry_of(before - 1, block, len(counts.incoming))
        copied(incoming, waits, len(incoming.cell), particles, entry, count)
        threads.read[t], threads.end[t] = place, place + 1
        return True

    return take


@cache
def make_settle(real, add):
    """Moves the pointers behind a particle that is done: settle(t, particles, count, threads, outgoing, counts).

    One that stays moves up to the write pointer, and both pointers go on; for one that was absorbed or left only the
    read pointer does, so that particles behind it close the hole. One that finds no room in the outgoing buffer waits.
    """
    fresh = real(FRESH)

    @device_function
    def settle(t, particles, count, threads, outgoing, counts):
        i = threads.read[t] * counts.threads + t
        cell = particles.cell[i]
        if leaving(cell):
            block = t // counts.block
            before = add(counts.outgoing, block, 1)
            if before >= counts.room:
                add(counts.outgoing, block, -1)
                return
            particles.event[i] += threads.segments[t]
            copied(particles, i, count, outgoing, entry_of(before, block, len(counts.outgoing)), len(outgoing.cell))
            particles.cell[i] = EMPTY
        elif cell == ABSORBED:
            particles.cell[i] = EMPTY
            threads.absorbed[t] += 1
        else:
            particles.left[i], particles.event[i] = fresh, 0
            if threads.write[t] < threads.read[t]:
                copied(particles, i, count, particles, threads.write[t] * counts.threads + t, count)
                particles.cell[i] = EMPTY
            threads.write[t] += 1
        threads.read[t] += 1
        threads.segments[t], threads.faces[t] = 0, 0

    return settle


class Sums(NamedTuple):
    """Currents of each block, one after the other, laid out as `FieldArrays.currents`; threads a block."""

    currents: np.ndarray
    block: int


@device_function
def first_cell(t, sums, layout):
    """Where the sums of thread t's block begin, as the number of a cell: from there each block has its own cells."""
    return np.int64(t // sums.block) * layout.nodes


@cache
def make_segment_kernel(real, add):
    """A kernel's body: each thread builds one segment of the particle that it works on."""
    segment, deposit, cross = make_segment(real), make_deposit(real, add), make_cross_face(real, add)
    take, settle = make_take(add), make_settle(real, add)

    @device_function
    def advance(x, n, particles, count, threads, incoming, outgoing, counts, sums, fields, context):
        for t in range(x, x + n):
            if not take(t, particles, count, threads, incoming, counts):
                continue
            threads.busy[t] += 1
            i, going = threads.read[t] * counts.threads + t, False
            if particles.cell[i] >= 0:
                cell, amount, position, momentum, left = load(i, particles, count, fields, context)
                met = particles.event[i] + threads.segments[t]
                magnetic = turned_by(met, magnetic_at(fields.magnetic, cell, position, context.layout))
                end, momentum, used, face = segment(position, momentum, magnetic, context.courant, left)
                deposit(sums.currents, EDGES * (first_cell(t, sums, context.layout) + cell), position, end, amount)
                cell, position, going = cross(cell, end, face, amount, context)
                threads.segments[t] += 1
                if going and threads.segments[t] == MOST_SEGMENTS:
                    cell, going = np.int32(STUCK), False
                particles.cell[i], particles.left[i] = cell, left - used
                set_place(particles, i, count, position, momentum)
            if not going:
                settle(t, particles, count, threads, outgoing, counts)

    return advance


@device_function
def add_blocks(x, n, sums, blocks, total):
    """A kernel's body: the currents of all blocks together."""
    size = len(total)
    for k in range(x, x + n):
        found = np.int64(0)
        for block in range(blocks):
            found += sums.currents[k + np.int64(block) * size]
        total[k] = found


def bytes_of_currents(nodes: int, blocks: int) -> int:
    """Bytes of the currents that blocks keep apart: 12 sums of 8 bytes a node and block."""
    return 8 * EDGES * nodes * blocks


def domains_of(particles: Particles, threads: int) -> list[np.ndarray]:
    """Each thread's domain, as entries of the particles' arrays in its order."""
    return [np.arange(t, len(particles.cell), threads) for t in range(threads)]
