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

#: How densities are found: equation 3 or equation 4. With equation 3 a ghost in the air that comes or goes changes the
#: density beside it by percents, which the paper's stiffness answers with hundreds of kilopascals: a dam does not break
#: as water does. Water at rest is stable with both.
DENSITIES = ("summation", "continuity")


#: spacings beyond a wall at which a particle is through it: there are the first ghosts. Thin films, of which equation 4
#: remembers more neighbours than they have, lie nearer to a wall than half a spacing, and touch it where they pile up.
THROUGH = 0.5


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
        self.walls, self.air = (STRATEGIES[strategy].still(device, ghosts) for ghosts in (self.walls, self.air))
        self._resumed = None
        super().__init__(device, [self._launch_step], start=self._find_forces, look=self._require_valid)
        self._lists = STRATEGIES[strategy].lists(device, system.cells, self.state, self.real)
        self.fluid = self.state.species(self._lists.starts, self._lists.members)
        # what equation 3 gives, and the pressure that nobody asks for
        self._summed, spare = (device.zeros(system.count, self.real) for _ in range(2))
        self._measured = self.fluid._replace(term=spare)
        self._choice = KERNELS[system.resolution.kernel], STRATEGIES[strategy].walk
        self._numbers = numbers(system, self.real), system.cells.shape
        self._drift, self._kick = self._bind_motion()
        self._first_density, self._density, self._measure = self._bind_densities()
        self._air_parts, self._ghost_parts = self._bind_ghosts()
        momentum = momentum_body(self.real, *self._choice, self._air_pushes)
        arguments = self.fluid, self.walls, self.air, self.state.a, *self._numbers
        self._momentum = self._bound(momentum, system.count, *arguments)

    def __repr__(self):
        return f"Simulation({self.system.name}, {self.system.count} particles, {self.strategy}, {self.device})"

    @property
    def memory(self) -> int:
        """Bytes on the device, about: fluid with a sorted copy, ghosts, tables of cells."""
        sites_count = np.prod([side / self.system.resolution.spacing + 8 for side in self.system.tank])
        each = np.dtype(self.real).itemsize
        ghosts = sites_count * (8 * each + 24) if self.boundary == "ghosts" else 0
        return int(self.system.count * (32 * each + 40) + ghosts + 16 * self.system.cells.count)

    def _bound(self, body, items, *arguments):
        return self.device.compile(Kernel(body, dtype=self.real, strict=True))((items,), *arguments)

    def _bind_motion(self):
        """The launches that move particles: drift and kick."""
        system, state, real = self.system, self.state, self.real
        corners = np.array([np.full(3, system.margin), np.add(system.tank, system.margin)])
        faces = tuple(Units(real).of(corners, system.box).ravel())
        dt, per_length = real(system.dt), Units(real).per_length(system.box)
        body = drift_body(real, free if self.boundary == "ghosts" else held(real))
        arrays = state.r, state.v, state.u, state.a
        drift = self._bound(body, state.count, *arrays, dt, per_length, faces, state.count)
        return drift, self._bound(kick_body(real), 3 * state.count, state.v, state.a, dt)

    def _bind_densities(self):
        """The launches that find densities at the start and in a step, and the one that measures by equation 3."""
        fluid, walls, air, count, real = self.fluid, self.walls, self.air, self.state.count, self.real
        clamp = 0 if self.boundary == "clamped" else None
        summation, whole = (summation_body(real, *self._choice, least) for least in (clamp, None))
        measure = self._bound(whole, count, self._measured, walls, air, self._summed, *self._numbers)
        if self.density == "summation":
            found = self._bound(summation, count, fluid, walls, air, fluid.s, *self._numbers)
            return found, found, measure
        body = continuity_body(real, *self._choice, clamp)
        # at the start a step of no duration: only pressures are found
        none, one = (self._bound(body, count, fluid, walls, np.float64(n), *self._numbers) for n in (0, 1))
        return none, one, measure

    def _bind_ghosts(self):
        """The launches by name that sample the air, and those that give ghosts what they take over from the fluid."""
        if self.boundary != "ghosts":
            return {}, {}
        real, fluid, air = self.real, self.fluid, self.air
        gap, sample = real((GAP / self.system.resolution.ratio) ** 2), air_body(real, self._choice[1])
        sampled = {"air": self._bound(sample, air.count, fluid, air, gap, *self._numbers)}
        used = {"ghosts in walls": self.walls} | ({"ghosts in the air": air} if self._air_pushes else {})
        body = extrapolation_body(real, *self._choice)
        return sampled, {name: self._bound(body, g.count, fluid, g, *self._numbers) for name, g in used.items()}

    @property
    def _air_pushes(self) -> bool:
        """Whether air is among the neighbours of equation 6."""
        return self.boundary == "ghosts" and self.density == "summation"

    @property
    def parts(self) -> dict:
        """What a step launches, by name, in its order."""
        return {"drift": self._drift} | self._force_parts(self._density) | {"kick": self._kick}

    def _force_parts(self, density) -> dict:
        air = self._air_parts if self._air_pushes else {}
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
        slack = THROUGH * system.resolution.spacing
        out = (found["position"] < -slack) | (found["position"] > np.array(system.tank) + slack)
        if out.any():
            number, axis = np.argwhere(out)[0]
            side = "lower" if found["position"][number, axis] < 0 else "upper"
            raise DivergenceError(
                f"{system.name}: particle {number} is through the {side} wall across {'xyz'[axis]} by step "
                f"{self.steps}, with {int(out.any(1).sum())} in all outside the tank: use a smaller time step"
            )

    def resume(self, steps: int) -> None:
        """Take the arrays as they are for the state after `steps` steps (a checkpoint's)."""
        super().resume(steps)
        self._resumed = steps

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
        """What equation 3 gives for each particle with the ghosts that there are, by id; negative is a deficit.

        InputError between a checkpoint and the next step, when there are no lists of neighbours.
        """
        if self.steps == self._resumed:
            raise InputError(f"a checkpoint of step {self.steps} has no lists of neighbours: take a step first")
        self.start()
        for launch in (*self._air_parts.values(), self._measure):
            launch()
        return self.device.to_host(self._summed)[np.argsort(self.device.to_host(self.state.ids))]
