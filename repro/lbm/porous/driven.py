"""A flow driven through an image until its permeability is steady: with which force, and through which pores."""

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from repro.errors import DivergenceError

from ..boundaries import Boundaries
from ..media import PoreSpace
from ..media.pore_space import AXES
from .problem import PorousProblem
from .simulation import Permeability, PorousFlow

#: Darcy velocity times sqrt(k) over the viscosity that the force aims at
REYNOLDS = 0.01

#: what a flow may come to whose permeability does not depend on its force: the largest Mach number, and the largest
#: difference of densities, as what drives it along the whole image would pile up before a wall
MACH, DENSITY_SPREAD = 0.03, 0.01

#: runs with smaller and smaller forces, until one is small enough
_ATTEMPTS = 4


@dataclass(frozen=True)
class FlowThrough:
    """A permeability run: k in squared voxels and what belongs to it."""

    result: Permeability
    #: per volume, along the axis
    force: float
    porosity: float
    #: Darcy velocity times sqrt(k) over the viscosity
    reynolds: float
    #: velocity over the Darcy velocity, (3, nz, ny, nx)
    velocity: np.ndarray | None = None

    @property
    def k(self) -> float:
        """Permeability in squared voxels."""
        return self.result.value

    @property
    def doubts(self) -> str:
        """Why k is not to be trusted, in words; empty if nothing speaks against it."""
        run, found = self.result, []
        if not run.converged:
            found.append(f"the flow is not steady after {run.steps} steps")
        if _too_strong(run):
            found.append(
                f"the force {self.force:.3g} drives Mach {run.mach:.2g} and densities {run.density_spread:.2g} apart "
                f"(at most {MACH:g} and {DENSITY_SPREAD:g}), so that k depends on it"
            )
        return " and ".join(found)


def _too_strong(run: Permeability) -> bool:
    return not (run.mach <= MACH and run.density_spread <= DENSITY_SPREAD)


def driving_force(space: PoreSpace, viscosity: float, reynolds: float = REYNOLDS) -> float:
    """Force per volume that drives a flow of about the given Reynolds number.

    From k = eps^3/(5 S^2), Kozeny and Carman's estimate with the specific surface S.
    """
    k = space.porosity**3 / (5 * max(space.specific_surface, 1e-3) ** 2)
    return reynolds * viscosity**2 / k**1.5


def gentle_force(space: PoreSpace, viscosity: float, along: int = 0) -> float:
    """The `driving_force`, or less where it would pile up densities before a wall; `along` is 0, 1 or 2 (x, y, z).

    A force F over a length L makes densities 3 F L apart.
    """
    return min(driving_force(space, viscosity), DENSITY_SPREAD / 3 / space.shape[along])


class Begun(NamedTuple):
    """Where a run goes on that was begun before: in which attempt, with what force, after which readings of k."""

    attempt: int
    force: float
    history: tuple[tuple[int, float], ...]
    #: puts a flow where that one was
    restore: Callable[[PorousFlow], None]


@dataclass(eq=False)
class Driven:
    """A fluid to be driven along `axis` through an image; the rest as of `permeability.flow_through`.

    Raises InputError if nothing can flow. Pores that nothing flows through are taken for solid.
    """

    image: PoreSpace
    device: Any
    axis: str = "x"
    sides: str = "periodic"
    relaxation_time: float = 1.0
    strategy: str = "sparse in place"
    precision: str = "single"
    ranks: Any = None
    #: of the problem: collision, forcing, walls, storage, magic
    settings: dict = field(default_factory=dict)
    #: the image as it is kept, with walls at its sides, through which no path leads, and open where one leads
    stored: PoreSpace = field(init=False)

    def __post_init__(self):
        stored = self._problem(self.image, 0.0).stored
        stored.require_flow(self.axis)
        self.stored = stored.reached(self.axis)

    @property
    def viscosity(self) -> float:
        """In lattice units."""
        return (self.relaxation_time - 0.5) / 3

    @property
    def space(self) -> PoreSpace:
        """The image, in which only pores that a path leads through are open."""
        return self.stored.cropped(self.image.shape)

    def _problem(self, space: PoreSpace, force: float) -> PorousProblem:
        walls = self.settings.get("walls", "half-way")
        closed = [walls if self.sides == "wall" and name != self.axis else "periodic" for name in AXES]
        faces = Boundaries(tuple(face for face in closed for _ in range(2)))
        along = tuple(force if name == self.axis else 0.0 for name in AXES)
        return PorousProblem(space, self.relaxation_time, along, boundaries=faces, **self.settings)

    def run(self, given=None, watch=None, begun: Begun | None = None, **steady) -> tuple[FlowThrough, PorousFlow]:
        """Run until k is steady: the result, and the flow as it is then.

        `given` is the force, None: as gentle as need be, and then weaker if it drives the flow too fast. `steady` are
        the tolerance and interval; watch(flow, attempt, force, history) is called after each interval.
        """
        force = given or gentle_force(self.stored, self.viscosity, AXES.index(self.axis))
        first = 1
        if begun:
            first, force = begun.attempt, begun.force
        space = self.space
        for attempt in range(first, _ATTEMPTS + 1):
            last, history, flow, after = bool(given) or attempt == _ATTEMPTS, (), None, None
            # a flow refers to itself: without this, memory would hold that of the attempt before beside the next one
            gc.collect()
            options = {"strategy": self.strategy, "precision": self.precision, "ranks": self.ranks}
            flow = PorousFlow(self._problem(space, force), self.device, **options)
            if begun:
                begun.restore(flow)
                history, begun = begun.history, None
            after = watch and partial(watch, flow, attempt, force)
            try:
                result = flow.run_to_steady_permeability(history=history, after=after, **steady)
            except DivergenceError:
                if last:
                    raise
                force *= 0.01
                continue
            # the force is that of the result, also where that is still doubted
            if last or not _too_strong(result):
                break
            force *= 0.5 * min(MACH / result.mach, DENSITY_SPREAD / result.density_spread)
        reynolds = result.darcy_velocity * np.sqrt(abs(result.value)) / self.viscosity
        return FlowThrough(result, force, self.image.porosity, float(reynolds)), flow
