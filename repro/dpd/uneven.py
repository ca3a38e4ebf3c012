"""Gas and liquid in one box: uneven densities, for which the work of one thread per cell varies widely (section 4.4).

The soft particles have no attraction, so drops are not stable: these configurations are for timing lists and forces
at fixed positions, not for stepping.
"""

from dataclasses import dataclass, field, replace
from math import pi

import numpy as np

from repro.dpd.cases import number_of
from repro.dpd.fluid import Fluid
from repro.dpd.simulation import Simulation
from repro.dpd.system import System, thermal
from repro.errors import require, require_one_of
from repro.particles.cells import Cells

#: where the liquid is: below a height, in a lattice of drops, or in cells chosen at random
KINDS = ("slab", "drops", "cells by lot")

#: approximate distance of the centres of two drops
_DROP_SPACING = 8.0

#: bytes that a particle takes while it is set up, with the points that are drawn for it and do not lie in its region
_DRAWN = 360


@dataclass(frozen=True)
class Uneven:
    """A box of mean density `fluid.density` with regions of `liquid` and of `gas` density."""

    kind: str = "drops"
    box: tuple[float, float, float] = (16.0, 16.0, 16.0)
    liquid: float = 12.0
    gas: float = 0.5
    fluid: Fluid = field(default_factory=Fluid)

    def __post_init__(self):
        require_one_of("kind", self.kind, KINDS)
        mean, apart = self.fluid.density, self._spacing.min()
        densities = f"densities gas {self.gas:g}, mean {mean:g}, liquid {self.liquid:g}"
        require(0 <= self.gas < mean < self.liquid, f"{densities}: they must rise in this order")
        drops = (
            f"liquid in {self.share:.0%} of the box makes drops of radius {self._radius:.3g} that are {apart:.3g} apart"
        )
        hint = "drops that do not touch need less liquid, or a box with sides alike"
        require(self.kind != "drops" or 2 * self._radius <= apart, f"{drops}: {hint}")

    @property
    def share(self) -> float:
        """Share of the box that is liquid."""
        return (self.fluid.density - self.gas) / (self.liquid - self.gas)

    @property
    def _spacing(self) -> np.ndarray:
        """Distances between the centres of drops along x, y and z."""
        return np.array(self.box) / np.maximum(1, np.round(np.array(self.box) / _DROP_SPACING))

    @property
    def _radius(self) -> float:
        return (self.share * float(np.prod(self._spacing)) * 3 / (4 * pi)) ** (1 / 3)

    def system(self, seed: int = 1) -> System:
        """Particles at random positions, uniform within each phase, with zero total momentum."""
        volume = float(np.prod(self.box))
        total = number_of(self.fluid, volume, f"box {self.box}", _DRAWN)
        dense = round(self.liquid * self.share * volume)
        generator = np.random.default_rng(seed)
        wet = self._region(generator)
        phases = self._draw(dense, wet, generator), self._draw(total - dense, lambda r: ~wet(r), generator)
        # ids are not correlated with positions, as in a fluid that has flowed for a while
        position = np.concatenate(phases)[generator.permutation(total)]
        velocity = thermal(total, self.fluid, generator)
        return System(self.fluid, tuple(self.box), position, velocity, total, name=f"gas and liquid, {self.kind}")

    def _region(self, generator):
        """Returns wet(positions), whether points lie in the liquid."""
        box = np.array(self.box)
        if self.kind == "slab":
            return lambda r: r[:, 2] < self.share * box[2]
        if self.kind == "drops":
            spacing, radius = self._spacing, self._radius
            return lambda r: (((r + spacing / 2) % spacing - spacing / 2) ** 2).sum(1) < radius**2
        cells = Cells(tuple(self.box))
        chosen = generator.permutation(cells.count)[: round(self.share * cells.count)]
        return lambda r: np.isin(cells.of(r), chosen)

    def _draw(self, count: int, inside, generator) -> np.ndarray:
        """`count` points, uniform in the region, by rejection."""
        drawn, missing = [], count
        while missing > 0:
            points = generator.uniform(0, self.box, (4 * missing + 100, 3))
            drawn.append(points[inside(points)][:missing])
            missing -= len(drawn[-1])
        return np.concatenate(drawn) if drawn else np.zeros((0, 3))


def settled(system: System, device, steps: int) -> System:
    """The system after some steps, for an even density: random positions are more uneven than a fluid."""
    simulation = Simulation(system, device)
    simulation.step(steps, every=1)
    return replace(simulation.as_it_is(), name="even")


def particles_in_cells(system: System) -> np.ndarray:
    """Number of particles in each cell of a system."""
    return np.bincount(system.cells.of(system.position), minlength=system.cells.count)
