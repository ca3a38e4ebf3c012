"""What is solved in a porous medium: an image, a force, and the numbers of the collision."""

from dataclasses import dataclass
from functools import cached_property

from repro.errors import InputError

from ..boundaries import PERIODIC_BOX
from ..lattice import D3Q19
from ..media import PoreSpace
from ..model import Model, Problem
from ..parameters import Parameters

#: where the wall of a voxel lies: half-way to the pore's node, or on it
WALLS = ("half-way", "modified")

#: what is stored of a population: "deviation" f - w, which keeps small velocities accurate, or "plain" f
STORAGES = ("deviation", "plain")


@dataclass(frozen=True, eq=False)
class PorousProblem:
    """Flow driven by a body force through a periodic image, D3Q19, in lattice units (voxels and steps).

    `collision` and `forcing` as in `model.Model`; raises InputError for what cannot work.
    """

    space: PoreSpace
    relaxation_time: float
    force: tuple[float, float, float]
    collision: str = "mrt"
    forcing: str = "luo"
    walls: str = "half-way"
    storage: str = "deviation"
    #: as in `model.Problem`; 3/16 is the choice of Pan, Luo, Miller
    magic: float = 3 / 16

    def __post_init__(self):
        for what, value, allowed in (("walls", self.walls, WALLS), ("storage", self.storage, STORAGES)):
            if value not in allowed:
                raise InputError(f"unknown {what} '{value}': choose one of {', '.join(allowed)}")
        if not self.space.pores:
            raise InputError("the image is all solid: nothing can flow")
        self.box  # noqa: B018  its own checks

    @cached_property
    def box(self) -> Problem:
        """The same problem without the solid: its model, shape, rates and viscosity."""
        model = Model(D3Q19, PERIODIC_BOX, self.collision, self.forcing)
        return Problem(model, self.space.shape, self.relaxation_time, force=self.force, magic=self.magic)

    def parameters(self, dtype) -> Parameters:
        """What the update kernels take."""
        return self.box.parameters(dtype)
