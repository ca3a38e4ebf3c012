"""Linked lists of each cell's particles: two arrays of links (dpd paper, section 4.1, table 1; sph paper, section 3.2).

One core appends particle after particle. Elsewhere all workers do so at once, by an atomic exchange of the list's head,
and the order of a list is that in which they come: each list is then sorted by its links, so that sums over neighbours
have the same order in every run and with every search.
"""

from functools import cache

import numpy as np

from repro.errors import require
from repro.parallel import device_function
from repro.parallel.operations import add_alone

from .cells import cell_of
from .launch import launch_of

#: the end of a list
NO_PARTICLE = -1


@device_function
def _unlink(x, n, heads):
    for c in range(x, x + n):
        heads[c] = NO_PARTICLE


@cache
def _link_body(real, exchange, backward: bool):
    """Links each particle to the one that came last into its cell; `backward` begins with the last particle."""
    cell = cell_of(real)

    @device_function
    def link(x, n, r, heads, links, count, cells):
        for item in range(x, x + n):
            i = count - 1 - item if backward else item
            c = cell(r[i], r[count + i], r[2 * count + i], cells)
            links[i] = exchange(heads, c, i)

    return link


@device_function
def _sort(x, n, first, after):
    for c in range(x, x + n):
        i, begin = first[c], NO_PARTICLE
        while i != NO_PARTICLE:
            # take the next one out, and put it in behind all smaller ones
            rest = after[i]
            if begin == NO_PARTICLE or i < begin:
                after[i], begin = begin, i
            else:
                k = begin
                while after[k] != NO_PARTICLE and after[k] < i:
                    k = after[k]
                after[i] = after[k]
                after[k] = i
            i = rest
        first[c] = begin


class _Lists:
    """A list a cell, of which the last particle to be linked is the head."""

    def __init__(self, device, cells, count: int, real):
        self.device, self.cells, self._real = device, cells, real
        self._heads, self._links = device.zeros(cells.count, np.int32), device.zeros(count, np.int32)

    def update(self, r, backward: bool = False) -> dict:
        """The launches that build the lists from positions `r`, by name."""
        count, body = len(self._links), _link_body(self._real, self.device.exchange, backward)
        link = launch_of(self.device, body, count, r, self._heads, self._links, count, self.cells.shape)
        return {"unlink": launch_of(self.device, _unlink, self.cells.count, self._heads), "link": link}


class LinkedList(_Lists):
    """last[c] is the last particle of cell c, before[i] the one before particle i, NO_PARTICLE where there is none.

    Raises InputError for more than one worker.
    """

    def __init__(self, device, cells, count: int, real):
        one_core = "a linked list grows particle after particle, on one core"
        require(device.name == "serial", f"{one_core}: not on '{device.name}'")
        super().__init__(device, cells, count, real)
        self.last, self.before = self._heads, self._links


class OrderedList(_Lists):
    """first[c] is the first particle of cell c, after[i] the one after particle i, NO_PARTICLE where there is none.

    Particles are in the order of their numbers, on every device.
    """

    def __init__(self, device, cells, count: int, real):
        super().__init__(device, cells, count, real)
        self.first, self.after = self._heads, self._links

    def update(self, r) -> dict:
        """The launches that build the lists from positions `r`, by name."""
        # one core then finds each list in its order
        launches = super().update(r, backward=True)
        if self.device.add is add_alone:
            return launches
        return launches | {"sort the links": launch_of(self.device, _sort, self.cells.count, self.first, self.after)}


def links_of(starts: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The arrays `first` and `after` of a list whose cell c holds members[starts[c] : starts[c + 1]], on the host."""
    first, after = (np.full(count, NO_PARTICLE, np.int32) for count in (len(starts) - 1, len(members)))
    held = np.diff(starts) > 0
    first[held] = members[starts[:-1][held]]
    after[members[:-1]] = members[1:]
    after[members[starts[1:][held] - 1]] = NO_PARTICLE
    return first, after
