"""The set-ups of the porous paper's chapter 4 and of the swap paper, in lattice units; checked when a case is made."""

from dataclasses import dataclass
from math import pi
from typing import Annotated

import numpy as np

from repro.declared import Above, Number, OneOf, Whole, checked
from repro.errors import require

from .boundaries import BOUNCE_BACK, Boundaries
from .collision import COLLISIONS
from .equilibrium import VELOCITY_SHARE
from .lattice import D2Q9, D3Q15, D3Q19
from .model import MOST_NODES, TIME, Model, Problem

WALL_SCHEMES = (*BOUNCE_BACK, "extrapolation")

#: largest lid speed times spacing over viscosity that is let through. Seen in the square cavity for lid speeds of 0.05
#: and 0.1, with both lids: BGK finds the steady flow up to 13; at 15.6 the half-way lid's flow blows up and the
#: extrapolated lid's wobbles without end. With two rates the flow is steady up to 8; at 10.4 it wobbles
GRID_REYNOLDS_LIMIT = {"bgk": 13.0, "trt": 8.0}


def _positions(nodes: int, low: str, high: str) -> tuple[np.ndarray, float]:
    """Distances of the nodes from the wall at the low end, and the distance between the two walls."""
    before, after = (0.5 if scheme == "half-way" else 0.0 for scheme in (low, high))
    return np.arange(nodes) + before, nodes - 1 + before + after


def _require_steady(case, width: int, walls: int = 0) -> None:
    """Raise InputError where the lid would drive no steady flow; `walls` are nodes beyond the width between walls."""
    limit = GRID_REYNOLDS_LIMIT.get(case.collision, np.inf)
    require(
        case.reynolds <= limit * width,
        f"Reynolds number {case.reynolds:g} on {case.nodes} nodes gives relaxation time "
        f"{case.problem.relaxation_time:.5f}, too close to 0.5 for '{case.collision}' to be stable: use at least "
        f"{walls + int(np.ceil(case.reynolds / limit))} nodes",
    )


@dataclass(frozen=True)
@checked
class Cavity:
    """Square cavity whose lid slides in its own plane (porous paper, section 4.2(2)); D2Q9.

    The paper: Re 400, 256 x 256 nodes, half-way bounce-back at three walls, extrapolation at the lid, and no word on
    the lid's speed in lattice units. The half-way walls lie half a spacing outside the nodes, the lid on its nodes.
    """

    #: lid speed times width over viscosity
    reynolds: Annotated[float, Above(0)] = 400.0
    #: nodes along x and along y
    nodes: Annotated[int, Whole(8, MOST_NODES)] = 256
    #: lattice units; the error of the compressible equilibrium grows with its square
    lid_speed: Annotated[float, Above(0)] = 0.05
    #: "bgk" or "trt"
    collision: Annotated[str, OneOf(COLLISIONS)] = "bgk"
    #: scheme of the lid
    lid: Annotated[str, OneOf(WALL_SCHEMES)] = "extrapolation"
    #: scheme of the three walls
    walls: Annotated[str, OneOf(WALL_SCHEMES)] = "half-way"

    def __post_init__(self):
        _require_steady(self, self.nodes)

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
@checked
class Duct:
    """Square duct, periodic along its axis, driven by a body force (porous paper, section 4.2(3)); D3Q15.

    The paper: U0 = 0.001, extrapolation at the walls; the relaxation time and the grid of figure 4.6 are not stated.
    """

    #: nodes across, in both directions
    nodes: Annotated[int, Whole(4, MOST_NODES)] = 64
    #: nodes along the duct; the flow does not depend on it
    length: Annotated[int, Whole(1, MOST_NODES)] = 1
    #: "z", or "x" as in the paper, where a block of threads handles a row along the duct
    axis: Annotated[str, OneOf(("x", "z"))] = "z"
    #: the series' U0 = 4 a^2 F/(nu pi^3), so small that the flow has a low Mach number
    u0: Annotated[float, Number(0, 0.1, open_low=True)] = 0.001
    relaxation_time: Annotated[float, TIME] = 0.8
    collision: Annotated[str, OneOf(COLLISIONS)] = "bgk"
    forcing: Annotated[str, OneOf(VELOCITY_SHARE)] = "luo"
    #: scheme of the four walls
    walls: Annotated[str, OneOf(WALL_SCHEMES)] = "extrapolation"

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
@checked
class CubicCavity:
    """Cubic cavity whose lid, y high, slides along x; D3Q19 with full-way bounce-back.

    The nodes on the faces are boundary nodes: they do not collide but send back what they receive, so the walls lie
    half a spacing inside them. It is not the cavity of Palabos that the swap paper times (section 1.2): there the
    boundary nodes are regularised and collide, and the lid slides along the diagonal. The paper states neither
    Reynolds number nor lid speed.
    """

    #: lid speed times width over viscosity
    reynolds: Annotated[float, Above(0)] = 100.0
    #: nodes a side, boundary nodes included
    nodes: Annotated[int, Whole(10, MOST_NODES)] = 66
    #: lattice units; the error of the compressible equilibrium grows with its square
    lid_speed: Annotated[float, Above(0)] = 0.1
    collision: Annotated[str, OneOf(COLLISIONS)] = "bgk"

    def __post_init__(self):
        _require_steady(self, self.width, walls=2)

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
