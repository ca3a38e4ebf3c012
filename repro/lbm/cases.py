"""The set-ups of the porous paper's chapter 4 and of the swap paper, in lattice units; checked when a case is made."""

from dataclasses import dataclass
from math import pi

import numpy as np

from repro.errors import InputError

from .boundaries import BOUNCE_BACK, Boundaries
from .lattice import D2Q9, D3Q15, D3Q19
from .model import Model, Problem

WALL_SCHEMES = (*BOUNCE_BACK, "extrapolation")

#: largest lid speed times spacing over viscosity that is let through. Seen for lid speeds of 0.05 and 0.1 on 48 to 512
#: nodes: BGK finds the steady flow up to 15.6, wobbles without end from 19.5 on and blows up from 42 on; with two rates
#: the flow is steady up to 10.4, wobbles at 15.6 and blows up from 19.5 on
GRID_REYNOLDS_LIMIT = {"bgk": 16.0, "trt": 10.5}


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InputError(message)


def _positions(nodes: int, low: str, high: str) -> tuple[np.ndarray, float]:
    """Distances of the nodes from the wall at the low end, and the distance between the two walls."""
    before, after = (0.5 if scheme == "half-way" else 0.0 for scheme in (low, high))
    return np.arange(nodes) + before, nodes - 1 + before + after


@dataclass(frozen=True)
class Cavity:
    """Square cavity whose lid slides in its own plane (porous paper, section 4.2(2)); D2Q9.

    The paper: Re 400, 256 x 256 nodes, half-way bounce-back at three walls, extrapolation at the lid, and no word on
    the lid's speed in lattice units. The half-way walls lie half a spacing outside the nodes, the lid on its nodes.
    """

    #: lid speed times width over viscosity
    reynolds: float = 400.0
    #: nodes along x and along y
    nodes: int = 256
    #: lattice units; the error of the compressible equilibrium grows with its square
    lid_speed: float = 0.05
    #: "bgk" or "trt"
    collision: str = "bgk"
    #: scheme of the lid
    lid: str = "extrapolation"
    #: scheme of the three walls
    walls: str = "half-way"

    def __post_init__(self):
        _require(self.reynolds > 0, f"Reynolds number {self.reynolds} must be positive")
        _require(self.nodes >= 8, f"{self.nodes} nodes a side: a cavity needs at least 8")
        _require(self.lid_speed > 0, f"lid speed {self.lid_speed} must be positive")
        for name, scheme in (("lid", self.lid), ("walls", self.walls)):
            _require(scheme in WALL_SCHEMES, f"{name} scheme '{scheme}': choose one of {', '.join(WALL_SCHEMES)}")

        self._require_stable_grid()

    def _require_stable_grid(self):
        limit, tau = GRID_REYNOLDS_LIMIT.get(self.collision, np.inf), self.problem.relaxation_time
        _require(
            self.reynolds <= limit * self.nodes,
            f"Reynolds number {self.reynolds:g} on {self.nodes} nodes gives relaxation time {tau:.5f}, too close to "
            f"0.5 for '{self.collision}' to be stable: use at least {int(np.ceil(self.reynolds / limit))} nodes",
        )

    @property
    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        """Node coordinates x and y, both from 0 at one wall to 1 at the other."""
        x, width = _positions(self.nodes, self.walls, self.walls)
        y, height = _positions(self.nodes, self.walls, self.lid)
        return x / width, y / height

    @property
    def problem(self) -> Problem:
        """The problem in lattice units."""
        _, width = _positions(self.nodes, self.walls, self.walls)
        faces = (self.walls, self.walls, self.walls, self.lid, "periodic", "periodic")
        viscosity = self.lid_speed * width / self.reynolds
        return Problem(
            Model(D2Q9, Boundaries(faces, moving=3), self.collision),
            (self.nodes, self.nodes, 1),
            relaxation_time=0.5 + 3 * viscosity,
            wall_velocity=(self.lid_speed, 0.0, 0.0),
        )


@dataclass(frozen=True)
class Duct:
    """Square duct, periodic along its axis, driven by a body force (porous paper, section 4.2(3)); D3Q15.

    The paper: U0 = 0.001, extrapolation at the walls; the relaxation time and the grid of figure 4.6 are not stated.
    """

    #: nodes across, in both directions
    nodes: int = 64
    #: nodes along the duct; the flow does not depend on it
    length: int = 1
    #: "z", or "x" as in the paper, where a block of threads handles a row along the duct
    axis: str = "z"
    #: the series' U0 = 4 a^2 F/(nu pi^3)
    u0: float = 0.001
    relaxation_time: float = 0.8
    collision: str = "bgk"
    forcing: str = "luo"
    #: scheme of the four walls
    walls: str = "extrapolation"

    def __post_init__(self):
        _require(self.nodes >= 4, f"{self.nodes} nodes across: a duct needs at least 4")
        _require(self.length >= 1, f"{self.length} nodes along the duct: at least 1")
        _require(self.axis in ("x", "z"), f"axis '{self.axis}': choose x or z")
        _require(0 < self.u0 <= 0.1, f"U0 = {self.u0}: it must be positive and, for a low Mach number, at most 0.1")
        _require(self.walls in WALL_SCHEMES, f"walls '{self.walls}': choose one of {', '.join(WALL_SCHEMES)}")

    @property
    def side(self) -> float:
        """Distance between opposite walls; a "standard" wall is taken to lie on its nodes."""
        return _positions(self.nodes, self.walls, self.walls)[1]

    @property
    def positions(self) -> np.ndarray:
        """Distances of the nodes from the axis, along y as along z."""
        return _positions(self.nodes, self.walls, self.walls)[0] - self.side / 2

    @property
    def force(self) -> float:
        """Body force per volume, at density one, from U0."""
        return self.u0 * (self.relaxation_time - 0.5) / 3 * pi**3 / (4 * self.side**2)

    @property
    def problem(self) -> Problem:
        """The problem in lattice units."""
        ends, walls = ("periodic", "periodic"), (self.walls,) * 4
        across, along = (self.nodes, self.nodes), (self.length,)
        return Problem(
            Model(D3Q15, Boundaries(ends + walls if self.axis == "x" else walls + ends), self.collision, self.forcing),
            along + across if self.axis == "x" else across + along,
            relaxation_time=self.relaxation_time,
            force=(self.force, 0.0, 0.0) if self.axis == "x" else (0.0, 0.0, self.force),
        )


@dataclass(frozen=True)
class CubicCavity:
    """Cubic cavity whose lid, y high, slides along x (swap paper, section 1.2); D3Q19.

    The nodes on the faces are boundary nodes, as in Palabos: they send back what they receive, so the walls lie half
    a spacing inside them. The paper states neither Reynolds number nor lid speed.
    """

    #: lid speed times width over viscosity
    reynolds: float = 100.0
    #: nodes a side, boundary nodes included
    nodes: int = 66
    #: lattice units; the error of the compressible equilibrium grows with its square
    lid_speed: float = 0.1
    collision: str = "bgk"

    def __post_init__(self):
        _require(self.reynolds > 0, f"Reynolds number {self.reynolds} must be positive")
        _require(self.nodes >= 10, f"{self.nodes} nodes a side: a cubic cavity needs at least 10")
        _require(self.lid_speed > 0, f"lid speed {self.lid_speed} must be positive")
        limit = GRID_REYNOLDS_LIMIT.get(self.collision, np.inf)
        _require(
            self.reynolds <= limit * self.width,
            f"Reynolds number {self.reynolds:g} on {self.nodes} nodes gives relaxation time "
            f"{self.problem.relaxation_time:.5f}, too close to 0.5 for '{self.collision}' to be stable: use at least "
            f"{2 + int(np.ceil(self.reynolds / limit))} nodes",
        )

    @property
    def width(self) -> int:
        """Distance between opposite walls, which is also the number of interior nodes a side."""
        return self.nodes - 2

    @property
    def problem(self) -> Problem:
        """The problem in lattice units."""
        return Problem(
            Model(D3Q19, Boundaries(("standard",) * 6, moving=3), self.collision),
            (self.nodes,) * 3,
            relaxation_time=0.5 + 3 * self.lid_speed * self.width / self.reynolds,
            wall_velocity=(self.lid_speed, 0.0, 0.0),
        )
