"""A time step shared by host and GPU, in parts that can be timed one by one (swap paper, section 3).

The paper's speedup of 1.7 says what its text does not: that the populations cross the bus in every iteration. Here that
is one of several ways to keep the data. Each part of an iteration knows the bytes that it moves and through what.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from repro.errors import CheckError
from repro.lbm.benchmark import uniform_flow
from repro.lbm.model import Problem
from repro.lbm.simulation import Simulation
from repro.parallel import require_memory, select


@dataclass(frozen=True)
class Part:
    """One part of an iteration: a name, what runs, the bytes it moves, and what they pass through."""

    name: str
    run: Callable[[], None]
    bytes: float
    #: "core", "GPU memory", "to the GPU" or "to the host"
    channel: str


@dataclass(frozen=True)
class Period:
    """`every` time steps as a list of parts; `state()` is the flow after them, `expected(steps)` what it must be."""

    name: str
    every: int
    parts: tuple[Part, ...]
    device: object
    state: Callable[[], np.ndarray]
    expected: Callable[[int], np.ndarray]

    def run(self) -> None:
        """All parts once."""
        for part in self.parts:
            part.run()


def moving(problem, device, strategy, precision, layout="soa") -> Simulation:
    """A simulation that starts in motion, so that a step changes something everywhere."""
    simulation = Simulation(problem, device, strategy=strategy, precision=precision, layout=layout)
    simulation.set_populations(uniform_flow(problem.model.lattice))
    return simulation


def plain_streaming(problem: Problem, steps: int) -> np.ndarray:
    """The velocity after some steps of plain streaming, node by node, from the same start."""
    reference = moving(problem, select("serial"), "split", "double")
    reference.step(steps)
    return reference.fields()[1]


def parts_of(simulation: Simulation, parity: int, channel: str, only=None) -> list[Part]:
    """The parts of one step of a simulation, or the one that is asked for."""
    problem, lattice = simulation.problem, simulation.problem.model.lattice
    skin = problem.nodes - np.prod([max(1, extent - 2) for extent in problem.shape])
    # read and written: all populations of a node, and of a boundary node what it swaps
    numbers = dict.fromkeys(("collide", "stream"), 2.0 * problem.nodes * lattice.q)
    numbers["boundary"] = 2.0 * skin * (lattice.q // 2)
    itemsize, launches = np.dtype(simulation.dtype).itemsize, simulation.scheme.parts[parity]
    return [
        Part(name, run, numbers[name] * itemsize, channel)
        for name, run in launches.items()
        if only is None or name in only
    ]


def _period(name: str, problem: Problem, parts, device, velocity, every: int = 1) -> Period:
    """A period of our own cavity, which must be plain streaming."""
    return Period(name, every, tuple(parts), device, velocity, partial(plain_streaming, problem))


def serial_period(problem: Problem, *, precision: str = "double") -> Period:
    """Our own serial sweep: collision, sweep and boundary nodes, node by node on one core.

    It is the rule of Palabos with its order in memory (array of structures, AoS), and not Palabos: that collides and
    streams in one pass in blocks, has boundary nodes that collide, data processors and statistics.
    """
    simulation = moving(problem, select("serial"), "swap sweep", precision, "aos")
    parts = parts_of(simulation, 0, "core")
    return _period("our serial sweep", problem, parts, simulation.device, lambda: simulation.fields()[1])


def there_and_back(device, home: np.ndarray, there, back, between: list[Part]) -> tuple[Part, ...]:
    """Parts on the GPU between the copies over the bus: from `home` to the array `there`, from `back` to `home`."""
    return (
        Part("to the GPU", lambda: device.upload(home, there), home.nbytes, "to the GPU"),
        *between,
        Part("to the host", lambda: device.download(back, home), home.nbytes, "to the host"),
    )


def hybrid_period(problem: Problem, device, *, strategy: str = "swap types", precision: str = "double") -> Period:
    """Our own cavity on the GPU, its boundary nodes too; the populations cross the bus before and after each step."""
    away = moving(problem, device, strategy, precision)
    require_memory(select("serial"), away.state.nbytes, "the host's copy of the populations")
    home, (first, last) = device.to_host(away.state), away.scheme.states
    parts = there_and_back(device, home, first, last, parts_of(away, 0, "GPU memory"))

    def velocity():
        device.upload(home, first)
        return away.fields()[1]

    return _period(f"{strategy}, host every step", problem, parts, device, velocity)


def resident_period(problem: Problem, device, *, strategy: str = "swap links", precision: str = "double") -> Period:
    """Two steps on the GPU, where the populations stay; with types, as in the paper, but without its bus."""
    away = moving(problem, device, strategy, precision)
    parts = [part for step in (0, 1) for part in parts_of(away, step, "GPU memory")]
    return _period(f"{strategy}, resident", problem, parts, device, lambda: away.fields()[1], every=2)


def check_period(build: Callable[[Problem], Period], problem: Problem, repeats: int = 12) -> str:
    """Run a period of a small problem against what it must give; returns what was found, raises CheckError otherwise.

    That is plain streaming of our own cavity, and of Palabos' cavity the time step of Palabos.
    """
    period = build(problem)
    for _ in range(repeats):
        period.run()
    period.device.synchronise()
    expected = period.expected(repeats * period.every)
    difference = np.abs(period.state() - expected).max() / np.abs(expected).max()
    if not difference <= 1e-12:
        raise CheckError(f"{period.name} differs from the whole time step by {difference:.2e}")
    sides = " x ".join(map(str, problem.shape))
    return f"within {difference:.1e} of the whole time step after {repeats * period.every} steps on {sides}"
