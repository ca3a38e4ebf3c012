"""What the particles in messages between ranks are, and the kernels that write and read them, see `crossing`."""

from functools import cache
from typing import NamedTuple

from repro.parallel import device_function

from .local_cells import NO_ID, is_here, make_local_place, side_of
from .position import Units

#: words of a particle in a message: its id, position and both velocities, by their bits
WORDS = 10


class Messages(NamedTuple):
    """For kernels: the message of way w is their number at words[starts[w]], then each word of rooms[w] particles."""

    words: object
    starts: object
    rooms: object


@device_function
def clear(x, n, messages):
    """Empties messages; each item is one."""
    for way in range(x, x + n):
        messages.words[messages.starts[way]] = 0


@cache
def send_body(real, add):
    """Writes each particle into the messages to all ranks that must know of it."""
    place, none, whole = make_local_place(real), NO_ID, Units(real).whole

    @device_function
    def write(i, way, source, messages):
        words, room = messages.words, messages.rooms[way]
        first = messages.starts[way]
        k = add(words, first, 1)
        if k < room:
            at = first + 1 + k
            words[at] = source.ids[i]
            for axis in range(3):
                j = i + axis * source.count
                words[at + (1 + axis) * room] = source.r[j]
                words[at + (4 + axis) * room] = real(source.v[j]).view(whole)
                words[at + (7 + axis) * room] = real(source.u[j]).view(whole)

    @device_function
    def send(x, n, source, messages, lost, cells):
        low, end, count = cells.low, cells.end, source.count
        for i in range(x, x + n):
            if source.ids[i] != none:
                at = place(source.r[i], source.r[count + i], source.r[2 * count + i], cells)
                sx, sy = side_of(at[0], low[0], end[0]), side_of(at[1], low[1], end[1])
                sz = side_of(at[2], low[2], end[2])
                if not is_here(at, cells):
                    add(lost, 0, 1)
                elif sx != 0 or sy != 0 or sz != 0:
                    # to the rank along each axis at a side of which it lies, and to those along several of them
                    for chosen in range(1, 8):
                        dx, dy, dz = chosen & 1, chosen >> 1 & 1, chosen >> 2
                        if (sx != 0 or dx == 0) and (sy != 0 or dy == 0) and (sz != 0 or dz == 0):
                            write(i, 9 * (dx * sx + 1) + 3 * (dy * sy + 1) + dz * sz + 1, source, messages)

    return send


@cache
def arrive_body(real):
    """Puts the particles of the messages behind those that are here, and notes how many there were."""
    whole = Units(real).whole

    @device_function
    def held_in(way, messages):
        return min(messages.words[messages.starts[way]], messages.rooms[way])

    @device_function
    def arrive(x, n, message, ways, target, messages, held, peaks):
        words, way, first = messages.words, ways[message], held[0]
        for before in range(message):
            first += held_in(ways[before], messages)
        at, room, sent = messages.starts[way] + 1, messages.rooms[way], held_in(way, messages)
        if x == 0:
            peaks[way] = max(peaks[way], words[at - 1])
            if message == len(ways) - 1:
                peaks[-1] = max(peaks[-1], first + sent)
        for k in range(x, x + n):
            i = first + k
            if k < sent and i < target.count:
                target.ids[i] = words[at + k]
                for axis in range(3):
                    j = i + axis * target.count
                    target.r[j] = words[at + k + (1 + axis) * room]
                    target.v[j] = whole(words[at + k + (4 + axis) * room]).view(real)
                    target.u[j] = whole(words[at + k + (7 + axis) * room]).view(real)

    return arrive
