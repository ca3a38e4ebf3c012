"""The particles' arrays on a device."""

from typing import NamedTuple

import numpy as np


class Particles(NamedTuple):
    """Electrons of weight w each, as kernels take them; the three components of a vector lie one after the other."""

    #: number of the cell with guards, or below 0: ABSORBED, LEAVES - guard, EMPTY ...
    cell: np.ndarray
    #: place in the cell from 0 to 1, and momentum over m c half a kick before the time (flat, 3 * capacity)
    place: np.ndarray
    u: np.ndarray
    #: how many electrons a particle stands for
    weight: np.ndarray
    #: what names a particle for good, see `repro.pic.particle_source`
    ids: np.ndarray
    #: share of the step that is left, FRESH for a particle that has its kick and the whole step before it
    left: np.ndarray
    #: segments that a particle has had in a step that it has not ended; its random numbers are named by them
    event: np.ndarray


#: what `left` is between steps
FRESH = 2.0

#: the cell of an entry without a particle, of one that met more faces in a step than there can be, and of an electron
#: in air that has more energy than collisions are known for
EMPTY, STUCK, TOO_FAST = -2, -3, -4

#: the cell of a particle that has appeared in the midst of a launch is this less the cell's number, so that nothing
#: moves it too early
DEFERRED = -(2**30)

#: most segments of one particle in a step without collisions
MOST_SEGMENTS = 64

#: faces in a step after which it goes straight on: light meets four at most, but an electron that slides along a face
#: whose two sides both turn it back would meet it without an end, and the mean of the two fields there turns it nowhere
SLIDING = 32


def rows_of(particles: Particles) -> list:
    """The arrays by their order in `Particles`, with a row a component."""
    return [values.reshape(-1, len(particles.cell)) for values in particles]


def record_type(real) -> np.dtype:
    """A particle as a record on the host; the names and meanings are those of `Particles`.

    In this order each number is at a multiple of its size.
    """
    fields = [("ids", np.int64), ("cell", np.int32), ("event", np.int32), ("place", real, 3), ("u", real, 3)]
    return np.dtype([*fields, ("weight", real), ("left", real)])


def bytes_each(real) -> int:
    """Bytes of one particle."""
    return record_type(real).itemsize


def make_particles(device, real, capacity: int) -> Particles:
    """Room for so many particles, empty."""
    kinds = (record_type(real)[name] for name in Particles._fields)
    made = Particles(*(device.zeros(int(np.prod(kind.shape, dtype=int)) * capacity, kind.base) for kind in kinds))
    made.cell[:], made.left[:] = EMPTY, FRESH
    return made
