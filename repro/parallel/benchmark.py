"""Speed of whole steps, one harness for all methods: build, check by a run, warm up, time, and the spread.

A method's `benchmark.py` says what is built, what a correct run looks like, what a step does and what was chosen.
"""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf
from statistics import median

import numpy as np

from repro.declared import Number, Whole
from repro.errors import CheckError

from .timeloop import GRAPH_STEPS
from .timing import Timing, host_clock, measure, part_seconds, time_launches

#: repetitions of a timing
REPEATS = 5

#: seconds of a step on a CPU from which two single steps are timed, instead of five repetitions of several
LONG = 0.25

#: a CPU launches its steps one after the other, and so does a GPU without graphs
_NO_GRAPH = 2**40


@dataclass(frozen=True)
class Speed:
    """One measured speed: whole steps, without a copy to the host."""

    case: str
    device: str
    hardware: str
    strategy: str
    precision: str
    size: str
    #: seconds of one step, median over the runs
    seconds: float
    #: largest minus smallest over the median: of the repetitions, and of the runs
    spread: float
    #: what the physics check found
    check: str
    #: what a second brings, by the field's name: "mlups", "updates", "bandwidth" (bytes)
    rates: dict[str, float]
    #: seconds of one step in each independent run: allocated anew, each the median of its repetitions
    runs: tuple[float, ...]
    #: fewest repetitions of a run
    repeats: int
    #: what else was chosen, such as the block size
    choices: dict = field(default_factory=dict)

    @classmethod
    def of(cls, case: str, device, runs: list[Timing], *, work: dict[str, float], **more) -> "Speed":
        """From timings of one step on a device in independent runs.

        `work` is what a step does by the name of its rate, such as the millions of nodes that it updates; `more` are
        the other fields.
        """
        about = {"device": device.name, "hardware": device.description}
        each = tuple(timing.seconds for timing in runs)
        seconds = median(each)
        spread = max(*(timing.spread for timing in runs), (max(each) - min(each)) / seconds)
        rates = {name: amount / seconds for name, amount in work.items()}
        times = {"seconds": seconds, "spread": spread, "runs": each, "repeats": min(timing.repeats for timing in runs)}
        return cls(case=case, **about, **times, rates=rates, **more)

    @property
    def row(self) -> dict:
        """Everything by name, for a table."""
        nested = ("rates", "choices")
        return {k: v for k, v in vars(self).items() if k not in nested} | self.choices | self.rates


def agreement(
    name: str, result: Mapping[str, np.ndarray], other: str, expected: Mapping[str, np.ndarray], tolerance: float
) -> str:
    """How well the arrays of a run agree with those of another one, in words, for `Speed.check`.

    The difference is the largest of all arrays, each over its largest value. Raises CheckError, with the `name` of what
    was run and the `other`, where it is more than the tolerance; with 0 every bit must be the same.
    """
    difference = max((_difference(result[what], array), what) for what, array in expected.items())
    if difference[0] > tolerance:
        raise CheckError(f"{name} differs from {other} by {difference[0]:.2e} of the largest {difference[1]}")
    return f"the same bits as {other}" if tolerance == 0 else f"within {difference[0]:.1e} of {other}"


def _difference(result, expected) -> float:
    result, expected = np.asarray(result, float), np.asarray(expected, float)
    if result.shape != expected.shape:
        return inf
    difference = float(np.abs(result - expected).max(initial=0)) / (float(np.abs(expected).max(initial=0)) or 1.0)
    return difference if difference >= 0 else inf


def require_timeable(seconds: float, runs: int) -> None:
    """Refuse repetitions that take no time or far too long, and no runs or far too many."""
    Number(0, 600, "s a repetition", open_low=True).check("seconds", seconds)
    Whole(1, 100).check("runs", runs)


def measure_runs(
    case: str,
    device,
    *,
    build: Callable,
    check: Callable[..., str],
    time: Callable[..., Timing],
    facts: Callable[..., dict],
    runs: int,
) -> Speed:
    """A speed from independent runs, each built anew.

    `build()` gives the simulation, `check(it)` says which check it has passed and raises CheckError where it has not,
    `time(it)` is the time of a step, and `facts(it)` are the other fields of the speed: "strategy", "precision",
    "size", "work" of a step by the name of its rate, and "choices"; those of the first run count.
    """
    timings, passed, known = [], "", {}
    for _ in range(runs):
        simulation = build()
        passed = check(simulation)
        timings.append(time(simulation))
        known = known or facts(simulation)
        # two at once might not fit, and recorded steps name their simulation
        del simulation
        gc.collect()
    return Speed.of(case, device, timings, check=passed, **known)


def time_steps(
    simulation,
    seconds: float,
    *,
    unit: int = 0,
    graph: bool = True,
    warm_up: int = 0,
    repeats: int = REPEATS,
    long: float = LONG,
    alone: Callable[[], Timing] | None = None,
    room: Callable[[int], int] | None = None,
    timer=measure,
) -> Timing:
    """The time of one step of a simulation, from repetitions of about `seconds`; then a step with a look at the result.

    `unit` steps are launched together, on a GPU as a CUDA graph unless `graph` is False. Before the clock a GPU makes
    `warm_up` steps and a CPU a tenth of them, or fewer where they would take long. A step of a CPU that takes `long` s
    or more is timed by `alone`, or else twice. `room(least)` says how many steps may follow, and raises for fewer.
    """
    device = simulation.device
    gpu = device.name == "cuda"
    unit = unit or (GRAPH_STEPS if gpu and graph else 1)
    advance = partial(simulation.advance, every=unit if gpu and graph else _NO_GRAPH)
    # the first steps compile, and then a GPU records; even and odd steps may have kernels of their own
    few = unit if gpu else min(unit, 2)
    advance(2 * few if gpu else few)
    some = partial(advance, few)
    one = (device.clock(some) if timer is measure else host_clock(some, device)) / few
    if not gpu and one > long:
        timing = alone() if alone else measure(partial(advance, 1), device, repeats=2, warm_up=0)
    else:
        more = max(0, warm_up - 3 * unit) if gpu else min(warm_up // 10, round(5 * seconds / one))
        if more >= unit:
            advance(more // unit * unit)
        most = room((repeats + 1) * unit) // ((repeats + 1) * unit) if room else inf
        steps = unit * int(min(max(round(seconds / (unit * one)), 1), most))
        timing = timer(partial(advance, steps), device, repeats=repeats).per(steps)
    # looks at what went wrong
    simulation.step(1)
    return timing


def how_launched(device, graph: bool = True) -> str:
    """How `time_steps` launches the steps of a simulation, for tables."""
    return f"CUDA graph of {GRAPH_STEPS} steps" if device.name == "cuda" and graph else "from Python, one by one"


def part_times(simulation, *, seconds: float = 0.02) -> dict[str, float]:
    """Seconds of each of `simulation.parts` between drift and kick of particles; leaves the state invalid.

    Drift and kick need no lists.
    """
    device, parts = simulation.device, dict(simulation.parts)
    simulation.advance(2)
    drift, kick = parts.pop("drift"), parts.pop("kick")
    times = part_seconds(parts, device, seconds)
    # the kick first: the drift moves the particles away from their lists
    ends = [time_launches([launch], device, seconds).best for launch in (kick, drift)]
    return {"drift": ends[1], **times, "kick": ends[0]}
