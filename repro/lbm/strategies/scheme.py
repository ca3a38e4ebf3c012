"""What every streaming strategy gives the simulation."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scheme:
    """A strategy, bound to its arrays: `steps[t % 2]` launches time step t, then the state is `states[(t + 1) % 2]`."""

    #: launches what must happen once, after the initial populations are in states[0]
    start: Callable[[], None]
    steps: tuple[Callable[[], None], Callable[[], None]]
    #: arrays of populations (minus weights), layout as chosen
    states: tuple
    #: whether the state holds populations after the collision (True) or after streaming (False)
    collided: bool
    #: parts[t % 2]: what a step launches, by name, where a strategy tells it apart
    parts: tuple[dict[str, Callable[[], None]], ...] = ()
    #: macroscopic(fields): launches that compute density and velocity, by parity of the steps; None: populations lie at
    #: their own nodes
    macroscopic: Callable | None = None


@dataclass(frozen=True)
class Traffic:
    """What a strategy costs by design: arrays of populations kept, and times that each is read and written a step."""

    arrays: int
    reads: int
    writes: int

    def bytes_per_update(self, q: int, itemsize: int) -> int:
        """Bytes that one node update moves through the device's memory."""
        return (self.reads + self.writes) * q * itemsize

    def bytes_per_node(self, q: int, itemsize: int) -> int:
        """Bytes that one node occupies."""
        return self.arrays * q * itemsize


def nothing():
    """No launch."""


def in_order(*launches: Callable[[], None]) -> Callable[[], None]:
    """One function that makes several launches one after the other."""

    def run():
        for launch in launches:
            launch()

    return run


def in_place(problem, device, dtype, parts_of) -> Scheme:
    """A scheme with one array f, at rest, whose steps are the parts of parts_of(f) one after the other."""
    f = device.zeros(problem.model.lattice.q * problem.nodes, dtype)
    parts = parts_of(f)
    step = in_order(*parts.values())
    return Scheme(nothing, (step, step), (f, f), collided=False, parts=(parts, parts))


def two_arrays(problem, device, dtype):
    """Two zeroed arrays of populations: the fluid at rest with density one."""
    count = problem.model.lattice.q * problem.nodes
    return device.zeros(count, dtype), device.zeros(count, dtype)
