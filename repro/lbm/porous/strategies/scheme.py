"""What every strategy for porous media gives the simulation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...lattice import D3Q19
from ...strategies.scheme import Scheme
from ..node import dense_kernel, macroscopic_kernel, own_kernel


@dataclass(frozen=True)
class PorousScheme(Scheme):
    """A scheme whose state is kept for all nodes of the box, or for the pores only."""

    #: observe[t % 2] launches the computation of `fields` after t steps
    observe: tuple[Callable[[], None], Callable[[], None]] = ()
    #: density - 1 and velocity of the stored nodes, [4][node]
    fields: object = None
    #: arrays beside the populations: marks or map
    kept: tuple = ()
    #: place in the box of each stored node (flat index, x fastest); None where all nodes are stored
    cells: np.ndarray | None = None


@dataclass(frozen=True)
class Cost:
    """What a strategy keeps and moves by design, in bytes."""

    #: arrays of populations
    arrays: int
    #: bytes that mark a node of the box
    mark: int = 0
    #: bytes of `node_map` a pore
    map: float = 0
    #: whether `map` is only a bound, because the map's length depends on the pores
    map_at_most: bool = False
    #: share of the steps that read `node_map`
    map_reads: float = 1.0
    #: whether solid nodes take as much room as pores
    dense: bool = True

    def bytes_per_update(self, itemsize: int, porosity: float) -> float:
        """Bytes that the update of one pore must move: each population in and out, marks, map."""
        return 2 * D3Q19.q * itemsize + self.mark / porosity + self.map * self.map_reads

    def bytes_per_node(self, itemsize: int, porosity: float) -> float:
        """Bytes kept for each node of the box, solid included."""
        pore = self.arrays * D3Q19.q * itemsize + self.map
        return self.mark + pore * (1.0 if self.dense else porosity)

    def break_even(self, other: "Cost", itemsize: int) -> float:
        """Porosity below which this sparse strategy keeps fewer bytes than the dense `other`."""
        return other.bytes_per_node(itemsize, 1.0) / self.bytes_per_node(itemsize, 1.0)


def dense_scheme(problem, device, dtype, block, *, marks, read, in_solid) -> PorousScheme:
    """Two arrays over the whole box and a kernel that streams with `read`; the state is taken after the collision."""
    shape = problem.space.shape
    size = problem.space.solid.size
    a, b = device.zeros(D3Q19.q * size, dtype), device.zeros(D3Q19.q * size, dtype)
    fields = device.zeros(4 * size, dtype)
    grid, rates, force, _ = problem.parameters(dtype)
    model, storage = problem.box.model, problem.storage
    update = device.compile(dense_kernel(model, storage, dtype, read, in_solid, block=block))
    collide = device.compile(own_kernel(model, storage, dtype, in_solid, reverse=False, block=block))
    observe = device.compile(macroscopic_kernel(storage, dtype, in_solid, collided=True))
    return PorousScheme(
        start=collide((size,), marks, a, a, size, rates, force),
        steps=tuple(update(shape, marks, f, g, grid, rates, force) for f, g in ((a, b), (b, a))),
        states=(a, b),
        collided=True,
        observe=tuple(observe((size,), marks, f, fields, size, force) for f in (a, b)),
        fields=fields,
        kept=(marks,),
    )
