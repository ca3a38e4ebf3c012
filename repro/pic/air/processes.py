"""The ways in which an electron collides with air. Tables, tallies and kernels have room for these, and follow them.

A process is a module, which this one names and no other needs to know:

    candidates(tau, cut, air)   macroscopic cross-section (1/m) at which its events are drawn, rejected ones included
    loss(tau, cut, air)         what it adds to the continuous loss (m c^2 / m), without the energy that its events take
    make_outcome(real)          outcome(u, u2, tau, key, event, cut): whether a candidate happens, the momentum after it
                                and that of the secondary, zero where there is none
    SECONDARY                   whether an event sets an electron free
    ENERGY                      where the energy goes that an event takes and no secondary has: None, "lost"
                                (to the air) or "radiated"

Energies are in m c^2, momenta over m c, and `cut` is the energy above which a secondary or a photon is an event. The
whole collisional stopping power, excitations included, is in the loss of ionisation: events that take a part of it have
a negative loss, so that the sum stays ESTAR's. An event's random numbers are named by what they are for, see
`event_numbers`.
"""

from . import bremsstrahlung, elastic, ionisation

#: in the order in which a random number chooses among them
PROCESSES = (elastic, ionisation, bremsstrahlung)

#: their names, by which tallies are shown
NAMES = tuple(process.__name__.rpartition(".")[2] for process in PROCESSES)

#: the number of a candidate that was rejected; that of a process is 1 more than its place in PROCESSES
NOTHING = 0


def number_of(process) -> int:
    """The number by which kernels know a process."""
    return 1 + PROCESSES.index(process)


def _bits(processes) -> int:
    return sum(1 << number_of(process) for process in processes)


#: numbers as kernels ask for them: bit k is set where the events of process k do so
SETS_FREE = _bits(process for process in PROCESSES if process.SECONDARY)
HEATS = _bits(process for process in PROCESSES if process.ENERGY == "lost")
RADIATES = _bits(process for process in PROCESSES if process.ENERGY == "radiated")
