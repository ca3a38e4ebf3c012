"""The order of cells as a permutation, for methods whose particles have arrays of their own (see `cell_order`)."""

from functools import cache

import numpy as np

from repro.parallel import Kernel, inline, zero

from .cell_order import _count_body, _scatter
from .scan import running_sum


@cache
def _moves(components: tuple[int, ...]):
    """Moves particle i's so many components of each array to place `to`: move(i, to, count, sources, targets)."""
    if not components:
        return _done
    first, others = components[0], _moves(components[1:])

    @inline
    def move(i, to, count, sources, targets):
        for k in range(first):
            targets[0][to + k * count] = sources[0][i + k * count]
        others(i, to, count, sources[1:], targets[1:])

    return move


@inline
def _done(i, to, count, sources, targets):
    """No array is left."""


@cache
def _order_body(components: tuple[int, ...]):
    move, length = _moves(components), len(components)

    @inline
    def bring(x, n, cell, starts, members, ids, order, count, *arrays):
        for i in range(x, x + n):
            first, number = starts[cell[i]], ids[i]
            to = first
            for k in range(first, starts[cell[i] + 1]):
                to += ids[members[k]] < number
            order[to] = i
            move(i, to, count, arrays[:length], arrays[length:])

    return bring


@cache
def _copy_body(components: tuple[int, ...]):
    move, length = _moves(components), len(components)

    @inline
    def copy(x, n, count, *arrays):
        for i in range(x, x + n):
            move(i, i, count, arrays[:length], arrays[length:])

    return copy


class CellPermutation:
    """Which particle comes where in the order of cells, and within a cell by id: order[k] is the k-th, cell c begins
    at starts[c].
    """

    def __init__(self, device, cells, ids, real):
        self.device, self.cells, self.ids, self._real = device, cells, ids, real
        count = len(ids)
        self.order, self.starts = device.zeros(count, np.int32), device.zeros(cells.count + 1, np.int32)
        self._counts = device.zeros(cells.count, np.int32)
        self._cell, self._place, self._members = (device.zeros(count, np.int32) for _ in range(3))

    def update(self, r, *arrays) -> dict:
        """The launches by name that find the order of particles at positions `r` and bring arrays into it.

        These are `r` itself, `arrays` (flat, one or more components a particle) and the ids.
        """
        device, count, arrays = self.device, len(self.ids), (r, *arrays, self.ids)
        sorted_ = tuple(device.zeros(len(array), array.dtype) for array in arrays)
        components = tuple(len(array) // count for array in arrays)
        scan = running_sum(device, self._counts, self.starts)
        lists = self._cell, self.starts, self._members, self.ids, self.order
        return {
            "clear the counts": device.compile(Kernel(zero))((self.cells.count,), self._counts),
            "count": device.compile(Kernel(_count_body(self._real, device.add)))(
                (count,), r, self._counts, self._cell, self._place, count, self.cells.shape
            ),
            "scan": lambda: [launch() for launch in scan] and None,
            "scatter": device.compile(Kernel(_scatter))((count,), self._cell, self._place, self.starts, self._members),
            "bring into order": device.compile(Kernel(_order_body(components)))(
                (count,), *lists, count, *arrays, *sorted_
            ),
            "copy back": device.compile(Kernel(_copy_body(components)))((count,), count, *sorted_, *arrays),
        }
