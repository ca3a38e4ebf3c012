"""A particle's way through a step: its kick, and its segments one after the other."""

from functools import cache
from typing import NamedTuple

import numpy as np

from repro.parallel import inline

from .deposition import charging, depositing
from .gather import electric_at, magnetic_at
from .mesh import ABSORBED
from .segment import segments
from .state import FRESH, MOST_SEGMENTS, STUCK


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
    """Returns through(cell, position, face, beyond, layout): what is beyond a face, and the place in the cell there.

    For INSIDE it is the cell itself.
    """
    zero, one = real(0), real(1)

    @inline
    def through(cell, position, face, beyond, layout):
        axis, high = face >> 1, face & 1
        step = layout.plane if axis == 2 else (layout.row if axis == 1 else (1 if axis == 0 else 0))
        other = zero if high else one
        into = beyond[cell + step if high else cell - step]
        x = other if axis == 0 else position[0]
        y = other if axis == 1 else position[1]
        z = other if axis == 2 else position[2]
        return into, (x, y, z)

    return through


@inline
def kicked(momentum, electric, share):
    """The momentum of an electron after `share` of a step in E~."""
    return (
        momentum[0] - share * electric[0],
        momentum[1] - share * electric[1],
        momentum[2] - share * electric[2],
    )


@cache
def travelling(real, add, depositing=depositing):
    """Returns travel(i, particles, count, fields, currents, around, courant, layout): particle i's whole step.

    `depositing(real, add)` makes what adds a segment to `currents`, see `deposition`.
    """
    follow, deposit, rest, through = segments(real), depositing(real, add), charging(real, add), next_cell(real)
    one, fresh = real(1), real(FRESH)

    @inline
    def travel(i, particles, count, fields, currents, around, courant, layout):
        cell, amount = particles.cell[i], particles.weight[i] * real(around.unit)
        position, momentum = place_of(particles, i, count)
        left, going = particles.left[i], True
        if left > one:
            momentum, left = kicked(momentum, electric_at(fields.electric, cell, position, layout), one), one
        for _ in range(MOST_SEGMENTS):
            magnetic = magnetic_at(fields.magnetic, cell, position, layout)
            end, momentum, used, face = follow(position, momentum, magnetic, courant, left)
            deposit(currents, cell, position, end, amount)
            position, left = end, left - used
            going = face >= 0
            if going:
                into, other_side = through(cell, position, face, around.beyond, layout)
                if into == ABSORBED:
                    rest(around.charges, cell, position, -amount, layout)
                else:
                    position = other_side
                going = into >= 0
                cell = into
            if not going:
                break
        particles.cell[i] = STUCK if going else cell
        particles.left[i] = left if cell < 0 else fresh
        set_place(particles, i, count, position, momentum)

    return travel
