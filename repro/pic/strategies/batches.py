"""A batch of particles at a time, for the cores of a CPU. Not in the paper.

All particles of a batch fly to the end of the step, in a loop without a branch, of which the compiler computes 8 or 16
at once; so do particles that met a face go on, in smaller and smaller batches. What adds to sums runs one by one. Each
core adds to currents of its own, which are summed at the end.
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, device_function

from ..advance import kicked, make_enter_cell, make_turning_field, place_of, set_place
from ..deposition import EDGES, make_deposit_charge, make_edge_weights, make_to_whole
from ..gather import electric_at, magnetic_at
from ..mesh import ABSORBED
from ..motion.push import make_orbit
from ..motion.segment import INSIDE, make_find_face, make_fly, make_inside_cell, make_land, make_place_on_face
from ..state import FRESH, MOST_SEGMENTS, STUCK

#: rows of a batch's scratch: places and momenta at the start and at the end of a segment, the time left and the time
#: taken; and of whole numbers: particle, cell, the face that is met, which of the batch met one, how many faces a
#: particle has met in the step, and the cell beyond the face, or what stands for it
PLACE, MOMENTUM, END, THEN, LEFT, USED, ROWS = 0, 3, 6, 9, 12, 13, 14
PARTICLE, CELL, FACE, MET, FACES, INTO, WHOLE_ROWS = 0, 1, 2, 3, 4, 5, 6

#: rows of what is found about particles that met a face: place and momentum, time taken, face; and afterwards of what
#: the edges of a cell get. They are an array of their own, because a compiler does not compute at once what it may have
#: to read after it has been written.
AT, WITH, AFTER, WHICH, MET_ROWS = 0, 3, 6, 7, EDGES

#: a face that only a search finds, the particle of an entry without one that flies, and most particles of a batch
RARE, NO_PARTICLE, BATCH = 8, -1, 128


@device_function
def _three(s, row, k):
    return s[row, k], s[row + 1, k], s[row + 2, k]


@device_function
def _keep(s, row, k, values):
    s[row, k], s[row + 1, k], s[row + 2, k] = values


@cache
def _make_depart(real):
    """A batch of particles takes its kicks; returns whether any particle is in it: depart(...).

    When `resuming` it is particles alone that are in the midst of a step.
    """
    zero, one = real(0), real(1)

    @device_function
    def depart(x, n, s, r, particles, count, fields, layout, resuming):
        occupied = False
        for k in range(n):
            goes = (particles.cell[x + k] >= 0) & ((resuming == 0) | (particles.left[x + k] <= one))
            r[PARTICLE, k] = x + k if goes else NO_PARTICLE
            occupied |= goes
        if not occupied:
            return False
        for k in range(n):
            i = x + k
            # an entry without a particle flies, too, from the first node, and carries nothing
            cell = max(particles.cell[i], np.int32(0))
            position, momentum = place_of(particles, i, count)
            left = particles.left[i]
            electric = electric_at(fields.electric, cell, position, layout)
            _keep(s, PLACE, k, position)
            _keep(s, MOMENTUM, k, kicked(momentum, electric, one if left > one else zero))
            s[LEFT, k] = min(left, one)
            r[CELL, k], r[FACES, k] = cell, particles.event[i]
        return True

    return depart


@cache
def _make_follow(real):
    """The next segment of each particle of a batch, without a branch but for rare faces: follow(...)."""
    orbiting, fly, inside = make_orbit(real), make_fly(real), make_inside_cell(real)
    land, find, turned_by = make_land(real), make_find_face(real), make_turning_field(real)

    @device_function
    def orbit_of(s, r, k, fields, layout):
        magnetic = turned_by(r[FACES, k], magnetic_at(fields.magnetic, r[CELL, k], _three(s, PLACE, k), layout))
        return orbiting(_three(s, MOMENTUM, k), magnetic)

    @device_function
    def fly_on(waiting, s, r, fields, courant, layout):
        for k in range(waiting):
            end, momentum = fly(_three(s, PLACE, k), orbit_of(s, r, k, fields, layout), courant, s[LEFT, k])
            _keep(s, END, k, end)
            _keep(s, THEN, k, momentum)
            s[USED, k] = s[LEFT, k]
            r[FACE, k] = INSIDE if inside(end) else RARE

    @device_function
    def list_met(waiting, r):
        met = 0
        for k in range(waiting):
            r[MET, met] = k
            met += r[FACE, k] != INSIDE
        return met

    @device_function
    def meet_faces(met, s, r, t, fields, courant, layout):
        for m in range(met):
            k = r[MET, m]
            orbit, beyond = orbit_of(s, r, k, fields, layout), _three(s, END, k)
            end, momentum, used, face, right = land(_three(s, PLACE, k), beyond, orbit, courant, s[LEFT, k])
            _keep(t, AT, m, end)
            _keep(t, WITH, m, momentum)
            t[AFTER, m], t[WHICH, m] = used, real(face if right else RARE)

    @device_function
    def put_back(met, s, r, t, fields, courant, layout):
        for m in range(met):
            k, face = r[MET, m], np.int32(t[WHICH, m])
            end, momentum, used = _three(t, AT, m), _three(t, WITH, m), t[AFTER, m]
            if face == RARE:
                orbit = orbit_of(s, r, k, fields, layout)
                end, momentum, used, face = find(_three(s, PLACE, k), _three(s, END, k), orbit, courant, s[LEFT, k])
            _keep(s, END, k, end)
            _keep(s, THEN, k, momentum)
            s[USED, k], r[FACE, k] = used, face

    @device_function
    def follow(waiting, s, r, t, fields, courant, layout):
        fly_on(waiting, s, r, fields, courant, layout)
        met = list_met(waiting, r)
        meet_faces(met, s, r, t, fields, courant, layout)
        put_back(met, s, r, t, fields, courant, layout)

    return follow


@cache
def _make_arrive(real):
    """The currents of a batch's segments, and which particles go on in another cell: arrive(...).

    What `advance.make_cross_face` does for one particle is taken apart here: next to a branch that uses an array Numba
    counts the array in and out each time, a fifth of all time.
    """
    shares, whole = make_edge_weights(real), make_to_whole(real)
    enter, on_face, fresh = make_enter_cell(real), make_place_on_face(real), real(FRESH)

    @device_function
    def share_out(waiting, s, r, t, particles, unit):
        for k in range(waiting):
            # of NOBODY it is the last particle's, and goes nowhere
            amount = particles.weight[r[PARTICLE, k]] * unit
            along_x, along_y, along_z = shares(_three(s, PLACE, k), _three(s, END, k), amount)
            t[0, k], t[1, k], t[2, k], t[3, k] = along_x
            t[4, k], t[5, k], t[6, k], t[7, k] = along_y
            t[8, k], t[9, k], t[10, k], t[11, k] = along_z

    @device_function
    def pass_faces(waiting, s, r, neighbour_cell, layout):
        for k in range(waiting):
            into, place = enter(r[CELL, k], _three(s, END, k), r[FACE, k], neighbour_cell, layout)
            _keep(s, END, k, place)
            r[INTO, k], s[LEFT, k] = into, s[LEFT, k] - s[USED, k]

    @device_function
    def deposit(first, t, k, currents):
        for edge in range(EDGES):
            currents[first + edge] += whole(t[edge, k])

    @device_function
    def settle(i, k, s, r, particles, count):
        """What ends its step, or leaves in the midst of it."""
        into, left = r[INTO, k], s[LEFT, k]
        particles.cell[i], particles.left[i] = into, left if into < 0 else fresh
        particles.event[i] = r[FACES, k] + 1 if into < 0 else 0
        set_place(particles, i, count, _three(s, END, k), _three(s, THEN, k))

    @device_function
    def arrive(waiting, s, r, t, particles, count, currents, shift, context, layout):
        """Add up a segment of each; returns how many go on, now the first of the batch, and how many a wall took up.

        Of these places, charges and cells are kept.
        """
        unit = real(context.unit)
        share_out(waiting, s, r, t, particles, unit)
        pass_faces(waiting, s, r, context.neighbour_cell, layout)
        more, gone = 0, 0
        for k in range(waiting):
            i, into, face = r[PARTICLE, k], r[INTO, k], r[FACE, k]
            if i == NO_PARTICLE:
                continue
            deposit(EDGES * (r[CELL, k] + shift), t, k, currents)
            if into == ABSORBED:
                _keep(t, AT, gone, on_face(_three(s, END, k), face))
                t[AFTER, gone], r[MET, gone] = particles.weight[i] * unit, r[CELL, k]
                gone += 1
            settle(i, k, s, r, particles, count)
            _keep(s, PLACE, more, _three(s, END, k))
            _keep(s, MOMENTUM, more, _three(s, THEN, k))
            s[LEFT, more], r[PARTICLE, more], r[CELL, more], r[FACES, more] = s[LEFT, k], i, into, r[FACES, k] + 1
            more += (face != INSIDE) & (into >= 0)
        return more, gone

    return arrive


@cache
def _body(real, add):
    depart, follow_segments = _make_depart(real), _make_follow(real)
    arrive, rest = _make_arrive(real), make_deposit_charge(real, add)

    @device_function
    def follow(x, n, s, r, t, particles, count, fields, context, courant, layout, own, cores, resuming):
        # of the core whose share these are, see `loops`, in the currents of all cores
        shift = ((x + 1) * cores - 1) // count * layout.nodes
        waiting = n if depart(x, n, s, r, particles, count, fields, layout, resuming) else 0
        for _ in range(MOST_SEGMENTS if waiting else 0):
            follow_segments(waiting, s, r, t, fields, courant, layout)
            waiting, gone = arrive(waiting, s, r, t, particles, count, own, shift, context, layout)
            for k in range(gone):
                rest(context.charges, r[MET, k], _three(t, AT, k), -t[AFTER, k], layout)
            if not waiting:
                break
        for k in range(waiting):
            if r[PARTICLE, k] != NO_PARTICLE:
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
