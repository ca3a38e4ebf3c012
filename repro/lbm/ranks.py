"""A flow's share of its problem: all of it, or what one of several ranks has, with what is exchanged after a step."""

from collections.abc import Callable
from functools import partial
from math import prod

import numpy as np

from repro.errors import InputError, require
from repro.parallel.ranks.around import several
from repro.parallel.ranks.blocks import Blocks, blocks_for
from repro.parallel.ranks.exchange import Exchange
from repro.parallel.ranks.nonblocking import NonblockingExchange
from repro.parallel.ranks.world import Alone

from .layout import make_layout
from .model import InPores
from .strategies.hidden_halo import Slab, with_hidden_halo
from .strategies.scheme import Scheme, arrays_of, in_order, with_halo
from .subdomain import Subdomain, part_of

#: planes that each rank has at least where a box is cut into slabs across z. Its planes lie in one piece, so that they
#: are sent as they are, and the exchange takes less than the update of those between
PLANES = 16


def share_of(flow, ranks):
    """The share that this process has of a flow's problem; InputError where the strategy or the box does not allow it.

    `ranks` as of FlowSimulation.
    """
    if not several(ranks):
        return Whole(flow.problem)
    if flow.strategy not in flow.ON_RANKS:
        can = " or ".join(map(repr, flow.ON_RANKS)) or "no strategy of this kind of flow"
        raise InputError(f"strategy '{flow.strategy}' is for one rank: {can} runs on {ranks.count}")
    return Share(flow, ranks)


def cut(shape, periodic, ranks: int, thinnest=(1, 1, 1), work=None) -> tuple[Blocks, bool]:
    """Nodes cut for so many ranks as `blocks_for` does, and whether into slabs across z, as where each has PLANES."""
    (*plane, deep), planes = shape, max(PLANES, thinnest[2])
    slabs = deep >= ranks * planes
    return blocks_for(shape, periodic, ranks, (*plane, planes) if slabs else thinnest, work), slabs


def numbers_of(nodes: int, cells: np.ndarray | None) -> np.ndarray:
    """For each of so many nodes its number among the stored `cells`, -1 where it is not; None: all are stored."""
    if cells is None:
        return np.arange(nodes)
    number = np.full(nodes, -1)
    number[cells] = np.arange(len(cells))
    return number


class Whole:
    """One rank has all nodes, and exchanges nothing."""

    #: whether a step can be recorded in a CUDA graph, what is exchanged included
    alone = recorded = True

    def __init__(self, problem, ranks=None):
        self.problem, self.ranks = problem, ranks or Alone()
        self._extents, kept = problem.shape[::-1], problem.stored_shape[::-1]
        self._behind = [(0, more - extent) for extent, more in zip(self._extents, kept, strict=True)]
        #: the nodes of the box in arrays (..., nz, ny, nx) of what is stored
        self.own = self._box = (..., *map(slice, self._extents))
        #: along x, y and z the nodes that are stored here, and which of them are this rank's own
        self.nodes = [np.arange(extent) for extent in problem.stored_shape]
        self.sides = [slice(extent) for extent in problem.stored_shape]

    def part(self, values: np.ndarray) -> np.ndarray:
        """Values (..., nz, ny, nx) of all nodes as those of what is stored, 0 behind closed faces."""
        if not any(more for _, more in self._behind):
            return values
        return np.pad(values, [*[(0, 0)] * (values.ndim - 3), *self._behind])

    def gathered(self, values: np.ndarray) -> np.ndarray | None:
        """All."""
        return values

    def of_own(self, rows):
        """Rows of numbers of the own nodes, of those of all stored ones."""
        return rows

    def sum(self, numbers: np.ndarray) -> np.ndarray:
        """Over all ranks."""
        return numbers

    def most(self, number: float) -> float:
        """The largest of all ranks."""
        return number

    def exchanged(self, scheme: Scheme, device) -> Scheme:
        """The scheme on this share."""
        return scheme


class Share(Whole):
    """One of several ranks has the nodes of its block, and layers of halo beside those of others."""

    alone = False

    def __init__(self, flow, ranks):
        problem = flow.problem
        super().__init__(problem, ranks)
        self._layout, self._lattice, self._dtype = flow.layout, flow.lattice, flow.kept
        # where only pores are kept, they are what there is to do
        work = None if flow.STRATEGIES[flow.strategy].COST.dense else problem.stored.pores_across()
        blocks, slabs = cut(problem.stored_shape, problem.periodic, ranks.count, problem.thinnest, work)
        self._subdomain, self._own_pores = Subdomain(blocks, ranks, problem.layers), None
        self.own, self.nodes, self.sides = self._subdomain.own, self._subdomain.nodes, self._subdomain.sides
        self.problem = part_of(problem, self._subdomain)
        _require_pores(self.problem, self, ranks)
        # rows of a structure of arrays are without gaps in a plane
        self._hidden = slabs and self._layout == "soa"
        self.recorded = bool(self._hidden and ranks.gpus)

    def part(self, values: np.ndarray) -> np.ndarray:
        """Values (..., nz, ny, nx) of all nodes as those of this part, halo included."""
        return self._subdomain.part(super().part(values))

    def gathered(self, values: np.ndarray) -> np.ndarray | None:
        """Values (..., nz, ny, nx) of all ranks' own nodes on rank 0."""
        whole = self._subdomain.gathered(values)
        return whole if whole is None else whole[self._box]

    def of_own(self, rows):
        """Rows of numbers of the own nodes, of those of all stored ones."""
        if self._own_pores is not None:
            return rows[:, self._own_pores]
        return rows.reshape(len(rows), *self._subdomain.shape[::-1])[self.own].reshape(len(rows), -1)

    def sum(self, numbers: np.ndarray) -> np.ndarray:
        """Over all ranks."""
        return self.ranks.sum(np.asarray(numbers))

    def most(self, number: float) -> float:
        """The largest of all ranks."""
        return float(self.ranks.gather(np.array([number])).max())

    def exchanged(self, scheme: Scheme, device) -> Scheme:
        """The scheme, whose steps bring to the halo what crosses from other ranks."""
        at, _ = make_layout(self._lattice, self._layout)
        number, size = self._numbers(scheme, device), len(arrays_of(scheme.states[0])[0]) // self._lattice.q

        def places(i, nodes):
            stored = number[nodes]
            return at(i, stored[stored >= 0], size)

        def filled(links, what: str) -> Callable:
            if self._hidden:
                return lambda arrays: NonblockingExchange(links, arrays, self.ranks, device, what)
            exchange = Exchange(links, self.ranks, device, self._dtype, what)
            return lambda arrays: in_order(*(partial(exchange, array) for array in arrays))

        layers = self.problem.layers
        crossing = self._subdomain.population_links(self._lattice, places)
        beside = self._subdomain.links(lambda way: [0], places, layers) if scheme.potentials else []
        fill = filled(crossing, "the populations that cross"), filled(beside, "the potentials of nodes beside")
        return with_hidden_halo(scheme, self._slab(scheme), *fill, layers) if self._hidden else with_halo(scheme, *fill)

    def _slab(self, scheme: Scheme) -> Slab:
        """The own planes, and where each begins in what a launch goes through."""
        (nx, ny, deep), own = self._subdomain.shape, self.own[1]
        starts = np.arange(deep + 1)
        if scheme.cells is not None:
            starts = np.searchsorted(scheme.cells, nx * ny * starts)
        return Slab(own.start, own.stop, own.start > 0, own.stop < deep, starts)

    def _numbers(self, scheme: Scheme, device) -> np.ndarray:
        """For each node of the part its number among the stored ones, -1 where it is not."""
        number = numbers_of(prod(self._subdomain.shape), scheme.cells)
        if scheme.cells is None:
            return number
        own = number.reshape(self._subdomain.shape[::-1])[self.own]
        self._own_pores = device.to_device(own[own >= 0])
        return number


def _require_pores(part, share: Share, ranks) -> None:
    """Refuse boxes in which all is solid: on all ranks, as they all end."""
    if isinstance(part, InPores):
        full = ranks.gather(np.array(bool(part.stored.solid[share.own].all())), "whether a rank has pores").ravel()
        require(not full.any(), f"rank {int(full.argmax())} would have no pores: use fewer ranks")
