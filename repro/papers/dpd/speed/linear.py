"""The paper's serial program: its linear generator instead of TEA, and particles stored in the order of their cells.

Its random numbers depend on the order in which pairs are met, so no other program has the same forces. Its check is
therefore one of what does not depend on them, and of what they must have in common with those of TEA.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from repro.dpd.benchmark import TOLERANCE, check_forces, measure_speed, reference_forces
from repro.dpd.cases import Poiseuille
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.simulation import Simulation
from repro.dpd.system import System, in_cell_order
from repro.errors import CheckError
from repro.parallel import Speed

#: a time step so long that the noise, which falls with its root, is nothing beside the other forces
_QUIET = 1e30

#: largest deviation of the noise's mean square from that of TEA, over the latter. On this flow it scatters by 0.06, and
#: lies 0.1 too high: the numbers of particles one after the other are correlated (notebook random_numbers)
_DEVIATION = 0.2


def timed(case: str, system: System, device, *, rounds: int, **options) -> Speed:
    """`benchmark.measure_speed`; a program without TEA has passed `check_linear` before it is timed."""
    if rounds:
        return measure_speed(case, system, device, rounds=rounds, **options)
    check = check_linear(device, options["strategy"], options.get("precision", "single"))
    return replace(measure_speed(case, system, device, rounds=0, **options), check=check)


@cache
def check_linear(device, strategy: str, precision: str) -> str:
    """Check a strategy with the linear generator on a small flow in cell order; returns what was found.

    Without noise its forces must be those of one thread per cell, on one core, to rounding. Its noise must sum to zero
    over all particles, and have the mean square that TEA's noise has. Raises CheckError where that is not so.
    """
    noisy = in_cell_order(Poiseuille(6, 4, 8).system())
    quiet = replace(noisy, fluid=replace(noisy.fluid, dt=_QUIET))
    options = {"strategy": strategy, "precision": precision, "rounds": 0}
    expected = reference_forces(quiet, precision=precision, rounds=PAPER_ROUNDS, strategy="cell")
    found = check_forces(Simulation(quiet, device, **options), expected, other="cell")
    linear = _forces(noisy, device, **options) - _forces(quiet, device, **options)
    tea = reference_forces(noisy, precision=precision, rounds=PAPER_ROUNDS, strategy="cell") - expected
    return f"without noise {found}; {compare_noise(linear, tea, TOLERANCE[precision])}; no number is compared"


def compare_noise(linear: np.ndarray, tea: np.ndarray, tolerance: float) -> str:
    """Compare the noise's forces on all particles with those of TEA on the fluid, which comes first.

    Returns what was found; raises CheckError if their sum over the largest is not zero to the tolerance, or if the mean
    square of those on the fluid differs by too much.
    """
    total = float(np.abs(linear.sum(0)).max() / np.abs(linear).max())
    ratio = float(np.square(linear[: len(tea)]).mean() / np.square(tea).mean())
    if not total <= tolerance:
        raise CheckError(f"the noise of the linear generator sums to {total:.1e} of its largest force, not to zero")
    if not abs(ratio - 1) <= _DEVIATION:
        raise CheckError(f"the noise of the linear generator has {ratio:.2f} times the mean square of TEA's")
    return f"noise sums to {total:.0e} of its largest force and has {ratio:.2f} of TEA's mean square"


def _forces(system: System, device, **options) -> np.ndarray:
    simulation = Simulation(system, device, **options)
    simulation.forces.run()
    return simulation.particles()["force"]
