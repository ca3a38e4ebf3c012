"""A running simulation: a problem, a device and a strategy."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from repro.declared import Above, Whole, checked
from repro.errors import InputError
from repro.parallel import PRECISIONS

from .flow import FlowSimulation
from .layout import LAYOUTS, row_length
from .model import Problem
from .node import macroscopic_kernel
from .storage import HALF_UNIT
from .strategies import ALL, BLOCKS, IN_HALF
from .strategies.box import Box

#: intervals of the convergence test without progress after which a run is given up
PATIENCE = 300

#: of a run until nothing changes: by how much it may, over how many steps, and after how many it is given up
Tolerance = Annotated[float, Above(0)]
Interval = Annotated[int, Whole(1)]
MostSteps = Annotated[int, Whole(1, 2**62)]


class Simulation(FlowSimulation):
    """The fluid in a box, at rest with density one at first; arguments as of FlowSimulation.

    With precision "half" populations are kept in half precision, as deviations from their weights in units of 2^-15,
    and everything is computed in single: half the bytes, and a relative error of 2^-11 of a deviation a step.
    """

    STRATEGIES, DEFAULT, BLOCKS, ON_RANKS = ALL, "pull", BLOCKS, ("pull",)
    PROBLEM, WANTED, LAYOUTS = Problem, "a Problem, as case.problem is one", LAYOUTS
    PRECISIONS = PRECISIONS | {"half": np.float32}
    ADVICE = "use more nodes, a lower speed or 'trt'"

    def _build(self, device):
        """The strategy's scheme, with the kernels that compute density and velocity."""
        if self._half and self.strategy not in IN_HALF:
            raise InputError(f"'{self.strategy}' knows no half precision: choose one of {', '.join(IN_HALF)}")
        if self._half and self._leaks:
            raise InputError("half precision cannot restore the mass that a moving extrapolated wall leaks")
        self.box = box = Box(self.part, device, self.dtype, self.layout, self.block, self._half)
        scheme = ALL[self.strategy].build(box)
        fields, (grid, _, force, wall) = device.zeros(self.ROWS * box.row, self.dtype), box.parameters
        observe = [
            box.compile(macroscopic_kernel(box.spec, collided=scheme.collided, load=load))(
                box.words(f), fields, grid, force, wall
            )
            for f, load in zip(scheme.states, scheme.loads or (None, None), strict=True)
        ]
        return replace(scheme, observe=tuple(observe), fields=fields)

    @property
    def _half(self) -> bool:
        return self.precision == "half"

    @property
    def kept(self) -> type:
        return np.float16 if self._half else self.dtype

    @property
    def _unit(self) -> float:
        return HALF_UNIT if self._half else 1.0

    def rows(self, array):
        return self.box.rows(array)

    @property
    def memory(self) -> int:
        """Bytes on the device: the strategy's arrays, and density and velocity twice for the convergence test."""
        marks = 0 if self.part.solid is None else self.part.nodes
        fields = self.ROWS * np.dtype(self.dtype).itemsize
        return super().memory + (self._places + self.part.nodes) * fields + marks

    @property
    def _places(self) -> int:
        nodes = self.part.nodes
        return row_length(nodes) if self.layout == "soa" else nodes

    def populations(self) -> np.ndarray:
        """Populations f_i on the host, shape (q, nz, ny, nx): after collision or streaming as the strategy has it.

        Of several ranks those of this one's own nodes. Raises InputError for a strategy that does not keep them at
        their own nodes.
        """
        if self.scheme.loads:
            raise InputError(f"'{self.strategy}' does not keep populations at their own nodes: look at fields()")
        values = self._unit * self.rows(self.device.to_host(self.state).astype(float))
        return values.reshape(-1, *self.part.shape[::-1])[self.share.own] + self._stored_from

    def mean_density(self) -> float:
        """Density averaged over all nodes."""
        return 1 + self._unit * self._total(self.rows(self.state)) / self.problem.nodes

    def _restore_mass(self):
        """Scale all populations so that the mean density is one again; velocities do not change.

        An extrapolated lid does not conserve mass: it takes its density from the fluid below. What it loses is small,
        but steady, and a run to convergence is long.
        """
        if not self._leaks:
            return
        scale = 1 / self.mean_density()
        weights = self.device.to_device(np.array(self.lattice.weights, self.dtype) * self.dtype(scale - 1))
        rows = self.rows(self.state)
        rows *= self.dtype(scale)
        rows += weights[:, None]

    @property
    def _leaks(self) -> bool:
        boundaries = self.problem.model.boundaries
        return boundaries.moving is not None and boundaries.faces[boundaries.moving] == "extrapolation"

    def velocity_change(self, previous):
        """The left side of equation 4.2 against `previous` (None at first), and a copy of the velocity to keep."""
        velocity = self.share.of_own(self._update_fields())[1:]
        if previous is None:
            return float("inf"), velocity.copy()
        norm, change = (self._total_square(values) ** 0.5 for values in (previous, velocity - previous))
        return change / norm if norm else float("inf"), velocity.copy()

    def _total_square(self, values) -> float:
        """The sum of squares of values on the own nodes, over all ranks."""
        return self.share.sum(float(self.device.xp.sum(self.device.xp.square(values), dtype=np.float64)))

    @checked
    def run_to_steady_state(
        self, *, tolerance: Tolerance = 1e-6, interval: Interval = 1000, limit: MostSteps = 2_000_000
    ) -> "Convergence":
        """Step until the velocity changes by at most `tolerance` over `interval` steps (equation 4.2).

        Gives up after `limit` steps, or when the change has found no new minimum for PATIENCE intervals: rounding, or
        a flow that is not steady, keeps it up. Where a moving wall leaks mass, the mass is restored each interval.
        Raises InputError in half precision, in which a flow stands still before it is steady.
        """
        if self._half:
            raise InputError("in half precision a flow stands still before it is steady: use 'single' or 'double'")
        change, previous = self.velocity_change(None)
        history = []
        while self.steps < limit:
            self.step(interval)
            self._restore_mass()
            change, previous = self.velocity_change(previous)
            history.append((self.steps, change))
            lowest = min(range(len(history)), key=lambda k: history[k][1])
            if change <= tolerance or lowest < len(history) - PATIENCE:
                break
        return Convergence(change <= tolerance, self.steps, tuple(history))


@dataclass(frozen=True)
class Convergence:
    """How a run to the steady state went: whether it converged, after how many steps, and (steps, change) pairs."""

    converged: bool
    steps: int
    history: tuple[tuple[int, float], ...]

    def __repr__(self):
        last = self.history[-1][1] if self.history else float("nan")
        return f"{'converged' if self.converged else 'NOT converged'} after {self.steps} steps (last change {last:.2e})"
