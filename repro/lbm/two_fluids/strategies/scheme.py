"""What every strategy for two fluids gives the simulation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...lattice import D3Q19


@dataclass(frozen=True)
class TwoFluidScheme:
    """A strategy bound to its arrays; after t steps the populations are `states[t % 2]`, taken after the collision."""

    #: parts[t % 2]: what step t launches, by name
    parts: tuple[dict[str, Callable[[], None]], ...]
    #: states[t % 2]: the populations of a and of b, minus their weights
    states: tuple[tuple, ...]
    #: place(i): where population i of each node must lie so that the first step finds it there
    place: Callable
    #: observe[t % 2] launches the computation of `fields`
    observe: tuple[Callable[[], None], ...]
    #: densities minus one and velocity of the stored nodes, [5][node]
    fields: object
    #: arrays beside the populations
    kept: tuple
    #: length of a row of the arrays
    row: int
    #: place in the box of each stored node (flat index, x fastest); None where all nodes are stored
    cells: np.ndarray | None = None


@dataclass(frozen=True)
class Cost:
    """What a strategy keeps and moves by design, in bytes."""

    #: times that the populations are read in a step
    reads: int
    #: bytes that mark a node of the box
    mark: int = 0
    #: whether potentials are written, and read again
    potentials: bool = True
    #: bytes of `node_map` a pore
    map: int = 0
    #: whether solid nodes take as much room as pores
    dense: bool = True

    def bytes_per_update(self, itemsize: int, porosity: float) -> float:
        """Bytes that a step must move for each pore: populations of both fluids, potentials written and read once,
        marks and map as often as the populations are read."""
        populations = 2 * D3Q19.q * (self.reads + 1)
        potentials = 4 if self.potentials else 0
        return (populations + potentials) * itemsize + self.reads * self._found(porosity)

    def densities_bytes(self, itemsize: int, porosity: float) -> float:
        """Of `bytes_per_update`, what a pass over the densities moves: 0 where there is none."""
        return (2 * D3Q19.q + 2) * itemsize + self._found(porosity) if self.potentials else 0.0

    def _found(self, porosity: float) -> float:
        """Bytes that it takes to find the populations of a pore once; without solid nobody looks at the marks."""
        return (self.mark / porosity if porosity < 1 else 0) + self.map

    def bytes_per_node(self, itemsize: int, porosity: float) -> float:
        """Bytes kept for each node of the box, solid included."""
        pore = (4 * D3Q19.q + 2 + 5) * itemsize + self.map
        return self.mark + pore * (1.0 if self.dense else porosity)
