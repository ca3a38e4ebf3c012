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

from ..advance import load, make_cross_face, set_place, turned_by
from ..constants import LIGHT
from ..deposition import EDGES, make_deposit, make_deposit_charge
from ..gather import magnetic_at
from ..mesh import ABSORBED
from ..motion.push import squared
from ..motion.segment import make_segment
from ..state import DEFERRED, FRESH, STUCK, TOO_FAST
from .collision_tables import Tables, make_look_ahead, make_slow_down, tables
from .collisions import make_collide
from .event_numbers import make_segment_depth, secondary_id
from .kinematics import energy_of, with_energy
from .processes import HEATS, RADIATES, SETS_FREE
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


class Flight(NamedTuple):
    """What is before an electron."""

    #: how long it flies at the most, as a share of the step
    most: float
    #: the majorant of a candidate for a collision there, 0 where there is none
    majorant: float
    #: stopping power in m c^2 / m, and speed in m a step
    stopping: float
    speed: float


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
def make_flight(real):
    """How an electron may fly until something happens to it: flight_of(electron, key, event, air, tables)."""
    ahead, depth, zero, one = make_look_ahead(real), make_segment_depth(real), real(0), real(1)

    @device_function
    def flight_of(electron, key, event, air, tables):
        majorant, stopping, longest = ahead(electron.tau, tables)
        speed = real(air.light) * sqrt(squared(electron.momentum)) / (one + electron.tau)
        free = depth(key, event) / majorant
        return Flight(min(free, longest) / speed, majorant if free <= longest else zero, stopping, speed)

    return flight_of


@cache
def make_arrive(real, add):
    """The end of a segment in air: arrive(electron, flight, end, momentum, used, face, amount, context, tables).

    What follows `flight` is as the motion without air has it. Returns the Electron there, the energy in m c^2 that it
    has lost on the way, whether there is a candidate for a collision, and whether it has more segments before it.
    """
    slowed, cross, zero = make_slow_down(real), make_cross_face(real, add), real(0)

    @device_function
    def arrive(electron, flight, end, momentum, used, face, amount, context, tables):
        tau = slowed(electron.tau, flight.stopping, used * flight.speed, tables)
        u = with_energy(momentum, squared(electron.momentum), tau)
        # as a rank finds it that takes the particle over from here
        tau, left = energy_of(squared(u)), electron.left - used
        cell, position, going = cross(electron.cell, end, face, amount, context)
        collides = (face < 0) & (flight.most < electron.left) & (flight.majorant > zero)
        if face < 0:
            going = collides or left > zero
        there = Electron(cell, position, u, tau, left, electron.faces + (face >= 0))
        return there, electron.tau - tau, collides and tau >= tables.stop, going

    return arrive


@cache
def make_transport(real, add):
    """A kernel's body: each item is a particle that takes a step in air; when `resuming`, if it is in the midst of one.

    Energies and events are added up over its segments, in whole numbers of each, so that sums are those of any number
    of ranks.
    """
    known_cell, flight_of, segment = make_known_cell(real, add), make_flight(real), make_segment(real)
    deposit, arrive, collide = make_deposit(real, add), make_arrive(real, add), make_collide(real)
    put, add_tallies, count_event = make_put_secondary(real, add), make_add_tallies(add), make_count_event()
    one, fresh = real(1), real(FRESH)

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
                flight = flight_of(electron, key, number, air, tables)
                field = turned_by(electron.faces, magnetic_at(fields.magnetic, cell, electron.position, context.layout))
                end, u, used, face = segment(
                    electron.position, electron.momentum, field, context.courant, min(electron.left, flight.most)
                )
                deposit(fields.currents, EDGES * cell, electron.position, end, amount)
                electron, flown, collides, going = arrive(electron, flight, end, u, used, face, amount, context, tables)
                cell, lost = electron.cell, lost + np.int64(energy * flown)
                if collides:
                    process, u, secondary = collide(electron.momentum, flight.majorant, key, number, tables)
                    tau = energy_of(squared(u))
                    taken = np.int64(energy * (electron.tau - tau))
                    electron = Electron(cell, electron.position, u, tau, electron.left, electron.faces)
                    events = count_event(events, process)
                    if (SETS_FREE >> process) & 1:
                        k = add(air.used, 0, 1) if air.used[0] <= count else count
                        # where all is full nothing is counted any more, or the number would wrap before anybody looks
                        if k < count:
                            add(air.deferred, 0, 1)
                            put(particles, k, count, particles.weight[i], electron, secondary, key, number, context)
                    if (RADIATES >> process) & 1:
                        radiated += taken
                    if (HEATS >> process) & 1:
                        lost += taken
                if not going:
                    break
            particles.cell[i] = STUCK if going else cell
            particles.left[i], particles.event[i] = (electron.left, number) if cell < 0 else (fresh, 0)
            set_place(particles, i, count, electron.position, electron.momentum)
            add_tallies(air.tallies, lost, radiated, left_over, events, stops)

    return follow
