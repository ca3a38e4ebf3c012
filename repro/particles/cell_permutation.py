"""The order of cells as a permutation, for methods whose particles have arrays of their own (see `cell_order`)."""

from functools import cache

import numpy as np

from repro.parallel import Kernel, inline, zero

from .cell_order import _count_body, _scatter
from .scan import running_sum


@inline
def _rank(x, n, cell, starts, members, ids, order):
    for i in range(x, x + n):
        first, number = starts[cell[i]], ids[i]
        to = first
        for k in range(first, starts[cell[i] + 1]):
            to += ids[members[k]] < number
        order[to] = i


@cache
def _gather_body(components: int):
    @inline
    def gather(x, n, order, source, target, count):
        for i in range(x, x + n):
            for k in range(components):
                target[i + k * count] = source[order[i] + k * count]

    return gather


@inline
def _copy(x, n, source, target):
    for k in range(x, x + n):
        target[k] = source[k]


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

    def update(self, r) -> dict:
        """The launches that find the order of particles at positions `r`, by name."""
        device, count = self.device, len(self.ids)
        scan = running_sum(device, self._counts, self.starts)
        return {
            "clear the counts": device.compile(Kernel(zero))((self.cells.count,), self._counts),
            "count": device.compile(Kernel(_count_body(self._real, device.add)))(
                (count,), r, self._counts, self._cell, self._place, count, self.cells.shape
            ),
            "scan": lambda: [launch() for launch in scan] and None,
            "scatter": device.compile(Kernel(_scatter))((count,), self._cell, self._place, self.starts, self._members),
            "rank": device.compile(Kernel(_rank))(
                (count,), self._cell, self.starts, self._members, self.ids, self.order
            ),
        }

    def apply(self, *arrays):
        """The launch that brings arrays (flat, one or more components a particle) into the order; `ids` come last."""
        device, count, launches, back = self.device, len(self.ids), [], []
        for array in (*arrays, self.ids):
            sorted_ = device.zeros(len(array), array.dtype)
            bind = device.compile(Kernel(_gather_body(len(array) // count)))
            launches.append(bind((count,), self.order, array, sorted_, count))
            back.append(device.compile(Kernel(_copy))((len(array),), sorted_, array))
        return lambda: [launch() for launch in (*launches, *back)] and None
