"""A particle's way through a step: its kick, and its segments one after the other."""

from functools import cache
from typing import NamedTuple

import numpy as np

from repro.parallel import device_function, fma

from .deposition import EDGES, make_deposit, make_deposit_charge
from .gather import electric_at, magnetic_at
from .mesh import ABSORBED, Layout
from .motion.segment import make_segment
from .state import FRESH, MOST_SEGMENTS, SLIDING, STUCK


class MeshContext(NamedTuple):
    """What is the same for all particles: tables and numbers of the mesh."""

    #: where a particle in a cell goes on, see `Mesh.neighbour_cell`
    neighbour_cell: np.ndarray
    #: charges that rest on the mesh, in units of the sums
    charges: np.ndarray
    #: units of the sums in one electron
    unit: float
    #: way of light in a step in cells along each axis
    courant: tuple
    layout: Layout


@device_function
def place_of(particles, i, count):
    """A particle's place and momentum."""
    # unsigned, as in `gather`
    i, j, k = np.uintp(i), np.uintp(i + count), np.uintp(i + 2 * count)
    place, u = particles.place, particles.u
    return (place[i], place[j], place[k]), (u[i], u[j], u[k])


@device_function
def set_place(particles, i, count, position, momentum):
    """Give a particle a place and a momentum."""
    for k in range(3):
        at = np.uintp(i + k * count)
        particles.place[at], particles.u[at] = position[k], momentum[k]


@device_function
def copy_particle(source, i, count, target, k, room):
    """Copy entry i of `count` to entry k of `room`: all but its number of segments."""
    position, momentum = place_of(source, i, count)
    set_place(target, k, room, position, momentum)
    target.cell[k], target.weight[k] = source.cell[i], source.weight[i]
    target.ids[k], target.left[k] = source.ids[i], source.left[i]


@device_function
def cell_beyond(cell, face, neighbour_cell, layout):
    """The cell beyond a face, or what `Mesh.neighbour_cell` has for it; for INSIDE the cell itself."""
    axis = face >> 1
    step = layout.plane if axis == 2 else (layout.row if axis == 1 else (1 if axis == 0 else 0))
    return neighbour_cell[np.uintp(cell + step if face & 1 else cell - step)]


@device_function
def place_beyond(position, face):
    """The place on a face as the cell beyond has it, and for INSIDE the same place."""
    kind = type(position[0])
    axis, other = face >> 1, kind(0) if face & 1 else kind(1)
    x = other if axis == 0 else position[0]
    y = other if axis == 1 else position[1]
    z = other if axis == 2 else position[2]
    return x, y, z


@cache
def make_cross_face(real, add):
    """Where a particle is that met a face, or INSIDE: cross(cell, position, face, amount, context).

    That is its cell, or what `Mesh.neighbour_cell` has for it, its place there, and whether it goes on. The charge of
    one that a wall takes up stays where it met the wall.
    """
    rest = make_deposit_charge(real, add)

    @device_function
    def cross(cell, position, face, amount, context):
        if face < 0:
            return cell, position, False
        into = cell_beyond(cell, face, context.neighbour_cell, context.layout)
        if into == ABSORBED:
            rest(context.charges, cell, position, -amount, context.layout)
            return into, position, False
        return into, place_beyond(position, face), into >= 0

    return cross


@device_function
def kicked(momentum, electric, share):
    """The momentum of an electron after `share` of a step in E~."""
    return (
        fma(-share, electric[0], momentum[0]),
        fma(-share, electric[1], momentum[1]),
        fma(-share, electric[2], momentum[2]),
    )


@device_function
def load(i, particles, count, fields, context):
    """Particle i's cell, charge, place, momentum, and what is left of its step.

    A particle whose step begins has its kick, and the whole step before it; one that is on its way stays as it is.
    """
    cell, weight = particles.cell[i], particles.weight[i]
    amount, left = weight * type(weight)(context.unit), particles.left[i]
    one = type(left)(1)
    position, momentum = place_of(particles, i, count)
    if left > one:
        momentum, left = kicked(momentum, electric_at(fields.electric, cell, position, context.layout), one), one
    return cell, amount, position, momentum, left


@device_function
def turned_by(met, magnetic):
    """The field that turns a particle that has met so many faces in the step.

    It is none for one that slides along a face, see `state.SLIDING`.
    """
    zero, straight = type(magnetic[0])(0), met >= SLIDING
    return (
        zero if straight else magnetic[0],
        zero if straight else magnetic[1],
        zero if straight else magnetic[2],
    )


@cache
def make_follow(real, add, add_current=None):
    """A kernel's body: each item is a particle that takes a step, its currents added.

    When `resuming` those alone move that are in the midst of a step. `add_current` adds to `fields.currents`, as `add`
    does where it is not given.
    """
    segment, deposit = make_segment(real), make_deposit(real, add_current or add)
    cross, one, fresh = make_cross_face(real, add), real(1), real(FRESH)

    @device_function
    def follow(x, n, particles, count, fields, context, resuming):
        for i in range(x, x + n):
            if particles.cell[i] < 0 or (resuming and particles.left[i] > one):
                continue
            cell, amount, position, momentum, left = load(i, particles, count, fields, context)
            met, going = particles.event[i], True
            for _ in range(MOST_SEGMENTS):
                magnetic = turned_by(met, magnetic_at(fields.magnetic, cell, position, context.layout))
                end, momentum, used, face = segment(position, momentum, magnetic, context.courant, left)
                deposit(fields.currents, EDGES * cell, position, end, amount)
                cell, position, going = cross(cell, end, face, amount, context)
                left -= used
                if not going:
                    break
                met += 1
            particles.cell[i] = STUCK if going else cell
            particles.left[i], particles.event[i] = (left, met + 1) if cell < 0 else (fresh, 0)
            set_place(particles, i, count, position, momentum)

    return follow
