"""What one of several ranks has of a box: nodes of its own, and layers of halo, nodes of the ranks beside it.

Populations stream over one spacing a step. So a rank that has, before a step, what its halo sends towards its own nodes
finds all that it needs, and its kernels are those of one rank: they see a smaller box. What they do to the halo itself
is wrong, and nobody reads it: the next exchange brings what is right.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace

import numpy as np

from repro.parallel.ranks.around import AROUND, PIECE_TAG, rank_beside, tags_of
from repro.parallel.ranks.blocks import Blocks
from repro.parallel.ranks.exchange import Link

from .boundaries import PERIODIC_BOX
from .model import InPores


class Subdomain:
    """The part that a rank has of a box that is cut into `blocks`, with `layers` of halo beside each other rank.

    There is none at walls, nor along an axis that is not cut: it goes on at its other end as it does on one rank.
    """

    def __init__(self, blocks: Blocks, ranks, layers: int = 1):
        self.blocks, self.rank, self._ranks, self._layers = blocks, ranks.rank, ranks, layers
        self.sides, self.nodes = _sides_of(blocks, ranks.rank, layers)
        #: its own nodes, in arrays (..., nz, ny, nx) of the part
        self.own = (..., *self.sides[::-1])
        #: nodes of the part along x, y and z, halo included
        self.shape = tuple(map(len, self.nodes))

    @property
    def all_nodes(self) -> list:
        """The nodes of the parts of all ranks, halo included: along x, y and z of each."""
        return [_sides_of(self.blocks, rank, self._layers)[1] for rank in range(self._ranks.count)]

    def part(self, values: np.ndarray) -> np.ndarray:
        """The part of values (..., nz, ny, nx) of the whole box, halo included; a copy."""
        x, y, z = self.nodes
        return values[..., z[:, None, None], y[:, None], x]

    def gathered(self, values: np.ndarray) -> np.ndarray | None:
        """Values (..., nz, ny, nx) of the own nodes of all ranks, as those of the whole box, on rank 0; else None."""
        ranks, values = self._ranks, np.ascontiguousarray(values)
        if ranks.rank:
            ranks.wait([ranks.send(values, 0, PIECE_TAG)], "rank 0, which gathers the box")
            return None
        whole = np.empty((*values.shape[:-3], *self.blocks.shape[::-1]), values.dtype)
        for rank in range(ranks.count):
            here = whole[(..., *(slice(*ends) for ends in self.blocks.box(rank)[::-1]))]
            piece = np.empty(here.shape, here.dtype) if rank else values
            if rank:
                ranks.wait([ranks.receive(piece, rank, PIECE_TAG)], f"the nodes of rank {rank}")
            here[...] = piece
        return whole

    def population_links(self, lattice, places: Callable) -> list[Link]:
        """What is exchanged after a step, see `links`: the populations that cross from box to box."""

        def crossing(way):
            # along an axis on which the other rank is not displaced, populations go either way
            return [
                i
                for i, velocity in enumerate(lattice.velocities)
                if all(c == there for c, there in zip(velocity, way, strict=True) if there)
            ]

        return self.links(crossing, places)

    def links(self, rows: Callable, places: Callable, layers: int = 1) -> list[Link]:
        """What ranks around this one are sent, and send to it, from the `layers` nearest to each other.

        rows(way) are the rows of an array that cross towards a displacement, places(row, nodes) the places in it of a
        row at nodes (flat indices in the part).
        """
        nodes = np.arange(np.prod(self.shape)).reshape(self.shape[::-1])

        def places_of(toward, region) -> np.ndarray:
            here = nodes[region].ravel()
            return np.concatenate([here[:0], *(places(row, here) for row in rows(toward))])

        found = []
        for number, way in enumerate(AROUND):
            back, other = tuple(-there for there in way), self._rank_at(way)
            if other is None:
                continue
            leaving = places_of(way, self._region(way, layers, halo=False))
            arriving = places_of(back, self._region(way, layers, halo=True))
            found.append(Link(other, *tags_of(number), leaving, arriving, len(rows(way))))
        return found

    def _rank_at(self, way) -> int | None:
        """The other rank at a displacement; None at a wall, and where an axis is not cut."""
        return _rank_at(self.blocks.matrix, self._ranks.rank, way)

    def _region(self, way, layers: int, *, halo: bool) -> tuple[slice, ...]:
        """The own nodes nearest to the rank at a displacement, or the halo that stands for its own."""
        found = []
        for there, own in zip(way, self.sides, strict=True):
            below = own.start - layers if halo else own.start
            above = own.stop if halo else own.stop - layers
            first = {-1: below, 0: own.start, 1: above}[there]
            found.append(slice(first, first + layers if there else own.stop))
        return tuple(found[::-1])


def _rank_at(matrix, rank: int, way) -> int | None:
    """The other rank at a displacement from one; None at a wall, and where an axis is not cut."""
    if not any(way) or any(there and ranks == 1 for there, ranks in zip(way, matrix.ranks, strict=True)):
        return None
    return rank_beside(matrix, matrix.place(rank), way)


def _sides_of(blocks: Blocks, rank: int, layers: int) -> tuple[list[slice], list[np.ndarray]]:
    """Along x, y and z the own nodes of a rank within its part, and the nodes of its part, halo included."""
    own, nodes = [], []
    for axis, ((first, end), cells) in enumerate(zip(blocks.box(rank), blocks.shape, strict=True)):
        beside = (_rank_at(blocks.matrix, rank, np.eye(3, dtype=int)[axis] * side) for side in (-1, 1))
        below, above = (0 if other is None else layers for other in beside)
        own.append(slice(below, below + end - first))
        nodes.append(np.arange(first - below, end + above) % cells)
    return own, nodes


def part_of(problem, subdomain: Subdomain):
    """The problem on the nodes of a part."""
    if isinstance(problem, InPores):
        # closed faces are solid nodes of what is stored, which is periodic
        space = problem.stored.part(subdomain.all_nodes, subdomain.rank)
        return replace(problem, space=space, boundaries=PERIODIC_BOX)
    # what was checked of the whole box is not asked of its parts
    part = copy(problem)
    object.__setattr__(part, "shape", subdomain.shape)
    if problem.solid is not None:
        object.__setattr__(part, "solid", subdomain.part(problem.solid))
    return part
