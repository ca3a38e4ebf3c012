"""Flows on several ranks, and one rank's part of tests/lbm/test_lbm_ranks.py.

python rank_flows.py STEPS: prints on rank 0, as JSON, what the flow of each case is after so many steps.
"""

import hashlib
import json
import sys

import numpy as np

from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D2Q9, D3Q19
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.model import Model, Problem
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.simulation import Simulation
from repro.parallel import select
from repro.parallel.ranks.world import world

P, H, S, E = "periodic", "half-way", "standard", "extrapolation"


def box(lattice, faces, shape, *, moving=None, solid=0.0) -> Problem:
    """A box with nodes that are solid by chance, whose wall moves, if one does, along x or z."""
    obstacles = np.random.default_rng(4).random(shape[::-1]) < solid if solid else None
    flat, along = lattice is D2Q9, (0.0, 0.0, 0.0) if moving is None else (0.05, 0.0, 0.0)
    force = (2e-4, -1e-4, 0.0 if flat else 3e-4)
    model = Model(lattice, Boundaries(faces, moving), "trt", "guo")
    return Problem(model, shape, 0.8, force=force, wall_velocity=along, solid=obstacles)


ROCK = PoreSpace(sphere_crystal(11, 0.7))

#: class of the flow, strategy and problem; odd sizes, so that ranks have boxes of several shapes, the first one slabs
CASES = {
    "a lid over obstacles": (Simulation, "pull", box(D3Q19, (H, H, H, H, P, P), (5, 4, 67), moving=3, solid=0.2)),
    "pores": (PorousFlow, "sparse", PorousProblem(ROCK, 0.8, (1e-4, 0.0, 0.0), "trt", "guo")),
}


def random_populations(problem, seed=1) -> np.ndarray:
    """Populations some per cent from rest, of shape (q, nz, ny, nx)."""
    weights = np.array(problem.lattice.weights)[:, None, None, None]
    noise = np.random.default_rng(seed).uniform(-1, 1, (weights.size, *problem.shape[::-1]))
    return weights * (1 + 0.05 * noise)


def flow_after(problem, device, ranks, steps, kind=Simulation, **options):
    """The flow after so many steps from random populations."""
    flow = kind(problem, device, ranks=ranks, **options)
    flow.set_populations(random_populations(problem))
    flow.step(steps)
    return flow


def state_of(flow) -> tuple:
    """Populations and velocity of the whole box, on rank 0."""
    return flow.gathered(flow.populations()), flow.gathered(flow.fields()[1])


def digests(ranks, steps: int) -> dict:
    """Of the flow of each case after so many steps, on one core a rank: its bits and its mean density; on rank 0."""
    found = {}
    for name, (kind, strategy, problem) in CASES.items():
        flow = flow_after(problem, select("serial"), ranks, steps, kind, strategy=strategy)
        fields, mean = [flow.gathered(values) for values in flow.fields()], flow.mean_density()
        if ranks.rank == 0:
            bits = b"".join(values.tobytes() for values in fields)
            found[name] = hashlib.sha256(bits).hexdigest(), mean
    return found


def main(steps: str):
    ranks = world()
    found = digests(ranks, int(steps))
    if ranks.rank == 0:
        print(json.dumps(found))
    ranks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
