"""What is simulated: a fluid's particles in a closed tank, checked."""

import warnings
from dataclasses import dataclass, field
from math import sqrt
from typing import Annotated

import numpy as np
from scipy.spatial import cKDTree

from repro.declared import Above, Array, Each, Flag, Kind, OrNone, Text, Whole, checked
from repro.errors import require
from repro.particles.cells import Cells
from repro.particles.random import require_ids

from .fluid import Fluid, Resolution, time_steps

#: share of the spacing below which two particles overlap
OVERLAP = 0.25

#: Mach number above which weakly compressible is not what a flow is
MACH = 0.3

#: share of the longest time step that is taken where none is given
SAFETY = 0.8


#: layers of ghosts in a wall: beyond every support
MOST_LAYERS = 64


@dataclass(frozen=True)
@checked
class Walls:
    """The ghosts that make the tank's walls; the paper counts 5,000 of them and says no more of how they lie."""

    #: layers of ghosts; 0 takes as many as are together as thick as the support
    layers: Annotated[int, Whole(0, MOST_LAYERS)] = 0
    #: whether there is a wall above; without one particles may rise over the tank's edge
    lid: Annotated[bool, Flag()] = True
    #: whether ghosts stay without velocity and pressure of their own: they "need no computation themselves" (section 2)
    still: Annotated[bool, Flag()] = False


@dataclass(frozen=True)
@checked
class System:
    """Particles at `position` (count, 3) in m with `velocity` in m/s in the tank from the origin to `tank`.

    `time_step` in s; None takes one below all limits. Raises InputError for what cannot be simulated.
    """

    fluid: Annotated[Fluid, Kind(Fluid)]
    resolution: Annotated[Resolution, Kind(Resolution)]
    tank: Annotated[tuple[float, float, float], Each(Above(0, "m"), 3)]
    position: Annotated[np.ndarray, Array(None, 3)] = field(repr=False)
    velocity: Annotated[np.ndarray, Array(None, 3)] = field(repr=False)
    time_step: Annotated[float | None, OrNone(Above(0, "s"))] = None
    name: Annotated[str, Text()] = "tank"
    #: places in m of solid particles that stand still in the tank, (count, 3), a spacing apart
    obstacles: Annotated[np.ndarray, Array(None, 3)] = field(default_factory=lambda: np.zeros((0, 3)), repr=False)
    walls: Annotated[Walls, Kind(Walls)] = field(default_factory=Walls)

    def __post_init__(self):
        require(len(self.position) > 0, f"{self.name}: no particle")
        require_ids(len(self.position))
        require(
            self.position.shape == self.velocity.shape,
            f"{self.name}: positions {self.position.shape} and velocities {self.velocity.shape}: both (count, 3)",
        )
        self._require_tank()
        self._require_apart()
        self._require_stiff()
        self._require_steps()
        self._warn_of_what_hangs()

    def _require_tank(self):
        for axis, side in zip("xyz", self.tank, strict=True):
            require(
                side >= self.resolution.spacing,
                f"{self.name}: tank side {axis} = {side}: at least one spacing, {self.resolution.spacing:g} m",
            )
        for what, places in (("particles", self.position), ("obstacles", self.obstacles)):
            # what is no number is not inside either
            outside = ~((places >= 0) & (places <= self.tank)).all(1)
            require(not outside.any(), f"{self.name}: {outside.sum()} {what} lie outside the tank {self.tank}")

    def _require_apart(self):
        least = OVERLAP * self.resolution.spacing
        places = np.concatenate([self.position, self.obstacles])
        # most particles lie on a lattice, where a balanced tree takes three times as long
        tree = cKDTree(places, balanced_tree=False, compact_nodes=False)
        distance = tree.query(places, 2, distance_upper_bound=least, workers=-1)[0][:, 1]
        require(
            bool((distance >= least).all()),
            f"{self.name}: {int((distance < least).sum())} particles overlap: they are nearer to each other than "
            f"{least:g} m, a quarter of the spacing",
        )

    def _require_stiff(self):
        """Refuse fluid that such a flow compresses: Mach 0.3 is under 2.3 % of density at the bottom of the column."""
        mach, fluid = self.speed / self.fluid.sound_speed, self.fluid
        # a little more, so that what is printed is enough
        enough = 1.005 * fluid.stiffness * (mach / MACH) ** 2
        require(
            mach <= MACH,
            f"{self.name}: stiffness = {fluid.stiffness:g} Pa: in it a flow of {self.speed:.3g} m/s has the Mach "
            f"number {mach:.2g}; at least {enough:.3g} Pa keeps it below {MACH}",
        )

    def _warn_of_what_hangs(self):
        """A wall mirrors what leaves it, too, with a pressure below zero: fluid hangs from a lid that it touches.

        Of free fall a column with the lid on it has under 2 %, with half a smoothing length between 80 %, with one
        99 %; below an obstacle it has as much. A full tank has nowhere to fall.
        """
        spacing, air, h = self.resolution.spacing, self.tank[2] - self.depth, self.resolution.smoothing_length
        full = (self.count + len(self.obstacles)) * spacing**3 > (1 - 1e-6) * np.prod(self.tank)
        if self.fluid.gravity == 0 or full:
            return
        leave = f"hangs from it: leave at least a smoothing length of air, {h:.2g} m"
        if air < h and self.walls.lid:
            tank = f"in a tank {self.depth + h:.3g} m high or more"
            warnings.warn(f"{self.name}: fluid {max(air, 0):.2g} m below the lid {leave}, {tank}", stacklevel=5)
        if len(over := self._obstacles_over_the_surface):
            place = ", ".join(f"{x:.4g}" for x in over[0])
            warnings.warn(f"{self.name}: fluid below the obstacle at ({place}) m {leave}", stacklevel=5)

    @property
    def _obstacles_over_the_surface(self) -> np.ndarray:
        """Places of obstacles less than a smoothing length above fluid over which no other fluid stands, and presses.

        Above is within 3/4 of a spacing sideways: where obstacles a spacing apart make a plate one is so near to any
        place below it, and water that touches a post is further away.
        """
        spacing, h = self.resolution.spacing, self.resolution.smoothing_length
        half = np.array([0.75 * spacing, 0.75 * spacing, (spacing + h) / 2])
        high = self.position[self.position[:, 2] + spacing / 2 + h > self.depth]
        distance, index = cKDTree(self.obstacles / half).query(high / half + [0, 0, 1], p=np.inf)
        return self.obstacles[index[distance < 1 - 1e-6]]

    def _require_steps(self):
        if self.time_step is None:
            return
        limits = time_steps(self.fluid, self.resolution, self.speed)
        name = min(limits, key=limits.get)
        require(
            0 < self.time_step <= limits[name],
            f"{self.name}: time step {self.time_step:g} s: above 0 and within the {name} limit, {limits[name]:.3g} s",
        )

    @property
    def count(self) -> int:
        """Number of fluid particles."""
        return len(self.position)

    @property
    def mass(self) -> float:
        """Mass of a particle in kg."""
        return self.resolution.mass(self.fluid.density)

    @property
    def depth(self) -> float:
        """Height in m of the highest particle's upper end over the tank's bottom."""
        return float(self.position[:, 2].max()) + self.resolution.spacing / 2

    @property
    def depths(self) -> np.ndarray:
        """How deep in m each particle lies under the surface of the column of fluid that it is in.

        A column is a spacing wide, and ends where no particle lies above within the support.
        """
        spacing, z = self.resolution.spacing, self.position[:, 2]
        column = np.floor(self.position[:, :2] / spacing)
        order = np.lexsort((z, *column.T))
        last = (np.diff(column[order], axis=0) != 0).any(1) | (np.diff(z[order]) > self.resolution.support)
        ends = np.flatnonzero(np.append(last, True))
        top = np.repeat(z[order][ends], np.diff(ends, prepend=-1))
        depth = np.empty_like(z)
        depth[order] = top + spacing / 2 - z[order]
        return depth

    @property
    def speed(self) -> float:
        """The fastest flow to expect in m/s: Ritter's front, 2 sqrt(g H), or as it begins."""
        return max(2 * sqrt(self.fluid.gravity * self.depth), float(np.linalg.norm(self.velocity, axis=1).max()))

    @property
    def dt(self) -> float:
        """The time step in s."""
        limits = time_steps(self.fluid, self.resolution, self.speed)
        return self.time_step or SAFETY * min(limits.values())

    @property
    def layers(self) -> int:
        """Layers of ghosts in the walls."""
        return self.walls.layers or self.resolution.layers

    @property
    def ceiling(self) -> float:
        """Height in m that no particle may leave behind: the tank's, or of an open one the support more."""
        return self.tank[2] + (0 if self.walls.lid else self.resolution.support)

    @property
    def margin(self) -> float:
        """Distance in m from the box's edge to the tank: the ghosts' layer, and a cell that stays empty."""
        return (max(self.layers, self.resolution.layers) + 1) * self.resolution.spacing + 2 * self.resolution.support

    @property
    def box(self) -> tuple[float, float, float]:
        """Sides in m of the periodic box around the tank and its ghosts."""
        return tuple(side + 2 * self.margin for side in self.tank)

    @property
    def cells(self) -> Cells:
        """The background grid: cells at least a support radius wide."""
        return Cells(tuple(side / self.resolution.support for side in self.box))
