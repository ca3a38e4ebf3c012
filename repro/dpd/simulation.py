"""A running simulation: a system, a device and a strategy."""

from math import isfinite, sqrt

import numpy as np

from repro.parallel import DivergenceError, InputError, Kernel, require_memory

from .integrate import drift_body, kick_body
from .position import Units
from .random import ROUNDS
from .state import State, make_state
from .strategies import STRATEGIES, TABLED, Setup, fastest
from .system import System
from .walls import bounce

PRECISIONS = {"single": np.float32, "double": np.float64}

#: steps in one CUDA graph, unless observers ask for a look more often
GRAPH_STEPS = 100

#: most steps between two looks at what went wrong
CHECK_STEPS = 1000

#: cutoff radii that a typical particle may move in a step before the run counts as blown up
LONGEST_MOVE = 0.5


class Simulation:
    """The particles of `system` on a device.

    `device` comes from `repro.parallel.select`, `strategy` is a key of strategies.STRATEGIES or "fastest", `precision`
    "single" or "double", `seed` names the noise. `rounds` of TEA (0: the paper's linear generators), `capacity` of a
    cell in the table, `block` and `registers` of the force kernel on a GPU are the strategies' choices. Raises
    InputError for what cannot work and MemoryLimitError before allocating what does not fit.
    """

    #: what a checkpoint must know to go on
    OPTIONS = ("strategy", "precision", "seed", "rounds", "capacity", "block")

    def __init__(
        self,
        system: System,
        device,
        *,
        strategy="fastest",
        precision="single",
        seed=1,
        rounds=ROUNDS,
        capacity=32,
        block=128,
        registers=None,
    ):
        if isinstance(device, str):
            raise InputError(f"device '{device}' is a name: give select('{device}') of repro.parallel")
        strategy = fastest(device) if strategy == "fastest" else strategy
        _one_of("strategy", strategy, STRATEGIES)
        _one_of("precision", precision, PRECISIONS)
        _whole("seed", seed, 0, 2**31 - 1)
        _whole("rounds", rounds, 0, 64)
        _whole("block", block, 1, 1024)
        self.system, self.device, self.strategy, self.precision, self.seed = system, device, strategy, precision, seed
        self.options = dict(zip(self.OPTIONS, (strategy, precision, seed, rounds, capacity, block), strict=True))
        self.real = PRECISIONS[precision]
        require_memory(device, self.memory, f"{system.count} particles ({precision} precision)")
        self.state = make_state(device, self.real, system.position, system.velocity, system.moving, system.box)
        self.setup = Setup(
            self.state, system.fluid, system.cells, device, self.real, seed, rounds, capacity, block, registers
        )
        self.forces = STRATEGIES[strategy].build(self.setup)
        self._drift, self._kick, self._push = self._bind()
        self.steps, self._graphs, self._started, self._warm = 0, {}, False, False

    def __repr__(self):
        return f"Simulation({self.system.name}, {self.system.count} particles, {self.strategy}, {self.device})"

    @property
    def memory(self) -> int:
        """Bytes on the device, about: the state, its sorted copy, the sums of the forces and the lists."""
        rows = self.options["capacity"] if self.strategy in TABLED else 0
        each = 2 * State.NUMBERS * np.dtype(self.real).itemsize + 48
        return self.system.count * each + (8 + 4 * rows) * self.system.cells.count

    def _bind(self):
        system, state, real = self.system, self.state, self.real
        fluid, items = system.fluid, (state.count,)
        compile_, shared = self.device.compile, (state.ids, state.clock, state.count, state.fluid)
        units = Units(real).per_length(system.box)
        walls = system.walls.numbers(real, fluid.temperature, system.box)
        drift = compile_(Kernel(drift_body(real, bounce(real)), dtype=real, strict=True))(
            items,
            state.r,
            state.v,
            state.u,
            state.f,
            *shared,
            self.seed,
            real(fluid.dt),
            real(fluid.predictor),
            units,
            walls,
        )
        turn = int(min(system.turn / system.box[2], 2) * 2**32)
        kick = compile_(Kernel(kick_body(real), dtype=real, strict=True))
        push, kick = (
            kick(items, state.r, state.v, state.f, *shared, real(dt), real(system.drive), turn) for dt in (0, fluid.dt)
        )
        return drift, kick, push

    @property
    def parts(self) -> dict:
        """What a step launches, by name, in its order."""
        return {"drift": self._drift} | self.forces.parts | {"kick": self._kick}

    def launch(self) -> None:
        """Launch one step."""
        self._drift()
        self.forces.run()
        self._kick()

    def advance(self, count: int, *, every: int = GRAPH_STEPS, observers=()) -> None:
        """Launch `count` steps, without waiting for them and without a look at the result.

        Each `every` steps the observers are launched (see `averages`); `count` must then be a multiple of it.
        """
        _require_multiple(count, every, observers)
        self.start()
        blocks, rest = divmod(count, every)
        for _ in range(blocks):
            self._block(every, tuple(observers))
        self._one_by_one(rest)

    def _block(self, every: int, observers: tuple):
        def run():
            for _ in range(every):
                self.launch()
            for observer in observers:
                observer.launch()

        if not self._warm:
            # a graph can be captured once every kernel has been compiled, which the first launch does
            run()
            self._warm = True
        else:
            if (every, observers) not in self._graphs:
                self._graphs[every, observers] = self.device.capture(run)
            self._graphs[every, observers]()
        self.steps += every

    def _one_by_one(self, count: int):
        for _ in range(count):
            self.launch()
        self.steps += count

    def resume(self, steps: int) -> None:
        """Take the arrays as they are for the state after `steps` steps (a checkpoint's)."""
        self.steps, self._started = steps, True

    def start(self) -> None:
        """Find the forces at the start; nothing else happens here, and nothing on a second call."""
        if not self._started:
            self.forces.run()
            # a kick of no duration adds the body force, and counts: the first step has noise of its own
            self._push()
        self._started = True

    def step(self, count: int, *, every: int = GRAPH_STEPS, observers=(), progress=None) -> None:
        """Advance `count` steps; the observers sample each `every` steps, `progress(done)` hears of every thousand.

        Raises DivergenceError within 1000 steps of the first one that went wrong, and CapacityError if a cell of the
        table overflowed: what was computed since the last look is then lost.
        """
        _whole("steps", count, 0, 2**62)
        _require_multiple(count, every, observers)
        while count > 0:
            portion = min(count, max(every, CHECK_STEPS // every * every))
            self.advance(portion, every=every, observers=observers)
            self.forces.check()
            self._require_calm()
            count -= portion
            if progress:
                progress(portion)

    def _require_calm(self):
        v = self.state.v
        square = float(self.device.xp.sum(self.device.xp.square(v, dtype=np.float64))) / self.state.fluid
        if not (isfinite(square) and sqrt(square) * self.system.fluid.dt < LONGEST_MOVE):
            fluid = self.system.fluid
            raise DivergenceError(
                f"{self.system.name}: the particles blew up by step {self.steps} (mean square speed {square:.3g} at "
                f"kT = {fluid.temperature:g}): use a time step below dt = {fluid.dt:g}, or a weaker force"
            )

    def particles(self) -> dict[str, np.ndarray]:
        """Positions, velocities and forces on the host, of shape (count, 3), in the order of the ids."""
        return self.state.on_host(self.device, self.system.box)


def _one_of(what: str, value, allowed) -> None:
    if value not in allowed:
        raise InputError(f"unknown {what} '{value}': choose one of {', '.join(allowed)}")


def _require_multiple(count: int, every: int, observers) -> None:
    _whole("every", every, 1, 2**62)
    if observers and count % every:
        raise InputError(f"{count} steps with a sample each {every}: choose a multiple")


def _whole(what: str, value, low: int, high: int) -> None:
    if not (isinstance(value, int | np.integer) and low <= value <= high):
        raise InputError(f"{what} = {value}: a whole number from {low} to {high}")
