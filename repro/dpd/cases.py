"""The paper's set-ups, in units of cutoff radius, particle mass and kT."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from repro.declared import Above, Each, Kind, Number, OrNone, Whole, checked
from repro.errors import require
from repro.parallel import require_room
from repro.parallel.options import Seed
from repro.particles.random import require_ids

from .fluid import Fluid
from .system import System, scattered, thermal
from .walls import Walls

#: spacing between the planes of the walls' lattice, face-centred cubic with four particles in a unit cube
_SPACING = 0.5

LENGTH = Above(0, "cutoff radii")

#: bytes that a particle of fluid takes while it is set up, in bulk and between walls, with the sites of their lattice
_DRAWN, _DRAWN_IN_WALLS = 76, 184

OfFluid = Annotated[Fluid, Kind(Fluid)]

#: empty height between the walls' backs, so that they do not meet through the periodic edge
_GAP = 1.0


@dataclass(frozen=True)
@checked
class Bulk:
    """A fluid without walls in a periodic box."""

    box: Annotated[tuple[float, float, float], Each(LENGTH, 3)] = (12.0, 12.0, 12.0)
    fluid: OfFluid = field(default_factory=Fluid)
    #: body force per mass along x in the lower half, and against x in the upper half (reverse Poiseuille flow)
    drive: Annotated[float, Number()] = 0.0

    @checked
    def system(self, seed: Seed = 1) -> System:
        """Particles at random, at rest on the whole."""
        count = number_of(self.fluid, float(np.prod(self.box)), f"box {self.box}", _DRAWN)
        generator = np.random.default_rng(seed)
        position = scattered(count, (0, 0, 0), self.box, generator)
        turn = self.box[2] / 2 if self.drive else np.inf
        velocity = thermal(count, self.fluid, generator)
        return System(self.fluid, tuple(self.box), position, velocity, count, drive=self.drive, turn=turn, name="bulk")


@dataclass(frozen=True)
@checked
class Poiseuille:
    """Flow between two plates, driven along x (section 5, figure 7, tables 3 and 4)."""

    #: length, width and height of the fluid; the paper does not state them for figure 8
    length: Annotated[float, LENGTH] = 20.0
    width: Annotated[float, LENGTH] = 10.0
    height: Annotated[float, LENGTH] = 10.0
    drive: Annotated[float, Number()] = 0.02
    fluid: OfFluid = field(default_factory=Fluid)
    #: thickness of a wall; 0.5 gives the numbers of particles of table 4
    thickness: Annotated[float, Number(0.5, 5, "cutoff radii")] = 0.5
    #: thickness of the layer in which fluid is turned back; 0.23 leaves no slip at the wall (notebook poiseuille)
    layer: Annotated[float, Number(unit="cutoff radii")] = 0.23

    @property
    def walls(self) -> Walls:
        """The plates: the fluid begins one wall's thickness above the bottom of the box."""
        return Walls(self.thickness, self.thickness + self.height, layer=self.layer)

    @property
    def box(self) -> tuple[float, float, float]:
        """The periodic box: the fluid, both walls and a gap."""
        return self.length, self.width, self.height + 2 * self.thickness + _GAP

    @checked
    def system(self, seed: Seed = 1) -> System:
        """Fluid at random between walls of a lattice."""
        generator, walls = np.random.default_rng(seed), self.walls
        size = f"{self.length} x {self.width} x {self.height}"
        count = number_of(self.fluid, self.length * self.width * self.height, size, _DRAWN_IN_WALLS)
        fluid = scattered(count, (0, 0, walls.bottom), (self.length, self.width, walls.top), generator)
        sites = lattice(self.box, walls.bottom, walls.top)
        # beyond a plate, where the fluid is not
        depth = np.minimum(sites[:, 2] - walls.bottom, walls.top - sites[:, 2])
        frozen = sites[(depth < 0) & (depth > -self.thickness)]
        return _join(self, fluid, frozen, generator, "Poiseuille flow")


@dataclass(frozen=True)
@checked
class Channel:
    """Flow through a channel that narrows and widens (section 6, figure 9); the paper's sizes by default.

    The numbers of particles give the gap: 1130496 = 4 (80 x 48 x 64 + 48 x 48 x 16). The narrow part lies in the
    middle.
    """

    length: Annotated[float, LENGTH] = 128.0
    width: Annotated[float, LENGTH] = 48.0
    height: Annotated[float, LENGTH] = 64.0
    narrow_length: Annotated[float, LENGTH] = 48.0
    gap: Annotated[float, LENGTH] = 16.0
    #: number of frozen particles, the lattice sites of the walls that are nearest to the fluid; None: three planes
    frozen: Annotated[int | None, OrNone(Whole(1))] = 101760
    drive: Annotated[float, Number()] = 0.02
    fluid: OfFluid = field(default_factory=Fluid)
    layer: Annotated[float, Number(unit="cutoff radii")] = 0.23

    def __post_init__(self):
        require(0 < self.narrow_length < self.length, f"narrow part {self.narrow_length} of {self.length}")
        require(0 < self.gap < self.height, f"gap {self.gap} of {self.height}: it must be lower than the channel")

    @property
    def walls(self) -> Walls:
        """Plates and blocks; the fluid begins two cutoff radii above the bottom of the box."""
        return Walls(2.0, 2.0 + self.height, self.length / 2, self.narrow_length / 2, self.gap / 2, self.layer)

    @property
    def box(self) -> tuple[float, float, float]:
        """The periodic box."""
        return self.length, self.width, self.height + 4.0 + _GAP

    @property
    def volume(self) -> float:
        """Volume of the fluid."""
        return self.width * ((self.length - self.narrow_length) * self.height + self.narrow_length * self.gap)

    @checked
    def system(self, seed: Seed = 1) -> System:
        """Fluid at random, each part of the channel at the same density."""
        generator, walls = np.random.default_rng(seed), self.walls
        first, low = (self.length - self.narrow_length) / 2, walls.middle_z - self.gap / 2
        last = first + self.narrow_length
        pieces = [((0, walls.bottom), (first, walls.top)), ((first, low), (last, low + self.gap))]
        pieces += [((last, walls.bottom), (self.length, walls.top))]
        count = number_of(self.fluid, self.volume, "the channel", _DRAWN_IN_WALLS)
        shares = [(b[0] - a[0]) * (b[1] - a[1]) for a, b in pieces]
        counts = np.diff(np.round(count * np.concatenate([[0], np.cumsum(shares)]) / sum(shares)).astype(int))
        ends = [((a[0], 0, a[1]), (b[0], self.width, b[1])) for a, b in pieces]
        fluid = np.concatenate([scattered(n, *end, generator) for n, end in zip(counts, ends, strict=True)])
        sites = lattice(self.box, walls.bottom, walls.top)
        depth = -walls.depth(sites[:, 0], sites[:, 2])
        order = np.argsort(depth, kind="stable")
        order = order[depth[order] > 0]
        planes = int((depth[order] < 3 * _SPACING).sum()) if self.frozen is None else self.frozen
        require(0 < planes <= len(order), f"{planes} frozen particles: the walls have {len(order)} lattice sites")
        return _join(self, fluid, sites[order[:planes]], generator, "channel flow")


def lattice(box, bottom: float, top: float) -> np.ndarray:
    """Sites of a face-centred cubic lattice in the box, four in a unit cube, in planes half way off z = bottom and top.

    The lattice is stretched a little where the box along x and y, or the height between the plates, has not a whole
    number of planes; otherwise the plates would not be alike.
    """
    along = [(np.arange(n) + 0.5) * side / n for side, n in ((s, 2 * max(1, round(s))) for s in box[:2])]
    pitch = (top - bottom) / max(1, round((top - bottom) / _SPACING))
    first, last = np.ceil(-bottom / pitch - 0.5), np.floor((box[2] - bottom) / pitch - 0.5)
    up = bottom + (np.arange(first, last + 1) + 0.5) * pitch
    i, j, k = np.meshgrid(np.arange(len(along[0])), np.arange(len(along[1])), np.arange(len(up)), indexing="ij")
    keep = (i + j + k) % 2 == 0
    return np.column_stack([along[0][i[keep]], along[1][j[keep]], up[k[keep]]])


def _join(case: Poiseuille | Channel, moving, frozen, generator, name: str) -> System:
    position = np.concatenate([moving, frozen])
    velocity = np.concatenate([thermal(len(moving), case.fluid, generator), np.zeros_like(frozen)])
    return System(case.fluid, case.box, position, velocity, len(moving), case.walls, case.drive, name=name)


def number_of(fluid: Fluid, volume: float, what: str, each: int) -> int:
    """Particles in a volume, of `each` bytes; refused before anything is allocated if there are none, or too many."""
    count = round(fluid.density * volume)
    require(count > 0, f"{what}: no particle at density {fluid.density}")
    require_ids(count)
    require_room(count, each)
    return count
