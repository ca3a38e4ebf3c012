"""Speed of a neighbour search on a device, measured only after its trajectory has been checked bit for bit."""

from functools import cache, partial

import numpy as np
from scipy.spatial import cKDTree

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
from repro.particles.position import Units

from .cases import DamBreak
from .pair import UNUSED
from .simulation import Simulation
from .system import System

#: what the timer of whole steps includes
INCLUDES = "whole steps: neighbour lists, density, ghosts, forces and update; no copy to the host"

#: steps that a strategy and another one must agree on
CHECK_STEPS = 20

#: largest difference from the other strategy in double precision, over the largest value; in single there is none
TOLERANCE = 1e-9

#: seconds of a step on a CPU from which two single steps are timed, instead of five repetitions of several
LONG = 0.25

#: names of the parts that the paper's table 2 tells apart
GROUPS = NEIGHBOUR_LIST, FORCE, UPDATE = "neighbour list", "force", "update"

#: the paper merges density and pressure into its own method's building of the table (section 2); of the linked lists
#: that it compares with, the table takes too little time for a sum over neighbours
_DENSITY_IN_LIST = ("cell table", "sorted cells")


def paper_groups(simulation: Simulation) -> dict[str, str]:
    """Which of GROUPS the paper counts each part of a step to, by the names of `simulation.parts`.

    What the density needs is counted with it; ghosts' extrapolation, which follows it, is needed for the forces.
    """
    names, lists = list(simulation.parts), simulation._lists.parts
    merged = NEIGHBOUR_LIST if simulation.strategy in _DENSITY_IN_LIST else FORCE
    found = {name: merged if k <= names.index("density") else FORCE for k, name in enumerate(names)}
    return found | dict.fromkeys(lists, NEIGHBOUR_LIST) | {"drift": UPDATE, "kick": UPDATE}


def check_strategy(device, *, strategy: str, precision: str = "single", **options) -> str:
    """Run a small dam break by the strategy on the device, and by another one on the CPU; returns what was found.

    Raises CheckError if a bit differs in single precision, or more than rounding in double. A check that was passed is
    not made again; `options` as of Simulation.
    """
    return _checked(device, strategy, precision, tuple(sorted(options.items())))


@cache
def _checked(device, strategy: str, precision: str, options: tuple) -> str:
    # nothing is compared with itself
    other = "sorted cells" if strategy == "linked list" else "linked list"
    found = _small_run(device, strategy, precision, options)
    difference = _difference(found, _expected(other, precision, options))
    if not difference <= (0 if precision == "single" else TOLERANCE):
        raise CheckError(f"{strategy} on {device.name} differs from {other} on the CPU by {difference:.2e}")
    same = "the same bits as" if difference == 0 else f"within {difference:.1e} of"
    return f"{same} {other} on the CPU after {CHECK_STEPS} steps of {_small().count} particles"


@cache
def _expected(strategy: str, precision: str, options: tuple):
    return _small_run(select("threads"), strategy, precision, options)


def _small_run(device, strategy, precision, options) -> dict[str, np.ndarray]:
    simulation = Simulation(_small(), device, strategy=strategy, precision=precision, **dict(options))
    simulation.step(CHECK_STEPS)
    return simulation.particles()


def _small() -> System:
    return DamBreak(column=(6, 4, 8), length=2.0, height=2.0).system()


def _difference(found, expected) -> float:
    """The largest of all arrays, each over its largest value."""
    scales = {name: float(np.abs(values).max()) or 1.0 for name, values in expected.items()}
    return max(float(np.abs(found[name] - expected[name]).max()) / scale for name, scale in scales.items())


def measure_speed(
    case: str, system: System, device, *, strategy="sorted cells", seconds=0.2, warm_up=20, runs=1, **options
) -> Speed:
    """Check the strategy, then time whole steps of the system: in each run five repetitions of about `seconds`.

    Every run builds its simulation anew; `options` as of Simulation. A step of a CPU that takes long is timed twice
    only. The rate "updates" counts fluid particles.
    """
    require_seconds(seconds)
    require_whole("runs", runs, 1, 100)
    check, timings, facts = check_strategy(device, strategy=strategy, **options), [], {}
    for _ in range(runs):
        simulation = Simulation(system, device, strategy=strategy, **options)
        timings.append(_timing(simulation, seconds, warm_up))
        # looks at what went wrong
        simulation.step(1)
        facts = facts or facts_of(simulation)
        precision = simulation.precision
        # two at once might not fit
        del simulation
    launch = f"CUDA graph of {GRAPH_STEPS} steps" if device.name == "cuda" else "from Python, one by one"
    return Speed.of(
        case,
        device,
        timings,
        strategy=strategy,
        precision=precision,
        size=" x ".join(f"{side / system.resolution.spacing:.0f}" for side in system.tank) + " spacings",
        check=check,
        work={"updates": system.count},
        choices=facts | {"launch": launch},
    )


def _timing(simulation: Simulation, seconds: float, warm_up: int) -> Timing:
    """The time of one step."""
    device, gpu = simulation.device, simulation.device.name == "cuda"
    unit = GRAPH_STEPS if gpu else 1
    simulation.advance(2 * unit if gpu else 1)
    one = device.clock(partial(simulation.advance, unit)) / unit
    if not gpu and one > LONG:
        return measure(partial(simulation.advance, 1), device, repeats=2, warm_up=0)
    simulation.advance(0 if gpu else min(warm_up, round(seconds / one)))
    steps = max(unit, unit * round(seconds / (unit * one)))
    return measure(partial(simulation.advance, steps), device).per(steps)


def facts_of(simulation: Simulation) -> dict:
    """What a speed hangs on: numbers of particles, mean number of neighbours, and passes over neighbours in a step."""
    return {
        "particles": simulation.system.count,
        "ghosts": int(sum(len(places) for places in _ghost_places(simulation))),
        "ratio": simulation.system.resolution.ratio,
        "neighbours": mean_neighbours(simulation),
        "passes": len({"density", "forces"} & set(simulation.parts)),
        "passes of ghosts": len(simulation.followers) + len(simulation.samplings),
    }


def mean_neighbours(simulation: Simulation, sample: int = 2000, seed: int = 1) -> float:
    """Mean number of neighbours of fluid particles, ghosts counted and themselves not, now; of a random sample."""
    position, system = simulation.particles()["position"], simulation.system
    chosen = np.random.default_rng(seed).permutation(len(position))[:sample]
    counts = np.zeros(len(chosen), int)
    for places in (position, *_ghost_places(simulation)):
        if len(places):
            near = cKDTree(places).query_ball_point(position[chosen], system.resolution.support, return_length=True)
            counts += near
    return float(counts.mean()) - 1


def _ghost_places(simulation: Simulation) -> list[np.ndarray]:
    """Positions in m of the ghosts that fluid meets: in walls, and in the air where it counts in the density."""
    system, device = simulation.system, simulation.device
    species = [simulation.walls] + [simulation.air] * (simulation.density == "summation")
    found = []
    for ghosts in species:
        used = device.to_host(ghosts.kind)[: ghosts.count] != UNUSED
        whole = device.to_host(ghosts.r).reshape(3, -1).T[: ghosts.count][used]
        places = Units(simulation.real).coordinates(np.ascontiguousarray(whole), system.box)
        found.append(places - system.margin)
    return found


def part_times(simulation: Simulation, *, seconds: float = 0.02) -> dict[str, float]:
    """Seconds of each part of a step, in its order; leaves the state invalid. Drift and kick need no lists."""
    device, parts = simulation.device, dict(simulation.parts)
    simulation.advance(2)
    drift, kick = parts.pop("drift"), parts.pop("kick")
    found = part_seconds(parts, device, seconds)
    # the kick first: the drift moves the particles away from their lists
    ends = [time_launches([launch], device, seconds).best for launch in (kick, drift)]
    return {"drift": ends[1], **found, "kick": ends[0]}
