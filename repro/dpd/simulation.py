"""A running simulation: a system, a device and a strategy."""

import warnings
from dataclasses import replace
from functools import partial
from math import isfinite, sqrt
from typing import Annotated

import numpy as np

from repro.declared import Kind, Number, OneOf, OrNone, Whole, checked
from repro.errors import DivergenceError, require
from repro.parallel import PRECISIONS, TimeLoop, require_memory
from repro.parallel.options import Block, OnDevice, OnRanks, Precision, Seed
from repro.particles.launch import launch_of
from repro.particles.position import Units
from repro.particles.random import ROUNDS

from .integrate import drift_body, kick_body
from .ranks import ROOM, share_of
from .state import State
from .strategies import STRATEGIES, Setup, build, fastest
from .system import System
from .walls import make_bounce

#: cutoff radii that a typical particle may move in a step before the run counts as blown up
LONGEST_MOVE = 0.5

_FEWER = "use fewer particles, or more ranks"


class Simulation(TimeLoop):
    """The particles of `system` on a device.

    `device` comes from `repro.parallel.select`, `strategy` is a key of strategies.STRATEGIES or "fastest", `precision`
    "single" or "double", `seed` names the noise. `rounds` of TEA for a pair (0: the paper's linear generators;
    64: the paper's two runs of 32), `capacity` of a cell in the table, `block` and `registers` of the force kernel on a
    GPU are the strategies' choices. Raises InputError for what cannot work and MemoryLimitError before allocating what
    does not fit.

    With `ranks` (`repro.parallel.ranks.world.world()`) each of several processes has the particles in a block of the
    box, at least two cells wide along an axis that is cut, and each does the same: what sums or gathers, all must call.
    A step has the bits of one rank's with the same strategy. A rank has `room` times the particles to be expected in
    its block, and CapacityError is raised where they do not suffice. Each rank takes the GPU that it sees first.
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
        ranks: OnRanks = None,
        room: Annotated[float, Number(1)] = ROOM,
    ):
        strategy = fastest(device, ranks) if strategy == "fastest" else strategy
        self.system, self.strategy, self.precision, self.seed = system, strategy, precision, seed
        self.options = dict(zip(self.OPTIONS, (strategy, precision, seed, rounds, capacity, block), strict=True))
        self.real = PRECISIONS[precision]
        speed = max(sqrt(system.fluid.temperature), float(np.linalg.norm(system.velocity, axis=1).max()))
        if line := Units(self.real).lost_to_rounding(system.fluid.dt, speed, system.box):
            warnings.warn(f"{system.name}: {line}", stacklevel=3)
        self.share = share_of(system, ranks, strategy, STRATEGIES, room)
        require_memory(device, self.memory, f"{self.share.slots} particles ({precision} precision)", _FEWER)
        self.state = self.share.state(device, self.real, seed)
        physics = self.state, system.fluid, system.cells, seed, rounds
        self.setup = Setup(device, self.real, *physics, capacity, block, registers, self.share)
        self.forces = build(strategy, self.setup)
        super().__init__(device, [self._launch_step], start=self._find_forces, look=self._require_valid)
        self._drift, self._kick, self._push = self._bind()
        self._step = self.share.step(device, self.parts)

    def __repr__(self):
        law, particles = self.system.fluid.law.name, f"{self.system.count} particles"
        return f"Simulation({self.system.name}, {particles}, law {law}, {self.strategy}, {self.device})"

    @property
    def memory(self) -> int:
        """Bytes on the device, about: the state, its sorted copy, the sums of the forces and the lists."""
        rows = self.options["capacity"] if STRATEGIES[self.strategy].TRAITS.table else 0
        each = 2 * State.NUMBERS * np.dtype(self.real).itemsize + 48
        return self.share.slots * each + (8 + 4 * rows) * self.share.cells.count

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
        self._step()

    def _find_forces(self):
        self.forces.run()
        # a kick of no duration adds the body force, and counts: the first step has noise of its own
        self._push()

    def _require_valid(self):
        """Raise CapacityError if a cell of the table overflowed, DivergenceError if the particles blew up."""
        self.forces.check()
        self.share.check(self.state)
        fluid = self.system.fluid
        square = self.total(self.device.xp.square(self.state.v, dtype=np.float64)) / self.state.moving
        if not (isfinite(square) and sqrt(square) * fluid.dt < LONGEST_MOVE):
            found = f"mean square speed {square:.3g} at kT = {fluid.temperature:g}"
            hint = f"use a time step below dt = {fluid.dt:g}, or a weaker force"
            blown = f"{self.system.name}: the particles blew up by step {self.steps}"
            raise DivergenceError(f"{blown} ({found}): {hint}")

    def total(self, numbers) -> float:
        """The sum of an array of the device over all particles of all ranks, which all must call it, in double
        precision."""
        return float(self.share.sum(float(self.device.xp.sum(numbers, dtype=np.float64))))

    def as_it_is(self) -> System:
        """The system with its particles where they are now, for another simulation; on one rank only."""
        alone = "a system is made of the particles of one rank: gather those of several by particles()"
        require(self.share.alone, alone)
        now = self.particles()
        return replace(self.system, position=now["position"], velocity=now["velocity"])

    def particles(self) -> dict[str, np.ndarray] | None:
        """Positions, velocities and forces on the host, of shape (count, 3), in the order of the ids.

        Of several ranks all must call it, and rank 0 gets those of all, the others None.
        """
        found = self.gathered("ids", "r", "v", "f")
        if found is None:
            return None
        order = np.argsort(found.pop("ids")[0])
        r, v, f = (np.ascontiguousarray(rows.T[order]) for rows in found.values())
        return {"position": Units(self.real).coordinates(r, self.system.box), "velocity": v, "force": f}

    def gathered(self, *names: str) -> dict[str, np.ndarray] | None:
        """Arrays (components, particle) of the state on the host, by name, of all ranks on rank 0; else None."""
        return self.share.gathered(self.state.on_host(self.device, *names))

    def _graph(self, every: int, observers: tuple):
        # messages between hosts are no part of a graph
        if self.share.recordable:
            return super()._graph(every, observers)
        return partial(self._launch, self.steps, every, observers)
