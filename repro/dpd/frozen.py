"""Lists and forces of a configuration that does not move: checked against one core's linked list, then timed.

Strategies are compared on the same particles at the same places; a step would change both.
"""

import numpy as np

from repro.parallel import InputError, measure, select

from .random import ROUNDS
from .simulation import Simulation
from .system import System

#: largest difference of a force from the reference, over the largest force: rounding of some tens of summands
TOLERANCE = {"single": 1e-5, "double": 1e-13}

#: what a timer here includes
INCLUDES = "lists and forces at fixed positions; launched as one sequence, no step, no copy to the host"

#: most launches in one repetition
_MOST = 1000


class CheckError(AssertionError):
    """A strategy computed other forces than the reference."""


def reference_forces(system: System, *, precision="single", rounds=ROUNDS) -> np.ndarray:
    """Forces on the fluid by the linked list on one core, of shape (moving, 3), in the order of the ids."""
    simulation = Simulation(system, select("serial"), strategy="linked", precision=precision, rounds=rounds)
    simulation.forces.run()
    return simulation.particles()["force"][: system.moving]


def check_forces(simulation: Simulation, expected: np.ndarray, forces=None) -> str:
    """Find the forces once, by `forces` or the simulation's strategy, and compare them; returns what was found.

    Raises CheckError where they differ by more than rounding, and CapacityError if a cell overflowed.
    """
    forces = forces or simulation.forces
    forces.run()
    forces.check()
    found = simulation.particles()["force"][: len(expected)]
    difference = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not difference <= TOLERANCE[simulation.precision]:
        raise CheckError(f"{simulation} differs from one core's linked list by {difference:.2e}")
    return f"forces within {difference:.1e} of serial linked on the same {len(expected)} particles"


def time_launches(launches, device, seconds: float) -> tuple[float, float]:
    """Seconds of the launches one after the other, and their spread: five repetitions of about `seconds` each."""
    if not seconds > 0:
        raise InputError(f"seconds = {seconds}: a repetition must take some time, such as 0.05")
    launches = list(launches)

    def sequence(count):
        for _ in range(count):
            for launch in launches:
                launch()

    sequence(1)
    device.synchronise()
    count = min(_MOST, max(1, round(seconds / device.clock(lambda: sequence(1)))))
    timing = measure(device.capture(lambda: sequence(count)), device)
    return timing.seconds / count, timing.spread
