"""Speed of a strategy on a device, measured only after its forces have been checked."""

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from repro.parallel import InputError, measure, select

from .cases import Poiseuille
from .random import PAPER_ROUNDS
from .simulation import GRAPH_STEPS, Simulation
from .system import System

#: largest difference of a force from the reference, over the largest force: rounding of some tens of summands
TOLERANCE = {"single": 1e-5, "double": 1e-13}

#: what every timer here includes
INCLUDES = "whole steps: lists, forces, integration and walls; launched from Python, no copy to the host"

#: domains of table 4: length, width, height
TABLE_4 = ((6, 4, 8), (64, 8, 32), (256, 16, 32), (256, 32, 32))


class CheckError(AssertionError):
    """A strategy computed other forces than the reference."""


@dataclass(frozen=True)
class Speed:
    """One measured speed: whole steps, without a copy to the host."""

    case: str
    device: str
    hardware: str
    strategy: str
    precision: str
    rounds: int
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

    Raises CheckError where they differ by more than rounding.
    """
    system = Poiseuille(6, 4, 8).system()
    tested = Simulation(system, device, strategy=strategy, precision=precision, **{**options, "capacity": 64})
    reference = Simulation(system, select("serial"), strategy="linked", precision=precision, rounds=tested.setup.rounds)
    for simulation in (tested, reference):
        simulation.start()
    found, expected = (s.particles()["force"][: system.moving] for s in (tested, reference))
    difference = np.abs(found - expected).max() / np.abs(expected).max()
    if not difference <= TOLERANCE[precision]:
        raise CheckError(f"{strategy} on {device.name} differs from the reference by {difference:.2e}")
    return f"forces within {difference:.1e} of serial linked on {system.count} particles"


def measure_speed(
    case: str, system: System, device, *, strategy="fastest", seconds=0.2, warm_up=200, **options
) -> Speed:
    """Check the strategy, then time whole steps of the system: five repetitions of about `seconds`.

    The first `warm_up` steps bring the particles into the fluid's order; on a CPU a tenth of them.
    """
    if not seconds > 0:
        raise InputError(f"seconds = {seconds}: a repetition must take some time, such as 0.2")
    simulation = Simulation(system, device, strategy=strategy, **options)
    precision, rounds = simulation.precision, simulation.setup.rounds
    if rounds:
        check = check_strategy(
            device, strategy=simulation.strategy, precision=precision, **{**options, "rounds": rounds}
        )
    else:
        check = "forces depend on the order of threads: the linear generators are timed, not checked"
    unit = GRAPH_STEPS if device.name == "cuda" else 1
    simulation.step(max(2 * unit, warm_up if device.name == "cuda" else warm_up // 10))
    device.synchronise()
    one = device.clock(lambda: simulation.advance(unit, every=unit)) / unit
    steps = max(unit, unit * round(seconds / (unit * one)))
    timing = measure(lambda: simulation.advance(steps, every=unit), device)
    simulation.step(1)
    return Speed(
        case=case,
        device=device.name,
        hardware=device.description,
        strategy=simulation.strategy,
        precision=precision,
        rounds=rounds,
        size=" x ".join(f"{side:g}" for side in system.box),
        particles=system.count,
        updates=system.count * steps / timing.seconds,
        seconds=timing.seconds / steps,
        spread=timing.spread,
        check=check,
    )


def speed_table(runs, record=None) -> pd.DataFrame:
    """Measure a list of (case, system, device, options); one row a speed, each handed to the notebook's `record`."""
    rows = []
    for case, system, device, options in runs:
        rows.append(asdict(measure_speed(case, system, device, **options)))
        if record is not None:
            record.timing(**rows[-1], includes=INCLUDES)
    return pd.DataFrame(rows)


def part_times(simulation: Simulation, *, repeats: int = 20) -> pd.DataFrame:
    """Seconds of each part of a step's lists and forces: the difference between a step up to it and one before it.

    Each sequence begins with the lists, since a part alone would find the lists of another step.
    """
    device, names = simulation.device, list(simulation.forces.parts)
    simulation.advance(2)
    seconds, before = [], 0.0
    for k in range(1, len(names) + 1):
        launches = [simulation.forces.parts[name] for name in names[:k]]

        def run(launches=launches):
            for _ in range(repeats):
                for launch in launches:
                    launch()

        now = measure(device.capture(run), device).seconds / repeats
        seconds.append(now - before)
        before = now
    return pd.DataFrame({"part": names, "seconds": seconds})


def paper_table(sizes, device, record=None, *, seconds=0.2) -> pd.DataFrame:
    """Table 4: both mappings on `device` and the linked list on one core, at the paper's 32 rounds, and `runs` beside.

    `sizes` are (length, width, height). Beside the paper's columns stand the fast strategies of one core, all cores
    and the device, with 32 rounds too.
    """
    ways = [("linked", select("serial")), ("planes", select("serial")), ("planes", select("threads"))]
    ways += [(name, device) for name in ("cell", "particle", "particle, full stencil", "fastest")]
    runs = []
    for size in sizes:
        system = Poiseuille(*size).system()
        for strategy, on in ways:
            options = {"strategy": strategy, "rounds": PAPER_ROUNDS, "seconds": seconds}
            runs.append((f"{strategy}, {on.name}, {system.count}", system, on, options))
    table = speed_table(runs, record)
    one_core = table[(table["strategy"] == "linked")].set_index("particles")["updates"]
    return table.assign(speedup=[row.updates / one_core[row.particles] for row in table.itertuples()])
