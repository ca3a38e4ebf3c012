"""What the threads of the paper's strategy do in air: segments that end at collisions, too, one a launch.

An electron that a collision sets free goes through the block's outgoing buffer to the host, which puts it on its list
of unprocessed particles (paper, section 2): so it goes on in this step, in whatever block has a thread for it.
"""

from functools import cache

import numpy as np
from numpy import uint32

from repro.parallel import device_function

from ..advance import load, set_place, turned_by
from ..air.collisions import make_collide
from ..air.kinematics import energy_of
from ..air.processes import HEATS, NOTHING, RADIATES, SETS_FREE
from ..air.tallies import ENERGY_SHARE, EVENTS, LEFT_OVER, LOST, RADIATED, STOPS
from ..air.transport import MOST_IN_AIR, Electron, make_arrive, make_flight, make_known_cell, make_put_secondary
from ..deposition import EDGES, make_deposit
from ..gather import magnetic_at
from ..mesh import ABSORBED
from ..motion.push import squared
from ..motion.segment import make_segment
from ..state import STUCK
from .domains import entry_of, first_cell, make_settle, make_take


@cache
def make_air_kernel(real, add):
    """A kernel's body: each thread builds one segment in air of the particle that it works on.

    A launch adds at most one particle a thread to a block's outgoing buffer; a block in whose buffer so many have no
    room waits until the host has emptied it.
    """
    known_cell, flight_of, segment = make_known_cell(real, add), make_flight(real), make_segment(real)
    deposit, arrive = make_deposit(real, add), make_arrive(real, add)
    collide, put = make_collide(real), make_put_secondary(real, add)
    take, settle = make_take(add), make_settle(real, add)

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
                    flight = flight_of(electron, key, number, air, tables)
                    field = turned_by(electron.faces, magnetic_at(fields.magnetic, cell, position, context.layout))
                    end, u, used, face = segment(position, momentum, field, context.courant, min(left, flight.most))
                    deposit(sums.currents, EDGES * (first_cell(t, sums, context.layout) + cell), position, end, amount)
                    electron, lost, collides, going = arrive(
                        electron, flight, end, u, used, face, amount, context, tables
                    )
                    threads.segments[t] += 1
                    threads.faces[t], cell = electron.faces, electron.cell
                    add(air.tallies, LOST, np.int64(energy * lost))
                    if collides:
                        process, u, secondary = collide(electron.momentum, flight.majorant, key, number, tables)
                        tau = energy_of(squared(u))
                        taken = np.int64(energy * (electron.tau - tau))
                        electron = Electron(cell, electron.position, u, tau, electron.left, electron.faces)
                        if process != NOTHING:
                            add(air.tallies, EVENTS + process - 1, 1)
                        if (RADIATES >> process) & 1:
                            add(air.tallies, RADIATED, taken)
                        if (HEATS >> process) & 1:
                            add(air.tallies, LOST, taken)
                        if (SETS_FREE >> process) & 1:
                            k = entry_of(add(counts.outgoing, block, 1), block, len(counts.outgoing))
                            weight, kept = particles.weight[i], len(outgoing.cell)
                            put(outgoing, k, kept, weight, electron, secondary, key, number, context)
                    if going and threads.segments[t] == MOST_IN_AIR:
                        cell, going = np.int32(STUCK), False
                particles.cell[i], particles.left[i] = cell, electron.left
                set_place(particles, i, count, electron.position, electron.momentum)
            if not going:
                settle(t, particles, count, threads, outgoing, counts)

    return advance
