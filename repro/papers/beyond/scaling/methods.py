"""The methods that run on several ranks, one entry each: what is built for a box, what it counts, and what it sends."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from repro.dpd import cases as dpd_cases
from repro.dpd import simulation as dpd
from repro.lbm.benchmark import in_motion
from repro.lbm.boundaries import PERIODIC_BOX
from repro.lbm.lattice import D3Q19
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.model import Model, Problem
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.simulation import Simulation
from repro.lbm.strategies.scheme import in_order
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.simulation import TwoFluidFlow
from repro.parallel import TimeLoop
from repro.sph import cases as sph_cases
from repro.sph import simulation as sph

#: side of a cell of the rock in voxels, and its porosity
ROCK_CELL, POROSITY = 16, 0.4

#: nodes in whose place a cutoff radius of DPD, or a spacing of SPH, stands along each axis
COARSER = 2


class Method(NamedTuple):
    """How a method runs on ranks."""

    #: build(shape, device, ranks): a simulation of a box of (nx, ny, nz), ready to step
    build: Callable
    #: bytes that cross a cut each way, for a node of its area
    crossing: float
    #: unhidden(simulation) takes the same steps, but each exchange follows the work that hid it; None: none is hidden
    unhidden: Callable | None = None
    #: whether the box goes on at its other end, so that two ranks have two cuts between them
    periodic: bool = True


def sent_late(flow) -> TimeLoop | None:
    """The steps of a flow on slabs, in which messages are sent when they are waited for; None if it is not on slabs."""
    launches = []
    for parts in flow.scheme.parts:
        sends = [name for name in parts if name.startswith("send")]
        names = [name for name in parts if name not in sends]
        for name in sends:
            names.insert(names.index(name.replace("send", "receive")), name)
        launches += [in_order(*(parts[name] for name in names))] if sends else []
    return TimeLoop(flow.device, launches, start=flow.start, look=flow.look) if launches else None


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


def fluid(shape, device, ranks):
    """A fluid of DPD at rest, four particles to the cube of a cutoff radius, in a periodic box."""
    system = dpd_cases.Bulk(tuple(n / COARSER for n in shape)).system()
    # on one rank, too, what runs on several
    return dpd.Simulation(system, device, strategy="sorted cells", ranks=ranks)


def water(shape, device, ranks):
    """The column of water of the SPH paper, of so many spacings, in its tank."""
    column = tuple(n // COARSER for n in shape)
    return sph.Simulation(sph_cases.DamBreak.of_paper(column).system(), device, ranks=ranks)


#: populations of D3Q19 that cross a plane
_CROSSING = sum(velocity[2] == 1 for velocity in D3Q19.velocities)

#: all in single precision; two fluids send their potentials as well
METHODS = {
    "dense": Method(box, 4 * _CROSSING, sent_late),
    "sparse": Method(rock, 4 * _CROSSING * POROSITY, sent_late),
    "two fluids": Method(two_fluids, 2 * 4 * (_CROSSING + 1), sent_late),
    # a layer as deep as the cutoff radius, with ten numbers a particle and a quarter more room than particles
    "DPD": Method(fluid, 1.25 * 4 * 40 / COARSER**2),
    # of 2.6 spacings, with fifteen numbers in two messages
    "SPH": Method(water, 2.6 * 60 / COARSER**2, periodic=False),
}
