"""The particles on a device: flat arrays of vectors, component k of particle i at k * count + i."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from repro.particles.position import Units, vectors, vectors_by_id


class Particles(NamedTuple):
    """What a kernel knows of the particles; the first `moving` ids move, the others are frozen."""

    #: positions, whole numbers (see `particles.position`)
    r: object
    #: velocities; between the two halves of a step, at its middle
    v: object
    #: velocities predicted for the forces (Groot and Warren's v~)
    u: object
    #: 32-bit numbers that particles keep however the arrays are ordered
    ids: object
    count: int
    moving: int


class Sums(NamedTuple):
    """What a kernel adds up for each particle."""

    #: forces
    f: object
    #: shares of the pairs' r . F; the sum over all particles is the sum over all pairs
    virial: object


class Noise(NamedTuple):
    """Where the noise of a step comes from."""

    seed: int
    #: how often the forces have been found, one 64-bit integer: with the seed it names the numbers of a step
    clock: object
    #: the word at which the one running sequence of a serial program has arrived
    sequence: object


@dataclass
class State:
    """Arrays on the device as in `Particles`, `Sums` and `Noise`; `f` is at the last positions, body force included."""

    count: int
    moving: int
    r: object
    v: object
    u: object
    f: object
    virial: object
    ids: object
    clock: object
    sequence: object

    #: what a particle takes: four vectors, the virial and the id
    NUMBERS = 13

    @property
    def particles(self) -> Particles:
        """For kernels."""
        return Particles(self.r, self.v, self.u, self.ids, self.count, self.moving)

    @property
    def sums(self) -> Sums:
        """For kernels."""
        return Sums(self.f, self.virial)

    def on_host(self, device, box) -> dict[str, np.ndarray]:
        """Positions, velocities and forces of shape (count, 3), in the order of the ids."""
        r, v, f = vectors_by_id(device, self.ids, self.r, self.v, self.f)
        return {"position": Units(v.dtype.type).coordinates(r, box), "velocity": v, "force": f}


def make_state(device, real, position: np.ndarray, velocity: np.ndarray, moving: int, box, seed: int = 1) -> State:
    """A state from positions and velocities of shape (count, 3), with forces of zero and ids in this order.

    The running sequence begins at the word `seed`.
    """
    count = len(position)
    return State(
        count,
        moving,
        r=vectors(device, Units(real).of(position, box)),
        v=vectors(device, velocity.astype(real)),
        u=vectors(device, velocity.astype(real)),
        f=device.zeros(3 * count, real),
        virial=device.zeros(count, real),
        ids=device.to_device(np.arange(count, dtype=np.int32)),
        clock=device.zeros(1, np.int64),
        sequence=device.to_device(np.array([seed % 2**32], np.uint32)),
    )
