"""What the threads of the paper's strategy do in air: segments that end at collisions, too, one a launch.

An electron that a collision sets free goes through the block's outgoing buffer to the host, which puts it on its list
of unprocessed particles (paper, section 2): so it goes on in this step, in whatever block has a thread for it.
"""

from functools import cache

import numpy as np
from numpy import uint32

from repro.parallel import device_function

from ..advance import make_first_kick, place_of, set_place
from ..air.event_numbers import secondary_id
from ..air.kinematics import make_kinetic_energy
from ..air.processes import HEATS, NOTHING, RADIATES, SETS_FREE
from ..air.tallies import ENERGY_SHARE, EVENTS, LEFT_OVER, LOST, RADIATED, STOPS
from ..air.transport import MOST_IN_AIR, make_advance_to_event
from ..deposition import make_deposit_charge
from ..maxwell.fields import FieldArrays
from ..mesh import ABSORBED
from ..motion.push import squared
from ..state import DEFERRED, STUCK, TOO_FAST
from .domains import entry_of, make_settle, make_take


@cache
def make_set_free(real, add):
    """An electron goes into the outgoing buffer, beside its ion, with what is left of the step: set_free(...)."""
    charge = make_deposit_charge(real, add)

    @device_function
    def set_free(t, i, particles, outgoing, counts, cell, position, momentum, left, key, event, context, layout):
        block, room = t // counts.block, len(outgoing.cell)
        k = entry_of(add(counts.outgoing, block, 1), block, len(counts.outgoing))
        low, high = secondary_id(key, event)
        set_place(outgoing, k, room, position, momentum)
        outgoing.weight[k], outgoing.left[k], outgoing.event[k] = particles.weight[i], left, 0
        outgoing.ids[k] = np.int64(high) << np.int64(32) | np.int64(low)
        outgoing.cell[k] = DEFERRED - cell
        charge(context.charges, cell, position, particles.weight[i] * real(context.unit), layout)

    return set_free


@cache
def make_build_in_air(real, add):
    """Particle i's next segment, by thread t; whether it has more before it: build(t, i, particles, count, ...)."""
    begin, advance_to_event, rest = (
        make_first_kick(real),
        make_advance_to_event(real, add),
        make_deposit_charge(real, add),
    )
    set_free, energy_of = make_set_free(real, add), make_kinetic_energy(real)

    @device_function
    def build(t, i, particles, count, threads, outgoing, counts, sums, fields, context, courant, layout, air, tables):
        cell, amount = particles.cell[i], particles.weight[i] * real(context.unit)
        position, momentum = place_of(particles, i, count)
        momentum, left = begin(cell, position, momentum, particles.left[i], fields, layout)
        tau, energy, going = energy_of(squared(momentum)), amount * real(ENERGY_SHARE), False
        if tau > tables.highest:
            cell = np.int32(TOO_FAST)
        elif tau < tables.stop:
            # its ion is where it began, and it stays here
            rest(context.charges, cell, position, -amount, layout)
            cell = np.int32(ABSORBED)
            add(air.tallies, LEFT_OVER, np.int64(energy * tau))
            add(air.tallies, STOPS, 1)
        else:
            key = uint32(particles.ids[i]), uint32(particles.ids[i] >> 32), air.seed, air.steps[0]
            event = particles.event[i] + threads.segments[t] + 1
            own = FieldArrays(fields.electric, fields.magnetic, sums.currents)
            at = cell + np.int64(t // sums.block) * layout.nodes
            cell, position, momentum, tau, left, face, on_way, process, secondary, taken, going = advance_to_event(
                cell,
                at,
                position,
                momentum,
                tau,
                left,
                threads.faces[t],
                amount,
                key,
                event,
                own,
                context,
                courant,
                layout,
                air,
                tables,
            )
            threads.segments[t] += 1
            threads.faces[t] += face >= 0
            add(air.tallies, LOST, np.int64(energy * on_way))
            if process != NOTHING:
                add(air.tallies, EVENTS + process - 1, 1)
            if (SETS_FREE >> process) & 1:
                set_free(
                    t, i, particles, outgoing, counts, cell, position, secondary, left, key, event, context, layout
                )
            if (RADIATES >> process) & 1:
                add(air.tallies, RADIATED, np.int64(energy * taken))
            if (HEATS >> process) & 1:
                add(air.tallies, LOST, np.int64(energy * taken))
            if going and threads.segments[t] == MOST_IN_AIR:
                cell, going = np.int32(STUCK), False
        particles.cell[i], particles.left[i] = cell, left
        set_place(particles, i, count, position, momentum)
        return going

    return build


@cache
def make_air_kernel(real, add):
    """A kernel's body: each thread builds one segment in air of the particle that it works on.

    A launch adds at most one particle a thread to a block's outgoing buffer; a block in whose buffer so many have no
    room waits until the host has emptied it.
    """
    build, take, settle = make_build_in_air(real, add), make_take(add), make_settle(real, add)

    @device_function
    def advance(
        x, n, particles, count, threads, incoming, outgoing, counts, sums, fields, context, courant, layout, air, tables
    ):
        for t in range(x, x + n):
            room = counts.outgoing[t // counts.block] + counts.block <= counts.room
            if room and take(t, particles, count, threads, incoming, counts):
                threads.busy[t] += 1
                i = threads.read[t] * counts.threads + t
                going = False
                if particles.cell[i] >= 0:
                    going = build(
                        t,
                        i,
                        particles,
                        count,
                        threads,
                        outgoing,
                        counts,
                        sums,
                        fields,
                        context,
                        courant,
                        layout,
                        air,
                        tables,
                    )
                if not going:
                    settle(t, particles, count, threads, outgoing, counts)

    return advance
