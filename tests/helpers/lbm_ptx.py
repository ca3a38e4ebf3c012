"""Compile every kernel of kinds of flow to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python -m helpers.lbm_ptx KIND [KIND ...]

boxes      each lattice in a precision, D2Q9 in both, and a D2Q9 channel with solid nodes
porous     the strategies for porous media, in each collision and precision that is named
swaps      those of the swap paper, on the cubic cavity
halves     those that keep half precision, on the cubic cavity
fluids     those for two fluids, each in a collision and a precision
"""

import json
import sys

import numpy as np

from helpers.ptx_device import PtxDevice, look
from helpers.steps import around
from repro.lbm.boundaries import Boundaries
from repro.lbm.cases import CubicCavity
from repro.lbm.lattice import LATTICES
from repro.lbm.media import PoreSpace
from repro.lbm.model import Model, Problem
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.porous.strategies import STRATEGIES as POROUS_STRATEGIES
from repro.lbm.simulation import Simulation
from repro.lbm.strategies import IN_HALF, STRATEGIES, SWAPS
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.simulation import TwoFluidFlow

P, H, E = "periodic", "half-way", "extrapolation"

#: the paper's cavity and duct, and a closed box
CASES = {
    "D2Q9": ((H, H, H, E, P, P), 3, None, (256, 16, 1)),
    "D3Q15": ((P, P, E, E, E, E), None, "luo", (128, 8, 8)),
    "D3Q19": ((H,) * 6, 3, "guo", (256, 8, 8)),
}


#: of two fluids: each strategy once, each collision and each precision at least once; all of all would take a minute
TWO_FLUIDS = (("tiled", "bgk", "single"), ("sparse", "bgk", "single"), ("dense", "mrt", "double"))


class StepsOnly(PtxDevice):
    """Leaves out the kernel that observes, which no step launches."""

    def compile(self, kernel):
        observes = any(part.__name__ == "observe" for part in around(kernel.body))
        return (lambda *bound: lambda: None) if observes else super().compile(kernel)


#: collisions of the porous media with their precisions
POROUS = (("bgk", "single"), ("mrt", "single"), ("mrt", "double"))

PRECISIONS = ("single", "double")


def box_flow(lattice, strategy, precision, device):
    faces, moving, forcing, shape = CASES[lattice]
    force = (1e-4, 0.0, 0.0) if forcing else (0.0, 0.0, 0.0)
    velocity = (0.05, 0.0, 0.0) if moving is not None else (0.0, 0.0, 0.0)
    model = Model(LATTICES[lattice], Boundaries(faces, moving), "bgk", forcing)
    problem = Problem(model, shape, 0.8, force=force, wall_velocity=velocity)
    Simulation(problem, device, strategy=strategy, precision=precision)


def obstacle_flow(_, strategy, precision, device):
    model = Model(LATTICES["D2Q9"], Boundaries((P, P, H, H, P, P)), "bgk", "guo")
    problem = Problem(model, (256, 16, 1), 0.8, force=(1e-4, 0.0, 0.0), solid=np.zeros((1, 16, 256), bool))
    Simulation(problem, device, strategy=strategy, precision=precision)


def porous_flow(collision, strategy, precision, device):
    problem = PorousProblem(PoreSpace(np.zeros((4, 4, 4), bool)), 0.8, (1e-4, 0.0, 0.0), collision)
    PorousFlow(problem, device, strategy=strategy, precision=precision)


def cubic_flow(_, strategy, precision, device):
    Simulation(CubicCavity(nodes=34).problem, device, strategy=strategy, precision=precision)


def two_fluids(collision, strategy, precision, device):
    problem = TwoFluids(PoreSpace(np.zeros((4, 4, 4), bool)), 0.1, collision=collision)
    TwoFluidFlow(problem, device, strategy=strategy, precision=precision)


def runs_of(kind: str) -> list[tuple]:
    """(build, case, strategy, precision) of all flows of a kind."""
    in_place = [name for name in SWAPS if name != "swap sweep"] + ["esoteric pull"]
    boxes = [(box_flow, lattice, "single") for lattice in CASES] + [(box_flow, "D2Q9", "double")]
    kinds = {
        "boxes": [(*box, name) for box in [*boxes, (obstacle_flow, "obstacles", "single")] for name in STRATEGIES],
        "porous": [(porous_flow, *case, name) for case in POROUS for name in POROUS_STRATEGIES],
        "swaps": [(cubic_flow, "cubic", precision, name) for precision in PRECISIONS for name in in_place],
        "halves": [(cubic_flow, "cubic", "half", name) for name in IN_HALF],
        "fluids": [(two_fluids, collision, precision, name) for name, collision, precision in TWO_FLUIDS],
    }
    return [(build, case, strategy, precision) for build, case, precision, strategy in kinds[kind]]


def main(*kinds: str):
    for kind in kinds:
        for build, case, strategy, precision in runs_of(kind):
            device = StepsOnly()
            build(case, strategy, precision, device)
            for name, text in device.kernels.values():
                names = {"kind": kind, "case": case, "strategy": strategy, "precision": precision, "kernel": name}
                print(json.dumps(names | look(text)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
