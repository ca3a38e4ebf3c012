"""A linked list of each cell's particles, built on one core: two arrays of links (dpd paper, section 4.1, table 1)."""

from functools import cache

import numpy as np

from repro.errors import require
from repro.parallel import device_function
from repro.parallel.atomics import make_exchange

from .cells import cell_of
from .launch import launch_of

#: the end of a list
NO_PARTICLE = -1


@device_function
def unlink(x, n, last):
    """Empties the list of each cell."""
    for c in range(x, x + n):
        last[c] = NO_PARTICLE


@cache
def link_body(real, exchange, backward: bool):
    """Links each particle to the one that came last into its cell; `backward` begins with the last particle."""
    cell = cell_of(real)

    @device_function
    def link(x, n, r, heads, links, count, cells):
        for item in range(x, x + n):
            i = count - 1 - item if backward else item
            c = cell(r[i], r[count + i], r[2 * count + i], cells)
            links[i] = exchange(heads, c, i)

    return link


class LinkedList:
    """last[c] is the last particle of cell c, before[i] the one before particle i, NO_PARTICLE where there is none.

    Raises InputError for more than one worker.
    """

    def __init__(self, device, cells, count: int, real):
        one_core = "a linked list grows particle after particle, on one core"
        require(device.name == "serial", f"{one_core}: not on '{device.name}'")
        self.device, self.cells, self._real = device, cells, real
        self.last, self.before = device.zeros(cells.count, np.int32), device.zeros(count, np.int32)

    def update(self, r) -> dict:
        """The launches that build the list from positions `r`, by name."""
        count, body = len(self.before), link_body(self._real, make_exchange(self.device), backward=False)
        link = launch_of(self.device, body, count, r, self.last, self.before, count, self.cells.shape)
        return {"unlink": launch_of(self.device, unlink, self.cells.count, self.last), "link": link}
