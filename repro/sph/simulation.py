"""A running simulation: a system, a device, a search for neighbours and a treatment of boundaries."""

import numpy as np

from repro.errors import DivergenceError, InputError, require_one_of
from repro.parallel import PRECISIONS, Kernel, TimeLoop, require_memory
from repro.particles.position import Units

from .exact import rest_condensation
from .ghosts import BOUNDARIES, GAP, lattice, make_ghosts, no_ghosts
from .integrate import drift_body, free, held, kick_body
from .kernels import KERNELS
from .state import make_state, numbers
from .strategies import STRATEGIES
from .sums import air_body, continuity_body, extrapolation_body, momentum_body, summation_body
from .system import System

#: how densities are found: equation 3 or equation 4
DENSITIES = ("summation", "continuity")


class Simulation(TimeLoop):
    """The fluid of `system` on a device, at first with the density of water at rest.

    `device` comes from `repro.parallel.select`; `strategy` is a key of strategies.STRATEGIES, `density` one of
    DENSITIES, `boundary` one of ghosts.BOUNDARIES, `precision` "single" or "double". With "ghosts" nothing but them
    keeps the fluid in the tank, and a particle through a wall stops the run; otherwise the walls hold it back. Raises
    InputError for what cannot work and MemoryLimitError before allocating what does not fit.
    """

    def __init__(
        self, system: System, device, *, strategy="runs", density="continuity", boundary="ghosts", precision="single"
    ):
        if isinstance(device, str):
            raise InputError(f"device '{device}' is a name: give select('{device}') of repro.parallel")
        require_one_of("strategy", strategy, STRATEGIES)
        require_one_of("density", density, DENSITIES)
        require_one_of("boundary", boundary, BOUNDARIES)
        require_one_of("precision", precision, PRECISIONS)
        self.system, self.real, self.precision = system, PRECISIONS[precision], precision
        self.strategy, self.density, self.boundary = strategy, density, boundary
        require_memory(device, self.memory, f"{system.count} particles ({precision} precision)")
        at_rest = rest_condensation(system.depth - system.position[:, 2], system.fluid)
        self.state = make_state(device, self.real, system, at_rest)
        if boundary == "ghosts":
            self.walls, self.air = (make_ghosts(device, self.real, system, sites) for sites in lattice(system))
        else:
            self.walls = self.air = no_ghosts(device, self.real, system)
        super().__init__(device, [self._launch_step], start=self._find_forces, look=self._require_valid)
        self._lists = STRATEGIES[strategy].lists(device, system.cells, self.state, self.real)
        self.fluid = self.state.species(self._lists.starts, self._lists.members)
        # what equation 3 gives, and the pressure that nobody asks for
        self._summed, spare = (device.zeros(system.count, self.real) for _ in range(2))
        self._measured = self.fluid._replace(term=spare)
        self._bind()

    def __repr__(self):
        return f"Simulation({self.system.name}, {self.system.count} particles, {self.strategy}, {self.device})"

    @property
    def memory(self) -> int:
        """Bytes on the device, about: fluid with a sorted copy, ghosts, tables of cells."""
        sites_count = np.prod([side / self.system.resolution.spacing + 8 for side in self.system.tank])
        each = np.dtype(self.real).itemsize
        ghosts = sites_count * (8 * each + 24) if self.boundary == "ghosts" else 0
        return int(self.system.count * (32 * each + 40) + ghosts + 16 * self.system.cells.count)

    def _bind(self):
        system, state, real, device = self.system, self.state, self.real, self.device
        walk, kernel = STRATEGIES[self.strategy].walk, KERNELS[system.resolution.kernel]
        fluid, walls, air, p, cells = self.fluid, self.walls, self.air, numbers(system, real), system.cells.shape
        dt, least = real(system.dt), 0 if self.boundary == "clamped" else None

        def bound(body, items, *arguments):
            return device.compile(Kernel(body, dtype=real, strict=True))((items,), *arguments)

        corners = np.array([np.full(3, system.margin), np.add(system.tank, system.margin)])
        faces = tuple(Units(real).of(corners, system.box).ravel())
        contain = free if self.boundary == "ghosts" else held(real)
        self._drift = bound(
            drift_body(real, contain),
            state.count,
            *(state.r, state.v, state.u, state.a, dt, Units(real).per_length(system.box), faces, state.count),
        )
        self._kick = bound(kick_body(real), 3 * state.count, state.v, state.a, dt)
        summation = summation_body(real, kernel, walk, least)
        by_sum = self.density == "summation"
        if by_sum:
            self._first_density = self._density = bound(summation, state.count, fluid, walls, air, fluid.s, p, cells)
        else:
            body = continuity_body(real, kernel, walk, least)
            self._first_density, self._density = (
                bound(body, state.count, fluid, walls, np.float64(steps), p, cells) for steps in (0, 1)
            )
        momentum = momentum_body(real, kernel, walk, by_sum and self.boundary == "ghosts")
        self._momentum = bound(momentum, state.count, fluid, walls, air, state.a, p, cells)
        whole = summation_body(real, kernel, walk, None)
        self._sum_density = bound(whole, state.count, self._measured, walls, air, self._summed, p, cells)
        self._air_parts, self._ghost_parts = {}, {}
        if self.boundary == "ghosts":
            gap, extrapolation = real((GAP / system.resolution.ratio) ** 2), extrapolation_body(real, kernel, walk)
            self._air_parts["air"] = bound(air_body(real, walk), air.count, fluid, air, gap, p, cells)
            for name, ghosts in {"walls": walls, "air's velocity": air}.items():
                if ghosts is walls or by_sum:
                    self._ghost_parts[name] = bound(extrapolation, ghosts.count, fluid, ghosts, p, cells)

    @property
    def parts(self) -> dict:
        """What a step launches, by name, in its order."""
        return {"drift": self._drift} | self._force_parts(self._density) | {"kick": self._kick}

    def _force_parts(self, density) -> dict:
        air = self._air_parts if self.density == "summation" else {}
        return self._lists.parts | air | {"density": density} | self._ghost_parts | {"forces": self._momentum}

    def _launch_step(self):
        for launch in self.parts.values():
            launch()

    def _find_forces(self):
        for launch in self._force_parts(self._first_density).values():
            launch()

    def _require_valid(self):
        """Raise DivergenceError if a particle has no finite velocity, or is through a wall; it names one."""
        found, system = self.particles(), self.system
        bad = ~np.isfinite(found["velocity"]).all(1)
        if bad.any():
            raise DivergenceError(
                f"{system.name}: particle {int(bad.argmax())} has no finite velocity by step {self.steps}: "
                f"use a time step below {system.dt:g} s"
            )
        slack = 1e-6 * np.array(system.tank)
        out = (found["position"] < -slack) | (found["position"] > np.array(system.tank) + slack)
        if out.any():
            number, axis = np.argwhere(out)[0]
            side = "lower" if found["position"][number, axis] < 0 else "upper"
            raise DivergenceError(
                f"{system.name}: particle {number} is through the {side} wall across {'xyz'[axis]} by step "
                f"{self.steps}, with {int(out.any(1).sum())} in all outside the tank: use a smaller time step"
            )

    def particles(self) -> dict[str, np.ndarray]:
        """Positions in m from the tank's corner, velocities in m/s, accelerations and condensations, by id."""
        state, device = self.state, self.device
        order = np.argsort(device.to_host(state.ids))

        def rows(array):
            return np.ascontiguousarray(device.to_host(array).reshape(3, -1).T[order])

        position = Units(self.real).coordinates(rows(state.r), self.system.box) - self.system.margin
        return {
            "position": position,
            "velocity": rows(state.v),
            "acceleration": rows(state.a),
            "condensation": device.to_host(state.s)[order],
        }

    def summed_condensation(self) -> np.ndarray:
        """What equation 3 gives for each particle with the ghosts that there are, by id; negative is a deficit."""
        self.start()
        for launch in (*self._air_parts.values(), self._sum_density):
            launch()
        return self.device.to_host(self._summed)[np.argsort(self.device.to_host(self.state.ids))]
