"""What a table says of a timing is what was done."""

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.lbm import benchmark
from repro.lbm.cases import CubicCavity
from repro.lbm.lattice import D3Q19
from repro.lbm.simulation import Simulation
from repro.parallel import CpuDevice
from repro.parallel.timeloop import GRAPH_STEPS


class Noting:
    """A simulation's device that notes how many launches it records; its clock is always one second."""

    xp, simulated = np, True

    def __init__(self, name: str):
        self.name, self.captured = name, 0

    def __getattr__(self, name):
        return getattr(PlainDevice(), name)

    def capture(self, run):
        self.captured += 1
        return lambda: None

    def clock(self, run):
        run()
        return 1.0

    def compile(self, kernel):
        return lambda shape, *arguments: lambda: None


@pytest.mark.parametrize("name", ["cuda", "threads"])
def test_the_launch_that_is_stated_is_the_one_that_ran(name):
    problem = CubicCavity(reynolds=10, nodes=10).problem
    device = Noting(name)
    facts = {"size": "10", "check": "none", "choices": {"block": 32}}
    speed = benchmark.timed(
        "case", lambda: Simulation(problem, device), D3Q19, 2.0, 2, updates={"mlups": 1000}, moved=1000, **facts
    )
    assert speed.row["launch"] == (
        f"CUDA graph of {GRAPH_STEPS} steps" if name == "cuda" else "from Python, one by one"
    )
    assert speed.row["block"] == 32
    assert speed.repeats == 5
    # on a CPU a recorded sequence is the sequence itself
    assert CpuDevice(name).capture(len) is len if name == "threads" else device.captured
