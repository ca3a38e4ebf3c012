"""Particles in the order of their cells: counting sort, and within a cell by id, so that one order is the only one.

The atomic additions of the count give a particle's place in its cell in any order; the places are therefore given anew
by the ids. Sums over neighbours then have the same order in every run, bit for bit.
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, inline, zero

from .cells import cell_of
from .position import Units
from .scan import running_sum


@cache
def _count_body(real, add):
    number = cell_of(real)

    @inline
    def assign(x, n, r, counts, cell, place, count, cells):
        for i in range(x, x + n):
            c = number(r[i], r[count + i], r[2 * count + i], cells)
            cell[i] = c
            place[i] = add(counts, c, 1)

    return assign


@inline
def _scatter(x, n, cell, place, starts, members):
    for i in range(x, x + n):
        members[starts[cell[i]] + place[i]] = i


@inline
def _order(x, n, cell, starts, members, ids, r, u, v, r_new, u_new, v_new, ids_new, count):
    for i in range(x, x + n):
        first, number = starts[cell[i]], ids[i]
        to = first
        for k in range(first, starts[cell[i] + 1]):
            to += ids[members[k]] < number
        ids_new[to] = number
        for k in range(3):
            r_new[to + k * count] = r[i + k * count]
            u_new[to + k * count] = u[i + k * count]
            v_new[to + k * count] = v[i + k * count]


@inline
def _hand_back(x, n, r, v, u, ids, r_out, v_out, u_out, ids_out, count):
    for i in range(x, x + n):
        ids_out[i] = ids[i]
        for k in range(3):
            r_out[i + k * count] = r[i + k * count]
            v_out[i + k * count] = v[i + k * count]
            u_out[i + k * count] = u[i + k * count]


class SortedParticles:
    """Positions r, two vectors u and v, and ids in the order of cells; cell c begins at starts[c].

    `source` holds the unsorted arrays r, u, v (flat, 3 * count) and ids (count).
    """

    def __init__(self, device, source, cells, real):
        count = len(source.ids)
        self.device, self.source, self.cells, self._real = device, source, cells, real
        self.r = device.zeros(3 * count, Units(real).whole)
        self.u, self.v = device.zeros(3 * count, real), device.zeros(3 * count, real)
        self.ids = device.zeros(count, np.int32)
        self.starts = device.zeros(cells.count + 1, np.int32)
        self._counts = device.zeros(cells.count, np.int32)
        self._cell, self._place, self._members = (device.zeros(count, np.int32) for _ in range(3))

    def update(self) -> dict:
        """The launches that sort the source's particles, by name."""
        device, source, count = self.device, self.source, len(self.ids)
        bind = device.compile(Kernel(_count_body(self._real, device.add)))
        empty = device.compile(Kernel(zero))((self.cells.count,), self._counts)
        assign = bind((count,), source.r, self._counts, self._cell, self._place, count, self.cells.shape)
        scan = running_sum(device, self._counts, self.starts)
        scatter = device.compile(Kernel(_scatter))((count,), self._cell, self._place, self.starts, self._members)
        order = device.compile(Kernel(_order))(
            (count,),
            *(self._cell, self.starts, self._members),
            *(source.ids, source.r, source.u, source.v, self.r, self.u, self.v, self.ids, count),
        )
        return {
            "clear the counts": empty,
            "count": assign,
            "scan": lambda: [launch() for launch in scan] and None,
            "scatter": scatter,
            "order": order,
        }

    def hand_back(self):
        """The launch that gives the source's arrays the order of the cells."""
        source, count = self.source, len(self.ids)
        arrays = (self.r, self.v, self.u, self.ids, source.r, source.v, source.u, source.ids)
        return self.device.compile(Kernel(_hand_back))((count,), *arrays, count)
