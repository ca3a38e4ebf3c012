"""A flow's share of its problem: all of it, or what one of several ranks has, with what is exchanged after a step."""

from dataclasses import replace
from functools import partial

import numpy as np

from repro.errors import InputError
from repro.parallel.ranks.blocks import blocks_for
from repro.parallel.ranks.exchange import Exchange

from .layout import make_layout
from .strategies.scheme import Scheme, in_order
from .subdomain import Subdomain, part_of


def share_of(flow, ranks):
    """The share that this process has of a flow's problem; InputError where the strategy or the box does not allow it.

    `ranks` as of FlowSimulation.
    """
    if ranks is None or ranks.count == 1:
        return Whole(flow.problem)
    if flow.strategy not in flow.ON_RANKS:
        can = " or ".join(map(repr, flow.ON_RANKS)) or "no strategy of this kind of flow"
        raise InputError(f"strategy '{flow.strategy}' is for one rank: {can} runs on {ranks.count}")
    return Share(flow, ranks)


class Whole:
    """One rank has all nodes, and exchanges nothing."""

    alone = True

    def __init__(self, problem):
        self.problem = problem
        #: the nodes of the box in arrays (..., nz, ny, nx) of what is stored
        self.own = (..., *(slice(extent) for extent in problem.shape[::-1]))

    def part(self, values: np.ndarray) -> np.ndarray:
        """All."""
        return values

    def gathered(self, values: np.ndarray) -> np.ndarray:
        """All."""
        return values

    def of_own(self, rows):
        """Rows of numbers of the own nodes, of those of all stored ones."""
        return rows

    def sum(self, number: float) -> float:
        """Over all ranks."""
        return number

    def exchanged(self, scheme: Scheme, device) -> Scheme:
        """The scheme on this share."""
        return scheme


class Share(Whole):
    """One of several ranks has the nodes of its block, and a layer of halo beside those of others."""

    alone = False

    def __init__(self, flow, ranks):
        problem, self._ranks, self._layout = flow.problem, ranks, flow.layout
        self._lattice, self._dtype = flow.lattice, flow.dtype
        blocks = blocks_for(problem.shape, problem.periodic, ranks.count, problem.thinnest)
        self._subdomain = Subdomain(blocks, ranks)
        self.problem = part_of(problem, self._subdomain)
        self.own, self.part, self.gathered = (getattr(self._subdomain, name) for name in ("own", "part", "gathered"))

    def of_own(self, rows):
        """Rows of numbers of the own nodes, of those of all stored ones."""
        return rows.reshape(-1, *self._subdomain.shape[::-1])[self.own]

    def sum(self, number: float) -> float:
        """Over all ranks."""
        return float(self._ranks.sum(np.array([number]))[0])

    def exchanged(self, scheme: Scheme, device) -> Scheme:
        """The scheme, whose steps bring to the halo what crosses from other ranks."""
        lattice, size = self._lattice, self.problem.nodes
        at, _ = make_layout(lattice, self._layout)
        links = self._subdomain.population_links(lattice, lambda i, nodes: at(i, nodes, size))
        exchange = Exchange(links, self._ranks, device, self._dtype, "the populations that cross")
        now, then = (partial(exchange, state) for state in scheme.states)
        steps = (in_order(scheme.steps[0], then), in_order(scheme.steps[1], now))
        return replace(scheme, steps=steps, start=in_order(scheme.start, now))
