"""What electrons in air have done so far, as sums over all particles: whole numbers on the device, units for the user.

Energies are counted in 2^-12 of a unit of the sums of weights times m c^2, so that many steps do not overflow, and
are cut to whole numbers segment by segment: the sums are those of any number of ranks, to the last bit.
"""

from functools import cache

import numpy as np

from repro.parallel import device_function

from ..constants import LIGHT, MASS
from .processes import NAMES, PROCESSES

#: places in the array of sums: energy lost to the air in small portions, radiated by photons, and left to electrons
#: that stopped; events of each process, from the first on, before which all are energies; and electrons that stopped
LOST, RADIATED, LEFT_OVER, EVENTS = range(4)
ENERGIES, STOPS = EVENTS, EVENTS + len(PROCESSES)
TALLIES = STOPS + 1

#: units of the sums of weights in which energies in m c^2 are counted
ENERGY_SHARE = 2.0**-12


#: the events of an electron to which nothing has happened
NO_EVENTS = (0,) * len(PROCESSES)


@cache
def make_count_event(count: int = len(PROCESSES)):
    """The events of `count` processes with one more of a process by its number: count_event(events, process)."""
    if not count:
        return device_function(lambda events, process: ())
    last = count - 1
    count_others = make_count_event(last)

    @device_function
    def count_event(events, process):
        return (*count_others(events, process), events[last] + (process == count))

    return count_event


@cache
def make_add_tallies(add):
    """Add what an electron has done in a step to the sums: add_tallies(tallies, lost, radiated, left_over, ...).

    In whole numbers, and `events` of each process.
    """

    @device_function
    def add_tallies(tallies, lost, radiated, left_over, events, stops):
        add(tallies, LOST, lost)
        add(tallies, RADIATED, radiated)
        add(tallies, LEFT_OVER, left_over)
        for k in range(len(events)):
            add(tallies, EVENTS + k, events[k])
        add(tallies, STOPS, stops)

    return add_tallies


def in_units(tallies: np.ndarray, unit: float) -> dict[str, float | int]:
    """Sums by name: energies in J of all electrons, and numbers of events; `unit` units of the sums are an electron.

    "lost" to the air in small portions, "radiated" by photons above the cut, "left over" by electrons that stopped;
    events of each process by its name and "stops" are counted a particle, whatever its weight.
    """
    joule = MASS * LIGHT**2 / (unit * ENERGY_SHARE)
    energies = {"lost": LOST, "radiated": RADIATED, "left over": LEFT_OVER}
    found = {name: joule * float(tallies[place]) for name, place in energies.items()}
    events = {name: int(tallies[EVENTS + k]) for k, name in enumerate(NAMES)}
    return found | events | {"stops": int(tallies[STOPS])}
