"""The methods that run on several ranks: what is built for a box, and what a unit of its volume holds."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from repro.lbm.benchmark import in_motion
from repro.lbm.boundaries import PERIODIC_BOX
from repro.lbm.lattice import D3Q19
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.model import Model, Problem
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.simulation import Simulation
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.simulation import TwoFluidFlow

#: side of a cell of the rock in voxels, and its porosity
ROCK_CELL, POROSITY = 16, 0.4


class Method(NamedTuple):
    """How a method is built on ranks, build(shape, device, ranks), and what it counts, work(simulation)."""

    build: Callable
    work: Callable


def fluid_nodes(flow) -> int:
    """Fluid nodes of the whole box."""
    return flow.problem.fluid_nodes


def box(shape, device, ranks):
    """A fluid that moves through a periodic box of (nx, ny, nz) nodes."""
    problem = Problem(Model(D3Q19, PERIODIC_BOX, "trt", "guo"), shape, 0.8, force=(1e-6, 0.0, 0.0))
    return in_motion(Simulation(problem, device, ranks=ranks))


def rock(shape, device, ranks):
    """Flow through a crystal of spheres, of which pores alone are kept."""
    # spheres fill chi^3 pi sqrt(3)/8 of a cell
    cell = sphere_crystal(ROCK_CELL, ((1 - POROSITY) * 8 / (np.pi * np.sqrt(3))) ** (1 / 3))
    solid = np.tile(cell, [-(-n // ROCK_CELL) for n in shape[::-1]])[tuple(map(slice, shape[::-1]))]
    problem = PorousProblem(PoreSpace(solid), 0.8, (1e-6, 0.0, 0.0), "mrt")
    return in_motion(PorousFlow(problem, device, ranks=ranks))


def two_fluids(shape, device, ranks):
    """Two fluids that repel each other, mixed, in a periodic box."""
    problem = TwoFluids(PoreSpace(np.zeros(shape[::-1], bool)), interaction=0.1)
    flow = TwoFluidFlow(problem, device, ranks=ranks)
    flow.set_densities(0.6, 0.4, (0.01, 0.007, 0.004))
    return flow


METHODS = {
    "dense": Method(box, fluid_nodes),
    "sparse": Method(rock, fluid_nodes),
    "two fluids": Method(two_fluids, fluid_nodes),
}
