"""Particles on the host, one record each: for particles in transit from one place in memory to another."""

import numpy as np

from repro.errors import CapacityError

from .state import Particles, record_type, rows_of


def taken_records(device, particles: Particles, entries) -> np.ndarray:
    """Records of some `entries` of arrays on a device, where they are put together: they cross the bus in one piece."""
    words = _words(device.xp, particles, entries)
    host = device.page_locked(words.shape, np.uint32)
    device.download(words, host)
    return _as_records(host, particles)


def to_records(particles: Particles, entries) -> np.ndarray:
    """Records of some entries of arrays on the host."""
    return _as_records(_words(np, particles, entries), particles)


def _words(xp, particles: Particles, entries):
    """Records as rows of words of 32 bits."""
    record, cell = record_type(particles.weight.dtype), particles.cell[entries]
    words = xp.empty((len(cell), record.itemsize // 4), np.uint32)
    for place, rows in zip(_places(record), rows_of(particles), strict=True):
        words[:, place] = xp.ascontiguousarray(rows[:, entries].T).view(np.uint32)
    return words


def _as_records(words: np.ndarray, particles: Particles) -> np.ndarray:
    return words.view(record_type(particles.weight.dtype))[:, 0]


def _places(record: np.dtype) -> list[slice]:
    """Which words of a record each of its fields has."""
    fields = (record.fields[name] for name in Particles._fields)
    return [slice(first // 4, (first + kind.itemsize) // 4) for kind, first in fields]


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


def put_records(records: np.ndarray, device, particles: Particles, entries) -> None:
    """Put records into `entries`, a slice or their numbers, of arrays on a device; they cross the bus in one piece."""
    xp, record = device.xp, records.dtype
    words = xp.empty((len(records), record.itemsize // 4), np.uint32)
    device.upload(np.ascontiguousarray(records).view(np.uint32).reshape(words.shape), words)
    for place, rows in zip(_places(record), rows_of(particles), strict=True):
        rows[:, entries] = xp.ascontiguousarray(words[:, place]).view(rows.dtype).T
