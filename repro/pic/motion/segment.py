"""One segment of a trajectory: to the end of the step or to the nearest face of the cell (paper, section 2)."""

from functools import cache

import numpy as np

from repro.parallel import device_function

from .push import make_first_face, make_meet_face, make_orbit, make_rotation_factors, make_search_face, momentum, moved

#: what a segment ends at, beside the faces 0 to 5
INSIDE = -1

#: how often a segment is cut short: an orbit that is beyond one face may have been beyond another one before
_CUTS = 4


@cache
def make_fly(real):
    """Where an orbit has come after t of a step, and the momentum there: fly(position, orbit, courant, t)."""
    factors_of = make_rotation_factors(real)

    @device_function
    def fly(position, orbit, courant, t):
        q, slow, u, g, h = orbit
        factors = factors_of(q * t * t, t)
        x = moved(position[0], courant[0] * slow, u[0], g[0], h[0], t, factors)
        y = moved(position[1], courant[1] * slow, u[1], g[1], h[1], t, factors)
        z = moved(position[2], courant[2] * slow, u[2], g[2], h[2], t, factors)
        return (x, y, z), momentum(orbit, factors)

    return fly


@cache
def make_inside_cell(real):
    """Whether a position is in the cell, [0, 1]^3: inside(position)."""
    zero, one = real(0), real(1)

    @device_function
    def inside(position):
        x, y, z = position
        return (x >= zero) & (x <= one) & (y >= zero) & (y <= one) & (z >= zero) & (z <= one)

    return inside


@cache
def make_segment(real):
    """Follows an electron inside its cell for at most t of a step: segment(position, u, magnetic, courant, t).

    `position` is the place in the cell, from 0 to 1 along each axis, `courant` the way of light in a step in cells.
    Returns position and momentum at the end, the time taken, and INSIDE or the face that was met: 2 * axis, and 1 more
    at the high end. On a face the position is exactly 0 or 1. Where an orbit leaves a cell and is back at the end of t,
    it counts as inside: the chord is, along which the current flows.
    """
    orbiting, fly, inside = make_orbit(real), make_fly(real), make_inside_cell(real)
    land, find = make_land(real), make_find_face(real)

    @device_function
    def segment(position, u, magnetic, courant, t):
        orbit = orbiting(u, magnetic)
        end, u_end = fly(position, orbit, courant, t)
        if inside(end):
            return end, u_end, t, np.int32(INSIDE)
        at_face, u_there, used, face, right = land(position, end, orbit, courant, t)
        if right:
            return at_face, u_there, used, face
        return find(position, end, orbit, courant, t)

    return segment


@cache
def make_place_on_face(real):
    """A place that is on a face exactly, and within the cell along the other axes: on_face(end, face)."""
    zero, one = real(0), real(1)

    @device_function
    def within(value):
        return min(max(value, zero), one)

    @device_function
    def on_face(end, face):
        side, axis = one if face & 1 else zero, face >> 1
        x = side if axis == 0 else within(end[0])
        y = side if axis == 1 else within(end[1])
        z = side if axis == 2 else within(end[2])
        return x, y, z

    return on_face


@cache
def make_land(real):
    """The segment of an orbit that is beyond its cell after t: land(position, beyond, orbit, courant, t).

    Without a branch, and with a sign that tells whether it is right: it is not where the curve meets another face
    before the one that its chord meets first, or only grazes it.
    """
    fly, nearest, meet, on_face = make_fly(real), make_first_face(real), make_meet_face(real), make_place_on_face(real)
    zero, one, nearly = real(0), real(1), real(4 * np.finfo(real).eps)

    @device_function
    def outside(value):
        return max(-value, value - one)

    @device_function
    def land(position, beyond, orbit, courant, t):
        face, share = nearest(position, beyond)
        met, outwards = meet(face, share, position, orbit, courant, t)
        end, u = fly(position, orbit, courant, met)
        off = max(outside(end[0]), max(outside(end[1]), outside(end[2])))
        axis = face >> 1
        along = end[0] if axis == 0 else (end[1] if axis == 1 else end[2])
        missed = abs(along - (one if face & 1 else zero))
        return on_face(end, face), u, met, face, outwards & (max(off, missed) <= nearly)

    return land


@cache
def make_find_face(real):
    """As `make_land`, right in all cases, and slower: find(position, beyond, orbit, courant, t)."""
    fly, search, on_face = make_fly(real), make_search_face(real), make_place_on_face(real)
    zero, one = real(0), real(1)

    @device_function
    def cut(k, end, first, face, position, orbit, courant, last):
        """The earlier of `first` and the time at which an orbit left along axis k that is at `end` at `last`."""
        if (zero <= end and end <= one) or face >> 1 == k:
            return first, face
        other = np.int32(2 * k + (end > one))
        met = search(other, position, orbit, courant, last)
        return (met, other) if met <= first else (first, face)

    @device_function
    def find(position, beyond, orbit, courant, t):
        first, face, end = t, np.int32(INSIDE), beyond
        u = orbit[2]
        # an orbit that is beyond one face may have been beyond another one before
        for _ in range(_CUTS):
            last, met = first, face
            first, face = cut(0, end[0], first, face, position, orbit, courant, last)
            first, face = cut(1, end[1], first, face, position, orbit, courant, last)
            first, face = cut(2, end[2], first, face, position, orbit, courant, last)
            end, u = fly(position, orbit, courant, first)
            if face == met:
                break
        return on_face(end, face), u, first, face

    return find
