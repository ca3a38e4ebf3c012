"""What the threads of the paper's strategy do in air: segments that end at collisions, too, one a launch.

An electron that a collision sets free goes through the block's outgoing buffer to the host, which puts it on its list
of unprocessed particles (paper, section 2): so it goes on in this step, in whatever block has a thread for it.
"""

from functools import cache

import numpy as np
from numpy import uint32

from repro.parallel import device_function

from ..advance import make_load, set_place
from ..air.kinematics import make_kinetic_energy
from ..air.processes import HEATS, NOTHING, RADIATES, SETS_FREE
from ..air.tallies import ENERGY_SHARE, EVENTS, LEFT_OVER, LOST, RADIATED, STOPS
from ..air.transport import MOST_IN_AIR, Electron, make_advance_to_event, make_known_cell, make_put_secondary
from ..mesh import ABSORBED
from ..motion.push import squared
from ..state import STUCK
from .domains import entry_of, make_block_deposit, make_settle, make_take, own_currents


@cache
def make_tally(real, add):
    """Add what happened on a segment to the sums over all particles: tally(tallies, energy, event)."""

    @device_function
    def tally(tallies, energy, event):
        add(tallies, LOST, np.int64(energy * event.lost))
        if event.process != NOTHING:
            add(tallies, EVENTS + event.process - 1, 1)
        if (RADIATES >> event.process) & 1:
            add(tallies, RADIATED, np.int64(energy * event.taken))
        if (HEATS >> event.process) & 1:
            add(tallies, LOST, np.int64(energy * event.taken))

    return tally


@cache
def make_air_kernel(real, add):
    """A kernel's body: each thread builds one segment in air of the particle that it works on.

    A launch adds at most one particle a thread to a block's outgoing buffer; a block in whose buffer so many have no
    room waits until the host has emptied it.
    """
    load, known_cell, energy_of = make_load(real), make_known_cell(real, add), make_kinetic_energy(real)
    advance_to_event, put = make_advance_to_event(real, add, make_block_deposit), make_put_secondary(real, add)
    take, settle, tally = make_take(add), make_settle(real, add), make_tally(real, add)

    @device_function
    def advance(x, n, particles, count, threads, incoming, outgoing, counts, sums, fields, context, air, tables):
        for t in range(x, x + n):
            block = t // counts.block
            room = counts.outgoing[block] + counts.block <= counts.room
            if not (room and take(t, particles, count, threads, incoming, counts)):
                continue
            threads.busy[t] += 1
            i, going = threads.read[t] * counts.threads + t, False
            if particles.cell[i] >= 0:
                cell, amount, position, momentum, left = load(i, particles, count, fields, context)
                electron = Electron(
                    cell, position, momentum, energy_of(squared(momentum)), left, np.int64(threads.faces[t])
                )
                energy, cell = amount * real(ENERGY_SHARE), known_cell(electron, amount, context, tables)
                if cell == ABSORBED:
                    add(air.tallies, LEFT_OVER, np.int64(energy * electron.tau))
                    add(air.tallies, STOPS, 1)
                elif cell >= 0:
                    key = uint32(particles.ids[i]), uint32(particles.ids[i] >> 32), air.seed, air.steps[0]
                    number = particles.event[i] + threads.segments[t] + 1
                    own = own_currents(t, fields, sums, context)
                    electron, event, going = advance_to_event(electron, amount, key, number, own, context, air, tables)
                    threads.segments[t] += 1
                    threads.faces[t] = electron.faces
                    tally(air.tallies, energy, event)
                    if (SETS_FREE >> event.process) & 1:
                        k = entry_of(add(counts.outgoing, block, 1), block, len(counts.outgoing))
                        weight, kept = particles.weight[i], len(outgoing.cell)
                        put(outgoing, k, kept, weight, electron, event.secondary, key, number, context)
                    cell = electron.cell
                    if going and threads.segments[t] == MOST_IN_AIR:
                        cell, going = np.int32(STUCK), False
                particles.cell[i], particles.left[i] = cell, electron.left
                set_place(particles, i, count, electron.position, electron.momentum)
            if not going:
                settle(t, particles, count, threads, outgoing, counts)

    return advance
