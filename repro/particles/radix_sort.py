"""Radix sort of particles by the number of their cell, and where each cell begins (sph paper, section 2, figure 5).

The particles stay where they are: what is sorted are pairs of cell and particle. This is the sort in global memory; the
one in the memory of a block is `block_sort`, and below is a library's. Four bits a pass, and each pass keeps
the order of what it finds equal, so that the particles of a cell lie in the order of their numbers, on every device.
"""

from functools import cache, partial

import numpy as np

from repro.parallel import device_function
from repro.parallel.launch_sequence import in_turn

from .cells import cell_of
from .launch import launch_of
from .scan import running_sum

_DIGITS = 16

#: pairs that one thread counts and moves
CHUNK = 64


@cache
def _assign_body(real):
    number = cell_of(real)

    @device_function
    def assign(x, n, r, keys, members, count, cells):
        for i in range(x, x + n):
            keys[i] = number(r[i], r[count + i], r[2 * count + i], cells)
            members[i] = i

    return assign


@device_function
def _count(x, n, keys, counts, chunks, shift, count):
    for chunk in range(x, x + n):
        for digit in range(_DIGITS):
            counts[digit * chunks + chunk] = 0
        for k in range(chunk * CHUNK, min((chunk + 1) * CHUNK, count)):
            counts[((keys[k] >> shift) & (_DIGITS - 1)) * chunks + chunk] += 1


@device_function
def _move(x, n, keys, members, places, keys_new, members_new, chunks, shift, count):
    for chunk in range(x, x + n):
        for k in range(chunk * CHUNK, min((chunk + 1) * CHUNK, count)):
            own = ((keys[k] >> shift) & (_DIGITS - 1)) * chunks + chunk
            to = places[own]
            places[own] = to + 1
            keys_new[to] = keys[k]
            members_new[to] = members[k]


@device_function
def _find_starts(x, n, keys, starts, count):
    for c in range(x, x + n):
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < c:
                low = middle + 1
            else:
                high = middle
        starts[c] = low


class CellSort:
    """Numbers of the particles in the order of their cells: those of cell c are members[starts[c] : starts[c + 1]].

    `starts` is the paper's first-index array, one longer than the number of cells. A subclass sorts: `_passes` are its
    launches, which bring pairs of cell and particle from the first of two arrays into the order of cells, to and fro.
    """

    #: whether a GPU can record the launches
    recorded = True

    def __init__(self, device, cells, count: int, real):
        self.device, self.cells, self.count, self._real = device, cells, count, real
        self.starts = device.zeros(cells.count + 1, np.int32)

    def _allocate(self, passes: int) -> None:
        self._keys = [self.device.zeros(self.count, np.int32) for _ in range(2)]
        self._members = [self.device.zeros(self.count, np.int32) for _ in range(2)]
        self._sorted_keys, self.members = self._keys[passes % 2], self._members[passes % 2]

    def update(self, r) -> dict:
        """The launches that sort the particles by their positions `r`, by name."""
        device, count, cells, assign = self.device, self.count, self.cells, _assign_body(self._real)
        if not count:
            # every cell begins at 0
            return {}
        assigned = launch_of(device, assign, count, r, self._keys[0], self._members[0], count, cells.shape)
        find = launch_of(device, _find_starts, cells.count + 1, self._sorted_keys, self.starts, count)
        return {"cell of each particle": assigned} | self._passes() | {"first of each cell": find}


class RadixSort(CellSort):
    """A `CellSort` in global memory, four bits a pass."""

    def __init__(self, device, cells, count: int, real):
        super().__init__(device, cells, count, real)
        self._chunks, self._digits = -(-count // CHUNK), max(1, -(-(cells.count - 1).bit_length() // 4))
        self._counts, self._places = (device.zeros(_DIGITS * self._chunks + more, np.int32) for more in (0, 1))
        self._allocate(self._digits)

    def _passes(self) -> dict:
        return {f"sort by digit {k}": self._one_pass(k) for k in range(self._digits)}

    def _one_pass(self, k: int):
        device, chunks, digit = self.device, self._chunks, (self._chunks, 4 * k, self.count)
        from_, to = ((self._keys[pair], self._members[pair]) for pair in (k % 2, 1 - k % 2))
        count = launch_of(device, _count, chunks, from_[0], self._counts, *digit)
        move = launch_of(device, _move, chunks, *from_, self._places, *to, *digit)
        return partial(in_turn, count, *running_sum(device, self._counts, self._places), move)


class LibrarySort(CellSort):
    """A `CellSort` by `argsort` of NumPy, or on a GPU of CuPy, which is a radix sort.

    It takes memory as it runs, so that a GPU cannot record it for a graph.
    """

    recorded = False

    def __init__(self, device, cells, count: int, real):
        super().__init__(device, cells, count, real)
        self._allocate(1)

    def _passes(self) -> dict:
        def sort():
            # a stable one: the particles of a cell keep their order
            self.members[:] = self.device.xp.argsort(self._keys[0], kind="stable")
            self._sorted_keys[:] = self._keys[0][self.members]

        return {"sort by a library": sort}
