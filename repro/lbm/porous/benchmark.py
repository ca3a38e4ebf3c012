"""Speed of the strategies for porous media: what is checked, what a step does, and what was chosen."""

from dataclasses import replace

from repro.parallel import Speed, select

from ..benchmark import compare_flows, in_motion, measure_flow
from ..lattice import D3Q19
from ..media import PoreSpace, sphere_crystal
from .problem import PorousProblem
from .simulation import PorousFlow


def check_strategy(problem: PorousProblem, device, *, strategy, precision, block, steps: int = 10) -> str:
    """Run the strategy on a small crystal against another one, node by node on one core; returns how well they agree.

    Raises CheckError where they differ by more than rounding.
    """
    small = replace(problem, space=PoreSpace(sphere_crystal(12, 0.8)))
    tested = PorousFlow(small, device, strategy=strategy, precision=precision, block=block)
    # a list of fluid nodes against the full box: they share neither map nor flags
    other = "flag word" if strategy.startswith("sparse") else "sparse"
    reference = PorousFlow(small, select("serial"), strategy=other, precision=precision)
    return f"{compare_flows(strategy, tested, other, reference, D3Q19, steps)} on 12 x 12 x 12"


def measure_speed(
    case: str, space: PoreSpace, device, *, strategy, collision="mrt", precision="single", block=64, seconds=0.2, runs=1
) -> Speed:
    """Check the strategy, then time it on the image: in each run five repetitions of about `seconds`."""
    problem = PorousProblem(space, 0.8, (1e-6, 0.0, 0.0), collision)
    options = {"strategy": strategy, "precision": precision, "block": block}
    return measure_flow(
        case,
        device,
        build=lambda: in_motion(PorousFlow(problem, device, **options), D3Q19),
        check=lambda: check_strategy(problem, device, **options),
        size=" x ".join(map(str, space.shape)),
        # updates of all nodes of the box, solid included (equation 5.5), and of fluid nodes
        updates={"mlups": space.solid.size, "mflups": space.pores},
        moved=space.pores,
        choices={"collision": collision, "block": block, "porosity": space.porosity},
        seconds=seconds,
        runs=runs,
    )
