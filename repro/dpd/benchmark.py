"""Speed of a strategy on a device, measured only after its forces have been checked.

Forces are compared on the same particles at the same places; a step would change both.
"""

from functools import cache

import numpy as np

from repro.errors import CheckError
from repro.parallel import GRAPH_STEPS, Speed, measure, part_seconds, require_seconds, select, time_launches
from repro.particles.random import ROUNDS

from .cases import Poiseuille
from .simulation import Simulation
from .system import System

#: what the timer of whole steps includes
INCLUDES = "whole steps: lists, forces, integration and walls; no copy to the host"

#: what a timer of launches at fixed positions includes
INCLUDES_FORCES = "lists and forces at fixed positions; launched as one sequence, no step, no copy to the host"

#: largest difference of a force from the reference, over the largest force: rounding of some tens of summands
TOLERANCE = {"single": 1e-5, "double": 1e-13}

#: seconds of a step on a CPU from which two single steps are timed, instead of five repetitions of several
LONG = 0.25


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


def check_strategy(device, *, strategy: str, precision: str = "single", **options) -> str:
    """Compare the forces on a small flow with those of the linked list on one core; returns what was found.

    Raises CheckError where they differ by more than rounding. A check that was passed is not made again.
    """
    return _checked(device, strategy, precision, tuple(sorted(options.items())))


@cache
def _checked(device, strategy: str, precision: str, options: tuple) -> str:
    tested = Simulation(_small(), device, strategy=strategy, precision=precision, **dict(options))
    return check_forces(tested, _expected(precision, tested.setup.rounds))


@cache
def _expected(precision: str, rounds: int) -> np.ndarray:
    return reference_forces(_small(), precision=precision, rounds=rounds)


def _small() -> System:
    return Poiseuille(6, 4, 8).system()


def measure_speed(
    case: str, system: System, device, *, strategy="fastest", seconds=0.2, warm_up=200, graph=True, **options
) -> Speed:
    """Check the strategy, then time whole steps of the system: five repetitions of about `seconds`.

    The first `warm_up` steps bring the particles into the fluid's order; on a CPU a tenth of them, or fewer where they
    would take long. A step of a CPU that takes long is timed twice only. `graph`: a GPU launches its steps as a CUDA
    graph, or else one by one from Python.
    """
    require_seconds(seconds)
    simulation = Simulation(system, device, strategy=strategy, **options)
    check = _check_of(simulation, options)
    gpu = device.name == "cuda"
    # with a look after more steps than are made, `advance` launches them one by one
    unit, every = (GRAPH_STEPS, GRAPH_STEPS) if gpu and graph else (1, 2**40)
    simulation.step(2 * unit if gpu else 1, every=every)

    def advance(steps):
        return lambda: simulation.advance(steps, every=every)

    one = device.clock(advance(unit)) / unit
    if not gpu and one > LONG:
        steps, timing = 1, measure(advance(1), device, repeats=2, warm_up=0)
    else:
        simulation.advance(warm_up if gpu else min(warm_up // 10, round(5 * seconds / one)), every=every)
        steps = max(unit, unit * round(seconds / (unit * one)))
        timing = measure(advance(steps), device)
    simulation.step(1)
    return Speed.of(
        case,
        device,
        timing,
        steps,
        strategy=simulation.strategy,
        precision=simulation.precision,
        size=size_of(system),
        check=check,
        # frozen particles counted, as in the paper
        rates={"updates": system.count * steps / timing.seconds},
        choices={
            "rounds": simulation.setup.rounds,
            "launch": f"CUDA graph of {GRAPH_STEPS} steps" if gpu and graph else "from Python, one by one",
            "particles": system.count,
        },
    )


def _check_of(simulation: Simulation, options: dict) -> str:
    rounds = simulation.setup.rounds
    if not rounds:
        return "forces depend on the order of threads: the linear generators are timed, not checked"
    chosen = options | {"precision": simulation.precision, "rounds": rounds}
    return check_strategy(simulation.device, strategy=simulation.strategy, **chosen)


def size_of(system: System) -> str:
    """The sides of the box, for tables."""
    return " x ".join(f"{side:g}" for side in system.box)


def part_times(simulation: Simulation, *, seconds: float = 0.02) -> dict[str, float]:
    """Seconds of each part of a step, in its order; leaves the state invalid. Drift and kick need no lists."""
    device = simulation.device
    simulation.advance(2)
    forces = part_seconds(simulation.forces.parts, device, seconds)
    # the kick first: the drift moves the particles away from their lists
    kick, drift = (time_launches([simulation.parts[name]], device, seconds).best for name in ("kick", "drift"))
    return {"drift": drift, **forces, "kick": kick}
