"""Collisions of electrons in air, which kernels call where an optical depth is used up: which it is, what it leaves.

How the depth is used up `infinite_air` shows. Random numbers are named by `key` and the number of the event, see
`event_numbers`.
"""

from functools import cache
from typing import NamedTuple

from repro.parallel import device_function
from repro.parallel.unroll import each, unrolled
from repro.particles.random import uniform

from ..motion.push import squared
from .collision_tables import between, make_find_part
from .event_numbers import CHOICE, event_words
from .kinematics import make_kinetic_energy
from .processes import NOTHING, PROCESSES


class Candidate(NamedTuple):
    """A candidate for a collision."""

    #: the process is the first one whose cumulative cross-section (1/m) reaches it
    aim: float
    #: where the electron's energy is in the tables, see `make_find_part`
    part: int
    place: float
    #: square of the electron's momentum, and its energy in m c^2
    u2: float
    tau: float


@cache
def make_candidate(real):
    """What is drawn where an optical depth is used up: candidate(u, majorant, key, event, tables).

    `majorant` is that of the segment which ends here, and u the momentum.
    """
    unit, find, energy_of = uniform(real), make_find_part(real), make_kinetic_energy(real)

    @device_function
    def candidate(u, majorant, key, event, tables):
        u2 = squared(u)
        tau = energy_of(u2)
        part, place = find(tau, tables)
        return Candidate(unit(event_words(key, event, CHOICE)[0]) * majorant, part, place, u2, tau)

    return candidate


@cache
def make_collide(real):
    """What becomes of an electron at a candidate for a collision: collide(candidate, u, key, event, tables).

    Returns the number of the process (see `processes`) or NOTHING, the momentum after it, and that of the secondary,
    zero without one; its id is by `event_numbers.secondary_id`.
    """
    outcomes, no_electron = tuple(enumerate(process.make_outcome(real) for process in PROCESSES)), (real(0),) * 3

    @unrolled
    def collide(candidate, u, key, event, tables):
        for k, outcome in each(outcomes):
            if candidate.aim <= between(tables.rows, candidate.part, k, candidate.place):
                happens, u, secondary = outcome(u, candidate.u2, candidate.tau, key, event, tables.cut)
                return k + 1 if happens else NOTHING, u, secondary
        return NOTHING, u, no_electron

    return collide
