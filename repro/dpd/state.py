"""The particles on a device: flat arrays of vectors, component k of particle i at k * count + i."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from repro.particles.local_cells import NO_ID
from repro.particles.position import Units, vectors


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
    """Arrays on the device as in `Particles`, `Sums` and `Noise`; `f` is at the last positions, body force included.

    `count` is their length: where one rank has all, each place holds a particle, on several some have the id NO_ID.
    """

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
    #: the arrays of particles
    EACH = ("r", "v", "u", "f", "virial", "ids")

    @property
    def particles(self) -> Particles:
        """For kernels."""
        return Particles(self.r, self.v, self.u, self.ids, self.count, self.moving)

    @property
    def sums(self) -> Sums:
        """For kernels."""
        return Sums(self.f, self.virial)

    def on_host(self, device, *names: str) -> dict[str, np.ndarray]:
        """Arrays (components, particle) of the particles that are here, by name."""
        here = device.to_host(self.ids) != NO_ID
        arrays = {name: device.to_host(getattr(self, name)) for name in names}
        return {name: array.reshape(-1, self.count)[:, here] for name, array in arrays.items()}


def make_state(
    device, real, position: np.ndarray, velocity: np.ndarray, moving: int, box, seed: int = 1, *, ids=None, slots=None
) -> State:
    """A state from positions and velocities of shape (count, 3), with forces of zero and ids in this order.

    The running sequence begins at the word `seed`. The particles of one of several ranks have `ids` of their own, and
    arrays with room for more of them, `slots` in all.
    """
    ids = np.arange(len(position)) if ids is None else ids
    count = slots or len(position)
    more = count - len(position)

    def padded(rows: np.ndarray, value=0) -> np.ndarray:
        return np.pad(rows, [(0, more), (0, 0)][: rows.ndim], constant_values=value) if more else rows

    return State(
        count,
        moving,
        r=vectors(device, padded(Units(real).of(position, box))),
        v=vectors(device, padded(velocity.astype(real))),
        u=vectors(device, padded(velocity.astype(real))),
        f=device.zeros(3 * count, real),
        virial=device.zeros(count, real),
        ids=device.to_device(padded(ids.astype(np.int32), NO_ID)),
        clock=device.zeros(1, np.int64),
        sequence=device.to_device(np.array([seed % 2**32], np.uint32)),
    )
