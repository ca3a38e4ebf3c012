"""What one of several ranks has of the tank: a block of cells, and copies of particles in one layer of cells around.

Cells are as wide as the support. So all that a particle of the block meets lies in the block and that layer, in the
same cells as on one rank, and the sums over its neighbours are the same.
"""

from typing import NamedTuple

import numpy as np

from repro.parallel.ranks.around import AROUND, rank_beside, tags_of
from repro.parallel.ranks.blocks import blocks_for
from repro.particles.position import Units

from .system import System

#: cells of a block along each axis that is cut: a particle near one of its sides is not near the opposite one too, and
#: who has copies of particles beyond a side has them of all ranks that these may come from
THINNEST = 2

#: no more particles than this share over those on the lattice, and a few for few, are in some cells
_DENSER, _FEW = 1.25, 32

#: a cell's number beyond all
_BEYOND = 2**31 - 1


class Beside(NamedTuple):
    """Another rank, the tags of messages to it and from it, where it lies in AROUND, and its block."""

    rank: int
    tag_out: int
    tag_in: int
    number: int
    block: tuple


class Subdomain:
    """The part that a rank has of a system; with fewer cells than two along an axis that is cut, InputError."""

    def __init__(self, system: System, real, ranks):
        self._system, self._real, self.cells = system, real, system.cells
        shape, own = self.cells.shape, self.places(Units(real).of(system.position + system.margin, system.box))
        work = [np.bincount(own[:, axis], minlength=n) for axis, n in enumerate(shape)]
        blocks = blocks_for(shape, (False,) * 3, ranks.count, (THINNEST,) * 3, work, "cells")
        matrix = blocks.matrix
        #: along x, y and z the first cell, and the first one behind
        self.block, here, self.beside = blocks.box(ranks.rank), matrix.place(ranks.rank), []
        for number, way in enumerate(AROUND):
            other = rank_beside(matrix, here, way) if any(way) else None
            if other is not None:
                self.beside.append(Beside(other, *tags_of(number), number, blocks.box(other)))
        #: cells below these are near a block beside, and those from these on
        self.near_low = tuple(low + 1 if at else -1 for (low, _), at in zip(self.block, here, strict=True))
        self.near_high = tuple(
            high - 1 if at + 1 < count else _BEYOND
            for (_, high), at, count in zip(self.block, here, matrix.ranks, strict=True)
        )

    def places(self, whole: np.ndarray) -> np.ndarray:
        """The cells along x, y and z of positions (count, 3) in whole numbers."""
        return np.stack(np.unravel_index(self.cells.of_units(whole), self.cells.shape, order="F"), 1)

    def own(self, whole: np.ndarray) -> np.ndarray:
        """Which positions lie in the block."""
        return within(self.places(whole), self.block)

    def around(self, whole: np.ndarray) -> np.ndarray:
        """Which positions lie in the block or the layer around it."""
        return within(self.places(whole), widened(self.block))

    @property
    def share(self) -> float:
        """The share of all cells that the block and the layer around have."""
        sides = [high - low for low, high in widened(self.block)]
        return min(1.0, float(np.prod(sides)) / self.cells.count)

    def near(self, places: np.ndarray, beside: Beside) -> tuple[np.ndarray, np.ndarray]:
        """Which places of cells another rank has copies of, and of which this one has that are the other's."""
        own, other = within(places, self.block), within(places, beside.block)
        return own & within(places, widened(beside.block)), other & within(places, widened(self.block))

    @property
    def most_own(self) -> int:
        """Room for the fluid of the block."""
        return self._most(self.block)

    def most_near(self, beside: Beside) -> tuple[int, int]:
        """Room for the particles that another rank is sent, and that it sends: in the cells where the two meet."""
        return self._most(_common(self.block, widened(beside.block))), self._most(
            _common(beside.block, widened(self.block))
        )

    def _most(self, block) -> int:
        """Room for what is in a block of cells: all particles, or those that fill what it has of the tank."""
        system, spacing = self._system, self._system.resolution.spacing
        top = np.array([*system.tank[:2], system.ceiling])
        side = np.array(system.box) / self.cells.shape
        low, high = (np.clip(np.array(ends) * side - system.margin, 0, top) for ends in zip(*block, strict=True))
        filled = np.prod(np.maximum(high - low, 0) / spacing + 1)
        return min(system.count, int(_DENSER * filled) + _FEW)


def widened(block) -> tuple:
    """A block with one layer of cells around."""
    return tuple((low - 1, high + 1) for low, high in block)


def _common(block, other) -> tuple:
    """The cells of both blocks."""
    return tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(block, other, strict=True))


def within(places: np.ndarray, block) -> np.ndarray:
    """Which places (count, 3) lie in a block."""
    low, high = np.array(block).T
    return ((places >= low) & (places < high)).all(1)
