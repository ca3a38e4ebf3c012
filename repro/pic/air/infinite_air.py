"""Electrons in air without fields and without end: how far they get, how often they collide, what they lose.

Each electron is followed until it is slow or has flown a given path. Secondaries are not followed: the electron of a
pair that is faster goes on.
"""

from functools import cache
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy import uint32

from repro.declared import Device, Kind, Number, OneOf, Whole
from repro.errors import InputError
from repro.parallel import PRECISIONS, Kernel, device_function, fma, require_memory

from ..constants import REST_ENERGY, SMALLEST
from ..motion.push import squared
from .collision_tables import Collisions, make_look_ahead, make_slow_down, tables
from .collisions import make_collide
from .event_numbers import MOST_EVENTS, make_segment_depth
from .kinematics import energy_of, with_energy
from .processes import NOTHING, PROCESSES, RADIATES

#: segments of an electron in one launch
SEGMENTS = 500

#: what becomes of an electron
_NEW, _FLYING, _ENDED = range(3)


class Tracks(NamedTuple):
    """Electrons as the kernel takes them; the three components of a vector lie one after the other."""

    u: np.ndarray
    #: place in m, from where the electron began
    place: np.ndarray
    #: path in m so far, and where on it the first collision was
    path: np.ndarray
    first: np.ndarray
    #: optical depth to the next candidate
    depth: np.ndarray
    #: energy that photons above the cut took, in m c^2
    radiated: np.ndarray
    #: events of each of PROCESSES, one after the other
    collisions: np.ndarray
    #: number of the next candidate
    event: np.ndarray
    state: np.ndarray


def make_tracks(device, real, u: np.ndarray) -> Tracks:
    """Electrons of momenta u, of shape (count, 3), at the start."""
    count = len(u)
    vectors = (device.to_device(np.ascontiguousarray(u.T, real).ravel()), device.zeros(3 * count, real))
    scalars = (device.zeros(count, real) for _ in range(4))
    return Tracks(*vectors, *scalars, *(device.zeros(size * count, np.int32) for size in (len(PROCESSES), 1, 1)))


@cache
def make_follow_kernel(real):
    """A kernel's body: each item is an electron, followed for at most SEGMENTS segments."""
    ahead, slowed = make_look_ahead(real), make_slow_down(real)
    collide, drawn_depth, zero = make_collide(real), make_segment_depth(real), real(0)

    @device_function
    def record(i, count, tracks, process, path, before, after):
        if process != NOTHING:
            if tracks.first[i] == zero:
                tracks.first[i] = path
            tracks.collisions[i + (process - 1) * count] += 1
        if (RADIATES >> process) & 1:
            tracks.radiated[i] += before - after

    @device_function
    def follow(x, n, tracks, tables, seed, length):
        count = tracks.path.size
        for i in range(x, x + n):
            if tracks.state[i] == _ENDED:
                continue
            key = uint32(i), uint32(0), seed, 0
            u = tracks.u[i], tracks.u[i + count], tracks.u[i + 2 * count]
            px, py, pz = tracks.place[i], tracks.place[i + count], tracks.place[i + 2 * count]
            path, depth, event, state = tracks.path[i], tracks.depth[i], tracks.event[i], tracks.state[i]
            if state == _NEW:
                depth, event, state = drawn_depth(key, 0), 1, _FLYING
            for _ in range(SEGMENTS):
                u2 = squared(u)
                tau = energy_of(u2)
                if tau < tables.stop or path >= length:
                    state = _ENDED
                    break
                size = sqrt(u2)
                x0, y0, z0 = u[0] / size, u[1] / size, u[2] / size
                majorant, stopping, longest = ahead(tau, tables)
                free = depth / majorant
                flown = min(free, longest, length - path)
                u = with_energy(u, u2, slowed(tau, stopping, flown, tables))
                path, depth = path + flown, fma(-majorant, flown, depth)
                px, py, pz = fma(flown, x0, px), fma(flown, y0, py), fma(flown, z0, pz)
                before = energy_of(squared(u))
                if flown == free and before >= tables.stop:
                    process, u, _ = collide(u, majorant, key, event, tables)
                    record(i, count, tracks, process, path, before, energy_of(squared(u)))
                    depth, event = drawn_depth(key, event), event + 1
            tracks.u[i], tracks.u[i + count], tracks.u[i + 2 * count] = u
            tracks.place[i], tracks.place[i + count], tracks.place[i + 2 * count] = px, py, pz
            tracks.path[i], tracks.depth[i], tracks.event[i], tracks.state[i] = path, depth, event, state

    return follow


def fly(collisions: Collisions, energies, device, *, length=inf, precision="single", seed=1) -> dict[str, np.ndarray]:
    """Follow electrons of kinetic energies in eV that start along x, until they are slow or have flown `length` m.

    Returns, one entry an electron: path (m), first (m, path to the first collision, 0 without one), place (m, shape
    (count, 3)), energy (eV, at the end), radiated (eV, by photons above the cut), and collisions (shape (count,
    processes), in the order of `processes.PROCESSES`). Raises InputError for energies that the tables do not hold, and
    MemoryLimitError for more electrons than fit.
    """
    Device().check("device", device)
    Kind(Collisions).check("collisions", collisions)
    collisions.require_energies(energies)
    OneOf(PRECISIONS).check("precision", precision)
    Whole(0, 2**31 - 1).check("seed", seed)
    Number(SMALLEST, unit="m", infinite=True).check("length", length)
    real = PRECISIONS[precision]
    # two vectors and four scalars, and whole numbers: events of each process and two more
    each = 10 * np.dtype(real).itemsize + (len(PROCESSES) + 2) * np.dtype(np.int32).itemsize
    require_memory(device, len(energies) * each, f"{len(energies)} electrons", "use fewer electrons")
    tau = np.asarray(energies, float) / REST_ENERGY
    u = np.stack([np.sqrt(tau * (tau + 2)), 0 * tau, 0 * tau], 1)
    tracks = make_tracks(device, real, u)
    kernel = Kernel(make_follow_kernel(real), dtype=real, strict=True)
    launch = device.compile(kernel)(
        (len(tau),), tracks, tables(collisions, device, real), np.uint32(seed), real(length)
    )
    while int(device.xp.sum(tracks.state != _ENDED)):
        launch()
    found = Tracks(*map(device.to_host, tracks))
    if int(found.event.max()) > MOST_EVENTS:
        raise InputError(f"an electron had {found.event.max()} candidates, at most {MOST_EVENTS}: raise the cut")
    square = (found.u.astype(float).reshape(3, -1) ** 2).sum(0)
    return {
        "path": found.path,
        "first": found.first,
        "place": found.place.reshape(3, -1).T,
        "energy": REST_ENERGY * square / (1 + np.sqrt(1 + square)),
        "radiated": REST_ENERGY * found.radiated,
        "collisions": found.collisions.reshape(len(PROCESSES), -1).T,
    }
