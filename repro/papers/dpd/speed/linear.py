"""The speed of the paper's serial program, which has a linear generator instead of TEA.

Its random numbers depend on the order in which pairs are met, so no other program has the same forces. It is checked
without noise, and its noise by what it must have in common with that of TEA.
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
from repro.parallel import Speed, select

#: a time step so long that the noise, which falls with its root, is nothing beside the other forces
_QUIET = 1e30

#: steps whose noise is compared; in step 0 both words of a thread are the same
_STEPS = range(1, 17)

#: largest deviation of the noise's mean square from that of TEA, over the latter: over these steps it scatters by 0.02
_DEVIATION = 0.1


def timed(case: str, system: System, device, *, rounds: int, **options) -> Speed:
    """`benchmark.measure_speed`; a program without TEA has passed `check_linear` before it is timed."""
    if rounds:
        return measure_speed(case, system, device, rounds=rounds, **options)
    check = check_linear(options["strategy"], options.get("precision", "single"), device)
    return replace(measure_speed(case, system, device, rounds=0, **options), check=check)


@cache
def check_linear(strategy: str, precision: str, device=None) -> str:
    """Check a strategy with the linear generator on a small flow in cell order; returns how well it agrees.

    Without noise its forces on `device` (one core by default) must be those of one thread per cell, to rounding. Its
    noise on one core must sum to zero over all particles, and have the mean square that TEA's noise has. Raises
    CheckError where that is not so.
    """
    core, options = select("serial"), {"strategy": strategy, "precision": precision, "rounds": 0}
    other = {"strategy": "cell", "precision": precision, "rounds": PAPER_ROUNDS}
    noisy = in_cell_order(Poiseuille(6, 4, 8).system())
    quiet = replace(noisy, fluid=replace(noisy.fluid, dt=_QUIET))
    tested = Simulation(quiet, device or core, **options)
    agree = check_forces(tested, reference_forces(quiet, **other), other="cell")
    linear, tea = (_forces(noisy, core, **chosen) - _forces(quiet, core, **chosen) for chosen in (options, other))
    noise = compare_noise(linear, tea, noisy.moving, TOLERANCE[precision])
    return f"in cell order, without noise: {agree}; {noise}; its single numbers are not checked"


def compare_noise(linear: np.ndarray, tea: np.ndarray, moving: int, tolerance: float) -> str:
    """Compare the noise of the linear generator with that of TEA: forces of shape (steps, count, 3).

    Returns how they compare. Raises CheckError if a step's sum over the largest force is not zero to the tolerance, or
    if the mean square of the forces on the `moving` particles of the fluid differs by too much.
    """
    total = float(np.abs(linear.sum(1)).max() / np.abs(linear).max())
    ratio = float(np.square(linear[:, :moving]).mean() / np.square(tea[:, :moving]).mean())
    if not total <= tolerance:
        raise CheckError(f"the noise of the linear generator sums to {total:.1e} of its largest force, not to zero")
    if not abs(ratio - 1) <= _DEVIATION:
        raise CheckError(f"the noise of the linear generator has {ratio:.2f} times the mean square of TEA's")
    return f"noise sums to {total:.0e} of its largest force, and has {ratio:.2f} times the mean square of TEA's"


def _forces(system: System, device, **options) -> np.ndarray:
    """Forces on all particles where they are, with the noise of each of the steps: (steps, count, 3)."""
    simulation = Simulation(system, device, **options)
    forces = []
    for step in _STEPS:
        simulation.state.clock[0] = step
        simulation.forces.run()
        forces.append(simulation.particles()["force"])
    return np.stack(forces)
