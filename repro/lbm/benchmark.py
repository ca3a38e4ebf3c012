"""Speed of a strategy on a device, measured only after its physics has been checked."""

from dataclasses import replace
from functools import partial

import numpy as np

from repro.errors import CheckError, require_whole
from repro.parallel import GRAPH_STEPS, Speed, measure, require_seconds, select

from .model import Problem
from .simulation import Simulation

#: largest difference of a velocity from the reference, over the largest velocity: rounding of some tens of steps
TOLERANCE = {"single": 2e-5, "double": 1e-12}


#: blocks of a row on the grid of the check, where the grid that is timed has as many
BLOCKS = 3

#: what every timer here includes
INCLUDES = "whole time steps with their wall schemes; no copy to the host"


def check_strategy(problem: Problem, device, *, strategy, precision, layout, block, steps: int = 20) -> str:
    """Run the strategy on a small grid against another one, node by node on one core; returns what was found.

    Raises CheckError where they differ by more than rounding.
    """
    nx, ny, nz = problem.shape
    # several blocks a row: what goes from block to block is to be checked
    small = replace(problem, shape=(min(nx, BLOCKS * block), min(ny, 32), min(nz, 12)))
    options = {"strategy": strategy, "precision": precision, "layout": layout, "block": block}
    other = "pull" if strategy == "push" else "push"
    tested = Simulation(small, device, **options)
    reference = Simulation(small, select("serial"), strategy=other, precision=precision)
    for simulation in (tested, reference):
        simulation.set_populations(uniform_flow(problem.model.lattice))
        simulation.step(steps)
    expected = reference.fields()[1]
    difference = np.abs(tested.fields()[1] - expected).max() / np.abs(expected).max()
    if not difference <= TOLERANCE[precision]:
        raise CheckError(f"{strategy} on {device.name} differs from the reference by {difference:.2e} in {steps} steps")
    grid = " x ".join(map(str, small.shape))
    return f"velocity within {difference:.1e} of serial {other} after {steps} steps on {grid}"


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
    require_seconds(seconds)
    options = {"strategy": strategy, "precision": precision, "layout": layout, "block": block}
    check = check_strategy(problem, device, **options)
    facts = {"size": size_of(problem.shape), "check": check, "choices": {"layout": layout, "block": block}}
    lattice = problem.model.lattice
    updates = {"mlups": problem.nodes}
    build = partial(Simulation, problem, device, **options)
    return timed(case, build, lattice, seconds, runs, updates=updates, moved=problem.nodes, **facts)


def timed(
    case: str, build, lattice, seconds: float, runs: int, *, updates: dict[str, int], moved: int, choices: dict, **facts
) -> Speed:
    """Time steps with the fluid in motion, in repetitions of about `seconds`, and look for NaN after each run.

    Every run builds its simulation anew. `updates` gives what a step updates by the name of its rate (in millions a
    second), `moved` how many updates move the strategy's bytes; `facts` are other fields of the speed. How steps are
    launched is added to the `choices`.
    """
    require_whole("runs", runs, 1, 100)
    timings, steps = [], 0
    for _ in range(runs):
        simulation = build()
        simulation.set_populations(uniform_flow(lattice))
        steps = steps or steps_for(simulation, seconds)
        simulation.advance(2)
        timings.append(measure(partial(simulation.advance, steps), simulation.device).per(steps))
        simulation.step(1)
        names = {"strategy": simulation.strategy, "precision": simulation.precision}
        work = {name: count / 1e6 for name, count in updates.items()}
        work["bandwidth"], device = moved * simulation.bytes_per_update, simulation.device
        # two at once might not fit
        del simulation
    gpu = device.name == "cuda"
    launch = f"CUDA graph of {GRAPH_STEPS} steps" if gpu else "from Python, one by one"
    return Speed.of(case, device, timings, work=work, choices=choices | {"launch": launch}, **names, **facts)


def size_of(shape) -> str:
    """The nodes along each axis that has more than one, for tables."""
    return " x ".join(str(extent) for extent in shape if extent > 1)


def steps_for(simulation: Simulation, seconds: float) -> int:
    """Number of steps that take about `seconds`: whole graphs on a GPU, at least two elsewhere."""
    device = simulation.device
    unit = GRAPH_STEPS if device.name == "cuda" else 2
    simulation.advance(2 * unit)
    device.synchronise()
    one = device.clock(lambda: simulation.advance(unit)) / unit
    return max(unit, unit * round(seconds / (unit * one)))
