"""Speed of a strategy on a device, measured only after its forces have been checked.

Forces are compared on the same particles at the same places; a step would change both.
"""

from functools import cache, partial

import numpy as np

from repro.errors import CheckError, require_whole
from repro.parallel import (
    GRAPH_STEPS,
    Speed,
    Timing,
    measure,
    part_seconds,
    require_seconds,
    select,
    time_launches,
)
from repro.particles.random import ROUNDS

from .cases import Poiseuille
from .fluid import Fluid
from .simulation import Simulation
from .system import System

#: what the timer of whole steps includes
INCLUDES = "whole steps: lists, forces, integration and walls; no copy to the host"

#: what a timer of launches at fixed positions includes
INCLUDES_FORCES = "lists and forces at fixed positions, replayed as one graph on a GPU; no step, no copy to the host"

#: largest difference of a force from the reference, over the largest force: rounding of some tens of summands
TOLERANCE = {"single": 1e-5, "double": 1e-13}

#: whose law is checked where no other is given
PAPER = Fluid()

#: seconds of a step on a CPU from which two single steps are timed, instead of five repetitions of several
LONG = 0.25


def reference_forces(system: System, *, precision="single", rounds=ROUNDS, strategy="linked") -> np.ndarray:
    """Forces on the fluid by a strategy on one core, of shape (moving, 3), in the order of the ids."""
    simulation = Simulation(system, select("serial"), strategy=strategy, precision=precision, rounds=rounds)
    simulation.forces.run()
    return simulation.particles()["force"][: system.moving]


def check_forces(simulation: Simulation, expected: np.ndarray, forces=None, other: str = "linked") -> str:
    """Find the forces once, by `forces` or the simulation's strategy, and compare them with `expected`, from `other`.

    Those on frozen particles are not compared: not every strategy finds them (see `strategies.sorted_cells`).

    Returns what was found. Raises CheckError where they differ by more than rounding, and CapacityError if a cell
    overflowed.
    """
    forces = forces or simulation.forces
    forces.run()
    forces.check()
    found = simulation.particles()["force"][: len(expected)]
    difference = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not difference <= TOLERANCE[simulation.precision]:
        raise CheckError(f"{simulation} differs from {other} on one core by {difference:.2e}")
    return f"forces within {difference:.1e} of serial {other} on the same {len(expected)} particles"


def check_strategy(device, *, strategy: str, precision: str = "single", fluid: Fluid = PAPER, **options) -> str:
    """Compare the forces on a small flow with those of another strategy on one core; returns what was found.

    They are those of the fluid's law.
    Raises CheckError where they differ by more than rounding. A check that was passed is not made again.
    """
    fluid = Fluid(repulsion=fluid.repulsion, law=fluid.law, parameters=fluid.parameters)
    return _checked(device, strategy, precision, fluid, tuple(sorted(options.items())))


@cache
def _checked(device, strategy: str, precision: str, fluid: Fluid, options: tuple) -> str:
    tested = Simulation(_small(fluid), device, strategy=strategy, precision=precision, **dict(options))
    # nothing is compared with itself
    other = "cell" if tested.strategy == "linked" else "linked"
    return check_forces(tested, _expected(other, precision, tested.setup.rounds, fluid), other=other)


@cache
def _expected(strategy: str, precision: str, rounds: int, fluid: Fluid) -> np.ndarray:
    return reference_forces(_small(fluid), precision=precision, rounds=rounds, strategy=strategy)


def _small(fluid: Fluid) -> System:
    return Poiseuille(6, 4, 8, fluid=fluid).system()


def measure_speed(
    case: str,
    system: System,
    device,
    *,
    strategy="fastest",
    seconds=0.2,
    warm_up=200,
    graph=True,
    runs=1,
    repeats=5,
    **options,
) -> Speed:
    """Check the strategy, then time whole steps of the system: in each run `repeats` repetitions of about `seconds`.

    Every run builds its simulation anew. The first `warm_up` steps bring the particles into the fluid's order; on a CPU
    a tenth of them, or fewer where they would take long. A step of a CPU that takes long is timed twice only. `graph`:
    a GPU launches its steps as a CUDA graph, or else one by one from Python.
    """
    require_seconds(seconds)
    require_whole("runs", runs, 1, 100)
    require_whole("repeats", repeats, 2, 100)
    gpu = device.name == "cuda"
    check, timings = None, []
    for _ in range(runs):
        simulation = Simulation(system, device, strategy=strategy, **options)
        check = check or _check_of(simulation, options)
        timings.append(_timing(simulation, seconds, warm_up, graph, repeats))
        simulation.step(1)
    return Speed.of(
        case,
        device,
        timings,
        strategy=simulation.strategy,
        precision=simulation.precision,
        size=size_of(system),
        check=check,
        # frozen particles counted, as in the paper
        work={"updates": system.count},
        choices={
            "rounds": simulation.setup.rounds,
            "launch": f"CUDA graph of {GRAPH_STEPS} steps" if gpu and graph else "from Python, one by one",
            "particles": system.count,
        },
    )


def _timing(simulation: Simulation, seconds: float, warm_up: int, graph: bool, repeats: int) -> Timing:
    """The time of one step."""
    device, gpu = simulation.device, simulation.device.name == "cuda"
    # with a look after more steps than are made, `advance` launches them one by one
    unit, every = (GRAPH_STEPS, GRAPH_STEPS) if gpu and graph else (1, 2**40)
    simulation.step(2 * unit if gpu else 1, every=every)
    one = device.clock(partial(simulation.advance, unit, every=every)) / unit
    if not gpu and one > LONG:
        return measure(partial(simulation.advance, 1, every=every), device, repeats=2, warm_up=0)
    # a GPU has made three graphs of steps by now
    more = max(0, warm_up - simulation.steps) if gpu else min(warm_up // 10, round(5 * seconds / one))
    simulation.advance(more // unit * unit, every=every)
    steps = max(unit, unit * round(seconds / (unit * one)))
    run = partial(simulation.advance, steps, every=every)
    # where one graph is a repetition, those before were like it
    return measure(run, device, repeats=repeats, warm_up=0 if gpu and steps == unit else 1).per(steps)


def _check_of(simulation: Simulation, options: dict) -> str:
    rounds = simulation.setup.rounds
    if not rounds:
        return "forces depend on the order of threads: the linear generators are timed, not checked"
    chosen = options | {"precision": simulation.precision, "rounds": rounds}
    fluid, law = simulation.system.fluid, simulation.system.fluid.law
    check = check_strategy(simulation.device, strategy=simulation.strategy, fluid=fluid, **chosen)
    return check if law is PAPER.law else f"{check}, law {law.name}"


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
