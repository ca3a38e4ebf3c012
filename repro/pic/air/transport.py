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

from ..advance import make_cross_face, make_load, make_turning_field, set_place
from ..constants import LIGHT
from ..deposition import make_deposit, make_deposit_charge
from ..gather import magnetic_at
from ..mesh import ABSORBED
from ..motion.push import squared
from ..motion.segment import make_segment
from ..state import DEFERRED, FRESH, STUCK, TOO_FAST
from .collision_tables import Tables, make_look_ahead, make_slow_down, tables
from .collisions import make_collide
from .event_numbers import make_segment_depth, secondary_id
from .kinematics import make_kinetic_energy, make_with_energy
from .processes import HEATS, NOTHING, RADIATES, SETS_FREE
from .tallies import ENERGY_SHARE, NO_EVENTS, TALLIES, make_add_tallies, make_count_event

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


def air_arguments(simulation, steps, deferred) -> tuple[AirContext, Tables]:
    """What kernels need to know of a simulation's air, beside arrays of its own: tallies begin at zero."""
    system, device = simulation.system, simulation.device
    tallies = device.zeros(TALLIES, np.int64)
    context = AirContext(simulation.used, steps, deferred, tallies, np.uint32(system.seed), LIGHT * system.dt)
    return context, tables(system.air, device, simulation.real)


class Electron(NamedTuple):
    """A particle in the midst of its step, as kernels hand it on."""

    cell: int
    position: tuple
    momentum: tuple
    #: kinetic energy in m c^2
    tau: float
    #: share of the step before it, and faces that it has met in this one
    left: float
    faces: int


class Event(NamedTuple):
    """What happened on a segment and at its end; energies in m c^2."""

    #: energy lost on the way
    lost: float
    #: the process that ended the segment or NOTHING, the energy that it took, and the momentum of what it set free
    process: int
    taken: float
    secondary: tuple


@cache
def make_put_secondary(real, add):
    """An electron that a collision sets free, in entry k of `room`: put(target, k, room, weight, electron, ...).

    It is beside its ion, and has what is left of the step before it.
    """
    charge = make_deposit_charge(real, add)

    @device_function
    def put(target, k, room, weight, electron, momentum, key, event, context):
        low, high = secondary_id(key, event)
        set_place(target, k, room, electron.position, momentum)
        target.weight[k], target.left[k], target.event[k] = weight, electron.left, 0
        target.ids[k] = np.int64(high) << np.int64(32) | np.int64(low)
        target.cell[k] = DEFERRED - electron.cell
        charge(context.charges, electron.cell, electron.position, weight * real(context.unit), context.layout)

    return put


@cache
def make_known_cell(real, add):
    """The cell of an electron, or what says that it goes no further: known_cell(electron, amount, context, tables).

    That is TOO_FAST, or ABSORBED for one that is slow: its ion is where it began, and it stays here.
    """
    rest = make_deposit_charge(real, add)

    @device_function
    def known_cell(electron, amount, context, tables):
        if electron.tau > tables.highest:
            return np.int32(TOO_FAST)
        if electron.tau < tables.stop:
            rest(context.charges, electron.cell, electron.position, -amount, context.layout)
            return np.int32(ABSORBED)
        return electron.cell

    return known_cell


@cache
def make_advance_to_event(real, add, make_deposit=make_deposit):
    """One segment in air and what ends it: advance_to_event(electron, amount, key, event, fields, context, ...).

    `make_deposit` is as in `advance`. Returns the Electron at its end, the Event, and whether the particle has more
    segments before it.
    """
    ahead, slowed, scaled = make_look_ahead(real), make_slow_down(real), make_with_energy(real)
    depth, energy_of, collide = make_segment_depth(real), make_kinetic_energy(real), make_collide(real)
    turned_by, follow = make_turning_field(real), make_segment(real)
    deposit, cross = make_deposit(real, add), make_cross_face(real, add)
    zero, one = real(0), real(1)

    @device_function
    def advance_to_event(electron, amount, key, event, fields, context, air, tables):
        cell, position, u, tau, left, faces = electron
        majorant, stopping, longest = ahead(tau, tables)
        u2 = squared(u)
        # m in a step
        speed = real(air.light) * sqrt(u2) / (one + tau)
        free = depth(key, event) / majorant
        most = min(free, longest) / speed
        magnetic = turned_by(faces, magnetic_at(fields.magnetic, cell, position, context.layout))
        end, u, used, face = follow(position, u, magnetic, context.courant, min(left, most))
        u = scaled(u, u2, slowed(tau, stopping, used * speed, tables))
        # as a rank finds it that takes the particle over from here
        before = energy_of(squared(u))
        deposit(fields.currents, cell, position, end, amount)
        after, process, secondary, going = before, NOTHING, (zero, zero, zero), True
        if face >= 0:
            cell, end = cross(cell, end, face, amount, context)
            going = cell >= 0
        elif (most < left) & (free <= longest):
            if before >= tables.stop:
                process, u, secondary, _ = collide(u, majorant, key, event, tables)
                after = energy_of(squared(u))
        else:
            going = left - used > zero
        event = Event(tau - before, process, before - after, secondary)
        return Electron(cell, end, u, after, left - used, faces + (face >= 0)), event, going

    return advance_to_event


@cache
def make_transport(real, add):
    """A kernel's body: each item is a particle that takes a step in air; when `resuming`, if it is in the midst of one.

    Energies and events are added up over its segments, in whole numbers of each, so that sums are those of any number
    of ranks.
    """
    load, known_cell, advance_to_event = make_load(real), make_known_cell(real, add), make_advance_to_event(real, add)
    put, add_tallies, count_event = make_put_secondary(real, add), make_add_tallies(add), make_count_event()
    energy_of, one, fresh = make_kinetic_energy(real), real(1), real(FRESH)

    @device_function
    def follow(x, n, particles, count, fields, context, air, tables, resuming):
        for i in range(x, x + n):
            if particles.cell[i] < 0 or (resuming and particles.left[i] > one):
                continue
            cell, amount, position, momentum, left = load(i, particles, count, fields, context)
            electron = Electron(cell, position, momentum, energy_of(squared(momentum)), left, 0)
            key = uint32(particles.ids[i]), uint32(particles.ids[i] >> 32), air.seed, air.steps[0]
            number, energy, going = particles.event[i], amount * real(ENERGY_SHARE), True
            lost, radiated, left_over, events, stops = 0, 0, 0, NO_EVENTS, 0
            for _ in range(MOST_IN_AIR):
                cell = known_cell(electron, amount, context, tables)
                if cell < 0:
                    going = False
                    if cell == ABSORBED:
                        left_over, stops = np.int64(energy * electron.tau), 1
                    break
                number += 1
                electron, event, going = advance_to_event(electron, amount, key, number, fields, context, air, tables)
                cell = electron.cell
                lost += np.int64(energy * event.lost)
                events = count_event(events, event.process)
                if (SETS_FREE >> event.process) & 1:
                    k = add(air.used, 0, 1) if air.used[0] <= count else count
                    # where all is full nothing is counted any more, or the number would wrap before anybody looks
                    if k < count:
                        add(air.deferred, 0, 1)
                        put(particles, k, count, particles.weight[i], electron, event.secondary, key, number, context)
                if (RADIATES >> event.process) & 1:
                    radiated += np.int64(energy * event.taken)
                if (HEATS >> event.process) & 1:
                    lost += np.int64(energy * event.taken)
                if not going:
                    break
            particles.cell[i] = STUCK if going else cell
            particles.left[i], particles.event[i] = (electron.left, number) if cell < 0 else (fresh, 0)
            set_place(particles, i, count, electron.position, electron.momentum)
            add_tallies(air.tallies, lost, radiated, left_over, events, stops)

    return follow
