"""Speed of a strategy in a box: what is checked before it is timed, what a step does, and what was chosen."""

from dataclasses import replace
from functools import partial
from math import inf

import numpy as np

from repro.parallel import (
    GRAPH_STEPS,
    Speed,
    agreement,
    how_launched,
    measure_runs,
    require_timeable,
    select,
    time_steps,
)

from .model import Problem
from .simulation import Simulation

#: largest difference of a velocity from the reference, over the largest velocity: rounding of some tens of steps
TOLERANCE = {"single": 2e-5, "double": 1e-12}

#: blocks of a row on the grid of the check, where the grid that is timed has as many
BLOCKS = 3

#: what every timer here includes
INCLUDES = "whole time steps with their wall schemes; no copy to the host"


def check_strategy(problem: Problem, device, *, strategy, precision, layout, block, steps: int = 20) -> str:
    """Run the strategy on a small grid against another one, node by node on one core; returns how well they agree.

    Raises CheckError where they differ by more than rounding.
    """
    nx, ny, nz = problem.shape
    # several blocks a row: what goes from block to block is to be checked
    small = replace(problem, shape=(min(nx, BLOCKS * block), min(ny, 32), min(nz, 12)))
    options = {"strategy": strategy, "precision": precision, "layout": layout, "block": block}
    other = "pull" if strategy == "push" else "push"
    tested = Simulation(small, device, **options)
    reference = Simulation(small, select("serial"), strategy=other, precision=precision)
    agree = compare_flows(strategy, tested, other, reference, problem.model.lattice, steps)
    return f"{agree} on {' x '.join(map(str, small.shape))}"


def compare_flows(strategy: str, tested, other: str, reference, lattice, steps: int) -> str:
    """Run both from one uniform flow and compare their velocities: how well the first agrees with the other."""
    for simulation in (tested, reference):
        in_motion(simulation, lattice).step(steps)
    velocity, expected = ({"velocity": simulation.fields()[1]} for simulation in (tested, reference))
    name, limit = f"{strategy} on {tested.device.name}", TOLERANCE[tested.precision]
    return f"velocity {agreement(name, velocity, f'serial {other}', expected, limit)} after {steps} steps"


def in_motion(simulation, lattice):
    """The simulation, started with the `uniform_flow`."""
    simulation.set_populations(uniform_flow(lattice))
    return simulation


def uniform_flow(lattice) -> np.ndarray:
    """Populations (q, 1, 1, 1) of a fluid that moves along all axes, to start what is timed.

    From rest, single precision is full of subnormals until the flow has reached every node, and a
    CPU handles them at a fraction of its speed.
    """
    along = np.array(lattice.velocities) @ np.array([0.01, 0.007, 0.004 if lattice.dimensions == 3 else 0.0])
    return (np.array(lattice.weights) * (1 + 3 * along + 4.5 * along**2))[:, None, None, None] * 1.001


def measure_speed(
    case: str,
    problem: Problem,
    device,
    *,
    strategy="pull",
    precision="single",
    layout="soa",
    block=128,
    seconds=0.2,
    runs=1,
) -> Speed:
    """Check the strategy, then time it on the problem's grid: in each run five repetitions of about `seconds`."""
    options = {"strategy": strategy, "precision": precision, "layout": layout, "block": block}
    return measure_flow(
        case,
        device,
        build=lambda: in_motion(Simulation(problem, device, **options), problem.model.lattice),
        check=lambda: check_strategy(problem, device, **options),
        size=size_of(problem.shape),
        updates={"mlups": problem.nodes},
        moved=problem.nodes,
        choices={"layout": layout, "block": block},
        seconds=seconds,
        runs=runs,
    )


def measure_flow(case, device, *, build, check, size, updates, moved, choices, seconds, runs) -> Speed:
    """A speed of the simulations that `build()` makes, after `check()`.

    `updates` counts what a step updates by the name of its rate (in millions a second), and `moved` the updates that
    move the strategy's bytes.
    """
    require_timeable(seconds, runs)
    passed = check()

    def facts(simulation):
        work = {name: count / 1e6 for name, count in updates.items()}
        work["bandwidth"] = moved * simulation.bytes_per_update
        names = {"strategy": simulation.strategy, "precision": simulation.precision, "size": size}
        return {**names, "work": work, "choices": choices | {"launch": how_launched(device)}}

    # even and odd steps of strategies with one array differ
    unit = GRAPH_STEPS if device.name == "cuda" else 2
    time = partial(time_steps, seconds=seconds, unit=unit, long=inf)
    return measure_runs(case, device, build=build, check=lambda _: passed, time=time, facts=facts, runs=runs)


def size_of(shape) -> str:
    """The nodes along each axis that has more than one, for tables."""
    return " x ".join(str(extent) for extent in shape if extent > 1)
