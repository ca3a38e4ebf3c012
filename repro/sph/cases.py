"""The paper's set-ups, in SI units; lengths are whole numbers of spacings."""

from dataclasses import dataclass, field
from math import prod
from typing import Annotated

import numpy as np

from repro.declared import Above, Each, Kind, OneOf, OrNone, Whole, checked
from repro.errors import InputError, require
from repro.parallel import require_room

from .fluid import RATIO, Fluid, Resolution
from .kernels import KERNELS
from .system import System, Walls

#: particles or spacings along an axis: beyond every memory
MOST = 1 << 15

#: bytes that a particle takes while it is set up: index, position and velocity, and what they are made of
_DRAWN = 136


COLUMN = Each(Whole(1, MOST), 3)


@dataclass(frozen=True, kw_only=True)
class _Case:
    """What every set-up has."""

    fluid: Annotated[Fluid, Kind(Fluid)] = field(default_factory=Fluid)
    ratio: Annotated[float, RATIO] = 1.3
    kernel: Annotated[str, OneOf(KERNELS)] = "wendland c2"
    #: in s; None takes one below all limits
    time_step: Annotated[float | None, OrNone(Above(0, "s"))] = None

    def _at_rest(self, tank, name: str, **more) -> System:
        """The column on its lattice, without velocity; `more` as of System."""
        spacing = self.resolution.spacing
        require_room(prod(self.column), _DRAWN)
        index = np.stack(np.meshgrid(*(np.arange(n) for n in self.column), indexing="ij"), -1).reshape(-1, 3)
        position = (index + 0.5) * spacing
        still = np.zeros_like(position)
        return System(self.fluid, self.resolution, tank, position, still, self.time_step, name, **more)


@dataclass(frozen=True)
@checked
class DamBreak(_Case):
    """A column of water in the corner of a tank (figures 6 to 8); nothing holds it from the start.

    The paper states no size. These are of Koshizuka and Oka's experiment, a column 0.146 m wide and twice as high in a
    tank four times as long, and the paper's 10^4 fluid particles: 25 x 8 x 50.
    """

    #: particles along the column's width, its depth (the tank's too) and its height
    column: Annotated[tuple[int, int, int], COLUMN] = (25, 8, 50)
    width: Annotated[float, Above(0, "m")] = 0.146
    #: the tank's length and height over the column's width
    length: Annotated[float, Above(0, "widths of the column")] = 4.0
    height: Annotated[float, Above(0, "widths of the column")] = 4.0
    walls: Annotated[Walls, Kind(Walls)] = field(default_factory=Walls)

    @classmethod
    def of_paper(cls, column=(20, 20, 25), *, still: bool = True, **more) -> "DamBreak":
        """The tank of figure 6 as its two numbers have it: 10^4 of fluid and 4,744 ghosts for the paper's 5,000.

        A column in a tank two and a half times as long and no higher, open above, with one layer of ghosts.
        """
        return cls(column=column, length=2.5, height=column[2] / column[0], walls=Walls(1, False, still), **more)

    @property
    def resolution(self) -> Resolution:
        """Spacing and kernel."""
        return Resolution(self.width / self.column[0], self.ratio, self.kernel)

    def system(self) -> System:
        """The column at rest."""
        spacing = self.resolution.spacing
        length, height = (self._spacings(name) for name in ("length", "height"))
        for what, room, size in (("long", length, self.column[0]), ("high", height, self.column[2])):
            require(size <= room, f"a column {size} particles {what} lies outside a tank {room} spacings {what}")
        tank = tuple(n * spacing for n in (length, self.column[1], height))
        return self._at_rest(tank, "dam break", walls=self.walls)

    def _spacings(self, name: str) -> int:
        """The tank's length or height in spacings."""
        share, count = getattr(self, name), self.column[0]
        if abs(share * count - round(share * count)) > 1e-6:
            raise InputError(
                f"{name} = {share}: {share * count:g} spacings; the tank must be a whole number of them, as with "
                f"{round(share * count) / count:g}"
            )
        return round(share * count)


@dataclass(frozen=True)
@checked
class StillWater(_Case):
    """Water at rest over the whole bottom of a closed tank."""

    #: particles along x, y and z
    column: Annotated[tuple[int, int, int], COLUMN] = (12, 12, 16)
    spacing: Annotated[float, Above(0, "m")] = 0.01
    #: spacings of air above the water
    air: Annotated[int, Whole(0, MOST)] = 8

    @property
    def resolution(self) -> Resolution:
        """Spacing and kernel."""
        return Resolution(self.spacing, self.ratio, self.kernel)

    def system(self) -> System:
        """The water at rest."""
        nx, ny, nz = self.column
        tank = nx * self.spacing, ny * self.spacing, (nz + self.air) * self.spacing
        return self._at_rest(tank, "still water")
