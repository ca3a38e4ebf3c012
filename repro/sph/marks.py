"""What the entries of the fluid's arrays are on one of several ranks: particles of its own, copies, or free.

Particles come and go, and arrays, launches and recorded graphs stay as they are: kernels pass over other entries.
"""

from functools import cache

from numpy import uint32

from repro.parallel import device_function
from repro.particles.cells import make_place

#: what an entry of the fluid's arrays is: free, a copy of another rank's particle, or a particle of this rank
EMPTY, COPY, OWN = 0, 1, 2


@cache
def of_marked(body, least: int):
    """A body over the entries that are marked with at least so much; items are entries, or several of each."""

    @device_function
    def marked(x, n, marks, room, *arguments):
        for item in range(x, x + n):
            if marks[uint32(uint32(item) % uint32(room))] >= least:
                body(item, 1, *arguments)

    return marked


@cache
def make_settle(real):
    """The body that finds after sorting which entries are in use and whose; `where` are the entries of copies by id."""
    place_of = make_place(real)

    @device_function
    def settle(x, n, r, ids, marks, used, count, cells, block, starts, where):
        total = starts[cells[0] * cells[1] * cells[2]]
        for i in range(x, x + n):
            mark = EMPTY
            if i < total:
                cx, cy, cz = place_of(r[i], r[count + i], r[2 * count + i], cells)
                here = block[0] <= cx < block[3] and block[1] <= cy < block[4] and block[2] <= cz < block[5]
                mark = OWN if here else COPY
                if not here:
                    where[ids[i]] = i
            marks[i] = mark
            if i == 0:
                used[0] = total

    return settle
