"""One segment of a trajectory: to the end of the step or to the nearest face of the cell (paper, section 2)."""

from functools import cache

import numpy as np

from repro.parallel import device_function, fma

from .push import along_axis, first_face, make_fly, make_rotation_factors, moved, orbit_of, rate

#: what a segment ends at, beside the faces 0 to 5
INSIDE = -1

#: how often a segment is cut short: an orbit that is beyond one face may have been beyond another one before
_CUTS = 4

#: most iterations in search of the time at which a face is met
_SEARCHES = 60


@device_function
def inside_cell(position):
    """Whether a position is in the cell, [0, 1]^3."""
    x, y, z = position
    zero, one = type(x)(0), type(x)(1)
    return (x >= zero) & (x <= one) & (y >= zero) & (y <= one) & (z >= zero) & (z <= one)


@cache
def make_segment(real):
    """Follows an electron inside its cell for at most t of a step: segment(position, u, magnetic, courant, t).

    `position` is the place in the cell, from 0 to 1 along each axis, `courant` the way of light in a step in cells.
    Returns position and momentum at the end, the time taken, and INSIDE or the face that was met: 2 * axis, and 1 more
    at the high end. On a face the position is exactly 0 or 1. Where an orbit leaves a cell and is back at the end of t,
    it counts as inside: the chord is, along which the current flows.
    """
    fly, land, find = make_fly(real), make_land(real), make_find_face(real)

    @device_function
    def segment(position, u, magnetic, courant, t):
        orbit = orbit_of(u, magnetic)
        end, u_end = fly(position, orbit, courant, t)
        if inside_cell(end):
            return end, u_end, t, np.int32(INSIDE)
        at_face, u_there, used, face, right = land(position, end, orbit, courant, t)
        if right:
            return at_face, u_there, used, face
        return find(position, end, orbit, courant, t)

    return segment


@device_function
def on_face(end, face):
    """A place that is on a face exactly, and within the cell along the other axes."""
    zero, one = type(end[0])(0), type(end[0])(1)
    side, axis = one if face & 1 else zero, face >> 1
    x = side if axis == 0 else min(max(end[0], zero), one)
    y = side if axis == 1 else min(max(end[1], zero), one)
    z = side if axis == 2 else min(max(end[2], zero), one)
    return x, y, z


@cache
def make_land(real):
    """The segment of an orbit that is beyond its cell after t: land(position, beyond, orbit, courant, t).

    So many steps of Newton's iteration from where the chord meets its first face, without a branch, and with a sign
    that tells whether it is right: it is not where the curve meets another face before that one or only grazes it, or
    begins on it and turns inwards first.
    """
    fly, factors = make_fly(real), make_rotation_factors(real)
    zero, one, nearly = real(0), real(1), real(4 * np.finfo(real).eps)
    # with which most orbits are on the face to rounding
    steps = 3 if real is np.float32 else 4

    @device_function
    def outside(value):
        return max(-value, value - one)

    @device_function
    def land(position, beyond, orbit, courant, t):
        # a function of its own, whose choices are selects when it comes here: branches would end the vectorisation
        face, share = first_face(position, beyond)
        axis, high = face >> 1, (face & 1) == 1
        x, speed, u, g, h = along_axis(axis, position, orbit, courant)
        side = one if high else zero
        # fused with nothing, by word, so that no compiler fuses it with the sum below
        met = fma(share, t, zero)
        for _ in range(steps):
            at = factors(orbit[0] * met * met, met)
            quick = rate(speed, u, g, h, at)
            off = moved(x, speed, u, g, h, met, at) - side
            met = min(max(met - off / (quick if quick != zero else one), zero), t)
        outwards = (x != side) | ((u > zero) == high)
        end, after = fly(position, orbit, courant, met)
        off = max(outside(end[0]), max(outside(end[1]), outside(end[2])))
        missed = abs((end[0] if axis == 0 else (end[1] if axis == 1 else end[2])) - side)
        return on_face(end, face), after, met, face, outwards & (max(off, missed) <= nearly)

    return land


@cache
def make_find_face(real):
    """As `make_land`, right in all cases, and slower: find(position, beyond, orbit, courant, t).

    Of each face that the orbit is beyond, Newton's iteration kept between a time inside and one outside. An orbit that
    begins on the face and turns inwards is inside until it comes back.
    """
    fly, factors = make_fly(real), make_rotation_factors(real)
    zero, half, one, enough = real(0), real(0.5), real(1), real(np.finfo(real).eps)

    @device_function
    def find(position, beyond, orbit, courant, t):
        first, face, end = t, np.int32(INSIDE), beyond
        u_there = orbit[2]
        # an orbit that is beyond one face may have been beyond another one before
        for _ in range(_CUTS):
            last, met = first, face
            for axis in range(3):
                place = end[0] if axis == 0 else (end[1] if axis == 1 else end[2])
                if (zero <= place and place <= one) or face >> 1 == axis:
                    continue
                high = place > one
                x, speed, u, g, h = along_axis(axis, position, orbit, courant)
                side, way = (one, one) if high else (zero, -one)
                before, after, found = zero, last, last
                turns = x == side and way * u > zero
                for _ in range(0 if turns else _SEARCHES):
                    at = factors(orbit[0] * found * found, found)
                    off, quick = moved(x, speed, u, g, h, found, at) - side, rate(speed, u, g, h, at)
                    if way * off > zero:
                        after = found
                    else:
                        before = found
                    guess = found - off / quick if quick != zero else before
                    if not (before <= guess <= after):
                        guess = half * (before + after)
                    change, found = abs(guess - found), guess
                    if change <= enough * last:
                        break
                found = zero if turns else found
                if found <= first:
                    first, face = found, np.int32(2 * axis + high)
            end, u_there = fly(position, orbit, courant, first)
            if face == met:
                break
        return on_face(end, face), u_there, first, face

    return find
