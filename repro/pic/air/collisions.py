"""Collisions of electrons in air, which kernels call: when one is due, which it is, and what it leaves.

A particle carries an optical depth across segments, faces and steps:

    majorant, stopping, longest = look_ahead(tau, tables)
    path  = the shortest of depth / majorant, longest, and what else ends the segment
    tau   = slow_down(tau, stopping, path, tables)
    depth = depth - majorant * path
    where depth is used up, and tau is not below tables.stop:
        process, u, secondary, depth = collide(u, majorant, key, event, tables)

Random numbers are named by `key` and the number of the event, see `event_numbers`.
"""

from functools import cache

from repro.parallel import device_function
from repro.parallel.elementary import logarithm
from repro.particles.random import uniform

from ..motion.push import squared
from .collision_tables import between, make_find_part
from .event_numbers import CHOICE, event_words
from .kinematics import make_kinetic_energy
from .processes import NOTHING, PROCESSES


@cache
def _make_choose(real, first: int = 0):
    """The event of the first process from number `first` on whose cumulative cross-section reaches an aim."""
    if first == len(PROCESSES):
        zero = real(0)

        @device_function
        def nothing(aim, part, place, u, u2, tau, key, event, tables):
            return NOTHING, u, (zero, zero, zero)

        return nothing
    outcome, others, number = PROCESSES[first].make_outcome(real), _make_choose(real, first + 1), first + 1

    @device_function
    def choose(aim, part, place, u, u2, tau, key, event, tables):
        if aim <= between(tables.rows, part, first, place):
            happens, u, secondary = outcome(u, u2, tau, key, event, tables.cut)
            return number if happens else NOTHING, u, secondary
        return others(aim, part, place, u, u2, tau, key, event, tables)

    return choose


@cache
def make_collide(real):
    """What becomes of an electron at a candidate for a collision: collide(u, majorant, key, event, tables).

    `majorant` is that of the segment which ends here, and u the momentum. Returns the number of the process (see
    `processes`) or NOTHING, the momentum after it, that of the secondary (zero without one; its id is by
    `event_numbers.secondary_id`), and the depth to the next candidate.
    """
    unit, natural, find = uniform(real), logarithm(real), make_find_part(real)
    energy_of, choose = make_kinetic_energy(real), _make_choose(real)

    @device_function
    def collide(u, majorant, key, event, tables):
        u2 = squared(u)
        tau = energy_of(u2)
        choice, second = event_words(key, event, CHOICE)
        depth, aim = -natural(unit(second)), unit(choice) * majorant
        part, place = find(tau, tables)
        process, u, secondary = choose(aim, part, place, u, u2, tau, key, event, tables)
        return process, u, secondary, depth

    return collide
