"""Speed of the strategies for porous media: what is checked, what a step does, and what was chosen."""

from dataclasses import replace

from repro.parallel import Speed, select

from ..benchmark import compare_flows, in_motion, measure_flow
from ..media import PoreSpace, sphere_crystal
from .problem import PorousProblem
from .simulation import PorousFlow


def check_strategy(problem: PorousProblem, device, *, strategy, steps: int = 10, **options) -> str:
    """Run the strategy on a small crystal against another one, node by node on one core; returns how well they agree.

    Raises CheckError where they differ by more than rounding. `options` as of PorousFlow.
    """
    small = replace(problem, space=PoreSpace(sphere_crystal(12, 0.8)))
    tested = PorousFlow(small, device, strategy=strategy, **options)
    # a list of fluid nodes against the full box: they share neither map nor flags
    other = "flag word" if strategy.startswith("sparse") else "sparse"
    return compare_flows(tested, PorousFlow(small, select("serial"), strategy=other, precision=tested.precision), steps)


def measure_speed(
    case: str, space: PoreSpace, device, *, collision="mrt", block=64, seconds=0.2, runs=1, **options
) -> Speed:
    """Check the strategy, then time it on the image: in each run five repetitions of about `seconds`."""
    problem, options = PorousProblem(space, 0.8, (1e-6, 0.0, 0.0), collision), options | {"block": block}
    return measure_flow(
        case,
        device,
        build=lambda: in_motion(PorousFlow(problem, device, **options)),
        check=lambda: check_strategy(problem, device, **options),
        seconds=seconds,
        runs=runs,
    )
