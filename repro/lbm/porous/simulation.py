"""A running flow through a porous medium: a problem, a device and a strategy."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from repro.declared import Kind, OneOf, checked
from repro.errors import DivergenceError, InputError
from repro.parallel import PRECISIONS, TimeLoop, require_finite, require_memory
from repro.parallel.options import Block, OnDevice, Precision

from ..lattice import D3Q19
from ..model import SPEED_OF_SOUND
from ..simulation import Interval, MostSteps, Tolerance
from .problem import PorousProblem
from .strategies import STRATEGIES


@dataclass(frozen=True)
class Permeability:
    """The result of a run: k in squared voxels, how it converged, and how fast the flow was."""

    value: float
    converged: bool
    steps: int
    #: (steps, k) after each interval
    history: tuple[tuple[int, float], ...]
    #: Darcy velocity along the force, lattice units
    darcy_velocity: float
    #: largest velocity over the speed of sound
    mach: float
    #: largest less smallest density
    density_spread: float
    #: over the pores, one at first
    mean_density: float = 1.0


class PorousFlow(TimeLoop):
    """The fluid in the pores of `problem`, at rest with density one at first, in lattice units.

    `device` comes from `repro.parallel.select`, `strategy` is a key of STRATEGIES, `precision` "single" or "double",
    `block` the threads a block on a GPU. Raises InputError for what cannot work and MemoryLimitError before allocating
    what does not fit.
    """

    @checked
    def __init__(
        self,
        problem: Annotated[PorousProblem, Kind(PorousProblem)],
        device: OnDevice,
        *,
        strategy: Annotated[str, OneOf(STRATEGIES)] = "sparse in place",
        precision: Precision = "single",
        block: Block = 128,
    ):
        self.problem, self.strategy, self.precision, self.block = problem, strategy, precision, block
        self.dtype = PRECISIONS[precision]
        sides = " x ".join(map(str, problem.space.shape))
        require_memory(device, self._memory(), f"a {sides} image ({strategy}, {precision} precision)")
        self.scheme = STRATEGIES[strategy].build(problem, device, self.dtype, block)
        super().__init__(device, self.scheme.steps, start=self.scheme.start, look=self._require_finite)
        if problem.storage == "plain":
            self.set_populations(np.array(D3Q19.weights)[:, None, None, None])

    @property
    def cost(self):
        """Bytes kept and moved by the strategy, see `strategies.scheme.Cost`, with the map as long as it is here."""
        cost = STRATEGIES[self.strategy].COST
        if not cost.map_at_most:
            return cost
        return replace(cost, map=sum(array.nbytes for array in self.scheme.kept) / self.problem.space.pores)

    @property
    def bytes_per_update(self) -> float:
        """Bytes that the update of one pore must move through memory."""
        return self.cost.bytes_per_update(np.dtype(self.dtype).itemsize, self.problem.space.porosity)

    @property
    def kept_bytes(self) -> int:
        """Bytes of the strategy's arrays on the device, without the fields."""
        arrays = {id(array): array.nbytes for array in (*self.scheme.states, *self.scheme.kept)}
        return sum(arrays.values())

    def _memory(self) -> int:
        """Bytes on the device: what the strategy keeps, the fields, and what numbering the pores takes."""
        itemsize, space, cost = np.dtype(self.dtype).itemsize, self.problem.space, STRATEGIES[self.strategy].COST
        kept = cost.bytes_per_node(itemsize, space.porosity) * space.solid.size
        fields = 4 * itemsize * (space.solid.size if cost.dense else space.pores)
        return int(kept + fields + 13 * space.solid.size)

    @property
    def state(self):
        """The device array that holds the populations now."""
        return self.scheme.states[self.steps % 2]

    def _require_finite(self):
        require_finite(self.state, self.steps, self._description())

    def _description(self) -> str:
        problem = self.problem
        return (
            f"{problem.collision}, {' x '.join(map(str, problem.space.shape))} voxels of porosity "
            f"{problem.space.porosity:.3g}, relaxation time {problem.relaxation_time:.6g}, force {problem.force}; "
            "use a smaller force or a larger relaxation time"
        )

    def set_populations(self, populations: np.ndarray) -> None:
        """Start from populations f_i of shape (q, nz, ny, nx), before any collision; only before the first step
        and the first look at the flow.

        Shape (q, 1, 1, 1) sets all pores to the same populations.
        """
        self._require_untouched("populations")
        weights = np.array(D3Q19.weights)[:, None, None, None]
        values = np.asarray(populations, float) - (weights if self.problem.storage == "deviation" else 0.0)
        values = values.reshape(D3Q19.q, -1)
        if self.scheme.cells is not None and values.shape[1] > 1:
            values = values[:, self.scheme.cells]
        rows = self.state.reshape(D3Q19.q, -1)[:, : self._stored]
        rows[:] = self.device.to_device(values.astype(self.dtype))

    @property
    def _stored(self) -> int:
        """Number of stored nodes; rows of the sparse strategies are a little longer."""
        space = self.problem.space
        return space.solid.size if self.scheme.cells is None else space.pores

    def _update_fields(self):
        self.start()
        self.scheme.observe[self.steps % 2]()
        return self.scheme.fields.reshape(4, -1)[:, : self._stored]

    def fields(self) -> tuple[np.ndarray, np.ndarray]:
        """Density (nz, ny, nx) and velocity (3, nz, ny, nx) on the host, in double precision; 1 and 0 in solid."""
        values, shape = self.device.to_host(self._update_fields()).astype(float), self.problem.space.solid.shape
        if self.scheme.cells is not None:
            full = np.zeros((4, self.problem.space.solid.size))
            full[:, self.scheme.cells] = values
            values = full
        values = values.reshape(4, *shape)
        return 1 + values[0], values[1:]

    def darcy_velocity(self) -> np.ndarray:
        """Velocity averaged over the whole image, solid included: equation 5.1's u_d, as a vector."""
        return self._averages()[1]

    def mean_density(self) -> float:
        """Density averaged over the pores: one at first, and where walls keep the mass. Walls "modified" do not."""
        return self._averages()[0]

    def _averages(self) -> tuple[float, np.ndarray]:
        """Density over the pores and velocity over the whole image."""
        deviation, *velocity = self.device.to_host(self._update_fields().sum(axis=1, dtype=np.float64))
        space = self.problem.space
        return float(1 + deviation / space.pores), np.array(velocity) / space.solid.size

    def permeability(self) -> float:
        """k = u_d rho nu/g along the force per volume g, in squared voxels (equation 5.1), rho being the mean density.

        Without rho, k would drift with the mass where walls do not keep it.
        """
        force = np.array(self.problem.force)
        if not force.any():
            raise InputError("force (0, 0, 0): a permeability needs a flow, so a force")
        density, velocity = self._averages()
        return float(velocity @ force * density * self.problem.box.viscosity / (force @ force))

    @checked
    def run_to_steady_permeability(
        self, *, tolerance: Tolerance = 1e-5, interval: Interval = 1000, limit: MostSteps = 500_000
    ) -> Permeability:
        """Step until k changes by less than `tolerance`, relative, over `interval` steps, as the paper does.

        Raises DivergenceError where the force drives the flow beyond the speed of sound.
        """
        history, k, mach, converged = [], 0.0, 0.0, False
        while self.steps < limit and not converged:
            self.step(interval)
            previous, k = k, self.permeability()
            history.append((self.steps, k))
            mach = self._subsonic()
            converged = abs(k - previous) < tolerance * abs(k)
        force = np.array(self.problem.force)
        mean, velocity = self._averages()
        along = float(velocity @ force / np.linalg.norm(force))
        density = self._update_fields()[0]
        spread = float(density.max()) - float(density.min())
        return Permeability(k, converged, self.steps, tuple(history), along, mach, spread, mean)

    def _subsonic(self) -> float:
        """The largest Mach number, which is at most one."""
        velocity = self._update_fields()[1:]
        mach = float(self.device.xp.sqrt(sum(map(self.device.xp.square, velocity)).max())) / SPEED_OF_SOUND
        if mach > 1:
            force = float(np.linalg.norm(self.problem.force))
            raise DivergenceError(f"force = {force:g} drives Mach {mach:.3g} by step {self.steps}: use a smaller force")
        return mach
