"""Particles on the host, one record each: for particles in transit from one place in memory to another."""

import numpy as np

from repro.errors import CapacityError

from .state import Particles, record_type, rows_of


def taken_records(device, particles: Particles, entries) -> np.ndarray:
    """Records of some `entries` (on the device) of arrays on a device, which cross to the host in one piece."""
    xp, count = device.xp, len(entries)
    gathered = [xp.ascontiguousarray(rows[:, entries]).ravel().view(np.uint8) for rows in rows_of(particles)]
    host = device.to_host(xp.concatenate(gathered))
    ends = np.cumsum([len(piece) for piece in gathered])
    pieces = np.split(host, ends[:-1])
    values = (piece.view(rows.dtype) for piece, rows in zip(pieces, particles, strict=True))
    return to_records(Particles(*values), np.arange(count))


def to_records(particles: Particles, entries: np.ndarray) -> np.ndarray:
    """Records of some entries of arrays on the host."""
    found = np.empty(len(entries), record_type(particles.weight.dtype))
    for name, rows in zip(Particles._fields, rows_of(particles), strict=True):
        found[name] = rows[:, entries].T.reshape(found[name].shape)
    return found


def records_here(simulation) -> np.ndarray:
    """Records of all particles in the simulation's part of the box, by id."""
    found = Particles(*map(simulation.device.to_host, simulation.particles_on_device))
    records = to_records(found, np.flatnonzero(found.cell >= 0))
    return records[np.argsort(records["ids"])]


def entries_here(simulation, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of particles in `cells` of the box (count, 3) are in the simulation's part, and the numbers of their cells.

    Raises CapacityError where it has no room for them.
    """
    subdomain = simulation.subdomain
    here = np.flatnonzero(subdomain.own(cells))
    if len(here) > subdomain.room:
        where = f"the part of rank {simulation.ranks.rank}" if simulation.ranks else "the box"
        wanted = subdomain.wanted_capacity(len(here))
        raise CapacityError(f"{len(here)} particles in {where}, and room for {subdomain.room}: take {wanted}")
    return here, subdomain.mesh.nodes(cells[here] - np.array(subdomain.first)).astype(np.int32)


def put_particles(simulation, **rows: np.ndarray) -> None:
    """Put particles into the first entries of a simulation's arrays: (count) or (3, count) of each array by name."""
    room, count = simulation.subdomain.room, len(rows["cell"])
    for name, values in rows.items():
        target = getattr(simulation.particles_on_device, name).reshape(-1, room)
        target[:, :count] = simulation.device.to_device(np.ascontiguousarray(values.reshape(len(target), count)))
    simulation.used[:] = count


def put_records(records: np.ndarray, device, particles: Particles, start: int, entries: np.ndarray) -> None:
    """Put records into arrays on a device: into `entries` of the ones from `start` to the last, the others become 0."""
    for name, rows in zip(Particles._fields, rows_of(particles), strict=True):
        host = np.zeros((len(rows), entries.max() + 1), rows.dtype)
        host[:, entries] = records[name].T
        rows[:, start : start + host.shape[1]] = device.to_device(host)
