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

from repro.parallel import inline

from ..deposition import charging, depositing
from ..gather import magnetic_at
from ..mesh import ABSORBED
from ..motion.push import squared
from ..motion.segment import segments
from ..state import FRESH, LATE, STUCK
from ..travel import field_of_slider, first_kick, passing, place_of, set_place
from .collision_tables import looking_ahead, slowing
from .collisions import child_id, colliding, segment_depth
from .kinematics import kinetic, with_energy
from .processes import ELASTIC, IONISATION, RADIATION

#: most segments of one particle in a step
MOST_IN_AIR = 100_000

#: what electrons have done so far: energy lost to the air in small portions, taken by photons, left to electrons that
#: stopped (all in ENERGY_SHARE of a unit of the sums); and particles: elastic collisions, secondaries, photons, stops
LOST, RADIATED, LEFT_OVER, ELASTIC_ONES, SECONDARIES, PHOTONS, STOPS, TALLIES = range(8)

#: units of the sums of weights in which energies in m c^2 are counted, so that many steps do not overflow
ENERGY_SHARE = 2.0**-12


class AirAround(NamedTuple):
    """What a particle in air needs beside its surroundings and the tables of collisions."""

    #: entries in use, steps taken, and secondaries of this step that have not moved yet
    used: np.ndarray
    steps: np.ndarray
    late: np.ndarray
    #: sums over all particles, see LOST and the following
    tallies: np.ndarray
    seed: int
    #: way of light in a step in m
    light: float


@cache
def freeing(real, add):
    """Returns free(...): a secondary electron appears beside its ion, and has what is left of the step before it."""
    charge, child = charging(real, add), child_id()

    @inline
    def free(i, particles, count, cell, position, momentum, left, key, event, around, air, layout):
        k = add(air.used, 0, 1)
        add(air.late, 0, 1)
        if k < count:
            low, high = child(key, event)
            set_place(particles, k, count, position, momentum)
            particles.weight[k], particles.left[k], particles.event[k] = particles.weight[i], left, 0
            particles.ids[k] = np.int64(high) << np.int64(32) | np.int64(low)
            particles.cell[k] = LATE - cell
            charge(around.charges, cell, position, particles.weight[i] * real(around.unit), layout)

    return free


@cache
def air_segment(real):
    """Returns go(position, momentum, tau, magnetic, courant, left, key, event, air, tables): a segment in air.

    Returns place, momentum and energy at its end, the time taken, the face that was met or INSIDE, and the majorant if
    there is a candidate for a collision at its end, else 0.
    """
    ahead, slowed, scaled, depth = looking_ahead(real), slowing(real), with_energy(real), segment_depth(real)
    follow, energy_of, zero, one = segments(real), kinetic(real), real(0), real(1)

    @inline
    def go(position, momentum, tau, magnetic, courant, left, key, event, air, tables):
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

    return go


@cache
def scattering(real, add):
    """Returns travel(i, particles, count, fields, around, courant, layout, air, tables): particle i's step in air."""
    begin, go, collide, energy_of = first_kick(real), air_segment(real), colliding(real), kinetic(real)
    deposit, rest, through, free = depositing(real, add), charging(real, add), passing(real, add), freeing(real, add)
    turned_by, zero, fresh = field_of_slider(real), real(0), real(FRESH)

    @inline
    def tell(air, lost, radiated, left_over, elastic, secondaries, photons, stops):
        add(air.tallies, LOST, lost)
        add(air.tallies, RADIATED, radiated)
        add(air.tallies, LEFT_OVER, left_over)
        add(air.tallies, ELASTIC_ONES, elastic)
        add(air.tallies, SECONDARIES, secondaries)
        add(air.tallies, PHOTONS, photons)
        add(air.tallies, STOPS, stops)

    @inline
    def travel(i, particles, count, fields, around, courant, layout, air, tables):
        cell, amount = particles.cell[i], particles.weight[i] * real(around.unit)
        position, momentum = place_of(particles, i, count)
        momentum, left = begin(cell, position, momentum, particles.left[i], fields, layout)
        key = uint32(particles.ids[i]), uint32(particles.ids[i] >> 32), air.seed, air.steps[0]
        event, faces, going = particles.event[i], 0, True
        # whole numbers of each segment, so that their sums are those of any number of ranks
        energy = amount * real(ENERGY_SHARE)
        lost, radiated, left_over, elastic, secondaries, photons, stops = 0, 0, 0, 0, 0, 0, 0
        tau = energy_of(squared(momentum))
        for _ in range(MOST_IN_AIR):
            if tau < tables.stop:
                # its ion is where it began, and it stays here
                rest(around.charges, cell, position, -amount, layout)
                cell, left_over, stops, going = np.int32(ABSORBED), np.int64(energy * tau), 1, False
                break
            magnetic = turned_by(faces, magnetic_at(fields.magnetic, cell, position, layout))
            before, event = tau, event + 1
            end, momentum, tau, used, face, majorant = go(
                position, momentum, tau, magnetic, courant, left, key, event, air, tables
            )
            deposit(fields.currents, cell, position, end, amount)
            position, left = end, left - used
            lost += np.int64(energy * (before - tau))
            if face >= 0:
                cell, position = through(cell, position, face, amount, around, layout)
                faces, going = faces + 1, cell >= 0
            elif majorant > zero:
                before = tau
                if tau >= tables.stop:
                    process, momentum, secondary, _ = collide(momentum, majorant, key, event, tables)
                    tau = energy_of(squared(momentum))
                    elastic += process == ELASTIC
                    if process == IONISATION:
                        secondaries += 1
                        free(i, particles, count, cell, position, secondary, left, key, event, around, air, layout)
                    elif process == RADIATION:
                        photons += 1
                        radiated += np.int64(energy * (before - tau))
            else:
                going = left > zero
            if not going:
                break
        particles.cell[i] = STUCK if going else cell
        particles.left[i] = left if cell < 0 else fresh
        particles.event[i] = event if cell < 0 else 0
        set_place(particles, i, count, position, momentum)
        tell(air, lost, radiated, left_over, elastic, secondaries, photons, stops)

    return travel
