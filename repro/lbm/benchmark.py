"""Speed of a strategy in a box: what is checked before it is timed, what a step does, and what was chosen."""

from dataclasses import replace
from functools import partial
from math import inf, prod

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

from .model import InPores, Problem
from .simulation import Simulation

#: largest difference of a velocity from the reference, over the largest velocity: rounding of some tens of steps
TOLERANCE = {"half": 5e-3, "single": 2e-5, "double": 1e-12}

#: blocks of a row on the grid of the check, where the grid that is timed has as many
BLOCKS = 3

#: what every timer here includes
INCLUDES = "whole time steps with their wall schemes; no copy to the host"


def check_strategy(problem: Problem, device, *, strategy="pull", block=None, steps: int = 20, **options) -> str:
    """Run the strategy on a small grid against another one, node by node on one core; returns how well they agree.

    Raises CheckError where they differ by more than rounding. `options` as of Simulation.
    """
    nx, ny, nz = problem.shape
    block = block or Simulation.block_of(strategy, options.get("precision", "single"))
    # several blocks a row: what goes from block to block is to be checked
    small = replace(problem, shape=(min(nx, BLOCKS * block), min(ny, 32), min(nz, 12)))
    tested = Simulation(small, device, strategy=strategy, block=block, **options)
    other = "pull" if strategy == "push" else "push"
    reference = Simulation(small, select("serial"), strategy=other, precision=tested.precision)
    return compare_flows(tested, reference, steps)


def compare_flows(tested, reference, steps: int) -> str:
    """Run both from one uniform flow and compare their velocities: how well the first agrees with the other."""
    for simulation in (tested, reference):
        in_motion(simulation).step(steps)
    velocity, expected = ({"velocity": simulation.fields()[1]} for simulation in (tested, reference))
    name, limit = f"{tested.strategy} on {tested.device.name}", TOLERANCE[tested.precision]
    agree = agreement(name, velocity, f"serial {reference.strategy}", expected, limit)
    return f"velocity {agree} after {steps} steps on {' x '.join(map(str, tested.problem.shape))}"


def in_motion(simulation):
    """The simulation, started with the `uniform_flow`."""
    simulation.set_populations(uniform_flow(simulation.lattice))
    return simulation


def uniform_flow(lattice) -> np.ndarray:
    """Populations (q, 1, 1, 1) of a fluid that moves along all axes, to start what is timed.

    From rest, single precision is full of subnormals until the flow has reached every node, and a
    CPU handles them at a fraction of its speed.
    """
    along = np.array(lattice.velocities) @ np.array([0.01, 0.007, 0.004 if lattice.dimensions == 3 else 0.0])
    return (np.array(lattice.weights) * (1 + 3 * along + 4.5 * along**2))[:, None, None, None] * 1.001


def measure_speed(case: str, problem: Problem, device, *, seconds=0.2, runs=1, **options) -> Speed:
    """Check the strategy, then time it on the problem's grid: in each run five repetitions of about `seconds`."""
    return measure_flow(
        case,
        device,
        build=lambda: in_motion(Simulation(problem, device, **options)),
        check=lambda: check_strategy(problem, device, **options),
        seconds=seconds,
        runs=runs,
    )


def measure_flow(case, device, *, build, check, seconds, runs) -> Speed:
    """A speed of the flows that `build()` makes, after `check()`."""
    require_timeable(seconds, runs)
    passed = check()
    # even and odd steps of strategies with one array differ
    unit = GRAPH_STEPS if device.name == "cuda" else 2
    time = partial(time_steps, seconds=seconds, unit=unit, long=inf)
    return measure_runs(case, device, build=build, check=lambda _: passed, time=time, facts=_facts, runs=runs)


def _facts(flow) -> dict:
    """What a row of speeds says of a flow, and by `work` what its step does: millions of updates, and bytes."""
    problem, moved = flow.problem, prod(flow.problem.shape)
    updates, choices = {"mlups": moved}, {"layout": flow.layout, "block": flow.block}
    if isinstance(problem, InPores):
        # updates of all nodes of the box, solid included (equation 5.5), and of pores
        updates["mflups"] = moved = problem.fluid_nodes
        choices = {"collision": problem.collision, "block": flow.block, "porosity": problem.space.porosity}
    work = {name: count / 1e6 for name, count in updates.items()} | {"bandwidth": moved * flow.bytes_per_update}
    names = {"strategy": flow.strategy, "precision": flow.precision, "size": size_of(problem.shape)}
    return {**names, "work": work, "choices": choices | {"launch": how_launched(flow.device)}}


def size_of(shape) -> str:
    """The nodes along each axis that has more than one, for tables."""
    return " x ".join(str(extent) for extent in shape if extent > 1)
