"""The particles on a device: flat arrays of vectors, component k of particle i at k * count + i."""

from dataclasses import dataclass

import numpy as np

from .position import Units


@dataclass
class State:
    """Arrays on the device, and the number of particles; the first `fluid` ids move, the others are frozen."""

    count: int
    fluid: int
    #: positions, whole numbers (see `position`)
    r: object
    #: velocities; between the two halves of a step, at its middle
    v: object
    #: velocities predicted for the forces (Groot and Warren's v~)
    u: object
    #: forces at the last positions, body force included
    f: object
    #: each particle's share of the pairs' r . F; the sum over all particles is the sum over all pairs
    virial: object
    #: 32-bit numbers that particles keep however the arrays are ordered
    ids: object
    #: how often the forces have been found, one 64-bit integer, which names their noise
    clock: object

    #: what a particle takes: four vectors, the virial and the id
    NUMBERS = 13

    def on_host(self, device, box) -> dict[str, np.ndarray]:
        """Positions, velocities and forces of shape (count, 3), in the order of the ids."""
        order = np.argsort(device.to_host(self.ids))

        def rows(array):
            return np.ascontiguousarray(device.to_host(array).reshape(3, -1).T[order])

        position = Units(self.v.dtype.type).coordinates(rows(self.r), box)
        return {"position": position, "velocity": rows(self.v), "force": rows(self.f)}


def make_state(device, real, position: np.ndarray, velocity: np.ndarray, fluid: int, box) -> State:
    """A state from positions and velocities of shape (count, 3), with forces of zero and ids in this order."""
    count = len(position)

    def vectors(values):
        return device.to_device(np.ascontiguousarray(values.T).ravel())

    return State(
        count,
        fluid,
        r=vectors(Units(real).of(position, box)),
        v=vectors(velocity.astype(real)),
        u=vectors(velocity.astype(real)),
        f=device.zeros(3 * count, real),
        virial=device.zeros(count, real),
        ids=device.to_device(np.arange(count, dtype=np.int32)),
        clock=device.zeros(1, np.int64),
    )
