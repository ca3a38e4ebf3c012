"""One segment of a trajectory: to the end of the step or to the nearest face of the cell (paper, section 2)."""

from functools import cache

import numpy as np

from repro.parallel import inline

from .push import circling, crossing, momentum, moved, turning

#: what a segment ends at, beside the faces 0 to 5
INSIDE = -1


@cache
def segments(real):
    """Returns segment(position, u, magnetic, courant, t): follows an electron inside its cell for at most t of a step.

    `position` is the place in the cell, from 0 to 1 along each axis, `courant` the way of light in a step in cells.
    Returns position and momentum at the end, the time taken, and INSIDE or the face that was met: 2 * axis, and 1 more
    at the high end. On a face the position is exactly 0 or 1. Where an orbit leaves a cell and is back at the end of t,
    it counts as inside: the chord is, along which the current flows.
    """
    orbiting, factors_of, meeting = circling(real), turning(real), crossing(real)
    zero, one = real(0), real(1)

    @inline
    def within(value):
        return min(max(value, zero), one)

    @inline
    def segment(position, u, magnetic, courant, t):
        orbit = orbiting(u, magnetic)
        factors = factors_of(orbit[0] * t * t, t)
        x = moved(position[0], 0, courant[0], orbit, t, factors)
        y = moved(position[1], 1, courant[1], orbit, t, factors)
        z = moved(position[2], 2, courant[2], orbit, t, factors)
        if zero <= x <= one and zero <= y <= one and zero <= z <= one:
            return (x, y, z), momentum(orbit, factors), t, np.int32(INSIDE)
        first, face = t, np.int32(INSIDE)
        if x < zero or x > one:
            met = meeting(position[0], x, 0, courant[0], orbit, t)
            if met <= first:
                first, face = met, np.int32(x > one)
        if y < zero or y > one:
            met = meeting(position[1], y, 1, courant[1], orbit, t)
            if met <= first:
                first, face = met, np.int32(2 + (y > one))
        if z < zero or z > one:
            met = meeting(position[2], z, 2, courant[2], orbit, t)
            if met <= first:
                first, face = met, np.int32(4 + (z > one))
        factors = factors_of(orbit[0] * first * first, first)
        x = within(moved(position[0], 0, courant[0], orbit, first, factors))
        y = within(moved(position[1], 1, courant[1], orbit, first, factors))
        z = within(moved(position[2], 2, courant[2], orbit, first, factors))
        side = real(face & 1)
        if face >> 1 == 0:
            x = side
        elif face >> 1 == 1:
            y = side
        elif face >> 1 == 2:
            z = side
        return (x, y, z), momentum(orbit, factors), first, face

    return segment
