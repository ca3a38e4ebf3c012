"""What is simulated: a fluid in a periodic box, its walls, what drives it, and where all particles start."""

from dataclasses import dataclass, field, replace
from math import inf, sqrt
from typing import Annotated

import numpy as np

from repro.declared import Above, Array, Each, Kind, Number, Text, Whole, checked
from repro.errors import require
from repro.particles.cells import Cells
from repro.particles.random import require_ids

from .fluid import Fluid
from .walls import Walls


@dataclass(frozen=True)
@checked
class System:
    """Particles in a periodic box, in units of cutoff radius, particle mass and kT.

    `position` and `velocity` have shape (count, 3); the first `moving` particles are fluid, the others frozen.
    """

    fluid: Annotated[Fluid, Kind(Fluid)]
    box: Annotated[tuple[float, float, float], Each(Above(0, "cutoff radii"), 3)]
    position: Annotated[np.ndarray, Array(None, 3)]
    velocity: Annotated[np.ndarray, Array(None, 3)]
    moving: Annotated[int, Whole()]
    walls: Annotated[Walls, Kind(Walls)] = field(default_factory=Walls)
    #: body force per mass along x; from the height `turn` on it points the other way
    drive: Annotated[float, Number()] = 0.0
    turn: Annotated[float, Number(infinite=True)] = inf
    #: what a user calls it, for messages
    name: Annotated[str, Text()] = "box"

    def __post_init__(self):
        count = len(self.position)
        require_ids(count)
        # refuses a box that has not three of them along each side
        Cells(self.box)
        self._require(count > 0 and self.moving > 0, f"{self.moving} fluid particles: there must be at least one")
        self._require(self.moving <= count, f"{self.moving} fluid particles of {count} in all")
        shapes = f"positions {self.position.shape} and velocities {self.velocity.shape}"
        self._require(len(self.velocity) == count, f"{shapes}: both (count, 3)")
        inside = ((self.position >= 0) & (self.position <= np.array(self.box))).all(1)
        outside = count - int(inside.sum())
        self._require(not outside, f"{outside} particles lie outside the box {self.box}")
        half, edge = self.walls.half_length, self.box[0]
        within = half <= 0 or half <= self.walls.middle_x <= edge - half
        self._require(within, f"blocks over the edge of the box at x = {edge:g}: move them inside")

    def _require(self, condition: bool, message: str) -> None:
        require(condition, f"{self.name}: {message}")

    @property
    def count(self) -> int:
        """Number of particles, frozen ones included."""
        return len(self.position)

    @property
    def cells(self) -> Cells:
        """The grid of cells."""
        return Cells(self.box)


def in_cell_order(system: System) -> System:
    """The same particles at the same places, numbered in the order of their cells: the fluid's first, then the frozen.

    Two particles in a cell keep their order.
    """
    frozen = np.arange(system.count) >= system.moving
    order = np.lexsort((system.cells.of(system.position), frozen))
    return replace(system, position=system.position[order], velocity=system.velocity[order])


def thermal(count: int, fluid: Fluid, generator: np.random.Generator) -> np.ndarray:
    """Maxwellian velocities of shape (count, 3) without total momentum."""
    velocity = generator.normal(0, sqrt(fluid.temperature), (count, 3))
    return velocity - velocity.mean(0)


def scattered(count: int, low, high, generator: np.random.Generator) -> np.ndarray:
    """Positions of shape (count, 3), uniform in a box."""
    return generator.uniform(low, high, (count, 3))
