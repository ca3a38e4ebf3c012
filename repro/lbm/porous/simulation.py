"""A running flow through a porous medium: a problem, a device and a strategy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repro.declared import checked
from repro.errors import DivergenceError, require
from repro.parallel.reproducible_sum import reproducible_sum

from ..flow import FlowSimulation
from ..model import SPEED_OF_SOUND
from ..simulation import Interval, MostSteps, Tolerance
from ..strategies.scheme import Cost
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


def bytes_needed(cost: Cost, itemsize: int, nodes: int, pores: int, q: int) -> int:
    """Bytes on the device: what a strategy keeps, the fields, and what numbering the pores takes."""
    kept = cost.bytes_per_node(itemsize, pores / nodes, q) * nodes
    fields = PorousFlow.ROWS * itemsize * (nodes if cost.dense else pores)
    return int(kept + fields + 13 * nodes)


def _steady(history: Sequence[tuple[int, float]], tolerance: float) -> bool:
    """Whether k changed by less than a share of it over the last interval; before the first one it is 0."""
    before, k = [0.0, 0.0, *(k for _, k in history)][-2:]
    return abs(k - before) < tolerance * abs(k)


class PorousFlow(FlowSimulation):
    """The fluid in pores, at rest with density one at first; arguments as of FlowSimulation."""

    PROBLEM, STRATEGIES, DEFAULT = PorousProblem, STRATEGIES, "sparse in place"
    ON_RANKS = ("sparse", "flag word", "branches")
    ADVICE = "use a smaller force or a larger relaxation time"

    def _put_at_rest(self):
        if self.problem.storage == "plain":
            self.set_populations(np.array(self.lattice.weights)[:, None, None, None])

    @property
    def cost(self):
        """What the strategy keeps and moves, with the list of neighbours as long as it is here."""
        cost = super().cost
        if not cost.map_at_most:
            return cost
        return replace(cost, map=sum(array.nbytes for array in self.scheme.kept) / self.part.space.pores)

    @property
    def kept_bytes(self) -> int:
        """Bytes of the strategy's arrays on the device, without the fields."""
        arrays = {id(array): array.nbytes for array in (*self.scheme.states, *self.scheme.kept)}
        return sum(arrays.values())

    @property
    def memory(self) -> int:
        """Bytes on the device, see `bytes_needed`."""
        stored = self.part.stored
        return bytes_needed(super().cost, self.itemsize, stored.voxels, stored.pores, self.lattice.q)

    @property
    def _stored_from(self) -> np.ndarray:
        return super()._stored_from if self.problem.storage == "deviation" else np.zeros((self.lattice.q, 1, 1, 1))

    def darcy_velocity(self) -> np.ndarray:
        """Velocity averaged over the whole image, solid included: equation 5.1's u_d, as a vector."""
        return self._averages()[1]

    def mean_density(self) -> float:
        """Density averaged over the pores: one at first, and where walls keep the mass. Walls "modified" do not."""
        return self._averages()[0]

    def _averages(self) -> tuple[float, np.ndarray]:
        """Density over the pores and velocity over the whole image."""
        own, share = self.share.of_own(self._update_fields()), self.share
        deviation, *velocity = (reproducible_sum(row, self.device.xp, share.most, share.sum) for row in own)
        space = self.problem.space
        return 1 + deviation / space.pores, np.array(velocity) / space.voxels

    def permeability(self) -> float:
        """k = u_d rho nu/g along the force per volume g, in squared voxels (equation 5.1), rho being the mean density.

        Without rho, k would drift with the mass where walls do not keep it.
        """
        force = np.array(self.problem.force)
        require(force.any(), "force (0, 0, 0): a permeability needs a flow, so a force")
        density, velocity = self._averages()
        return float(velocity @ force * density * self.problem.box.viscosity / (force @ force))

    @checked
    def run_to_steady_permeability(
        self,
        *,
        tolerance: Tolerance = 1e-5,
        interval: Interval = 1000,
        limit: MostSteps = 500_000,
        history: Sequence[tuple[int, float]] = (),
        after: Callable | None = None,
    ) -> Permeability:
        """Step until k changes by less than `tolerance`, relative, over `interval` steps, as the paper does.

        `history` is that of a run which goes on here; after(history) is called after each interval. Raises
        DivergenceError where the force drives the flow beyond the speed of sound.
        """
        history = list(history)
        # a run that goes on may have been steady when it was stopped
        while self.steps < limit and not _steady(history, tolerance):
            self.step(interval)
            history.append((self.steps, self.permeability()))
            self._subsonic()
            if after:
                after(history)
        k, mach, force = history[-1][1] if history else 0.0, self._subsonic(), np.array(self.problem.force)
        mean, velocity = self._averages()
        along = float(velocity @ force / np.linalg.norm(force))
        density = self.share.of_own(self._update_fields())[0]
        spread = self.share.most(float(density.max())) + self.share.most(-float(density.min()))
        return Permeability(k, _steady(history, tolerance), self.steps, tuple(history), along, mach, spread, mean)

    def _subsonic(self) -> float:
        """The largest Mach number, which is at most one."""
        velocity = self.share.of_own(self._update_fields())[1:]
        fastest = float(self.device.xp.sqrt(sum(map(self.device.xp.square, velocity)).max()))
        mach = self.share.most(fastest) / SPEED_OF_SOUND
        if mach > 1:
            force = float(np.linalg.norm(self.problem.force))
            raise DivergenceError(f"force = {force:g} drives Mach {mach:.3g} by step {self.steps}: use a smaller force")
        return mach
