"""What is solved in a porous medium: an image, a force, and the numbers of the collision."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from repro.declared import OneOf, checked
from repro.errors import InputError

from ..collision import COLLISIONS
from ..equilibrium import VELOCITY_SHARE
from ..model import TIME, VECTOR, InPores, Model, Problem
from ..parameters import Grid, Parameters
from ..storage import STORAGES

#: where the wall of a voxel lies: half-way to the pore's node, or on it
WALLS = ("half-way", "modified")


@dataclass(frozen=True, eq=False)
@checked
class PorousProblem(InPores):
    """Flow driven by a body force through an image, in lattice units (voxels and steps).

    `collision` and `forcing` as in `model.Model`; raises InputError for what cannot work.
    """

    relaxation_time: Annotated[float, TIME]
    force: Annotated[tuple[float, float, float], VECTOR]
    collision: Annotated[str, OneOf(COLLISIONS)] = "mrt"
    forcing: Annotated[str, OneOf(VELOCITY_SHARE)] = "luo"
    walls: Annotated[str, OneOf(WALLS)] = "half-way"
    #: see `storage`; "plain" with forcing "luo" only
    storage: Annotated[str, OneOf(STORAGES)] = "deviation"

    def __post_init__(self):
        self._check_pores()
        if (self.storage, self.forcing) == ("plain", "guo"):
            raise InputError("storage 'plain' adds the force last: forcing 'guo' needs storage 'deviation'")
        self.box  # noqa: B018  its own checks

    @cached_property
    def box(self) -> Problem:
        """The same problem without the solid: its model, shape, rates and viscosity."""
        model = Model(self.lattice, self.boundaries, self.collision, self.forcing)
        return Problem(model, self.shape, self.relaxation_time, force=self.force, magic=self.magic)

    @property
    def description(self) -> str:
        """The problem in words."""
        return (
            f"{self.collision}, {' x '.join(map(str, self.shape))} voxels of porosity {self.space.porosity:.3g}, "
            f"relaxation time {self.relaxation_time:.6g}, force {self.force}"
        )

    def parameters(self, dtype) -> Parameters:
        """What the update kernels take."""
        return self.box.parameters(dtype)._replace(grid=Grid.packed(self.stored_shape))
