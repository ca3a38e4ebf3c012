"""Particles on the host, one record each: for particles in transit from one place in memory to another."""

import numpy as np

from .state import Particles


def record_type(real) -> np.dtype:
    """What a record holds: the names and meanings are those of `Particles`."""
    fields = [("cell", np.int32), ("place", real, 3), ("u", real, 3), ("weight", real), ("ids", np.int64)]
    return np.dtype([*fields, ("left", real), ("event", np.int32)])


def to_records(particles: Particles, entries: np.ndarray) -> np.ndarray:
    """Records of some entries of arrays on the host."""
    found = np.empty(len(entries), record_type(particles.weight.dtype))
    for name, values in zip(Particles._fields, particles, strict=True):
        vector = name in ("place", "u")
        found[name] = values.reshape(3, -1)[:, entries].T if vector else values[entries]
    return found


def put_particles(simulation, **rows: np.ndarray) -> None:
    """Put particles into the first entries of a simulation's arrays: (count) or (3, count) of each array by name."""
    room, count = simulation.subdomain.room, len(rows["cell"])
    for name, values in rows.items():
        target = getattr(simulation.particles_on_device, name).reshape(-1, room)
        target[:, :count] = simulation.device.to_device(np.ascontiguousarray(values.reshape(-1, count)))
    simulation.used[:] = count


def put_records(records: np.ndarray, particles: Particles, entries: np.ndarray) -> None:
    """Put records into entries of arrays on the host."""
    for name, values in zip(Particles._fields, particles, strict=True):
        if name in ("place", "u"):
            values.reshape(3, -1)[:, entries] = records[name].T
        else:
            values[entries] = records[name]
