"""Collisions of electrons in air, which kernels call where an optical depth is used up: which it is, what it leaves.

How the depth is used up `infinite_air` shows. Random numbers are named by `key` and the number of the event, see
`event_numbers`.
"""

from functools import cache

from repro.parallel.unroll import each, unrolled
from repro.particles.random import uniform

from ..motion.push import squared
from .collision_tables import between, make_find_part
from .event_numbers import CHOICE, event_words
from .kinematics import energy_of
from .processes import NOTHING, PROCESSES


@cache
def make_collide(real):
    """What becomes of an electron where its optical depth is used up: collide(u, majorant, key, event, tables).

    `majorant` is that of the segment which ends here, and u the momentum. Returns the number of the process (see
    `processes`) or NOTHING, the momentum after it, and that of the secondary, zero without one; its id is by
    `event_numbers.secondary_id`.
    """
    outcomes, no_electron = tuple(enumerate(process.make_outcome(real) for process in PROCESSES)), (real(0),) * 3
    unit, find = uniform(real), make_find_part(real)

    @unrolled
    def collide(u, majorant, key, event, tables):
        u2 = squared(u)
        tau = energy_of(u2)
        part, place = find(tau, tables)
        # the process is the first one whose cumulative cross-section (1/m) reaches it
        aim = unit(event_words(key, event, CHOICE)[0]) * majorant
        for k, outcome in each(outcomes):
            if aim <= between(tables.rows, part, k, place):
                happens, u, secondary = outcome(u, u2, tau, key, event, tables.cut)
                return k + 1 if happens else NOTHING, u, secondary
        return NOTHING, u, no_electron

    return collide
