"""A running simulation: a problem, a device and a strategy."""

from typing import Annotated

import numpy as np

from repro.declared import Above, Kind, OneOf, Whole, checked
from repro.errors import InputError
from repro.parallel import PRECISIONS, TimeLoop, require_finite, require_memory
from repro.parallel.options import Block, OnDevice, Precision

from .layout import LAYOUTS
from .model import Problem
from .node import macroscopic_kernel
from .strategies import ALL

#: intervals of the convergence test without progress after which a run is given up
PATIENCE = 300

#: of a run until nothing changes: by how much it may, over how many steps, and after how many it is given up
Tolerance = Annotated[float, Above(0)]
Interval = Annotated[int, Whole(1)]
MostSteps = Annotated[int, Whole(1, 2**62)]


class Simulation(TimeLoop):
    """The fluid of `problem`, at rest with density one at first, in lattice units.

    `device` comes from `repro.parallel.select`, `strategy` is a key of strategies.ALL, `layout` "soa" or "aos",
    `precision` "single" or "double", `block` the threads a block on a GPU. Raises InputError for what cannot work and
    MemoryLimitError before allocating what does not fit.
    """

    @checked
    def __init__(
        self,
        problem: Annotated[Problem, Kind(Problem, wanted="a Problem, as case.problem is one")],
        device: OnDevice,
        *,
        strategy: Annotated[str, OneOf(ALL)] = "pull",
        precision: Precision = "single",
        layout: Annotated[str, OneOf(LAYOUTS)] = "soa",
        block: Block = 128,
    ):
        self.problem, self.strategy = problem, strategy
        self.precision, self.layout, self.block = precision, layout, block
        self.dtype = PRECISIONS[precision]
        require_memory(device, self.memory, f"a {' x '.join(map(str, problem.shape))} grid ({precision} precision)")
        self.scheme = ALL[strategy].build(problem, device, self.dtype, layout, block)
        super().__init__(device, self.scheme.steps, start=self.scheme.start, look=self._require_finite)
        self._fields = device.zeros(4 * problem.nodes, self.dtype)
        self._macroscopic = self._bind_macroscopic()

    def __repr__(self):
        return f"Simulation({self.problem.model.lattice.name}, {self.problem.shape}, {self.strategy}, {self.device})"

    @property
    def traffic(self):
        """Bytes kept and moved by the strategy, see `strategies.scheme.Traffic`."""
        return ALL[self.strategy].TRAFFIC

    @property
    def memory(self) -> int:
        """Bytes on the device: the strategy's arrays, and density and velocity twice for the convergence test."""
        itemsize = np.dtype(self.dtype).itemsize
        kept = self.traffic.bytes_per_node(self.problem.model.lattice.q, itemsize)
        return self.problem.nodes * (kept + 2 * 4 * itemsize)

    @property
    def bytes_per_update(self) -> int:
        """Bytes that one node update must move through memory."""
        return self.traffic.bytes_per_update(self.problem.model.lattice.q, np.dtype(self.dtype).itemsize)

    @property
    def state(self):
        """The device array that holds the populations now."""
        return self.scheme.states[self.steps % 2]

    def _bind_macroscopic(self):
        problem, scheme = self.problem, self.scheme
        if scheme.macroscopic is not None:
            return scheme.macroscopic(self._fields)
        kernel = macroscopic_kernel(problem.model, self.dtype, self.layout, collided=scheme.collided)
        bind = self.device.compile(kernel)
        grid, _, force, wall = problem.parameters(self.dtype)
        return [bind(problem.shape, f, self._fields, grid, force, wall) for f in scheme.states]

    def set_populations(self, populations: np.ndarray) -> None:
        """Start from populations f_i of shape (q, nz, ny, nx), before any collision; only before the first step
        and the first look at the flow.

        Shape (q, 1, 1, 1) sets all nodes to the same populations.
        """
        self._require_untouched("populations")
        q = self.problem.model.lattice.q
        weights = np.array(self.problem.model.lattice.weights)[:, None, None, None]
        given = np.asarray(populations, float)
        if given.shape not in ((q, 1, 1, 1), (q, *self.problem.shape[::-1])):
            raise InputError(f"populations of shape {given.shape}: it must be {(q, *self.problem.shape[::-1])}")
        deviation = (given - weights).reshape(q, -1).astype(self.dtype)
        rows = self.state.reshape(q, -1) if self.layout == "soa" else self.state.reshape(-1, q).T
        rows[:] = self.device.to_device(deviation)

    def populations(self) -> np.ndarray:
        """Populations f_i on the host, shape (q, nz, ny, nx): after collision or streaming as the strategy has it.

        Raises InputError for a strategy that does not keep them at their own nodes.
        """
        if self.scheme.macroscopic is not None:
            raise InputError(f"'{self.strategy}' does not keep populations at their own nodes: look at fields()")
        q, (nx, ny, nz) = self.problem.model.lattice.q, self.problem.shape
        flat = self.device.to_host(self.state).astype(float)
        values = flat.reshape(q, -1) if self.layout == "soa" else flat.reshape(-1, q).T
        weights = np.array(self.problem.model.lattice.weights)[:, None, None, None]
        return values.reshape(q, nz, ny, nx) + weights

    def _require_finite(self):
        require_finite(self.state, self.steps, self._description())

    def _description(self) -> str:
        problem = self.problem
        return (
            f"{problem.model.lattice.name} {problem.model.collision}, {' x '.join(map(str, problem.shape))} nodes, "
            f"relaxation time {problem.relaxation_time:.6g}, wall velocity {problem.wall_velocity}, force "
            f"{problem.force}; use more nodes, a lower speed or 'trt'"
        )

    def mean_density(self) -> float:
        """Density averaged over all nodes."""
        return 1 + float(self.state.sum(dtype=np.float64)) / self.problem.nodes

    def _restore_mass(self):
        """Scale all populations so that the mean density is one again; velocities do not change.

        An extrapolated lid does not conserve mass: it takes its density from the fluid below. What it loses is small,
        but steady, and a run to convergence is long.
        """
        boundaries, lattice = self.problem.model.boundaries, self.problem.model.lattice
        if boundaries.moving is None or boundaries.faces[boundaries.moving] != "extrapolation":
            return
        scale = 1 / self.mean_density()
        weights = self.device.to_device(np.array(lattice.weights, self.dtype) * self.dtype(scale - 1))
        by_node = self.layout == "aos"
        populations = self.state.reshape((-1, lattice.q) if by_node else (lattice.q, -1))
        populations *= self.dtype(scale)
        populations += weights if by_node else weights[:, None]

    def _update_fields(self):
        self.start()
        self._macroscopic[self.steps % 2]()
        return self._fields

    def fields(self) -> tuple[np.ndarray, np.ndarray]:
        """Density (nz, ny, nx) and velocity (3, nz, ny, nx) on the host, in double precision."""
        nx, ny, nz = self.problem.shape
        values = self.device.to_host(self._update_fields()).astype(float).reshape(4, nz, ny, nx)
        return 1 + values[0], values[1:]

    def velocity_change(self, previous):
        """The left side of equation 4.2 against `previous` (None at first), and a copy of the velocity to keep."""
        xp, velocity = self.device.xp, self._update_fields()[self.problem.nodes :]
        if previous is None:
            return float("inf"), velocity.copy()
        norm = float(xp.sqrt(xp.sum(xp.square(previous), dtype=np.float64)))
        change = float(xp.sqrt(xp.sum(xp.square(velocity - previous), dtype=np.float64)))
        return change / norm if norm else float("inf"), velocity.copy()

    @checked
    def run_to_steady_state(
        self, *, tolerance: Tolerance = 1e-6, interval: Interval = 1000, limit: MostSteps = 2_000_000
    ) -> "Convergence":
        """Step until the velocity changes by at most `tolerance` over `interval` steps (equation 4.2).

        Gives up after `limit` steps, or when the change has found no new minimum for PATIENCE intervals: rounding, or
        a flow that is not steady, keeps it up. Where a moving wall leaks mass, the mass is restored each interval.
        """
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


class Convergence:
    """How a run to the steady state went: whether it converged, after how many steps, and (steps, change) pairs."""

    def __init__(self, converged: bool, steps: int, history: tuple):
        self.converged, self.steps, self.history = converged, steps, history

    def __repr__(self):
        last = self.history[-1][1] if self.history else float("nan")
        return f"{'converged' if self.converged else 'NOT converged'} after {self.steps} steps (last change {last:.2e})"
