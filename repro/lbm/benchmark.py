"""Speed of a strategy on a device, measured only after its physics has been checked."""

import time
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from repro.parallel import CpuDevice, InputError, copy_bandwidth, measure, select

from .model import Problem
from .simulation import Simulation
from .timeloop import GRAPH_STEPS

#: largest difference of a velocity from the reference, over the largest velocity: rounding of some tens of steps
TOLERANCE = {"single": 2e-5, "double": 1e-12}


#: what every timer here includes
INCLUDES = "whole time steps with their wall schemes, launched from Python; no copy to the host"


@dataclass(frozen=True)
class Speed:
    """One measured speed: whole time steps, wall schemes included, without a copy to the host."""

    case: str
    device: str
    hardware: str
    strategy: str
    layout: str
    precision: str
    block: int
    size: str
    mlups: float
    #: seconds of one time step, median over the repetitions
    seconds: float
    spread: float
    #: bytes a second that the strategy must move at this speed
    bandwidth: float
    #: what the physics check found
    check: str


class CheckError(AssertionError):
    """A strategy computed another flow than the reference."""


def check_strategy(problem: Problem, device, *, strategy, precision, layout, block, steps: int = 20) -> str:
    """Run the strategy on a small grid against another one, node by node on one core; returns what was found.

    Raises CheckError where they differ by more than rounding.
    """
    nx, ny, nz = problem.shape
    small = replace(problem, shape=(min(nx, block), min(ny, 32), min(nz, 12)))
    options = {"strategy": strategy, "precision": precision, "layout": layout, "block": block}
    other = "pull" if strategy == "push" else "push"
    tested = Simulation(small, device, **options)
    reference = Simulation(small, select("serial"), strategy=other, precision=precision)
    for simulation in (tested, reference):
        simulation.step(steps)
    expected = reference.fields()[1]
    difference = np.abs(tested.fields()[1] - expected).max() / np.abs(expected).max()
    if not difference <= TOLERANCE[precision]:
        raise CheckError(f"{strategy} on {device.name} differs from the reference by {difference:.2e} in {steps} steps")
    grid = " x ".join(map(str, small.shape))
    return f"velocity within {difference:.1e} of serial {other} after {steps} steps on {grid}"


def uniform_flow(lattice) -> np.ndarray:
    """Populations (q, 1, 1, 1) of a fluid that moves along all axes, to start what is timed.

    From rest, single precision is full of numbers too small to be normal until the flow has reached every node, and a
    CPU handles those at a fraction of its speed.
    """
    along = np.array(lattice.velocities) @ np.array([0.01, 0.007, 0.004 if lattice.dimensions == 3 else 0.0])
    return (np.array(lattice.weights) * (1 + 3 * along + 4.5 * along**2))[:, None, None, None] * 1.001


def measure_speed(
    case: str, problem: Problem, device, *, strategy="pull", precision="single", layout="soa", block=128, seconds=0.2
) -> Speed:
    """Check the strategy, then time it on the problem's grid: five repetitions of about `seconds`."""
    if not seconds > 0:
        raise InputError(f"seconds = {seconds}: a repetition must take some time, such as 0.2")
    options = {"strategy": strategy, "precision": precision, "layout": layout, "block": block}
    check = check_strategy(problem, device, **options)
    simulation = Simulation(problem, device, **options)
    simulation.set_populations(uniform_flow(problem.model.lattice))
    steps = steps_for(simulation, seconds)
    timing = measure(lambda: simulation.advance(steps), device)
    simulation.step(1)
    rate = problem.nodes * steps / timing.seconds
    return Speed(
        case=case,
        device=device.name,
        hardware=device.description,
        size=" x ".join(str(extent) for extent in problem.shape if extent > 1),
        mlups=rate / 1e6,
        seconds=timing.seconds / steps,
        spread=timing.spread,
        bandwidth=rate * simulation.bytes_per_update,
        check=check,
        **options,
    )


def cpu_baselines(case: str, problem: Problem, record=None, **options) -> pd.DataFrame:
    """The three CPU baselines, as `speed_table` has them, indexed by name.

    "node by node" is the plain loop on one core, "rows" the same source as rows of nodes, which the compiler turns
    into vector instructions, on one core, "rows, all cores" on all of them.
    """
    devices = {
        "node by node": select("serial"),
        "rows": CpuDevice("threads", workers=1),
        "rows, all cores": select("threads"),
    }
    runs = [(f"{case}: {name}", problem, device, options) for name, device in devices.items()]
    table = speed_table(runs, record)
    table.index = pd.Index(list(devices), name="baseline")
    return table


def speed_table(runs, record=None, *, measured=measure_speed) -> pd.DataFrame:
    """Measure a list of (case, problem, device, options) with `measured`; one row a speed.

    Adds `roof`, the share of the device's copy bandwidth, and hands every speed to the notebook's `record`.
    """
    roofs, rows = {}, []
    for case, problem, device, options in runs:
        roofs[repr(device)] = roofs.get(repr(device)) or copy_bandwidth(device)
        speed = asdict(measured(case, problem, device, **options))
        rows.append(speed | {"roof": speed["bandwidth"] / roofs[repr(device)]})
        if record is not None:
            record.timing(**rows[-1], includes=INCLUDES)
    return pd.DataFrame(rows)


def ranking(speeds: pd.Series, relation: str) -> str:
    """The index in the order of the speeds: "a > b > c" for relation " > ", "c < b < a" for " < "."""
    return relation.join(str(name) for name in speeds.sort_values(ascending="<" in relation).index)


def steps_for(simulation: Simulation, seconds: float) -> int:
    """Number of steps that take about `seconds`: whole graphs on a GPU, at least two elsewhere."""
    device = simulation.device
    unit = GRAPH_STEPS if device.name == "cuda" else 2
    simulation.advance(2 * unit)
    device.synchronise()
    one = device.clock(lambda: simulation.advance(unit)) / unit
    return max(unit, unit * round(seconds / (unit * one)))


def time_loop_speed(problem: Problem, device, *, steps: int, precision: str = "single") -> dict:
    """The time loop as a user sees it: wall clock around `step(steps)` from Python, checks for divergence included.

    Returns what a notebook's record takes as a timing.
    """
    check = check_strategy(problem, device, strategy="pull", precision=precision, layout="soa", block=128)
    simulation = Simulation(problem, device, precision=precision)
    simulation.set_populations(uniform_flow(problem.model.lattice))
    simulation.step(2 * GRAPH_STEPS + 2)
    device.synchronise()
    start = time.perf_counter()
    simulation.step(steps)
    device.synchronise()
    seconds = time.perf_counter() - start
    return {
        "case": "time loop from Python",
        "mlups": problem.nodes * steps / seconds / 1e6,
        "seconds": seconds / steps,
        "device": device.name,
        "precision": precision,
        "size": " x ".join(str(extent) for extent in problem.shape if extent > 1),
        "includes": f"wall clock around {steps} steps launched from Python, looks for NaN included",
        "check": check,
    }
