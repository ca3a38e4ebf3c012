"""Particles of one of several ranks in the order of their cells, copies of others' among them.

As in `cell_permutation` the order is by cell and within a cell by id, the only one there is. Arrays have room for more
particles than there are: a place whose id is NO_ID holds none, and its velocity is zero, so that sums need not know.
"""

from functools import cache, partial
from typing import NamedTuple

import numpy as np

from repro.parallel import device_function, zero
from repro.parallel.launch_sequence import in_turn

from .cells import cell_number
from .launch import launch_of
from .local_cells import NO_ID, is_here, is_own, make_local_place
from .scan import running_sum


class Arrays(NamedTuple):
    """For kernels: flat arrays of positions, two velocities and ids, with room for `count` particles."""

    r: object
    v: object
    u: object
    ids: object
    count: int


#: the cell of what is none, or of a particle that is another rank's and not near
_NO_CELL = -1


@cache
def _count_body(real, add):
    place, none = make_local_place(real), NO_ID

    @device_function
    def assign(x, n, source, counts, cell, nth, cells):
        r, _, _, ids, count = source
        for i in range(x, x + n):
            cell[i] = _NO_CELL
            if ids[i] != none:
                at = place(r[i], r[count + i], r[2 * count + i], cells)
                if is_here(at, cells):
                    c = cell_number(at, cells.shape)
                    cell[i], nth[i] = c, add(counts, c, 1)

    return assign


@device_function
def _scatter(x, n, cell, nth, starts, members):
    for i in range(x, x + n):
        if cell[i] != _NO_CELL:
            members[starts[cell[i]] + nth[i]] = i


@device_function
def _move(i, to, source, target):
    """Bring particle i of one set of arrays to a place in another one."""
    for k in range(3):
        target.r[to + k * target.count] = source.r[i + k * source.count]
        target.v[to + k * target.count] = source.v[i + k * source.count]
        target.u[to + k * target.count] = source.u[i + k * source.count]
    target.ids[to] = source.ids[i]


@device_function
def _order(x, n, cell, starts, members, last, held, source, target):
    total = starts[last]
    for i in range(x, x + n):
        if cell[i] != _NO_CELL:
            first, number = starts[cell[i]], source.ids[i]
            to = first
            for k in range(first, starts[cell[i] + 1]):
                to += source.ids[members[k]] < number
            _move(i, to, source, target)
        if i >= total:
            target.ids[i] = NO_ID
        if i == 0:
            held[0] = total


@cache
def _keep_body(real):
    place, none, zero_speed = make_local_place(real), NO_ID, real(0)

    @device_function
    def keep(x, n, source, target, cells):
        r, _, _, ids, count = source
        for i in range(x, x + n):
            own = False
            if ids[i] != none:
                own = is_own(place(r[i], r[count + i], r[2 * count + i], cells), cells)
            if own:
                _move(i, i, source, target)
            elif target.ids[i] != none:
                target.ids[i] = none
                for k in range(3):
                    target.v[i + k * count] = zero_speed

    return keep


class LocalParticles:
    """What `SortedParticles` is where one rank has all: r, v, u and ids in the order of cells, which begin at `starts`.

    `held` is the number of particles in the source's arrays, on the device: they are the first ones, with places
    between them that hold none.
    """

    def __init__(self, device, source, cells, real, held):
        self._device, self._cells, self._real, self._held = device, cells, real, held
        count = len(source.ids)
        self._source = Arrays(source.r, source.v, source.u, source.ids, count)
        self._sorted = Arrays(*(device.zeros(len(each), each.dtype) for each in self._source[:-1]), count)
        self.r, self.v, self.u, self.ids, self._count = self._sorted
        self.starts = device.zeros(cells.count + 1, np.int32)

    def update(self) -> dict:
        """The launches that sort the source's particles, by name."""
        device, count, cells, starts = self._device, self._count, self._cells, self.starts
        counts = device.zeros(cells.count, np.int32)
        cell, nth, members = (device.zeros(count, np.int32) for _ in range(3))
        counted = _count_body(self._real, device.add)
        order = cell, starts, members, cells.count, self._held, self._source, self._sorted
        return {
            "clear the counts": launch_of(device, zero, cells.count, counts),
            "count": launch_of(device, counted, count, self._source, counts, cell, nth, cells.numbers),
            "scan": partial(in_turn, *running_sum(device, counts, starts)),
            "scatter": launch_of(device, _scatter, count, cell, nth, starts, members),
            "order": launch_of(device, _order, count, *order),
        }

    def hand_back(self):
        """The launch that gives the source's arrays the order of the cells, without the copies of others' particles."""
        body = _keep_body(self._real)
        return launch_of(self._device, body, self._count, self._sorted, self._source, self._cells.numbers)
