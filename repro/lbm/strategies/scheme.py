"""What every strategy states and gives the simulation: in a box, in a porous medium, for two fluids."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from repro.parallel.launch_sequence import in_turn

from ..lattice import D3Q19


@dataclass(frozen=True)
class Scheme:
    """A strategy, bound to its arrays: `steps[t % 2]` launches time step t, then the state is `states[(t + 1) % 2]`."""

    steps: tuple[Callable[[], None], Callable[[], None]]
    #: arrays of populations (minus weights), layout as chosen; of two fluids a pair of arrays
    states: tuple
    #: whether the state holds populations after the collision (True) or after streaming (False)
    collided: bool = True
    #: launches what must happen once, after the initial populations are in states[0]
    start: Callable[[], None] = lambda: None
    #: parts[t % 2]: what a step launches, by name, where a strategy tells it apart
    parts: tuple[dict[str, Callable[[], None]], ...] = ()
    #: loads[t % 2] finds the populations that do not lie at their own nodes; empty: all do
    loads: tuple = ()
    #: observe[t % 2] launches the computation of `fields` after t steps; empty: the simulation does it
    observe: tuple[Callable[[], None], ...] = ()
    #: densities minus one and velocity of the stored nodes, [row][node]
    fields: object = None
    #: arrays beside the populations: marks, list of neighbours, potentials
    kept: tuple = ()
    #: place in the box of each stored node (flat index, x fastest); None where all nodes are stored
    cells: np.ndarray | None = None
    #: place(i): where population i of each node must lie so that the first step finds it there; None: at the node
    place: Callable | None = None
    #: of two fluids: their potentials, which the part "densities" of a step fills before its part "update" reads them,
    #: and looks[t % 2], what `observe[t % 2]` launches after that same part
    potentials: tuple = ()
    looks: tuple = ()
    #: length of a row of the arrays, where rows of a sparse list are longer than what they hold
    row: int | None = None


@dataclass(frozen=True)
class Cost:
    """What a strategy keeps and moves by design; a fluid node is a pore."""

    #: arrays of populations
    arrays: int
    #: arrays of populations that a step reads, and that it writes
    reads: int = 1
    writes: int = 1
    #: bytes that mark a node of the box, and whether they are read where nothing is solid
    mark: int = 0
    mark_open: bool = True
    #: bytes of the list of neighbours a fluid node, and whether that is only a bound
    map: float = 0
    map_at_most: bool = False
    #: times in a step that marks and list are read
    finds: float = 1.0
    #: numbers a node beside the populations: kept, and moved in a step
    kept: int = 0
    moved: int = 0
    #: whether solid nodes take as much room as fluid nodes
    dense: bool = True

    def bytes_per_update(self, itemsize: int, porosity: float = 1.0, q: int = D3Q19.q) -> float:
        """Bytes that a step must move for each fluid node."""
        return ((self.reads + self.writes) * q + self.moved) * itemsize + self.finds * self._found(porosity)

    def densities_bytes(self, itemsize: int, porosity: float, q: int = D3Q19.q) -> float:
        """Of `bytes_per_update`, what a pass over the densities of two fluids moves: 0 where there is none."""
        return (2 * q + 2) * itemsize + self._found(porosity) if self.moved else 0.0

    def _found(self, porosity: float) -> float:
        """Bytes that it takes to find the populations of a fluid node once."""
        return (self.mark / porosity if porosity < 1 or self.mark_open else 0) + self.map

    def bytes_per_node(self, itemsize: int, porosity: float = 1.0, q: int = D3Q19.q) -> float:
        """Bytes kept for each node of the box, solid included."""
        node = (self.arrays * q + self.kept) * itemsize + self.map
        return self.mark + node * (1.0 if self.dense else porosity)

    def break_even(self, other: "Cost", itemsize: int) -> float:
        """Porosity below which this sparse strategy keeps fewer bytes than the dense `other`."""
        return other.bytes_per_node(itemsize) / self.bytes_per_node(itemsize)


def in_order(*launches: Callable[[], None]) -> Callable[[], None]:
    """One function that makes several launches one after the other."""

    return partial(in_turn, *launches)


def arrays_of(state) -> tuple:
    """The arrays of a state: of two fluids a pair."""
    return state if isinstance(state, tuple) else (state,)


def with_halo(scheme: Scheme, populations: Callable, potentials: Callable) -> Scheme:
    """The scheme on a part of a box, whose halo other ranks fill: after each step, and before potentials are read.

    populations(arrays) and potentials(arrays) are launches that fill the halo of such arrays.
    """
    now, then = (populations(arrays_of(state)) for state in scheme.states)
    start = in_order(scheme.start, now)
    if not scheme.potentials:
        steps = zip(scheme.steps, (then, now), strict=True)
        return replace(scheme, steps=tuple(in_order(*launches) for launches in steps), start=start)
    beside, parts = potentials(scheme.potentials), []
    for part, crossing in zip(scheme.parts, (then, now), strict=True):
        densities, update = part["densities"], part["update"]
        parts.append({"densities": densities, "potentials": beside, "update": update, "populations": crossing})
    steps = tuple(in_order(*part.values()) for part in parts)
    looks = zip(parts, scheme.looks, strict=True)
    observe = tuple(in_order(part["densities"], beside, look) for part, look in looks)
    return replace(scheme, steps=steps, start=start, parts=tuple(parts), observe=observe)
