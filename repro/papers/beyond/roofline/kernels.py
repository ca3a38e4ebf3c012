"""The production kernels: what is built of about so many nodes or particles, and what each of them must take."""

from collections.abc import Callable
from functools import partial
from math import pi
from typing import NamedTuple

import numpy as np

from repro.dpd import benchmark as dpd
from repro.dpd.cases import Bulk
from repro.dpd.state import State
from repro.lbm import benchmark as box
from repro.lbm.boundaries import PERIODIC_BOX
from repro.lbm.lattice import D3Q19
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.model import Model, Problem
from repro.lbm.porous import benchmark as pores
from repro.lbm.two_fluids import benchmark as fluids
from repro.lbm.two_fluids.model import TwoFluids
from repro.parallel import PRECISIONS, Speed
from repro.pic import benchmark as pic
from repro.pic.cases import UniformSource
from repro.pic.state import bytes_each
from repro.sph import benchmark as sph
from repro.sph.cases import DamBreak

#: side of a cell of the rock in nodes, and its porosity
ROCK_CELL, POROSITY = 16, 0.4

#: particles in a volume of one cutoff radius cubed (DPD), electrons a cell, and steps from one sort to the next
DENSITY, PER_CELL, SORT_EVERY = 4.0, 30, 20

#: numbers that a step of SPH must read, and write: position, two velocities, density and a rate of each
_SPH_NUMBERS = 14

#: instructions of a candidate, of a pair besides its noise (docs/performance.md), and of a round of TEA for a pair
_CANDIDATE, _PAIR, _ROUND = 19, 45, 16

#: candidates and neighbours of a particle: all in 27 cells, and those within the cutoff
_IN_DPD = 27 * DENSITY, 4 / 3 * pi * DENSITY
_IN_SPH = 510, 79


class Kernel(NamedTuple):
    """A production kernel."""

    #: the method, for figures, and its variant
    method: str
    variant: str
    #: measure(items, device, seconds=...) gives the Speed of about so many items
    measure: Callable[..., Speed]
    #: bytes of an item in a step; None: the strategy declares them, and its Speed has a bandwidth
    bytes: float | None = None
    #: instructions of an item in a step, all lanes at work; None: not counted
    instructions: float | None = None
    #: most items for which a host sets up a case in some ten seconds
    most: float = 1e9

    @property
    def name(self) -> str:
        """Method and variant."""
        return f"{self.method}, {self.variant}"


def side_of(volume: float, multiple: int = 1, least: int = 1) -> int:
    """The side of the cube that is nearest to a volume, a multiple of a number and at least another one."""
    return max(least, multiple * round(volume ** (1 / 3) / multiple))


def _dense(precision: str, items: float, device, **timing) -> Speed:
    """A periodic box, by pairs of nodes where it is faster (docs/performance.md)."""
    strategy = "paired pull" if precision != "double" and device.name == "cuda" else "pull"
    problem = Problem(Model(D3Q19, PERIODIC_BOX, "bgk"), (side_of(items, 2, 8),) * 3, 0.8)
    return box.measure_speed("box", problem, device, strategy=strategy, precision=precision, **timing)


def _rock(items: float, device, **timing) -> Speed:
    """A crystal of spheres, of which the pores are kept, in one array."""
    cells = side_of(items / POROSITY / ROCK_CELL**3)
    # spheres fill chi^3 pi sqrt(3)/8 of a cell
    cell = sphere_crystal(ROCK_CELL, ((1 - POROSITY) * 8 / (pi * 3**0.5)) ** (1 / 3))
    return pores.measure_speed(
        "rock", PoreSpace(np.tile(cell, [cells] * 3)), device, strategy="sparse in place", **timing
    )


def _two_fluids(items: float, device, **timing) -> Speed:
    space = PoreSpace(np.zeros((side_of(items, 2, 8),) * 3, bool))
    return fluids.measure_speed("two fluids", TwoFluids(space, interaction=0.1), device, **timing)


def _dpd(rounds: int, items: float, device, **timing) -> Speed:
    system = Bulk((max(4.0, (items / DENSITY) ** (1 / 3)),) * 3).system()
    return dpd.measure_speed("fluid", system, device, rounds=rounds, **timing)


def _water(density: str, items: float, device, **timing) -> Speed:
    side = side_of(items, least=8)
    return sph.measure_speed("dam break", DamBreak(column=(side,) * 3).system(), device, density=density, **timing)


def _electrons(precision: str, items: float, device, **timing) -> Speed:
    system = UniformSource(cells=side_of(items / PER_CELL, least=4), per_cell=PER_CELL, births=0.0).system()
    return pic.measure_speed("source", system, device, precision=precision, sort_every=SORT_EVERY, **timing)


def _pairs(candidates: float, pairs: float, noise: float = 0.0, sums: int = 1) -> float:
    """Instructions of a particle that meets its neighbours in so many sums and its candidates once."""
    return _CANDIDATE * candidates + sums * pairs * (_PAIR + noise)


def _kernels() -> list[Kernel]:
    lattice, dissipative, smoothed, electrons = "lattice Boltzmann", "DPD", "SPH", "electrons"
    found = [Kernel(lattice, f"dense, {name}", partial(_dense, name)) for name in ("single", "double", "half")]
    found += [Kernel(lattice, "sparse in place", _rock), Kernel(lattice, "two fluids", _two_fluids)]
    # each number of the state is read and written once
    moved = 2 * 4 * State.NUMBERS
    for rounds in (8, 32):
        count = _pairs(*_IN_DPD, noise=_ROUND * rounds)
        found.append(Kernel(dissipative, f"TEA-{rounds}", partial(_dpd, rounds), moved, count, 1e8))
    for name, density, sums in (("two sums", "continuity", 2), ("one sum", "rate", 1)):
        count = _pairs(*_IN_SPH, sums=sums)
        found.append(Kernel(smoothed, name, partial(_water, density), 2 * 4 * _SPH_NUMBERS, count, 2e6))
    for name in ("single", "double"):
        found.append(Kernel(electrons, name, partial(_electrons, name), 2 * bytes_each(PRECISIONS[name]), most=1e8))
    return found


#: by name; the first of a method is the one that is timed over sizes
KERNELS = {kernel.name: kernel for kernel in _kernels()}
