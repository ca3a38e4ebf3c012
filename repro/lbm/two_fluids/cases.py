"""The set-ups of the porous paper's chapter 6, in lattice units; checked when a case is made."""

from dataclasses import dataclass

import numpy as np

from repro.errors import InputError, require_whole

from ..media import PoreSpace
from .exact import coexistence, contact_angle, lattice_coexistence, lattice_interface
from .model import TwoFluids
from .simulation import TwoFluidFlow

#: what is there of a fluid in the other one's phase where the paper says that there is none: densities are positive
TRACE = 1e-4

#: contact angles in degrees that a drop may start with: flatter it would be a film, steeper it would stand on a point
_STEEPEST = (30.0, 150.0)

#: nodes a side: beyond every memory
LARGEST = 1 << 15


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InputError(message)


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


@dataclass(frozen=True)
class Bubble:
    """A bubble of fluid a in the middle of a periodic box of fluid b (section 6.2(1)).

    The paper: 128 x 128 nodes, both viscosities 1/6, g = 0.2; both densities 1, and no word on what is there of each
    fluid in the other: pure fluids, which dissolve in each other until they are in equilibrium.
    """

    #: at the start, in nodes
    radius: float
    #: nodes a side
    nodes: int = 128
    #: 2, a circle on one layer of nodes, or 3
    dimensions: int = 2
    interaction: float = 0.2
    stencil: str = "isotropic-4"
    #: of both fluids
    relaxation_time: float = 1.0
    #: start from phases in equilibrium on the lattice, at density 1, instead of pure fluids
    equilibrium: bool = False

    def __post_init__(self):
        require_whole("nodes", self.nodes, 16, LARGEST)
        _require(self.dimensions in (2, 3), f"dimensions = {self.dimensions}: 2 or 3")
        _require(
            2 <= self.radius <= 0.45 * self.nodes, f"radius {self.radius}: from 2 to 0.45 of the {self.nodes} nodes"
        )

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

    def start(self, device, **options) -> TwoFluidFlow:
        """The bubble at rest, with as much of each fluid as if its interface were sharp: otherwise the pressure, and so
        the surface tension, would depend on how long the interface is. `options` as of TwoFluidFlow."""
        densities = lattice_coexistence(self.interaction, density=1.0) if self.equilibrium else (1.0, TRACE)
        return part(
            TwoFluidFlow(self.problem, device, **options),
            shares_at(self.distance - self.radius, self.interaction, filled=True),
            densities,
        )


@dataclass(frozen=True)
class FlatInterface:
    """Two flat interfaces between phases in equilibrium, in a periodic row of nodes along x."""

    interaction: float = 0.2
    nodes: int = 96
    stencil: str = "isotropic-4"

    def __post_init__(self):
        require_whole("nodes", self.nodes, 32, LARGEST)

    @property
    def problem(self) -> TwoFluids:
        """The problem in lattice units."""
        return TwoFluids(PoreSpace(np.zeros((1, 1, self.nodes), bool)), self.interaction, stencil=self.stencil)

    def start(self, device, **options) -> TwoFluidFlow:
        """The phases at rest at density 1, fluid a in the middle half; `options` as of TwoFluidFlow."""
        x = np.arange(self.nodes) - (self.nodes - 1) / 2
        flow = TwoFluidFlow(self.problem, device, **options)
        return part(
            flow,
            shares_at(np.abs(x) - self.nodes / 4, self.interaction),
            coexistence(self.interaction, density=1.0),
        )


@dataclass(frozen=True)
class Layers:
    """Fluid a between layers of fluid b along plates, which body forces drive (section 6.2(2)).

    The paper: 256 nodes between the plates, viscosities 1/6 inside and 10/6 outside, both accelerations 1e-6,
    g = 0.27; neither the start of the interface is given nor how much more fluid b wets the plates.
    """

    #: between the plates, whose surfaces lie half a spacing outside
    nodes: int = 256
    #: share of the gap that fluid a starts with
    share: float = 0.5
    interaction: float = 0.27
    relaxation_times: tuple[float, float] = (1.0, 5.5)
    #: body force over density of each fluid, along the plates
    accelerations: tuple[float, float] = (1e-6, 1e-6)
    #: how strongly the plates repel a, and attract b
    wetting: float = 0.08
    #: "bgk" or "mrt"
    collision: str = "mrt"

    def __post_init__(self):
        require_whole("nodes", self.nodes, 16, LARGEST)
        _require(0 < self.share < 1, f"share {self.share}: between 0 and 1")

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

    def start(self, device, **options) -> TwoFluidFlow:
        """The layers at rest; `options` as of TwoFluidFlow."""
        flow = TwoFluidFlow(self.problem, device, **options)
        distance = np.abs(np.pad(self.positions, 1)) - self.share * self.nodes / 2
        return part(flow, shares_at(distance[None, None], self.interaction), (1.0, TRACE))


@dataclass(frozen=True)
class Drop:
    """A drop of fluid a on the lower of two plates (section 6.2(3)); periodic along x, plates along y.

    The paper: 800 x 200 nodes, half a circle of radius 50 at the start, g = 0.2 between the fluids. Ours starts with
    that area and the contact angle of the formula of Huang et al.: half a circle would jump off the plate that repels
    it most.
    """

    #: how strongly the plates repel a, and attract b (G_fs = -G_gs)
    wetting: float
    length: int = 800
    #: nodes between the plates, whose surfaces lie half a spacing outside
    height: int = 200
    #: of half a circle with the drop's area
    radius: float = 50.0
    interaction: float = 0.2
    stencil: str = "isotropic-4"

    def __post_init__(self):
        require_whole("length", self.length, 16, LARGEST)
        require_whole("height", self.height, 8, LARGEST)
        room = min(0.45 * self.length, 0.9 * self.height)
        _require(2 <= self.radius <= room, f"radius {self.radius}: from 2 to {room:g} on {self.length} x {self.height}")

    @property
    def problem(self) -> TwoFluids:
        """The problem in lattice units; the plates are the first and the last node along y."""
        solid = np.zeros((1, self.height + 2, self.length), bool)
        solid[:, [0, -1]] = True
        return TwoFluids(
            PoreSpace(solid), self.interaction, wetting=(self.wetting, -self.wetting), stencil=self.stencil
        )

    def _circle(self) -> tuple[float, float]:
        """Radius and height of the centre, over the plate's surface, at the start."""
        own, other = lattice_coexistence(self.interaction, density=1.0)
        degrees = contact_angle((self.wetting, -self.wetting), self.interaction, own - other)
        angle = np.radians(np.clip(degrees, *_STEEPEST))
        radius = self.radius * np.sqrt(np.pi / 2 / (angle - np.sin(angle) * np.cos(angle)))
        return float(radius), float(-radius * np.cos(angle))

    def start(self, device, **options) -> TwoFluidFlow:
        """The drop at rest, its phases in equilibrium on the lattice at density 1; `options` as of TwoFluidFlow."""
        y, x = np.ogrid[: self.height + 2, : self.length]
        radius, height = self._circle()
        distance = np.hypot(x - (self.length - 1) / 2, y - 0.5 - height) - radius
        flow = TwoFluidFlow(self.problem, device, **options)
        return part(
            flow, shares_at(distance[None], self.interaction), lattice_coexistence(self.interaction, density=1.0)
        )


@dataclass(frozen=True)
class Mixture:
    """Two fluids that fill the pores of an image, each pore with one or the other by chance (section 6.3).

    The paper: g = 0.15, G_fs = 0.03 and G_gs = -0.03, both viscosities 1/6, a force of 1e-4 along x.
    """

    space: PoreSpace
    interaction: float = 0.15
    #: how strongly the solid repels a, and attracts b
    wetting: float = 0.03
    #: along x, over density, on both fluids
    acceleration: float = 1e-4
    #: probability that a pore is filled with fluid a
    share: float = 0.5
    seed: int = 1

    def __post_init__(self):
        _require(0 < self.share < 1, f"share {self.share}: between 0 and 1")

    @property
    def problem(self) -> TwoFluids:
        """The problem in lattice units."""
        push = (self.acceleration, 0.0, 0.0)
        return TwoFluids(
            self.space, self.interaction, wetting=(self.wetting, -self.wetting), accelerations=(push, push)
        )

    def start(self, device, **options) -> TwoFluidFlow:
        """The mixture at rest, drawn by the seed; `options` as of TwoFluidFlow."""
        drawn = np.random.default_rng(self.seed).random(self.space.solid.shape) < self.share
        return part(TwoFluidFlow(self.problem, device, **options), (drawn, ~drawn), (1.0, TRACE))
