"""A particle's way through a step in air: its segments end at faces, at collisions, and before it has slowed down much.

Each segment draws its own optical depth, named by the particle, the step and the segment's number: the exponential law
has no memory, so nothing has to be kept from segment to segment (paper, section 2: the time to a collision is found
anew for each).
"""

from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy import uint32

from repro.parallel import device_function

from ..advance import make_cross_face, make_first_kick, make_turning_field, place_of, set_place
from ..deposition import make_deposit, make_deposit_charge
from ..gather import magnetic_at
from ..mesh import ABSORBED
from ..motion.push import squared
from ..motion.segment import make_segment
from ..state import DEFERRED, FRESH, STUCK, TOO_FAST
from .collision_tables import make_look_ahead, make_slow_down
from .collisions import make_collide
from .event_numbers import make_segment_depth, secondary_id
from .kinematics import make_kinetic_energy, make_with_energy
from .processes import HEATS, NOTHING, RADIATES, SETS_FREE
from .tallies import ENERGY_SHARE, NO_EVENTS, make_add_tallies, make_count_event

#: most segments of one particle in a step
MOST_IN_AIR = 100_000


class AirContext(NamedTuple):
    """What a particle in air needs beside the mesh and the tables of collisions."""

    #: entries in use, steps taken, and secondaries of this step that have not moved yet
    used: np.ndarray
    steps: np.ndarray
    deferred: np.ndarray
    #: sums over all particles, see `tallies`
    tallies: np.ndarray
    seed: int
    #: way of light in a step in m
    light: float


@cache
def make_add_secondary(real, add):
    """A secondary electron appears beside its ion, and has what is left of the step before it: add_secondary(...)."""
    charge = make_deposit_charge(real, add)

    @device_function
    def add_secondary(i, particles, count, cell, position, momentum, left, key, event, context, air, layout):
        # where all is full nothing is counted any more, or the number would wrap before anybody looks
        k = add(air.used, 0, 1) if air.used[0] <= count else count
        if k < count:
            add(air.deferred, 0, 1)
            low, high = secondary_id(key, event)
            set_place(particles, k, count, position, momentum)
            particles.weight[k], particles.left[k], particles.event[k] = particles.weight[i], left, 0
            particles.ids[k] = np.int64(high) << np.int64(32) | np.int64(low)
            particles.cell[k] = DEFERRED - cell
            charge(context.charges, cell, position, particles.weight[i] * real(context.unit), layout)

    return add_secondary


@cache
def make_air_segment(real):
    """A segment in air: advance_segment(position, momentum, tau, magnetic, courant, left, key, event, air, tables).

    Returns place, momentum and energy at its end, the time taken, the face that was met or INSIDE, and the majorant if
    there is a candidate for a collision at its end, else 0.
    """
    ahead, slowed, scaled = make_look_ahead(real), make_slow_down(real), make_with_energy(real)
    depth = make_segment_depth(real)
    follow, energy_of, zero, one = make_segment(real), make_kinetic_energy(real), real(0), real(1)

    @device_function
    def advance_segment(position, momentum, tau, magnetic, courant, left, key, event, air, tables):
        majorant, stopping, longest = ahead(tau, tables)
        u2 = squared(momentum)
        # m in a step
        speed = real(air.light) * sqrt(u2) / (one + tau)
        free = depth(key, event) / majorant
        most = min(free, longest) / speed
        end, momentum, used, face = follow(position, momentum, magnetic, courant, min(left, most))
        after = slowed(tau, stopping, used * speed, tables)
        candidate = majorant if (face < 0) & (most < left) & (free <= longest) else zero
        momentum = scaled(momentum, u2, after)
        # as a rank finds it that takes the particle over from here
        return end, momentum, energy_of(squared(momentum)), used, face, candidate

    return advance_segment


@cache
def make_advance_to_event(real, add):
    """One segment in air and what ends it: advance_to_event(cell, sums, position, momentum, tau, left, faces, ...).

    `faces` are those that the particle has met in the step, `sums` is the number by which the sums of currents know the
    cell. Returns cell, position, momentum, energy, what is left of the step, the face that was met or INSIDE, what the
    electron lost on the way, the process that ends the segment or NOTHING, the momentum of the electron that it sets
    free, the energy that it takes, and whether the particle has more segments before it.
    """
    advance_segment, collide, deposit = make_air_segment(real), make_collide(real), make_deposit(real, add)
    cross, turned_by = make_cross_face(real, add), make_turning_field(real)
    energy_of, zero = make_kinetic_energy(real), real(0)

    @device_function
    def advance_to_event(
        cell,
        sums,
        position,
        momentum,
        tau,
        left,
        faces,
        amount,
        key,
        event,
        fields,
        context,
        courant,
        layout,
        air,
        tables,
    ):
        magnetic = turned_by(faces, magnetic_at(fields.magnetic, cell, position, layout))
        end, momentum, slowed, used, face, majorant = advance_segment(
            position, momentum, tau, magnetic, courant, left, key, event, air, tables
        )
        deposit(fields.currents, sums, position, end, amount)
        position, left, after, going = end, left - used, slowed, True
        process, secondary = NOTHING, (zero, zero, zero)
        if face >= 0:
            cell, position = cross(cell, position, face, amount, context, layout)
            going = cell >= 0
        elif majorant > zero:
            if slowed >= tables.stop:
                process, momentum, secondary, _ = collide(momentum, majorant, key, event, tables)
                after = energy_of(squared(momentum))
        else:
            going = left > zero
        return cell, position, momentum, after, left, face, tau - slowed, process, secondary, slowed - after, going

    return advance_to_event


@cache
def make_transport(real, add):
    """Particle i's step in air: transport(i, particles, count, fields, context, courant, layout, air, tables)."""
    begin, advance_to_event, rest = (
        make_first_kick(real),
        make_advance_to_event(real, add),
        make_deposit_charge(real, add),
    )
    add_secondary, add_tallies, count_event = make_add_secondary(real, add), make_add_tallies(add), make_count_event()
    energy_of, fresh = make_kinetic_energy(real), real(FRESH)

    @device_function
    def transport(i, particles, count, fields, context, courant, layout, air, tables):
        cell, amount = particles.cell[i], particles.weight[i] * real(context.unit)
        position, momentum = place_of(particles, i, count)
        momentum, left = begin(cell, position, momentum, particles.left[i], fields, layout)
        key = uint32(particles.ids[i]), uint32(particles.ids[i] >> 32), air.seed, air.steps[0]
        event, faces, going = particles.event[i], 0, True
        # whole numbers of each segment, so that their sums are those of any number of ranks
        energy = amount * real(ENERGY_SHARE)
        lost, radiated, left_over, events, stops = 0, 0, 0, NO_EVENTS, 0
        tau = energy_of(squared(momentum))
        for _ in range(MOST_IN_AIR):
            if tau > tables.highest:
                cell, going = np.int32(TOO_FAST), False
                break
            if tau < tables.stop:
                # its ion is where it began, and it stays here
                rest(context.charges, cell, position, -amount, layout)
                cell, left_over, stops, going = np.int32(ABSORBED), np.int64(energy * tau), 1, False
                break
            event += 1
            cell, position, momentum, tau, left, face, on_way, process, secondary, taken, going = advance_to_event(
                cell,
                cell,
                position,
                momentum,
                tau,
                left,
                faces,
                amount,
                key,
                event,
                fields,
                context,
                courant,
                layout,
                air,
                tables,
            )
            lost += np.int64(energy * on_way)
            faces += face >= 0
            events = count_event(events, process)
            if (SETS_FREE >> process) & 1:
                add_secondary(i, particles, count, cell, position, secondary, left, key, event, context, air, layout)
            if (RADIATES >> process) & 1:
                radiated += np.int64(energy * taken)
            if (HEATS >> process) & 1:
                lost += np.int64(energy * taken)
            if not going:
                break
        particles.cell[i] = STUCK if going else cell
        particles.left[i] = left if cell < 0 else fresh
        particles.event[i] = event if cell < 0 else 0
        set_place(particles, i, count, position, momentum)
        add_tallies(air.tallies, lost, radiated, left_over, events, stops)

    return transport
