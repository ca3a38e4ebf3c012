"""The order of cells as a permutation: counting sort, and within a cell by id, so that one order is the only one.

The atomic additions of the count give a particle's place in its cell in any order; the places are therefore given anew
by the ids. Sums over neighbours then have the same order in every run, bit for bit.
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, device_function, zero

from .cells import cell_of
from .scan import running_sum


@cache
def _count_body(real, add):
    number = cell_of(real)

    @device_function
    def assign(x, n, r, counts, cell, place, count, cells):
        for i in range(x, x + n):
            c = number(r[i], r[count + i], r[2 * count + i], cells)
            cell[i] = c
            place[i] = add(counts, c, 1)

    return assign


@device_function
def _scatter(x, n, cell, place, starts, members):
    for i in range(x, x + n):
        members[starts[cell[i]] + place[i]] = i


@cache
def _moves(components: tuple[int, ...]):
    """Moves particle i's so many components of each array to place `to`: move(i, to, count, sources, targets)."""
    if not components:
        return _done
    first, others = components[0], _moves(components[1:])

    @device_function
    def move(i, to, count, sources, targets):
        for k in range(first):
            targets[0][to + k * count] = sources[0][i + k * count]
        others(i, to, count, sources[1:], targets[1:])

    return move


@device_function
def _done(i, to, count, sources, targets):
    """No array is left."""


@cache
def _order_body(components: tuple[int, ...]):
    move, length = _moves(components), len(components)

    @device_function
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

    @device_function
    def copy(x, n, count, *arrays):
        for i in range(x, x + n):
            move(i, i, count, arrays[:length], arrays[length:])

    return copy


class CellPermutation:
    """Which particle comes where in the order of cells: order[k] is the k-th, cell c begins at starts[c].

    `ids` are numbers that particles keep; arrays are flat, with one or more components a particle.
    """

    def __init__(self, device, cells, ids, real):
        self.device, self.cells, self.ids, self._real = device, cells, ids, real
        count = len(ids)
        self.order, self.starts = device.zeros(count, np.int32), device.zeros(cells.count + 1, np.int32)
        self._counts = device.zeros(cells.count, np.int32)
        self._cell, self._place, self._members = (device.zeros(count, np.int32) for _ in range(3))

    def copies(self, arrays) -> tuple:
        """Arrays on the device with room for the same."""
        return tuple(self.device.zeros(len(array), array.dtype) for array in arrays)

    def sort(self, r, sources, targets) -> dict:
        """The launches by name that find the order of particles at positions `r` and bring arrays into it."""
        device, count = self.device, len(self.ids)
        scan = running_sum(device, self._counts, self.starts)
        return {
            "clear the counts": device.compile(Kernel(zero))((self.cells.count,), self._counts),
            "count": device.compile(Kernel(_count_body(self._real, device.add)))(
                (count,), r, self._counts, self._cell, self._place, count, self.cells.shape
            ),
            "scan": lambda: [launch() for launch in scan] and None,
            "scatter": device.compile(Kernel(_scatter))((count,), self._cell, self._place, self.starts, self._members),
            "order": device.compile(Kernel(_order_body(self._components(sources))))(
                (count,),
                *(self._cell, self.starts, self._members, self.ids, self.order, count),
                *(*sources, *targets),
            ),
        }

    def copy(self, sources, targets):
        """The launch that copies arrays as they are."""
        count = len(self.ids)
        return self.device.compile(Kernel(_copy_body(self._components(sources))))((count,), count, *sources, *targets)

    def update(self, r, *arrays) -> dict:
        """The launches by name that bring `r` itself, `arrays` and the ids into the order of cells."""
        arrays = (r, *arrays, self.ids)
        copies = self.copies(arrays)
        return self.sort(r, arrays, copies) | {"copy back": self.copy(copies, arrays)}

    def _components(self, arrays) -> tuple[int, ...]:
        return tuple(len(array) // len(self.ids) for array in arrays)
