"""What is solved: the model (fixed when kernels are compiled) and the problem (its numbers)."""

from dataclasses import dataclass, field
from functools import cached_property
from math import prod, sqrt
from typing import Annotated

import numpy as np

from repro.declared import Above, Each, Kind, Number, OneOf, OrNone, Rule, Whole, checked
from repro.errors import InputError, require

from .boundaries import BOUNCE_BACK, FACES, PERIODIC_BOX, Boundaries
from .collision import COLLISIONS
from .equilibrium import VELOCITY_SHARE
from .lattice import D3Q19, Lattice
from .media.pore_space import PoreSpace, is_mask
from .parameters import Grid, Parameters, Rates, Vector, in_precision

SPEED_OF_SOUND = 1 / sqrt(3)

#: Mach number above which the error of the equilibrium, of the order of its square, is no longer small
MACH_LIMIT = 0.3

#: nodes along an axis: beyond every memory
MOST_NODES = 1 << 15

SHAPE, VECTOR = Each(Whole(1, MOST_NODES), 3), Each(Number(), 3)


SOLID = OrNone(Rule("an array of booleans of the shape (nz, ny, nx), true where there is solid", is_mask))

#: with less the viscosity would not be positive
TIME, MAGIC = Above(0.5), Above(0)


@dataclass(frozen=True)
@checked
class Model:
    """Lattice, collision operator (of COLLISIONS; "mrt..." on D3Q19), forcing ("luo", "guo", None) and wall schemes."""

    lattice: Annotated[Lattice, Kind(Lattice)]
    boundaries: Annotated[Boundaries, Kind(Boundaries)]
    collision: Annotated[str, OneOf(COLLISIONS)] = "bgk"
    forcing: Annotated[str | None, OrNone(OneOf(VELOCITY_SHARE))] = None

    def __post_init__(self):
        if self.collision.startswith("mrt") and self.lattice is not D3Q19:
            raise InputError(f"collision '{self.collision}' is for D3Q19, not {self.lattice.name}: choose bgk or trt")


@dataclass(frozen=True, eq=False)
@checked
class Problem:
    """A model with its numbers, in lattice units, in a box with obstacles or without.

    Obstacles are the nodes that `solid` marks: they send back what they receive (full-way bounce-back), so a wall lies
    half-way between a solid and a fluid node. Raises InputError for what cannot work.
    """

    model: Annotated[Model, Kind(Model)]
    #: nodes (nx, ny, nz); nz is 1 in two dimensions
    shape: Annotated[tuple[int, int, int], SHAPE]
    #: tau of equation 2.7
    relaxation_time: Annotated[float, TIME]
    force: Annotated[tuple[float, float, float], VECTOR] = (0.0, 0.0, 0.0)
    wall_velocity: Annotated[tuple[float, float, float], VECTOR] = (0.0, 0.0, 0.0)
    #: (tau_even - 1/2)(tau_odd - 1/2) of "trt" and "mrt"; 3/16 puts half-way walls exactly half-way
    magic: Annotated[float, MAGIC] = 3 / 16
    #: mask of the solid nodes, shape (nz, ny, nx); None: no obstacles
    solid: Annotated[np.ndarray | None, SOLID] = field(default=None, repr=False)
    #: as far as a node looks
    layers = 1

    def __post_init__(self):
        self._check_dimensions()
        self._check_solid()
        self._check_motion()
        mach = sqrt(sum(v * v for v in self.wall_velocity)) / SPEED_OF_SOUND
        if not mach <= MACH_LIMIT:
            raise InputError(
                f"wall speed {mach * SPEED_OF_SOUND:.4g} is Mach {mach:.3g}, above {MACH_LIMIT}: "
                f"at most {MACH_LIMIT * SPEED_OF_SOUND:.4f} lattice units"
            )
        for axis, extent in enumerate(self.shape):
            walls = [face for face in self.model.boundaries.faces[2 * axis : 2 * axis + 2] if face != "periodic"]
            least = 1 if not walls else 2 if set(walls) <= set(BOUNCE_BACK) else 4
            if extent < least:
                raise InputError(f"{extent} nodes between {FACES[2 * axis]} and its opposite: at least {least}")

    def _check_dimensions(self):
        flat = self.model.lattice.dimensions == 2
        if flat and self.shape[2] != 1:
            raise InputError(f"grid {self.shape}: give (nx, ny, nz), with nz = 1 for {self.model.lattice.name}")
        if flat and (self.force[2] or self.wall_velocity[2]):
            raise InputError(f"{self.model.lattice.name} has no z direction: force and wall velocity must have z = 0")

    def _check_motion(self):
        moving = self.model.boundaries.moving
        if any(self.force) and self.model.forcing is None:
            raise InputError(f"force {self.force} without a forcing scheme: choose one of {', '.join(VELOCITY_SHARE)}")
        if any(self.wall_velocity) and moving is None:
            raise InputError(f"wall velocity {self.wall_velocity}, but no face moves: name the moving face")
        if moving is not None and self.wall_velocity[moving // 2]:
            raise InputError(f"a wall moves in its own plane: the velocity of {FACES[moving]} across it must be 0")

    def _check_solid(self):
        if self.solid is None:
            return
        if self.solid.shape != self.shape[::-1]:
            raise InputError(f"solid of shape {self.solid.shape}: the grid {self.shape} needs {self.shape[::-1]}")
        require(not self.solid.all(), "the box is all solid: nothing can flow")
        for face in np.flatnonzero(self.model.boundaries.has("extrapolation")):
            # an extrapolated wall takes its populations from the node beside it, which must be fluid
            beside = np.take(self.solid, (-2, -1) if face % 2 else (0, 1), axis=2 - face // 2)
            if beside.any():
                raise InputError(
                    f"solid at the extrapolated face {FACES[face]} or beside it: leave two nodes of fluid there, or "
                    "choose another wall scheme"
                )

    @property
    def lattice(self) -> Lattice:
        """The model's velocity set."""
        return self.model.lattice

    @property
    def stored_shape(self) -> tuple[int, int, int]:
        """Nodes that are kept along each axis."""
        return self.shape

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        """For each axis whether the box goes on at its other end."""
        return self.model.boundaries.has("periodic")[::2]

    @property
    def thinnest(self) -> tuple[int, int, int]:
        """Nodes that a rank needs along each axis: an extrapolated wall takes what streams into the node beside it."""
        extrapolated = self.model.boundaries.has("extrapolation")
        return tuple(2 if any(extrapolated[2 * axis : 2 * axis + 2]) else 1 for axis in range(3))

    @property
    def nodes(self) -> int:
        """Number of nodes in the box."""
        return prod(self.shape)

    @property
    def fluid_nodes(self) -> int:
        """Number of nodes that are not marked as solid."""
        return self.nodes - (0 if self.solid is None else int(np.count_nonzero(self.solid)))

    @property
    def description(self) -> str:
        """The problem in words."""
        return (
            f"{self.lattice.name} {self.model.collision}, {' x '.join(map(str, self.shape))} nodes, "
            f"relaxation time {self.relaxation_time:.6g}, wall velocity {self.wall_velocity}, force {self.force}"
        )

    @property
    def viscosity(self) -> float:
        """Kinematic viscosity, equation 2.7."""
        return (self.relaxation_time - 0.5) / 3

    @property
    def rates(self) -> tuple[float, float]:
        """Relaxation rates of the even and of the odd populations; equal for "bgk"."""
        even = 1 / self.relaxation_time
        if self.model.collision == "bgk":
            return even, even
        return even, 1 / (0.5 + self.magic / (self.relaxation_time - 0.5))

    def parameters(self, dtype) -> Parameters:
        """What the update kernels take after the arrays."""
        return Parameters(
            Grid.packed(self.shape),
            in_precision(Rates, self.rates, dtype),
            in_precision(Vector, self.force, dtype),
            in_precision(Vector, self.wall_velocity, dtype),
        )


@dataclass(frozen=True, eq=False)
class InPores:
    """A problem in the pores of an image, its `space`, between periodic and closed faces.

    A closed face is a wall of the kind `walls` beside the outermost nodes, kept as `layers` of solid behind the last of
    them. What is kept is periodic, so these serve both faces of an axis, and every strategy knows them as it knows any
    solid.
    """

    space: Annotated[PoreSpace, Kind(PoreSpace)]
    #: as in `Problem`; 3/16 is the choice of Pan, Luo, Miller
    magic: Annotated[float, MAGIC] = field(default=3 / 16, kw_only=True)
    #: its velocity set; in two dimensions the image is one voxel thick along z
    lattice: Annotated[Lattice, Kind(Lattice)] = field(default=D3Q19, kw_only=True)
    #: faces "periodic" or as `walls`, none of which moves
    boundaries: Annotated[Boundaries, Kind(Boundaries)] = field(default=PERIODIC_BOX, kw_only=True)
    #: as far as a node looks
    layers = 1
    #: what is kept goes on at its other end along all axes
    periodic = (True, True, True)

    def _check_pores(self) -> None:
        require(self.space.pores, "the image is all solid: nothing can flow")
        allowed = ("periodic", self.walls)
        if others := sorted(set(self.boundaries.faces) - set(allowed)):
            raise InputError(f"faces '{', '.join(others)}': around pores they are '{allowed[0]}' or '{allowed[1]}'")
        if self.boundaries.moving is not None:
            raise InputError("faces around pores are at rest: let the face of a Problem with `solid` move")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Voxels along x, y and z."""
        return self.space.shape

    @property
    def solid(self) -> np.ndarray:
        """The image."""
        return self.space.solid

    @property
    def fluid_nodes(self) -> int:
        """Number of pores."""
        return self.space.pores

    @cached_property
    def stored(self) -> PoreSpace:
        """The periodic image that is kept: the space, and a closed face's solid behind it."""
        layers = tuple(self.layers * (scheme != "periodic") for scheme in self.boundaries.faces[::-2])
        return self.space.padded(layers) if any(layers) else self.space

    @property
    def stored_shape(self) -> tuple[int, int, int]:
        """Voxels that are kept along each axis."""
        return self.stored.shape

    @property
    def thinnest(self) -> tuple[int, int, int]:
        """Voxels that a rank needs along each axis, for others to look at."""
        return (self.layers,) * 3
