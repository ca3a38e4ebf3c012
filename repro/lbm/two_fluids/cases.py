"""The set-ups of the porous paper's chapter 6, in lattice units; checked when a case is made."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from repro.declared import Above, Each, Flag, Kind, Number, OneOf, Whole, checked
from repro.errors import require
from repro.parallel.options import Seed

from ..media import PoreSpace
from ..model import TIME
from .exact import coexistence, lattice_coexistence, lattice_interface
from .forces import STENCILS
from .model import COLLISIONS, INTERACTION, LARGEST_INTERACTION, TwoFluids
from .simulation import TwoFluidFlow

#: what is there of a fluid in the other one's phase where the paper says that there is none: densities are positive
TRACE = 1e-4

#: nodes a side: beyond every memory
LARGEST = 1 << 15

SHARE, WETTING = Above(0, below=1), Number(-LARGEST_INTERACTION, LARGEST_INTERACTION)


def part(flow: TwoFluidFlow, shares, densities: tuple[float, float]) -> TwoFluidFlow:
    """Start at rest with as much of fluids a and b as `shares` say, from 1 in their own phase to 0 in the other.

    `densities` are those of a fluid in its own phase and in the other one.
    """
    own, other = densities
    flow.set_densities(*(other + (own - other) * np.asarray(share, float) for share in shares))
    return flow


def shares_at(distance, interaction: float, *, filled: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Shares of fluids a and b at a signed distance from their interface, negative inside a: an interface at rest.

    A sharper or wider one collapses to it, and sends densities below zero where the fluids repel each other strongly.
    Both fluids thin out in it. `filled` moves each outwards by as much, so that there is what a sharp one would hold.
    """
    nodes, density = lattice_interface(interaction, 1.0)
    profile = (density - density[-1]) / (density[0] - density[-1])
    thinned = (nodes < 0).sum() - profile.sum() if filled else 0.0
    distance = np.asarray(distance, float)
    return np.interp(distance - thinned, nodes, profile), np.interp(-distance - thinned, nodes, profile)


class _Case:
    """A set-up: its `problem`, and its `phases`, the shares of both fluids and their densities, see `part`."""

    def start(self, device, **options) -> TwoFluidFlow:
        """The fluids at rest, in the phases of this case; `options` as of TwoFluidFlow."""
        return part(TwoFluidFlow(self.problem, device, **options), *self.phases())


@dataclass(frozen=True)
@checked
class Bubble(_Case):
    """A bubble of fluid a in the middle of a periodic box of fluid b (section 6.2(1)).

    The paper: 128 x 128 nodes, both viscosities 1/6, g = 0.2; both densities 1, and no word on what is there of each
    fluid in the other: pure fluids, which dissolve in each other until they are in equilibrium.
    """

    #: at the start, in nodes
    radius: Annotated[float, Number(2, unit="nodes")]
    #: nodes a side
    nodes: Annotated[int, Whole(16, LARGEST)] = 128
    #: 2, a circle on one layer of nodes, or 3
    dimensions: Annotated[int, Whole(2, 3)] = 2
    interaction: Annotated[float, INTERACTION] = 0.2
    stencil: Annotated[str, OneOf(STENCILS)] = "isotropic-4"
    #: of both fluids
    relaxation_time: Annotated[float, TIME] = 1.0
    #: start from phases in equilibrium on the lattice, at density 1, instead of pure fluids
    equilibrium: Annotated[bool, Flag()] = False

    def __post_init__(self):
        require(self.radius <= 0.45 * self.nodes, f"radius = {self.radius}: at most 0.45 of the {self.nodes} nodes")

    @property
    def problem(self) -> TwoFluids:
        """The problem in lattice units."""
        shape = (1 if self.dimensions == 2 else self.nodes, self.nodes, self.nodes)
        space, times = PoreSpace(np.zeros(shape, bool)), (self.relaxation_time,) * 2
        return TwoFluids(space, self.interaction, relaxation_times=times, stencil=self.stencil)

    @property
    def distance(self) -> np.ndarray:
        """Distance of each node from the centre of the box."""
        nz, ny, nx = self.problem.space.solid.shape
        z, y, x = np.ogrid[:nz, :ny, :nx]
        return np.sqrt((z - (nz - 1) / 2) ** 2 + (y - (ny - 1) / 2) ** 2 + (x - (nx - 1) / 2) ** 2)

    def phases(self) -> tuple:
        """As much of each fluid as if the interface were sharp: otherwise the pressure, and so the surface tension,
        would depend on how long the interface is."""
        densities = lattice_coexistence(self.interaction, density=1.0) if self.equilibrium else (1.0, TRACE)
        return shares_at(self.distance - self.radius, self.interaction, filled=True), densities


@dataclass(frozen=True)
@checked
class FlatInterface(_Case):
    """Two flat interfaces between phases in equilibrium, in a periodic row of nodes along x."""

    interaction: Annotated[float, INTERACTION] = 0.2
    nodes: Annotated[int, Whole(32, LARGEST)] = 96
    stencil: Annotated[str, OneOf(STENCILS)] = "isotropic-4"

    @property
    def problem(self) -> TwoFluids:
        """The problem in lattice units."""
        return TwoFluids(PoreSpace(np.zeros((1, 1, self.nodes), bool)), self.interaction, stencil=self.stencil)

    def phases(self) -> tuple:
        """At density 1, fluid a in the middle half."""
        distance = np.abs(np.arange(self.nodes) - (self.nodes - 1) / 2) - self.nodes / 4
        return shares_at(distance[None, None], self.interaction), coexistence(self.interaction, density=1.0)


@dataclass(frozen=True)
@checked
class Layers(_Case):
    """Fluid a between layers of fluid b along plates, which body forces drive (section 6.2(2)).

    The paper: 256 nodes between the plates, viscosities 1/6 inside and 10/6 outside, both accelerations 1e-6,
    g = 0.27; neither the start of the interface is given nor how much more fluid b wets the plates.
    """

    #: between the plates, whose surfaces lie half a spacing outside
    nodes: Annotated[int, Whole(16, LARGEST)] = 256
    #: share of the gap that fluid a starts with
    share: Annotated[float, SHARE] = 0.5
    interaction: Annotated[float, INTERACTION] = 0.27
    relaxation_times: Annotated[tuple[float, float], Each(TIME, 2)] = (1.0, 5.5)
    #: body force over density of each fluid, along the plates
    accelerations: Annotated[tuple[float, float], Each(Number(), 2)] = (1e-6, 1e-6)
    #: how strongly the plates repel a, and attract b
    wetting: Annotated[float, WETTING] = 0.08
    #: "bgk" or "mrt"
    collision: Annotated[str, OneOf(COLLISIONS)] = "mrt"

    @property
    def problem(self) -> TwoFluids:
        """The problem in lattice units; the plates are the first and the last node along x, the flow is along y."""
        solid = np.zeros((1, 1, self.nodes + 2), bool)
        solid[..., [0, -1]] = True
        return TwoFluids(
            PoreSpace(solid),
            self.interaction,
            wetting=(self.wetting, -self.wetting),
            relaxation_times=self.relaxation_times,
            accelerations=tuple((0.0, a, 0.0) for a in self.accelerations),
            collision=self.collision,
        )

    @property
    def positions(self) -> np.ndarray:
        """Of the nodes between the plates, from the middle."""
        return np.arange(self.nodes) - (self.nodes - 1) / 2

    def phases(self) -> tuple:
        """Pure fluids in layers."""
        distance = np.abs(np.pad(self.positions, 1)) - self.share * self.nodes / 2
        return shares_at(distance[None, None], self.interaction), (1.0, TRACE)


@dataclass(frozen=True)
@checked
class Drop(_Case):
    """A drop of fluid a on the lower of two plates (section 6.2(3)); periodic along x, plates along y.

    The paper: 800 x 200 nodes, half a circle of radius 50 at the start, g = 0.2 between the fluids.
    """

    #: how strongly the plates repel a, and attract b (G_fs = -G_gs)
    wetting: Annotated[float, WETTING]
    length: Annotated[int, Whole(16, LARGEST)] = 800
    #: nodes between the plates, whose surfaces lie half a spacing outside
    height: Annotated[int, Whole(8, LARGEST)] = 200
    #: of the half circle at the start
    radius: Annotated[float, Number(2, unit="nodes")] = 50.0
    interaction: Annotated[float, INTERACTION] = 0.2
    stencil: Annotated[str, OneOf(STENCILS)] = "isotropic-4"

    def __post_init__(self):
        room = min(0.45 * self.length, 0.9 * self.height)
        require(self.radius <= room, f"radius = {self.radius}: at most {room:g} on {self.length} x {self.height}")

    @property
    def problem(self) -> TwoFluids:
        """The problem in lattice units; the plates are the first and the last node along y."""
        solid = np.zeros((1, self.height + 2, self.length), bool)
        solid[:, [0, -1]] = True
        return TwoFluids(
            PoreSpace(solid), self.interaction, wetting=(self.wetting, -self.wetting), stencil=self.stencil
        )

    def phases(self) -> tuple:
        """A half circle, in equilibrium on the lattice at density 1: of pure fluids the drop would dissolve."""
        y, x = np.ogrid[: self.height + 2, : self.length]
        distance = np.hypot(x - (self.length - 1) / 2, y - 0.5) - self.radius
        return shares_at(distance[None], self.interaction), lattice_coexistence(self.interaction, density=1.0)


@dataclass(frozen=True)
@checked
class Mixture(_Case):
    """Two fluids that fill the pores of an image, each pore with one or the other by chance (section 6.3).

    The paper: g = 0.15, G_fs = 0.03 and G_gs = -0.03, both viscosities 1/6, a force of 1e-4 along x.
    """

    space: Annotated[PoreSpace, Kind(PoreSpace)]
    interaction: Annotated[float, INTERACTION] = 0.15
    #: how strongly the solid repels a, and attracts b
    wetting: Annotated[float, WETTING] = 0.03
    #: along x, over density, on both fluids
    acceleration: Annotated[float, Number()] = 1e-4
    #: probability that a pore is filled with fluid a
    share: Annotated[float, SHARE] = 0.5
    seed: Seed = 1
    #: key of forces.STENCILS
    stencil: Annotated[str, OneOf(STENCILS)] = "isotropic-4"

    @property
    def problem(self) -> TwoFluids:
        """The problem in lattice units."""
        push, wetting = (self.acceleration, 0.0, 0.0), (self.wetting, -self.wetting)
        return TwoFluids(
            self.space, self.interaction, wetting=wetting, accelerations=(push, push), stencil=self.stencil
        )

    def phases(self) -> tuple:
        """Drawn by the seed."""
        drawn = np.random.default_rng(self.seed).random(self.space.solid.shape) < self.share
        return (drawn, ~drawn), (1.0, TRACE)
