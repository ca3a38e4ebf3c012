"""Speed of a strategy on a device: what is checked before it is timed, what a step does, and what was chosen.

Forces are compared on the same particles at the same places; a step would change both.
"""

from functools import cache, partial

import numpy as np

from repro.errors import require_whole
from repro.parallel import (
    Speed,
    agreement,
    how_launched,
    measure_runs,
    require_timeable,
    select,
    time_launches,
    time_steps,
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

#: steps that bring particles into the fluid's order before they are timed
WARM_UP = 200

#: largest difference of a force from the reference, over the largest force: rounding of some tens of summands
TOLERANCE = {"single": 1e-5, "double": 1e-13}

#: whose law is checked where no other is given
PAPER = Fluid()


def reference_forces(system: System, *, precision="single", rounds=ROUNDS, strategy="linked") -> np.ndarray:
    """Forces on the fluid by a strategy on one core, of shape (moving, 3), in the order of the ids."""
    simulation = Simulation(system, select("serial"), strategy=strategy, precision=precision, rounds=rounds)
    simulation.forces.run()
    return simulation.particles()["force"][: system.moving]


def check_forces(simulation: Simulation, expected: np.ndarray, forces=None, other: str = "linked") -> str:
    """Find the forces once, by `forces` or the simulation's strategy, and compare them with `expected`, from `other`.

    Those on frozen particles are not compared: not every strategy finds them (see `strategies.sorted_cells`).

    Returns how well they agree. Raises CheckError where they differ by more than rounding, and CapacityError if a cell
    overflowed.
    """
    forces = forces or simulation.forces
    forces.run()
    forces.check()
    result = {"force": simulation.particles()["force"][: len(expected)]}
    limit = TOLERANCE[simulation.precision]
    agree = agreement(str(simulation), result, f"{other} on one core", {"force": expected}, limit)
    return f"forces {agree}, on the same {len(expected)} particles"


def check_strategy(device, *, strategy: str, precision: str = "single", fluid: Fluid = PAPER, **options) -> str:
    """Compare the forces on a small flow with those of another strategy on one core; returns how well they agree.

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
    case: str, system: System, device, *, strategy="fastest", seconds=0.2, graph=True, runs=1, repeats=5, **options
) -> Speed:
    """Check the strategy, then time whole steps of the system: in each run `repeats` repetitions of about `seconds`.

    `graph`: a GPU launches its steps as a CUDA graph, or else one by one from Python.
    """
    require_timeable(seconds, runs)
    require_whole("repeats", repeats, 2, 100)

    def facts(simulation):
        choices = {"rounds": simulation.setup.rounds, "launch": how_launched(device, graph), "particles": system.count}
        # frozen particles counted, as in the paper
        return _names(simulation) | {"work": {"updates": system.count}, "choices": choices}

    build = partial(Simulation, system, device, strategy=strategy, **options)
    check = partial(_check_of, options=options)
    time = partial(time_steps, seconds=seconds, warm_up=WARM_UP, graph=graph, repeats=repeats)
    return measure_runs(case, device, build=build, check=check, time=time, facts=facts, runs=runs)


def _check_of(simulation: Simulation, options: dict) -> str:
    rounds = simulation.setup.rounds
    if not rounds:
        return "forces depend on the order of threads: the linear generators are timed, not checked"
    chosen = options | {"precision": simulation.precision, "rounds": rounds}
    fluid, law = simulation.system.fluid, simulation.system.fluid.law
    check = check_strategy(simulation.device, strategy=simulation.strategy, fluid=fluid, **chosen)
    return check if law is PAPER.law else f"{check}, law {law.name}"


def kernel_speed(case: str, system: System, device, *, forces_of, choices, expected, seconds, runs, **options) -> Speed:
    """Time of the force kernel alone, in runs with arrays of their own, each of which finds the `expected` forces.

    `forces_of` a simulation with `options` are timed; `choices` of both are what was chosen, for `Speed.choices`.
    """

    def build():
        simulation = Simulation(system, device, **options)
        return simulation, forces_of(simulation)

    return measure_runs(
        case,
        device,
        build=build,
        check=lambda made: check_forces(made[0], expected, made[1]),
        time=lambda made: time_launches([made[1].parts["forces"]], device, seconds),
        facts=lambda made: _names(made[0]) | {"work": {}, "choices": choices(*made)},
        runs=runs,
    )


def _names(simulation: Simulation) -> dict:
    """What was run, for `Speed`."""
    names = {"strategy": simulation.strategy, "precision": simulation.precision}
    return names | {"size": size_of(simulation.system)}


def size_of(system: System) -> str:
    """The sides of the box, for tables."""
    return " x ".join(f"{side:g}" for side in system.box)
