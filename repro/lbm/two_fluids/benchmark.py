"""Speed of the strategies for two fluids: what is checked, what a step does, and what was chosen."""

from dataclasses import replace

import numpy as np

from repro.parallel import CpuDevice, Speed, agreement, part_seconds

from ..benchmark import TOLERANCE, measure_flow
from ..lattice import D3Q19
from ..media import PoreSpace, sphere_crystal
from .model import TwoFluids
from .simulation import TwoFluidFlow
from .strategies import STRATEGIES

#: fluids that differ in everything, for the check: the same kernels with other numbers
UNLIKE = {
    "interaction": 0.12,
    "wetting": (0.03, -0.02),
    "relaxation_times": (0.8, 1.3),
    "accelerations": ((1e-3, -2e-3, 5e-4), (0.0, 1e-3, -1e-3)),
}

#: what `TwoFluidFlow.fields` gives
_NAMES = ("density of a", "density of b", "velocity")

_SIDE = 12


def check_strategy(problem: TwoFluids, device, *, strategy="dense", steps: int = 10, **options) -> str:
    """Run the strategy on a small crystal against another one on one core; returns how well they agree.

    A box without solid has kernels of its own where all nodes are kept, and is checked with these. Raises CheckError
    where the runs differ by more than rounding. `options` as of TwoFluidFlow.
    """
    is_open = STRATEGIES[strategy].COST.dense and not problem.space.solid.any()
    solid = np.zeros((_SIDE,) * 3, bool) if is_open else sphere_crystal(_SIDE, 0.8)
    small = replace(problem, space=PoreSpace(solid), **UNLIKE)
    tested = TwoFluidFlow(small, device, strategy=strategy, **options)
    # a list of pores against the full box: they share neither map nor flags
    other = "dense" if strategy == "sparse" else "sparse"
    reference = TwoFluidFlow(small, CpuDevice("threads", workers=1), strategy=other, precision=tested.precision)
    for flow in (tested, reference):
        flow.set_densities(*np.random.default_rng(1).uniform(0.3, 0.7, (2, *solid.shape)))
        flow.step(steps)
    result, expected = (dict(zip(_NAMES, flow.fields(), strict=True)) for flow in (tested, reference))
    name, limit = f"{strategy} on {device.name}", TOLERANCE[tested.precision]
    agree = agreement(name, result, f"{other} on one core", expected, limit)
    return f"fields {agree} after {steps} steps in {'an open box' if is_open else 'a crystal'} of {_SIDE}^3"


def stirred(problem: TwoFluids, device, seed: int = 1, **options) -> TwoFluidFlow:
    """Two running fluids to be timed; `options` as of TwoFluidFlow.

    What leaves each node is drawn by chance, from 0.3 to 0.7 in density: the fluids move, part and are nowhere alike.
    """
    flow, chance = TwoFluidFlow(problem, device, **options), np.random.default_rng(seed)
    for array in flow.state:
        rows = array.reshape(D3Q19.q, flow.scheme.row)
        leaving = device.to_device(chance.uniform(-0.7, -0.3, flow.scheme.row).astype(flow.dtype))
        for row, weight in zip(rows, D3Q19.weights, strict=True):
            row[:] = leaving * flow.dtype(weight)
    return flow


def measure_speed(case: str, problem: TwoFluids, device, *, seconds=0.2, runs=1, **options) -> Speed:
    """Check the strategy, then time it: in each run, built anew, five repetitions of about `seconds`."""
    return measure_flow(
        case,
        device,
        build=lambda: stirred(problem, device, **options),
        check=lambda: check_strategy(problem, device, **options),
        seconds=seconds,
        runs=runs,
    )


def part_times(problem: TwoFluids, device, *, seconds: float = 0.02, **options) -> dict[str, float]:
    """Seconds of each kernel of a step: "densities" (the porous paper's LBUpdateMacros) and "update", which a strategy
    with one kernel has alone; `options` as of TwoFluidFlow."""
    flow = stirred(problem, device, **options)
    flow.advance(2)
    return part_seconds(flow.scheme.parts[0], device, seconds)


def resources(problem: TwoFluids, device, **options) -> dict[str, int]:
    """Registers a thread and shared bytes a block of the kernel that collides, on a GPU; nothing elsewhere."""
    if device.name != "cuda" or device.simulated:
        return {}
    flow = TwoFluidFlow(problem, device, **options)
    flow.advance(1)
    used = device.resources(flow.scheme.parts[0]["update"])
    return {name: used[name] for name in ("registers", "shared")}
