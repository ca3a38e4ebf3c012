"""A time step shared by host and GPU, in parts that can be timed and predicted one by one (swap paper, section 3).

The paper's speedup of 1.7 says what its text does not: that the populations cross the bus in every iteration. Here that
is one of several ways to keep the data, and each part of an iteration knows the bytes that it moves and through what.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from repro.errors import CheckError, InputError
from repro.lbm.benchmark import uniform_flow
from repro.lbm.model import Problem
from repro.lbm.simulation import Simulation
from repro.parallel import Kernel, bus_bandwidth, copy_bandwidth, device_function, require_memory, select, wall_clock


@dataclass(frozen=True)
class Part:
    """One part of an iteration: a name, what runs, the bytes it moves, and what they pass through."""

    name: str
    run: Callable[[], None]
    bytes: float
    #: "core", "GPU memory", "to the GPU" or "to the host"; the bandwidths of these are in Rates
    channel: str


@dataclass(frozen=True)
class Period:
    """`every` time steps as a list of parts; `fields()` is the flow after them."""

    name: str
    every: int
    parts: tuple[Part, ...]
    device: object
    fields: Callable

    def run(self) -> None:
        """All parts once."""
        for part in self.parts:
            part.run()


def _simulation(problem, device, strategy, precision, layout="soa") -> Simulation:
    simulation = Simulation(problem, device, strategy=strategy, precision=precision, layout=layout)
    simulation.set_populations(uniform_flow(problem.model.lattice))
    return simulation


def _parts(simulation: Simulation, parity: int, channel: str, only=None) -> list[Part]:
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


def serial_period(problem: Problem, *, precision: str = "double") -> Period:
    """Our own serial sweep: collision, sweep and boundary nodes, node by node on one core.

    It is the rule of Palabos with its order in memory (array of structures, AoS), and not Palabos: that collides and
    streams in one pass in blocks, has boundary nodes that collide, data processors and statistics.
    """
    simulation = _simulation(problem, select("serial"), "swap sweep", precision, "aos")
    return Period("serial", 1, tuple(_parts(simulation, 0, "core")), simulation.device, simulation.fields)


def collide_only_period(problem: Problem, device, *, precision: str = "double") -> Period:
    """Collision on the GPU, streaming on the host: the populations go there and back in each iteration."""
    host = _simulation(problem, select("serial"), "swap sweep", precision, "aos")
    away = _simulation(problem, device, "swap rays", precision, "aos")
    home, there = host.state, away.state
    parts = (
        Part("to the GPU", lambda: device.upload(home, there), home.nbytes, "to the GPU"),
        *_parts(away, 0, "GPU memory", only=("collide",)),
        Part("to the host", lambda: device.download(there, home), home.nbytes, "to the host"),
        *_parts(host, 0, "core", only=("stream", "boundary")),
    )
    return Period("collision on the GPU", 1, parts, device, host.fields)


def hybrid_period(
    problem: Problem, device, *, strategy: str = "swap types", every: int = 1, precision: str = "double"
) -> Period:
    """All of it on the GPU; the host has the populations before and after `every` steps (the paper: 1)."""
    if type(every) is not int or every < 1:
        raise InputError(f"every = {every!r}: the populations come home after 1 step or more")
    away = _simulation(problem, device, strategy, precision)
    require_memory(select("serial"), away.state.nbytes, "the host's copy of the populations")
    home, states = device.to_host(away.state), away.scheme.states
    parts = [Part("to the GPU", lambda: device.upload(home, states[0]), home.nbytes, "to the GPU")]
    for step in range(every):
        parts += _parts(away, step % 2, "GPU memory")
    parts.append(Part("to the host", lambda: device.download(states[every % 2], home), home.nbytes, "to the host"))

    def fields():
        device.upload(home, states[0])
        return away.fields()

    name = f"{strategy}, host every " + ("step" if every == 1 else f"{every} steps")
    return Period(name, every, tuple(parts), device, fields)


def resident_period(problem: Problem, device, *, strategy: str = "swap links", precision: str = "double") -> Period:
    """Two steps on the GPU, where the populations stay; with types it is the paper's way without its bus."""
    away = _simulation(problem, device, strategy, precision)
    parts = tuple(part for step in (0, 1) for part in _parts(away, step, "GPU memory"))
    return Period(f"{strategy}, resident", 2, parts, device, away.fields)


def check_period(build: Callable[[Problem], Period], problem: Problem, repeats: int = 2) -> str:
    """Run a period of a small problem against plain streaming; returns what was found, raises CheckError otherwise."""
    period = build(problem)
    for _ in range(repeats):
        period.run()
    period.device.synchronise()
    reference = _simulation(problem, select("serial"), "split", "double")
    reference.step(repeats * period.every)
    expected = reference.fields()[1]
    difference = np.abs(period.fields()[1] - expected).max() / np.abs(expected).max()
    if not difference <= 1e-12:
        raise CheckError(f"{period.name} differs from plain streaming by {difference:.2e}")
    sides = " x ".join(map(str, problem.shape))
    return f"velocity within {difference:.1e} of plain streaming after {repeats * period.every} steps on {sides}"


@dataclass(frozen=True)
class Rates:
    """What predicts an iteration: bytes a second of each channel, and seconds that any part takes at least.

    `core` holds nodes a second of each part on one core, where bytes alone do not set the time.
    """

    bytes_a_second: dict[str, float]
    least: dict[str, float]
    core: dict[str, float]

    def seconds(self, part: Part, nodes: int) -> float:
        """The predicted time of a part."""
        if part.channel == "core":
            return nodes / self.core[part.name]
        return self.least[part.channel] + part.bytes / self.bytes_a_second[part.channel]


@device_function
def _touch(x, n, values):
    for lane in range(n):
        values[x + lane] = values[x + lane]


def measure_rates(problem: Problem, device, *, precision: str = "double") -> Rates:
    """Measure bandwidths by plain copies, what a part takes at least by next to empty ones, one core on this grid.

    None of it is an iteration that is to be predicted, as long as `problem` has another size.
    """
    period, nodes = serial_period(problem, precision=precision), problem.nodes
    core = {part.name: nodes / wall_clock(part.run, period.device, repeats=3).seconds for part in period.parts}
    channels = bus_bandwidth(device) | {"GPU memory": copy_bandwidth(device), "core": copy_bandwidth(period.device)}
    little, small = device.zeros(1, np.float32), np.zeros(1, np.float32)
    runs = {
        "to the GPU": lambda: device.upload(small, little),
        "to the host": lambda: device.download(little, small),
        "GPU memory": device.compile(Kernel(_touch))((1,), little),
    }
    return Rates(channels, {name: wall_clock(run, device, repeats=20).seconds for name, run in runs.items()}, core)
