"""A linked list of each cell's particles in the order of their numbers, on every device.

One core appends particle after particle. Elsewhere all workers do so at once, by an atomic exchange of the list's head,
and the order of a list is that in which they come: each list is then sorted by its links, so that sums over neighbours
have the same order in every run and with every search.
"""

import numpy as np

from repro.parallel import device_function
from repro.parallel.atomics import add_alone, make_exchange

from .launch import launch_of
from .linked_list import NO_PARTICLE, link_body, unlink


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


class OrderedList:
    """first[c] is the first particle of cell c, after[i] the one after particle i, NO_PARTICLE where there is none."""

    def __init__(self, device, cells, count: int, real):
        self.device, self.cells, self._real = device, cells, real
        self.first, self.after = device.zeros(cells.count, np.int32), device.zeros(count, np.int32)

    def update(self, r) -> dict:
        """The launches that build the list from positions `r`, by name."""
        device, cells, count = self.device, self.cells, len(self.after)
        # one core then finds each list in its order
        link = link_body(self._real, make_exchange(device), backward=True)
        launches = {
            "unlink": launch_of(device, unlink, cells.count, self.first),
            "link": launch_of(device, link, count, r, self.first, self.after, count, cells.shape),
        }
        if device.add is add_alone:
            return launches
        return launches | {"sort the links": launch_of(device, _sort, cells.count, self.first, self.after)}


def links_of(starts: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The arrays `first` and `after` of a list whose cell c holds members[starts[c] : starts[c + 1]], on the host."""
    first, after = (np.full(count, NO_PARTICLE, np.int32) for count in (len(starts) - 1, len(members)))
    held = np.diff(starts) > 0
    first[held] = members[starts[:-1][held]]
    after[members[:-1]] = members[1:]
    after[members[starts[1:][held] - 1]] = NO_PARTICLE
    return first, after
