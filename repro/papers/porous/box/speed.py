"""Speed of the strategies in the cavity and the duct: tables, CPU baselines and the time loop as a user sees it."""

import time

import pandas as pd

from repro.lbm.benchmark import INCLUDES, check_strategy, measure_speed, size_of, uniform_flow
from repro.lbm.model import Problem
from repro.lbm.simulation import Simulation
from repro.papers import timings
from repro.parallel import GRAPH_STEPS, CpuDevice, select


def speed_table(runs, record=None) -> pd.DataFrame:
    """Measure a list of (case, problem, device, options); see `timings.speed_table`."""
    return timings.speed_table(runs, record, measured=measure_speed, includes=INCLUDES)


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
        "size": size_of(problem.shape),
        "includes": f"wall clock around {steps} steps launched from Python, looks for NaN included",
        "check": check,
    }
