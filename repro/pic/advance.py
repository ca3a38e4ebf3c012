"""A particle's way through a step: its kick, and its segments one after the other."""

from functools import cache
from typing import NamedTuple

import numpy as np

from repro.parallel import fma, inline

from .deposition import charging, depositing
from .gather import electric_at, magnetic_at
from .mesh import ABSORBED
from .motion.segment import segments
from .state import FRESH, MOST_SEGMENTS, SLIDING, STUCK


class Surroundings(NamedTuple):
    """What is the same for all particles: tables and numbers of the mesh."""

    #: where a particle in a cell goes on, see `Mesh.beyond`
    beyond: np.ndarray
    #: charges that rest on the mesh, in units of the sums
    charges: np.ndarray
    #: units of the sums in one electron
    unit: float


@inline
def place_of(particles, i, count):
    """A particle's place and momentum."""
    place, u = particles.place, particles.u
    return (place[i], place[i + count], place[i + 2 * count]), (u[i], u[i + count], u[i + 2 * count])


@inline
def set_place(particles, i, count, position, momentum):
    """Give a particle a place and a momentum."""
    for k in range(3):
        particles.place[i + k * count] = position[k]
        particles.u[i + k * count] = momentum[k]


@cache
def next_cell(real):
    """Returns beyond_face(cell, position, face, beyond, layout): the cell beyond a face, and the place there.

    For INSIDE it is the cell itself.
    """
    zero, one = real(0), real(1)

    @inline
    def beyond_face(cell, position, face, beyond, layout):
        axis, high = face >> 1, face & 1
        step = layout.plane if axis == 2 else (layout.row if axis == 1 else (1 if axis == 0 else 0))
        other = zero if high else one
        into = beyond[cell + step if high else cell - step]
        x = other if axis == 0 else position[0]
        y = other if axis == 1 else position[1]
        z = other if axis == 2 else position[2]
        return into, (x, y, z)

    return beyond_face


@cache
def passing(real, add):
    """Returns through(cell, position, face, amount, around, layout): where a particle is that met a face, or INSIDE.

    That is its cell, or what `Mesh.beyond` has for it, and its place there. The charge of one that a wall takes up
    stays where it met the wall.
    """
    beyond_face, rest = next_cell(real), charging(real, add)

    @inline
    def through(cell, position, face, amount, around, layout):
        into, place = beyond_face(cell, position, face, around.beyond, layout)
        if into == ABSORBED:
            rest(around.charges, cell, position, -amount, layout)
            place = position
        return into, place

    return through


@inline
def kicked(momentum, electric, share):
    """The momentum of an electron after `share` of a step in E~."""
    return (
        fma(-share, electric[0], momentum[0]),
        fma(-share, electric[1], momentum[1]),
        fma(-share, electric[2], momentum[2]),
    )


@cache
def first_kick(real):
    """Returns begin(cell, position, momentum, left, fields, layout): momentum, and what is left of the step.

    A particle whose step begins has its kick, and the whole step before it; one that is on its way stays as it is.
    """
    one = real(1)

    @inline
    def begin(cell, position, momentum, left, fields, layout):
        if left > one:
            momentum, left = kicked(momentum, electric_at(fields.electric, cell, position, layout), one), one
        return momentum, left

    return begin


@cache
def field_of_slider(real):
    """Returns turned_by(met, magnetic): the field that turns a particle that has met so many faces in the step.

    It is none for one that slides along a face, see `state.SLIDING`.
    """
    zero = real(0)

    @inline
    def turned_by(met, magnetic):
        straight = met >= SLIDING
        return (
            zero if straight else magnetic[0],
            zero if straight else magnetic[1],
            zero if straight else magnetic[2],
        )

    return turned_by


@cache
def one_segment(real, add, depositing=depositing):
    """Returns go(cell, sums, position, momentum, left, met, amount, fields, around, courant, layout): one segment.

    `met` is how many faces it has met in the step, `sums` the number by which the sums of currents know the cell;
    `depositing(real, add)` makes what adds to these, see `deposition`. Returns cell, position, momentum, what is left
    of the step, and whether the particle has more segments before it.
    """
    follow, deposit, through = segments(real), depositing(real, add), passing(real, add)
    turned_by = field_of_slider(real)

    @inline
    def go(cell, sums, position, momentum, left, met, amount, fields, around, courant, layout):
        magnetic = turned_by(met, magnetic_at(fields.magnetic, cell, position, layout))
        end, momentum, used, face = follow(position, momentum, magnetic, courant, left)
        deposit(fields.currents, sums, position, end, amount)
        position = end
        if face >= 0:
            cell, position = through(cell, end, face, amount, around, layout)
        return cell, position, momentum, left - used, (face >= 0) & (cell >= 0)

    return go


@cache
def travelling(real, add, depositing=depositing):
    """Returns travel(i, particles, count, fields, around, courant, layout): particle i's step, its currents added."""
    begin, go, fresh = first_kick(real), one_segment(real, add, depositing), real(FRESH)

    @inline
    def travel(i, particles, count, fields, around, courant, layout):
        cell, amount = particles.cell[i], particles.weight[i] * real(around.unit)
        position, momentum = place_of(particles, i, count)
        momentum, left = begin(cell, position, momentum, particles.left[i], fields, layout)
        met, going = particles.event[i], True
        for _ in range(MOST_SEGMENTS):
            cell, position, momentum, left, going = go(
                cell, cell, position, momentum, left, met, amount, fields, around, courant, layout
            )
            if not going:
                break
            met += 1
        particles.cell[i] = STUCK if going else cell
        particles.left[i], particles.event[i] = (left, met + 1) if cell < 0 else (fresh, 0)
        set_place(particles, i, count, position, momentum)

    return travel
