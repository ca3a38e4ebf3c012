"""Speed of a neighbour search: what is checked before it is timed, what a step does, and what was chosen."""

import time
from functools import cache, partial

import numpy as np
from scipy.spatial import cKDTree

from repro.exclusive_timing import exclusive_timing
from repro.parallel import Speed, agreement, how_launched, measure_runs, require_timeable, select, time_steps
from repro.parallel.launch_sequence import in_turn
from repro.particles.position import Units

from .cases import DamBreak
from .pair import UNUSED
from .simulation import Simulation
from .strategies import PAIRS_ONCE
from .sum_kernels import FEW
from .system import System

#: what the timer of whole steps includes
INCLUDES = "whole steps: neighbour lists, density, ghosts, forces and update; no copy to the host"

#: steps that a strategy and another one must agree on
CHECK_STEPS = 20

#: largest difference from the other strategy over the largest value, by precision; in single there is none but where
#: sums have another order
TOLERANCES = {"single": 1e-4, "double": 1e-9}

#: steps of a GPU before the clock
_WARM_UP = 200

#: most replays of a sequence of parts in a sample
_MOST_REPEATS = 1000


def check_strategy(device, *, strategy: str, precision: str = "single", **options) -> str:
    """Run a small dam break by the strategy on the device, and by another one on the CPU; returns how well they agree.

    Raises CheckError if a bit differs in single precision, or more than rounding in double or with each pair met once.
    A check that was passed is not made again; `options` as of Simulation.
    """
    return _checked(device, strategy, precision, tuple(sorted(options.items())))


@cache
def _checked(device, strategy: str, precision: str, options: tuple) -> str:
    # nothing is compared with itself
    other = "sorted cells" if strategy == "linked list" else "linked list"
    result, expected = _small_run(device, strategy, precision, options), _expected(other, precision, options)
    limit = TOLERANCES[precision] if precision == "double" or strategy in PAIRS_ONCE else 0.0
    agree = agreement(f"{strategy} on {device.name}", result, f"{other} on the CPU", expected, limit)
    return f"{agree} after {CHECK_STEPS} steps of {_small().count} particles"


@cache
def _expected(strategy: str, precision: str, options: tuple) -> dict[str, np.ndarray]:
    return _small_run(select("threads"), strategy, precision, options)


def _small_run(device, strategy: str, precision: str, options: tuple) -> dict[str, np.ndarray]:
    simulation = Simulation(_small(), device, strategy=strategy, precision=precision, **dict(options))
    simulation.step(CHECK_STEPS)
    return simulation.particles()


def _small() -> System:
    return DamBreak(column=(6, 4, 8), length=2.0, height=2.0).system()


def measure_speed(
    case: str, system: System, device, *, strategy="sorted cells", seconds=0.2, runs=1, **options
) -> Speed:
    """Check the strategy, then time whole steps of the system: in each run five repetitions of about `seconds`.

    `options` as of Simulation. The rate "updates" counts fluid particles.
    """
    require_timeable(seconds, runs)
    size = " x ".join(f"{side / system.resolution.spacing:.0f}" for side in system.tank) + " spacings"

    def facts(simulation):
        names = {"strategy": strategy, "precision": simulation.precision, "size": size}
        choices = facts_of(simulation) | {"launch": how_launched(device)}
        return {**names, "work": {"updates": system.count}, "choices": choices}

    build = partial(Simulation, system, device, strategy=strategy, **options)
    timer = partial(time_steps, seconds=seconds, warm_up=_WARM_UP)

    # so few as are checked would share their sums
    kernels = {} if system.count < FEW else {"few": 0}

    def check(_):
        return check_strategy(device, strategy=strategy, **options | kernels)

    return measure_runs(case, device, build=build, check=check, time=timer, facts=facts, runs=runs)


def part_samples(simulation: Simulation, samples: int, seconds: float = 0.01) -> dict[str, list[float]]:
    """Seconds of each of `simulation.parts` in so many samples, by name; leaves the state of a GPU invalid.

    On a CPU each launch of so many steps is timed, on one core by the CPU time of the thread, which other programs do
    not lengthen. On a GPU a part is the difference between the sequence of parts up to it and the one before, each
    replayed for about `seconds`; drift and kick, which move particles away from their lists, come last and alone.
    """
    device, parts = simulation.device, dict(simulation.parts)
    simulation.advance(2)
    with exclusive_timing():
        if device.name != "cuda":
            clock = time.thread_time if device.workers == 1 else time.perf_counter
            return _clocked(parts, clock, samples)
        ends = {"kick": parts.pop("kick")}, {"drift": parts.pop("drift")}
        between, kick, drift = (_differences(some, device, samples, seconds) for some in (parts, *ends))
        return drift | between | kick


def _clocked(parts: dict, clock, samples: int) -> dict[str, list[float]]:
    found = {name: [] for name in parts}
    for _ in range(samples):
        for name, launch in parts.items():
            start = clock()
            launch()
            found[name].append(clock() - start)
    return found


def _differences(parts: dict, device, samples: int, seconds: float) -> dict[str, list[float]]:
    """The sequences are replayed in turn, so that what disturbs one sample disturbs all parts of it."""
    launches = list(parts.values())
    in_turn(*launches)
    once = device.clock(device.capture(lambda: in_turn(*launches)))
    repeats = max(1, min(_MOST_REPEATS, round(seconds / max(once, 1e-9))))
    sequences = [
        device.capture(lambda up_to=k: [in_turn(*launches[:up_to]) for _ in range(repeats)] and None)
        for k in range(1, len(launches) + 1)
    ]
    times = np.array([[device.clock(sequence) for sequence in sequences] for _ in range(samples)]) / repeats
    return dict(zip(parts, np.diff(times, axis=1, prepend=0).T.tolist(), strict=True))


def facts_of(simulation: Simulation) -> dict:
    """What a speed depends on: numbers of particles, mean number of neighbours, passes over neighbours in a step."""
    return {
        "particles": simulation.system.count,
        "ghosts": int(sum(len(places) for places in _ghost_places(simulation))),
        "ratio": simulation.system.resolution.ratio,
        "neighbours": mean_neighbours(simulation),
        "passes": len({"density", "forces"} & set(simulation.parts)),
        "passes of ghosts": len(simulation.followers),
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
    places = []
    for ghosts in species:
        used = device.to_host(ghosts.kind)[: ghosts.count] != UNUSED
        whole = device.to_host(ghosts.r).reshape(3, -1).T[: ghosts.count][used]
        places.append(Units(simulation.real).coordinates(np.ascontiguousarray(whole), system.box) - system.margin)
    return places
