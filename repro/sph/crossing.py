"""Kernels that send particles to the ranks around and take in what these send, see `ranks`.

A record is the words of a particle's arrays, component by component; the bits of all numbers are one word each.
"""

from functools import cache

from numpy import int32, int64

from repro.parallel import device_function
from repro.particles.cells import make_place

from .marks import COPY, EMPTY, OWN


@cache
def _words_of(components: tuple[int, ...]):
    """write(i, place, count, words, arrays) brings particle i's components from arrays to words, and read(...) back."""
    if not components:
        nothing = device_function(lambda i, place, count, words, arrays: None)
        return nothing, nothing
    first, (write_others, read_others) = components[0], _words_of(components[1:])

    @device_function
    def write(i, place, count, words, arrays):
        for k in range(first):
            words[place + k] = arrays[0][i + k * count]
        write_others(i, place + first, count, words, arrays[1:])

    @device_function
    def read(i, place, count, words, arrays):
        for k in range(first):
            arrays[0][i + k * count] = words[place + k]
        read_others(i, place + first, count, words, arrays[1:])

    return write, read


@device_function
def _toward(cell, low, high):
    """On which side a cell is near another block: -1, 1 or neither."""
    return -1 if cell < low else (1 if cell >= high else 0)


@cache
def make_pack(real, components: tuple[int, ...], add, forget: bool):
    """The kernel's body that puts each own particle near other ranks' blocks into their parcels; each item is an entry.

    It counts all, and writes those for which there is room. To `forget` copies makes their entries free.
    """
    place_of, (write, _) = make_place(real), _words_of(components)
    width = 1 + sum(components)

    @device_function
    def pack(x, n, r, ids, marks, count, cells, near, routes, counts, rooms, begins, words, *arrays):
        for i in range(x, x + n):
            if marks[i] == OWN:
                cx, cy, cz = place_of(r[i], r[count + i], r[2 * count + i], cells)
                sx, sy, sz = (
                    _toward(cx, near[0], near[3]),
                    _toward(cy, near[1], near[4]),
                    _toward(cz, near[2], near[5]),
                )
                if sx != 0 or sy != 0 or sz != 0:
                    for some in range(1, 8):
                        # beyond a side, an edge or a corner: along some of the axes
                        ax, ay, az = some & 1, (some >> 1) & 1, some >> 2
                        if (ax == 0 or sx != 0) and (ay == 0 or sy != 0) and (az == 0 or sz != 0):
                            route = routes[9 * (ax * sx + 1) + 3 * (ay * sy + 1) + az * sz + 1]
                            slot = add(counts, route, 1)
                            if slot < rooms[route]:
                                at = begins[route] + slot * width
                                words[at] = ids[i]
                                write(i, at + 1, count, words, arrays)
            elif forget:
                marks[i] = EMPTY

    return pack


@device_function
def close(x, n, counts, peaks, rooms, headers, words):
    """The body that writes into each parcel how many records it has, and begins to count again."""
    for route in range(x, x + n):
        peaks[route] = max(peaks[route], counts[route])
        words[headers[route]] = min(counts[route], rooms[route])
        counts[route] = 0


@cache
def make_take_in(components: tuple[int, ...]):
    """The body that makes entries behind those in use of the records that have arrived; each item is room for one.

    used[1] becomes 1 where there are too few.
    """
    _, read = _words_of(components)
    width = 1 + sum(components)

    @device_function
    def take_in(x, n, ids, marks, used, count, of_route, firsts, headers, begins, words, *arrays):
        for item in range(x, x + n):
            route = of_route[item]
            slot = item - firsts[route]
            if slot < int64(words[headers[route]]):
                i = used[0] + slot
                for before in range(route):
                    i += int64(words[headers[before]])
                if i < count:
                    at = begins[route] + slot * width
                    ids[i] = int32(words[at])
                    marks[i] = COPY
                    read(i, at + 1, count, words, arrays)
                else:
                    used[1] = 1

    return take_in


@cache
def make_refresh(components: tuple[int, ...]):
    """The body that brings up to date the copies of which a record has arrived; each item is room for one."""
    _, read = _words_of(components)
    width = 1 + sum(components)

    @device_function
    def refresh(x, n, where, count, of_route, firsts, headers, begins, words, *arrays):
        for item in range(x, x + n):
            route = of_route[item]
            slot = item - firsts[route]
            if slot < int64(words[headers[route]]):
                at = begins[route] + slot * width
                read(where[int32(words[at])], at + 1, count, words, arrays)

    return refresh


@cache
def make_pack_some(components: tuple[int, ...]):
    """The body that writes the numbers of particle `some[item]` at places[item] of a parcel."""
    write, _ = _words_of(components)

    @device_function
    def pack(x, n, some, places, count, words, *arrays):
        for item in range(x, x + n):
            write(some[item], places[item], count, words, arrays)

    return pack


@cache
def make_take_some(components: tuple[int, ...]):
    """The body that reads the numbers of particle `some[item]` from places[item] of a parcel."""
    _, read = _words_of(components)

    @device_function
    def take(x, n, some, places, count, words, *arrays):
        for item in range(x, x + n):
            read(some[item], places[item], count, words, arrays)

    return take
