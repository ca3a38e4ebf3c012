"""A running simulation: a system, a device and a strategy."""

import warnings
from dataclasses import replace
from functools import partial
from math import isfinite, sqrt
from typing import Annotated

import numpy as np

from repro.declared import Kind, OneOf, OrNone, Whole, checked
from repro.errors import DivergenceError
from repro.parallel import PRECISIONS, TimeLoop, require_memory
from repro.parallel.options import Block, OnDevice, Precision, Seed
from repro.particles.launch import launch_of
from repro.particles.position import Units
from repro.particles.random import ROUNDS

from .integrate import drift_body, kick_body
from .state import State, make_state
from .strategies import STRATEGIES, Setup, build, fastest
from .system import System
from .walls import make_bounce

#: cutoff radii that a typical particle may move in a step before the run counts as blown up
LONGEST_MOVE = 0.5


class Simulation(TimeLoop):
    """The particles of `system` on a device.

    `device` comes from `repro.parallel.select`, `strategy` is a key of strategies.STRATEGIES or "fastest", `precision`
    "single" or "double", `seed` names the noise. `rounds` of TEA for a pair (0: the paper's linear generators;
    64: the paper's two runs of 32), `capacity` of a cell in the table, `block` and `registers` of the force kernel on a
    GPU are the strategies' choices. Raises InputError for what cannot work and MemoryLimitError before allocating what
    does not fit.
    """

    #: what a checkpoint must know to go on
    OPTIONS = ("strategy", "precision", "seed", "rounds", "capacity", "block")

    @checked
    def __init__(
        self,
        system: Annotated[System, Kind(System, wanted="a System, as case.system() makes it")],
        device: OnDevice,
        *,
        strategy: Annotated[str, OneOf(STRATEGIES, "fastest")] = "fastest",
        precision: Precision = "single",
        seed: Seed = 1,
        rounds: Annotated[int, Whole(0, 64)] = ROUNDS,
        capacity: Annotated[int, Whole(1, 1024)] = 32,
        block: Block = 128,
        registers: Annotated[int | None, OrNone(Whole(16, 255))] = None,
    ):
        strategy = fastest(device) if strategy == "fastest" else strategy
        self.system, self.strategy, self.precision, self.seed = system, strategy, precision, seed
        self.options = dict(zip(self.OPTIONS, (strategy, precision, seed, rounds, capacity, block), strict=True))
        self.real = PRECISIONS[precision]
        speed = max(sqrt(system.fluid.temperature), float(np.linalg.norm(system.velocity, axis=1).max()))
        if line := Units(self.real).lost_to_rounding(system.fluid.dt, speed, system.box):
            warnings.warn(f"{system.name}: {line}", stacklevel=3)
        require_memory(device, self.memory, f"{system.count} particles ({precision} precision)", "use fewer particles")
        self.state = make_state(device, self.real, system.position, system.velocity, system.moving, system.box, seed)
        physics = self.state, system.fluid, system.cells, seed, rounds
        self.setup = Setup(device, self.real, *physics, capacity, block, registers)
        self.forces = build(strategy, self.setup)
        super().__init__(device, [self._launch_step], start=self._find_forces, look=self._require_valid)
        self._drift, self._kick, self._push = self._bind()

    def __repr__(self):
        law, particles = self.system.fluid.law.name, f"{self.system.count} particles"
        return f"Simulation({self.system.name}, {particles}, law {law}, {self.strategy}, {self.device})"

    @property
    def memory(self) -> int:
        """Bytes on the device, about: the state, its sorted copy, the sums of the forces and the lists."""
        rows = self.options["capacity"] if STRATEGIES[self.strategy].TRAITS.table else 0
        each = 2 * State.NUMBERS * np.dtype(self.real).itemsize + 48
        return self.system.count * each + (8 + 4 * rows) * self.system.cells.count

    def _bind(self):
        system, state, real, fluid = self.system, self.state, self.real, self.system.fluid
        launch = partial(launch_of, self.device, dtype=real, strict=True)
        moved = state.count, state.particles, state.f, self.setup.noise_state
        walls = system.walls.numbers(real, fluid.temperature, system.box)
        numbers = real(fluid.dt), real(fluid.predictor), Units(real).per_length(system.box), walls
        drift = launch(drift_body(real, make_bounce(real)), *moved, *numbers)
        drive = real(system.drive), int(min(system.turn / system.box[2], 2) * 2**32)
        push, kick = (launch(kick_body(real), *moved, real(dt), *drive) for dt in (0, fluid.dt))
        return drift, kick, push

    @property
    def parts(self) -> dict:
        """What a step launches, by name, in its order."""
        return {"drift": self._drift} | self.forces.parts | {"kick": self._kick}

    def _launch_step(self):
        self._drift()
        self.forces.run()
        self._kick()

    def _find_forces(self):
        self.forces.run()
        # a kick of no duration adds the body force, and counts: the first step has noise of its own
        self._push()

    def _require_valid(self):
        """Raise CapacityError if a cell of the table overflowed, DivergenceError if the particles blew up."""
        self.forces.check()
        xp, fluid = self.device.xp, self.system.fluid
        square = float(xp.sum(xp.square(self.state.v, dtype=np.float64))) / self.state.moving
        if not (isfinite(square) and sqrt(square) * fluid.dt < LONGEST_MOVE):
            found = f"mean square speed {square:.3g} at kT = {fluid.temperature:g}"
            hint = f"use a time step below dt = {fluid.dt:g}, or a weaker force"
            blown = f"{self.system.name}: the particles blew up by step {self.steps}"
            raise DivergenceError(f"{blown} ({found}): {hint}")

    def as_it_is(self) -> System:
        """The system with its particles where they are now, for another simulation."""
        now = self.particles()
        return replace(self.system, position=now["position"], velocity=now["velocity"])

    def particles(self) -> dict[str, np.ndarray]:
        """Positions, velocities and forces on the host, of shape (count, 3), in the order of the ids."""
        return self.state.on_host(self.device, self.system.box)
