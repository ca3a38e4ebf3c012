"""Speed of a strategy on a device: what is checked before it is timed, what a step does, and what was chosen."""

from functools import cache, partial
from math import inf
from statistics import median

import numpy as np

from repro.declared import Kind, OneOf, Text
from repro.errors import InputError, require, require_whole
from repro.parallel import (
    PRECISIONS,
    Speed,
    Timing,
    agreement,
    host_clock,
    how_launched,
    measure,
    measure_runs,
    require_timeable,
    select,
    time_steps,
    wall_clock,
)

from .cases import UniformSource
from .simulation import Simulation
from .strategies import Strategy
from .strategies.host_loop import HostLoop
from .strategies.rank_exchange import RankExchange
from .system import System

#: what the timer of whole steps includes
INCLUDES = "whole steps: fields, births, segments with their currents, and sorting by its share; no copy for a look"

#: steps that a strategy and another one must agree on
CHECK_STEPS = 10

#: steps in one CUDA graph, or the next multiple of those between two sorts
GRAPH = 20

#: seconds of the steps from one sort to the next from which a CPU makes two steps only
LONG = 0.3

#: steps of the shortest timing
_FEWEST = 2

#: most particles of whom the segments are counted
_SAMPLE = 1_000_000


def check_strategy(device, *, strategy, precision: str = "single", sort_every: int = 0) -> str:
    """Run a small source by the strategy on the device, and by another one on the CPU; returns how well they agree.

    Raises CheckError if a bit of a position or a momentum differs. A check that was passed is not made again.
    """
    # what is remembered must be of a kind that can be
    Kind(str, Strategy).check("strategy", strategy)
    OneOf(PRECISIONS).check("precision", precision)
    return _checked(device, strategy, precision, sort_every)


@cache
def _checked(device, strategy, precision: str, sort_every: int) -> str:
    result, name = _small_run(device, strategy, precision, sort_every)
    # nothing is compared with itself
    other = "global sums" if name == "batches" else "batches"
    expected = _expected(other, precision)
    agree = agreement(f"{name} on {device.name}", result, f"{other} on the CPU", expected, 0.0)
    return f"{agree} after {CHECK_STEPS} steps of {len(expected['ids'])} particles"


@cache
def _expected(strategy: str, precision: str) -> dict[str, np.ndarray]:
    return _small_run(select("threads"), strategy, precision, 0)[0]


def _small_run(device, strategy, precision, sort_every) -> tuple[dict[str, np.ndarray], str]:
    simulation = Simulation(_small(), device, strategy=strategy, precision=precision, sort_every=sort_every)
    simulation.step(CHECK_STEPS)
    return simulation.particles(), simulation.strategy


def _small() -> System:
    return UniformSource(cells=8, per_cell=4, births=0.01, steps=CHECK_STEPS).system()


def measure_speed(
    case: str, system: System, device, *, strategy="fastest", precision="single", sort_every=0, seconds=0.1, runs=1
) -> Speed:
    """Check the strategy, then time whole steps of the system: in each run five repetitions of about `seconds`.

    Every run builds its simulation anew. A CPU whose steps take long makes two, and the time of a sort is added by its
    share. What the host drives is timed by the host's clock. Rates: "updates" counts steps of a particle, "segments"
    its segments. Raises InputError for a system in air, through which no strategy is compared with another, and for
    one without room for the births of so many steps.
    """
    Text().check("case", case)
    Kind(System).check("system", system)
    require(system.air is None, f"{system.name}: strategies are checked in vacuum, and it has air: give one without")
    require_timeable(seconds, runs)
    options = {"strategy": strategy, "precision": precision, "sort_every": sort_every}
    _require_steps(system, 0, _FEWEST)

    def facts(simulation):
        more = facts_of(simulation)
        names = {"strategy": simulation.strategy, "precision": precision}
        work = {"updates": more["particles"], "segments": more["particles"] * more["per step"]}
        size = " x ".join(map(str, system.mesh.shape)) + " cells"
        return {**names, "size": size, "work": work, "choices": more | {"sort every": sort_every}}

    return measure_runs(
        case,
        device,
        build=partial(Simulation, system, device, **options),
        check=lambda _: check_strategy(device, **options),
        time=partial(_timing, seconds=seconds),
        facts=facts,
        runs=runs,
    )


def _timing(simulation: Simulation, seconds: float) -> Timing:
    """The time of one step, a sort by its share."""
    cycle, gpu = max(simulation.sort_every, 1), simulation.device.name == "cuda"
    graphs = gpu and not simulation._by_host
    return time_steps(
        simulation,
        seconds,
        unit=cycle * -(-GRAPH // cycle) if graphs else cycle,
        long=inf if gpu else LONG / cycle,
        alone=partial(_long_timing, simulation),
        room=lambda least: _require_steps(simulation.system, simulation.steps, least),
        timer=wall_clock if simulation._by_host else measure,
    )


def _long_timing(simulation: Simulation) -> Timing:
    """Of a CPU on which the steps from one sort to the next would take long: of two, and a sort by its share."""
    timing = measure(simulation._launch_step, simulation.device, repeats=2, warm_up=0)
    cycle = simulation.sort_every
    share = simulation.device.clock(simulation._cell_sort) / cycle if cycle else 0.0
    return Timing(timing.seconds + share, timing.best + share, timing.spread, timing.repeats)


def _require_steps(system: System, taken: int, least: int) -> int:
    """Steps after those `taken` whose births there is room for; refuses fewer than the `least` that a timing makes.

    One is kept for the look at the end, and two for counting segments.
    """
    born = 0 if system.source is None else system.source.per_step
    left = 2**31 if not born else (system.room - system.count) // born - taken - 3
    if left < least:
        raise InputError(
            f"{system.name}: room for the births of {max(left, 0)} more steps, and a timing makes {least}: give the "
            "source more steps"
        )
    return left


def host_loop_of(simulation: Simulation) -> HostLoop | None:
    """What launches in the paper's strategy, where the host counts launches and segments; None for others."""
    moves = simulation.parts["particles"]
    moves = moves.host_loop if isinstance(moves, RankExchange) else moves
    return moves if isinstance(moves, HostLoop) else None


def mean_segments(simulation: Simulation) -> float:
    """Segments of a particle in a step: counted where the host launches them, or else one and the faces it crosses.

    Faces are counted between its cells before and after a step, of a sample of a million, which this makes.
    One that leaves a cell and comes back to its layer in the same step counts too few: rare where orbits are wide.
    """
    if host_loop := host_loop_of(simulation):
        return host_loop.last.segments / max(simulation.count, 1)
    if simulation.sort_every and simulation.steps % simulation.sort_every == 0:
        # a sort would give the entries to others
        simulation.advance(1)
    cells, device, mesh = simulation.particles_on_device.cell, simulation.device, simulation.system.mesh
    sample = slice(None, None, max(1, len(cells) // _SAMPLE))
    before = device.to_host(cells[sample])
    simulation.advance(1)
    after = device.to_host(cells[sample])
    there = (before >= 0) & (after >= 0)
    ways = np.abs(mesh.cells(after[there]) - mesh.cells(before[there]))
    for axis, (count, boundary) in enumerate(zip(mesh.shape, mesh.boundaries, strict=True)):
        if boundary == "periodic":
            ways[:, axis] = np.minimum(ways[:, axis], count - ways[:, axis])
    return 1 + float(ways.sum() / max(there.sum(), 1))


def facts_of(simulation: Simulation) -> dict:
    """What a speed depends on: particles (the mean of the start and now), cells, segments and launches of a step.

    `launches` counts those that move particles, and `busy` is the share of threads that had one in them; None where a
    launch moves all.
    """
    host_loop, device = host_loop_of(simulation), simulation.device
    from_device = f"CUDA graph of at least {GRAPH} steps" if device.name == "cuda" else how_launched(device)
    return {
        "particles": round((simulation.system.count + simulation.count) / 2),
        "cells": int(np.prod(simulation.system.mesh.shape)),
        "per step": mean_segments(simulation),
        "launches": host_loop.last.launches if host_loop else 1,
        "busy": host_loop.last.busy if host_loop else None,
        "launch": "by the host, until all are done" if simulation._by_host else from_device,
    }


def part_times(simulation: Simulation, *, steps: int = 5) -> dict[str, float]:
    """Seconds of each part of a step, in its order, in the median of `steps`; a sort by its share, at the end.

    On a GPU each part is a graph of its own, whose start takes some microseconds; what the host drives is timed by the
    host's clock.
    """
    require_whole("steps", steps, 1, 10_000)
    device, by_host = simulation.device, simulation._by_host
    simulation.advance(2)
    sorting = {"sorting": simulation._cell_sort} if simulation.sort_every else {}
    launches = _stages(simulation) if by_host else simulation.parts | sorting
    runs = launches if by_host else {name: device.capture(launch) for name, launch in launches.items()}
    times = {name: [] for name in runs}
    for _ in range(steps):
        for name, run in runs.items():
            times[name].append(host_clock(run, device) if by_host else device.clock(run))
    share = {"sorting": max(simulation.sort_every, 1)}
    return {name: median(each) / share.get(name, 1) for name, each in times.items()}


def _stages(simulation: Simulation) -> dict:
    """The parts of a step that the host drives, with the stages of its rounds in place of the particles."""
    host_loop = host_loop_of(simulation)

    def launch():
        while host_loop.look():
            host_loop.launch()

    stages = {"births and pointers": host_loop.begin, "launches and looks": launch, "sum over blocks": host_loop.end}
    parts = {}
    for name, part in simulation.parts.items():
        parts |= stages if name == "particles" else {name: part}
    return parts
