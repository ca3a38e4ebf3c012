"""The order of cells as a permutation: counting sort, and within a cell by id, so that one order is the only one.

The atomic additions of the count give a particle's place in its cell in any order; the places are therefore given anew
by the ids. Sums over neighbours then have the same order in every run, bit for bit.
"""

from functools import cache, partial

import numpy as np

from repro.parallel import device_function, zero
from repro.parallel.launch_sequence import in_turn

from .cells import cell_of
from .launch import launch_of
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
        return device_function(lambda i, to, count, sources, targets: None)
    first, others = components[0], _moves(components[1:])

    @device_function
    def move(i, to, count, sources, targets):
        for k in range(first):
            targets[0][to + k * count] = sources[0][i + k * count]
        others(i, to, count, sources[1:], targets[1:])

    return move


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
        self._counts, self.starts = (device.zeros(cells.count + more, np.int32) for more in (0, 1))
        self.order, self._cell, self._place, self._members = (device.zeros(len(ids), np.int32) for _ in range(4))

    def copies(self, arrays) -> tuple:
        """Arrays on the device with room for the same."""
        return tuple(self.device.zeros(len(array), array.dtype) for array in arrays)

    def sort(self, r, sources, targets) -> dict:
        """The launches by name that find the order of particles at positions `r` and bring arrays into it."""
        device, count, cells, starts = self.device, len(self.ids), self.cells, self.starts
        counted, ordered = _count_body(self._real, device.add), _order_body(self._components(sources))
        found = self._cell, starts, self._members, self.ids, self.order, count
        return {
            "clear the counts": launch_of(device, zero, cells.count, self._counts),
            "count": self._each(counted, r, self._counts, self._cell, self._place, count, cells.shape),
            "scan": partial(in_turn, *running_sum(device, self._counts, starts)),
            "scatter": self._each(_scatter, self._cell, self._place, starts, self._members),
            "order": self._each(ordered, *found, *sources, *targets),
        }

    def _each(self, body, *arguments):
        """The launch of a body over the particles that are sorted."""
        return launch_of(self.device, body, len(self.ids), *arguments)

    def copy(self, sources, targets):
        """The launch that copies arrays as they are."""
        body, count = _copy_body(self._components(sources)), len(self.ids)
        return launch_of(self.device, body, count, count, *sources, *targets)

    def update(self, r, *arrays) -> dict:
        """The launches by name that bring `r` itself, `arrays` and the ids into the order of cells."""
        arrays = (r, *arrays, self.ids)
        copies = self.copies(arrays)
        return self.sort(r, arrays, copies) | {"copy back": self.copy(copies, arrays)}

    def _components(self, arrays) -> tuple[int, ...]:
        return tuple(len(array) // len(self.ids) for array in arrays)


class SortedParticles:
    """Positions r, two vectors u and v, and ids in the order of cells; cell c begins at starts[c].

    `source` holds the unsorted arrays r, u, v (flat, 3 * count) and ids (count).
    """

    def __init__(self, device, source, cells, real):
        self._permutation = CellPermutation(device, cells, source.ids, real)
        self._source = source.r, source.u, source.v, source.ids
        self._sorted = self.r, self.u, self.v, self.ids = self._permutation.copies(self._source)
        self.starts = self._permutation.starts

    def update(self) -> dict:
        """The launches that sort the source's particles, by name."""
        return self._permutation.sort(self._source[0], self._source, self._sorted)

    def hand_back(self):
        """The launch that gives the source's arrays the order of the cells."""
        return self._permutation.copy(self._sorted, self._source)
