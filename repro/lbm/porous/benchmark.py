"""Speed of the strategies for porous media, measured only after their physics has been checked."""

from dataclasses import replace
from functools import partial

import numpy as np

from repro.errors import CheckError
from repro.parallel import Speed, require_seconds, select

from ..benchmark import TOLERANCE, timed, uniform_flow
from ..lattice import D3Q19
from ..media import PoreSpace, sphere_crystal
from .problem import PorousProblem
from .simulation import PorousFlow


def check_strategy(problem: PorousProblem, device, *, strategy, precision, block, steps: int = 10) -> str:
    """Run the strategy on a small crystal against another one, node by node on one core; returns what was found.

    Raises CheckError where they differ by more than rounding.
    """
    small = replace(problem, space=PoreSpace(sphere_crystal(12, 0.8)))
    tested = PorousFlow(small, device, strategy=strategy, precision=precision, block=block)
    # a list of fluid nodes against the full box: they share neither map nor flags
    other = "flag word" if strategy.startswith("sparse") else "sparse"
    reference = PorousFlow(small, select("serial"), strategy=other, precision=precision)
    for flow in (tested, reference):
        flow.set_populations(uniform_flow(D3Q19))
        flow.step(steps)
    expected = reference.fields()[1]
    difference = np.abs(tested.fields()[1] - expected).max() / np.abs(expected).max()
    if not difference <= TOLERANCE[precision]:
        raise CheckError(f"{strategy} on {device.name} differs from {other} by {difference:.2e} in {steps} steps")
    return f"velocity within {difference:.1e} of serial {other} after {steps} steps on 12 x 12 x 12"


def measure_speed(
    case: str, space: PoreSpace, device, *, strategy, collision="mrt", precision="single", block=64, seconds=0.2, runs=1
) -> Speed:
    """Check the strategy, then time it on the image: in each run five repetitions of about `seconds`."""
    require_seconds(seconds)
    problem = PorousProblem(space, 0.8, (1e-6, 0.0, 0.0), collision)
    options = {"strategy": strategy, "precision": precision, "block": block}
    check = check_strategy(problem, device, **options)
    build = partial(PorousFlow, problem, device, **options)
    # updates of all nodes of the box, solid included (equation 5.5), and of fluid nodes
    updates = {"mlups": space.solid.size, "mflups": space.pores}
    choices = {"collision": collision, "block": block, "porosity": space.porosity}
    facts = {"size": " x ".join(map(str, space.shape)), "check": check, "choices": choices}
    return timed(case, build, D3Q19, seconds, runs, updates=updates, moved=space.pores, **facts)
