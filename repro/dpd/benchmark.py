"""Speed of a strategy on a device, measured only after its forces have been checked."""

from dataclasses import asdict, dataclass
from functools import cache

import numpy as np
import pandas as pd

from repro.parallel import InputError, measure

from .cases import Poiseuille
from .frozen import check_forces, reference_forces
from .simulation import GRAPH_STEPS, Simulation
from .system import System

#: what every timer here includes
INCLUDES = "whole steps: lists, forces, integration and walls; no copy to the host"

#: seconds of a step on a CPU from which two single steps are timed, instead of five repetitions of several
LONG = 0.25


@dataclass(frozen=True)
class Speed:
    """One measured speed: whole steps, without a copy to the host."""

    case: str
    device: str
    hardware: str
    strategy: str
    precision: str
    rounds: int
    #: how steps are launched: from a CUDA graph, or one by one from Python
    launch: str
    size: str
    particles: int
    #: particle updates a second, frozen particles counted as in the paper
    updates: float
    #: seconds of one step, median over the repetitions
    seconds: float
    spread: float
    #: what the physics check found
    check: str


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
    if not seconds > 0:
        raise InputError(f"seconds = {seconds}: a repetition must take some time, such as 0.2")
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
    return Speed(
        case=case,
        device=device.name,
        hardware=device.description,
        strategy=simulation.strategy,
        precision=simulation.precision,
        rounds=simulation.setup.rounds,
        launch=f"CUDA graph of {GRAPH_STEPS} steps" if gpu and graph else "from Python, one by one",
        size=" x ".join(f"{side:g}" for side in system.box),
        particles=system.count,
        updates=system.count * steps / timing.seconds,
        seconds=timing.seconds / steps,
        spread=timing.spread,
        check=check,
    )


def _check_of(simulation: Simulation, options: dict) -> str:
    rounds = simulation.setup.rounds
    if not rounds:
        return "forces depend on the order of threads: the linear generators are timed, not checked"
    chosen = options | {"precision": simulation.precision, "rounds": rounds}
    return check_strategy(simulation.device, strategy=simulation.strategy, **chosen)


def speed_table(runs, record=None) -> pd.DataFrame:
    """Measure a list of (case, system, device, options); one row a speed, each handed to the notebook's `record`."""
    rows = []
    for case, system, device, options in runs:
        rows.append(asdict(measure_speed(case, system, device, **options)))
        if record is not None:
            record.timing(**rows[-1], includes=INCLUDES)
    return pd.DataFrame(rows)


def part_times(simulation: Simulation, *, repeats: int = 20) -> pd.DataFrame:
    """Seconds of each part of a step, in its order; the simulation is spoilt by it.

    For the lists and forces it is the difference between a sequence up to a part and one before it, and each begins
    with the lists, since a part alone would find the lists of another step. Drift and kick need no lists.
    """
    device, parts = simulation.device, list(simulation.forces.parts.items())
    simulation.advance(2)

    def seconds_of(launches):
        def run():
            for _ in range(repeats):
                for launch in launches:
                    launch()

        # the least of several: differences of medians would carry every disturbance
        return measure(device.capture(run), device).best / repeats

    sums = [seconds_of([launch for _, launch in parts[:k]]) for k in range(1, len(parts) + 1)]
    # the kick first: the drift moves the particles away from their lists
    kick, drift = (seconds_of([simulation.parts[name]]) for name in ("kick", "drift"))
    names = ["drift", *(name for name, _ in parts), "kick"]
    # a part that takes next to nothing may come out below zero
    return pd.DataFrame({"part": names, "seconds": [drift, *np.diff(sums, prepend=0.0).clip(0), kick]})
