"""A batch of particles at a time, for the cores of a CPU. Not in the paper.

All particles of a batch fly to the end of the step, in a loop without a branch, of which the compiler computes 8 or 16
at once; so do particles that met a face go on, in smaller and smaller batches. What adds to sums runs one by one. Each
core adds to currents of its own, which are summed at the end.
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, device_function

from ..advance import cell_beyond, kicked, place_beyond, place_of, set_place, turned_by
from ..deposition import EDGES, edge_weights, make_deposit_charge, make_to_whole
from ..gather import electric_at, magnetic_at
from ..mesh import ABSORBED
from ..motion.push import make_fly, orbit_of
from ..motion.segment import INSIDE, inside_cell, make_find_face, make_land, on_face
from ..state import FRESH, MOST_SEGMENTS, STUCK

#: rows of a batch's scratch: places and momenta at the start and at the end of a segment, the time left and the time
#: taken, and the charge; and of whole numbers: particle, cell, the face that is met, which of the batch met one or go
#: on, how many faces a particle has met in the step, the cell beyond the face, or what stands for it, and which of the
#: batch end here or were taken up
PLACE, MOMENTUM, END, THEN, LEFT, USED, AMOUNT, ROWS = 0, 3, 6, 9, 12, 13, 14, 15
PARTICLE, CELL, FACE, MET, FACES, INTO, ENDS, WHOLE_ROWS = 0, 1, 2, 3, 4, 5, 6, 7

#: rows of what is found about particles that met a face: place and momentum, time taken, face; and afterwards of what
#: the edges of a cell get. They are an array of their own, because a compiler does not compute at once what it may have
#: to read after it has been written.
AT, WITH, AFTER, WHICH, MET_ROWS = 0, 3, 6, 7, EDGES

#: a face that only a search finds, and one beyond which a particle goes on; the particle of an entry without one that
#: flies, and most particles of a batch
RARE, GOES_ON, NO_PARTICLE, BATCH = 8, 9, -1, 128


@device_function
def core_of(x, count, cores):
    """The core whose share of `count` particles the batch from x on is: each takes whole batches, see `loops`."""
    return ((x // BATCH + 1) * cores - 1) // -(-count // BATCH)


@device_function
def _three(s, row, k):
    return s[row, k], s[row + 1, k], s[row + 2, k]


@device_function
def _keep(s, row, k, values):
    s[row, k], s[row + 1, k], s[row + 2, k] = values


@device_function
def _depart(x, n, s, r, particles, count, fields, unit, layout, resuming):
    """A batch of particles takes its kicks; returns whether any particle is in it.

    When `resuming` it is particles alone that are in the midst of a step.
    """
    zero, one = type(unit)(0), type(unit)(1)
    inner, occupied = np.int32(1 + layout.row + layout.plane), False
    for k in range(n):
        # unsigned, as in `gather`
        i = np.uintp(x + k)
        goes = (particles.cell[i] >= 0) & ((resuming == 0) | (particles.left[i] <= one))
        r[PARTICLE, k] = x + k if goes else NO_PARTICLE
        occupied |= goes
    if not occupied:
        return False
    for k in range(n):
        i = np.uintp(x + k)
        # an entry without a particle flies, too, from the first cell inside the guards, and carries nothing
        cell = max(particles.cell[i], inner)
        position, momentum = place_of(particles, x + k, count)
        left = particles.left[i]
        electric = electric_at(fields.electric, cell, position, layout)
        _keep(s, PLACE, k, position)
        _keep(s, MOMENTUM, k, kicked(momentum, electric, one if left > one else zero))
        s[LEFT, k], s[AMOUNT, k] = min(left, one), particles.weight[i] * unit
        r[CELL, k], r[FACES, k] = cell, particles.event[i]
    return True


@device_function
def _orbit(s, r, k, fields, layout):
    magnetic = turned_by(r[FACES, k], magnetic_at(fields.magnetic, r[CELL, k], _three(s, PLACE, k), layout))
    return orbit_of(_three(s, MOMENTUM, k), magnetic)


@cache
def _make_follow(real):
    """The next segment of each particle of a batch, without a branch but for rare faces, in three parts: fly_on(...),
    meet_faces(...) for those that met one, whom it lists, and put_back(...).
    """
    fly, land, find = make_fly(real), make_land(real), make_find_face(real)

    @device_function
    def fly_on(waiting, s, r, fields, courant, layout):
        for k in range(waiting):
            end, momentum = fly(_three(s, PLACE, k), _orbit(s, r, k, fields, layout), courant, s[LEFT, k])
            _keep(s, END, k, end)
            _keep(s, THEN, k, momentum)
            s[USED, k] = s[LEFT, k]
            r[FACE, k] = INSIDE if inside_cell(end) else RARE

    @device_function
    def meet_faces(waiting, s, r, t, fields, courant, layout):
        met = 0
        for k in range(waiting):
            r[MET, met] = k
            met += r[FACE, k] != INSIDE
        for m in range(met):
            k = np.uintp(r[MET, m])
            orbit, beyond = _orbit(s, r, k, fields, layout), _three(s, END, k)
            end, momentum, used, face, right = land(_three(s, PLACE, k), beyond, orbit, courant, s[LEFT, k])
            _keep(t, AT, m, end)
            _keep(t, WITH, m, momentum)
            t[AFTER, m], t[WHICH, m] = used, real(face if right else RARE)
        return met

    @device_function
    def put_back(met, s, r, t, fields, courant, layout):
        for m in range(met):
            k, face = np.uintp(r[MET, m]), np.int32(t[WHICH, m])
            end, momentum, used = _three(t, AT, m), _three(t, WITH, m), t[AFTER, m]
            if face == RARE:
                orbit = _orbit(s, r, k, fields, layout)
                end, momentum, used, face = find(_three(s, PLACE, k), _three(s, END, k), orbit, courant, s[LEFT, k])
            _keep(s, END, k, end)
            _keep(s, THEN, k, momentum)
            s[USED, k], r[FACE, k] = used, face

    return fly_on, meet_faces, put_back


@device_function
def _share_out(waiting, s, t):
    """The currents of a batch's segments, one row an edge."""
    for k in range(waiting):
        along_x, along_y, along_z = edge_weights(_three(s, PLACE, k), _three(s, END, k), s[AMOUNT, k])
        t[0, k], t[1, k], t[2, k], t[3, k] = along_x
        t[4, k], t[5, k], t[6, k], t[7, k] = along_y
        t[8, k], t[9, k], t[10, k], t[11, k] = along_z


@cache
def _make_deposit(real):
    """Adds the currents of a batch one by one: deposit(waiting, r, t, currents, shift)."""
    whole = make_to_whole(real)

    @device_function
    def deposit(waiting, r, t, currents, shift):
        for k in range(waiting):
            if r[PARTICLE, k] != NO_PARTICLE:
                first = EDGES * (r[CELL, k] + shift)
                for edge in range(EDGES):
                    currents[np.uintp(first + edge)] += whole(t[edge, k])

    return deposit


@device_function
def _pass_faces(waiting, met, s, r, neighbour_cell, layout):
    """To the cells beyond; returns how many go on, now the first of those that met a face, and how many others end
    their step.
    """
    for k in range(waiting):
        r[INTO, k] = r[CELL, k]
    more, ends = 0, 0
    for m in range(met):
        k = np.uintp(r[MET, m])
        face, into = r[FACE, k], cell_beyond(r[CELL, k], r[FACE, k], neighbour_cell, layout)
        _keep(s, END, k, place_beyond(_three(s, END, k), face))
        s[LEFT, k] -= s[USED, k]
        goes = (face != INSIDE) & (into >= 0) & (r[PARTICLE, k] != NO_PARTICLE)
        r[INTO, k], r[FACE, k], r[MET, more] = into, GOES_ON if goes else face, k
        more += goes
    for k in range(waiting):
        r[ENDS, ends] = k
        ends += (r[FACE, k] != GOES_ON) & (r[PARTICLE, k] != NO_PARTICLE)
    return more, ends


@device_function
def _settle(ends, s, r, t, particles, count):
    """Ends the step of particles, or lets them leave in the midst of it.

    Returns how many a wall took up: of these places, charges and cells are kept.
    """
    gone, fresh = 0, type(s[LEFT, 0])(FRESH)
    for m in range(ends):
        k = np.uintp(r[ENDS, m])
        i, into, end = np.uintp(r[PARTICLE, k]), r[INTO, k], _three(s, END, k)
        if into == ABSORBED:
            _keep(t, AT, gone, on_face(end, r[FACE, k]))
            t[AFTER, gone], r[ENDS, gone] = s[AMOUNT, k], r[CELL, k]
            gone += 1
        particles.cell[i], particles.left[i] = into, s[LEFT, k] if into < 0 else fresh
        particles.event[i] = r[FACES, k] + 1 if into < 0 else 0
        set_place(particles, r[PARTICLE, k], count, end, _three(s, THEN, k))
    return gone


@device_function
def _close_ranks(more, s, r):
    """Those that go on are the next batch."""
    for m in range(more):
        k = np.uintp(r[MET, m])
        _keep(s, PLACE, m, _three(s, END, k))
        _keep(s, MOMENTUM, m, _three(s, THEN, k))
        s[LEFT, m], s[AMOUNT, m] = s[LEFT, k], s[AMOUNT, k]
        r[PARTICLE, m], r[CELL, m], r[FACES, m] = r[PARTICLE, k], r[INTO, k], r[FACES, k] + 1


@cache
def _body(real, add):
    fly_on, meet_faces, put_back = _make_follow(real)
    deposit, rest = _make_deposit(real), make_deposit_charge(real, add)

    @device_function
    def follow(x, n, s, r, t, particles, count, fields, context, own, cores, resuming):
        courant, layout = context.courant, context.layout
        # in the currents of all cores
        shift = core_of(x, count, cores) * layout.nodes
        waiting = n if _depart(x, n, s, r, particles, count, fields, real(context.unit), layout, resuming) else 0
        for _ in range(MOST_SEGMENTS if waiting else 0):
            fly_on(waiting, s, r, fields, courant, layout)
            met = meet_faces(waiting, s, r, t, fields, courant, layout)
            put_back(met, s, r, t, fields, courant, layout)
            _share_out(waiting, s, t)
            deposit(waiting, r, t, own, shift)
            more, ends = _pass_faces(waiting, met, s, r, context.neighbour_cell, layout)
            gone = _settle(ends, s, r, t, particles, count)
            for k in range(gone):
                rest(context.charges, r[ENDS, k], _three(t, AT, k), -t[AFTER, k], layout)
            _close_ranks(more, s, r)
            waiting = more
            if not waiting:
                break
        for k in range(waiting):
            particles.cell[r[PARTICLE, k]] = STUCK

    return follow


@device_function
def _add_up(x, n, currents, own, cores, length):
    for k in range(x, x + n):
        total = currents[k]
        for core in range(cores):
            total += own[k + core * length]
            own[k + core * length] = 0
        currents[k] = total


def build(simulation) -> dict:
    """The launches of a step by name."""
    device, size = simulation.device, EDGES * simulation.subdomain.mesh.layout.nodes
    currents = simulation.step_arguments[0].currents
    own = currents if device.workers == 1 else device.zeros(device.workers * size, np.int64)
    scratch = {"rows": ROWS, "index_rows": WHOLE_ROWS, "shared_rows": MET_ROWS, "block": BATCH}
    kernel = Kernel(_body(simulation.real, device.add), dtype=simulation.real, strict=True, **scratch)
    move, rest = (simulation.bind(kernel, own, device.workers, resuming) for resuming in (0, 1))
    move.resume = rest
    if own is currents:
        return {"particles": move}
    add_up = device.compile(Kernel(_add_up))((size,), currents, own, device.workers, size)
    return {"particles": move, "sum of currents": add_up}
