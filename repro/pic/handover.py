"""Particles that leave a rank become records where they are, and those that arrive particles, by a launch each.

A record is written as the numbers that it is made of, see `state.record_type`, and crosses the bus as it is sent.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from repro.parallel import Kernel, device_function

from .advance import place_of, set_place
from .mesh import ABSORBED, LEAVES
from .state import DEFERRED, EMPTY, record_type


class Records(NamedTuple):
    """Memory of records as numbers of 64 bits, of 32 bits and real ones, and how many of each kind one takes."""

    longs: np.ndarray
    wholes: np.ndarray
    reals: np.ndarray
    long: int
    whole: int
    real: int


@device_function
def _leaves(cell):
    """Whether a particle's cell says that it leaves, see `Mesh.neighbour_cell`."""
    return DEFERRED < cell <= LEAVES


@cache
def make_count_gone(add):
    """A kernel's body: counts who left to each rank, and behind them who was absorbed, whose entries are then free.

    Each item is an entry; those from window[0] to window[1] have moved since the last time.
    """

    @device_function
    def count_gone(x, n, cell, window, owner, counts):
        for i in range(x, x + n):
            if cell[i] < 0 and window[0] <= i < window[1]:
                if _leaves(cell[i]):
                    add(counts, owner[LEAVES - cell[i]], 1)
                elif cell[i] == ABSORBED:
                    add(counts, len(counts) - 1, 1)
                    cell[i] = EMPTY

    return count_gone


@cache
def make_pack(add):
    """A kernel's body: who leaves becomes a record, from places[rank] on for each rank, and its entry is free."""

    @device_function
    def pack(x, n, particles, count, window, owner, there, places, records):
        for i in range(x, x + n):
            if _leaves(particles.cell[i]) and window[0] <= i < window[1]:
                guard = LEAVES - particles.cell[i]
                k = add(places, owner[guard], 1)
                whole, real = k * records.whole + 2, (k + 1) * records.real - 8
                records.longs[k * records.long] = particles.ids[i]
                records.wholes[whole], records.wholes[whole + 1] = there[guard], particles.event[i]
                position, momentum = place_of(particles, i, count)
                for axis in range(3):
                    records.reals[real + axis], records.reals[real + 3 + axis] = position[axis], momentum[axis]
                records.reals[real + 6], records.reals[real + 7] = particles.weight[i], particles.left[i]
                particles.cell[i] = EMPTY

    return pack


@device_function
def unpack(x, n, particles, count, window, records):
    """A kernel's body: record k becomes the particle of entry window[0] + k, up to window[1]."""
    for k in range(x, min(x + n, window[1] - window[0])):
        i, whole, real = window[0] + k, k * records.whole + 2, (k + 1) * records.real - 8
        r = records.reals
        particles.ids[i] = records.longs[k * records.long]
        particles.cell[i], particles.event[i] = records.wholes[whole], records.wholes[whole + 1]
        set_place(particles, i, count, (r[real], r[real + 1], r[real + 2]), (r[real + 3], r[real + 4], r[real + 5]))
        particles.weight[i], particles.left[i] = r[real + 6], r[real + 7]


class Handover:
    """What packs and unpacks a rank's particles; `owner` and `there` are the tables of its `Subdomain`, `ranks` all."""

    def __init__(self, device, real, particles, owner, there, ranks: int):
        self._device, self._particles, self._record = device, particles, record_type(real)
        self._window, self._counts = device.zeros(2, np.int64), device.zeros(ranks + 1, np.int32)
        self._owner, self._there = device.to_device(owner), device.to_device(there)
        launch = device.compile(Kernel(make_count_gone(device.add)))
        entries = len(particles.cell)
        self._count_gone = launch((entries,), particles.cell, self._window, self._owner, self._counts)
        self._make_room(1024)

    def _make_room(self, records: int) -> None:
        """Room for so many records, and what packs and unpacks them there."""
        device, count = self._device, len(self._particles.cell)
        self._room, self._bytes = records, device.zeros(records * self._record.itemsize, np.uint8)
        kinds = [np.dtype(kind) for kind in (np.int64, np.int32, self._particles.weight.dtype)]
        views = (self._bytes.view(kind) for kind in kinds)
        memory = Records(*views, *(self._record.itemsize // kind.itemsize for kind in kinds))
        tables = self._window, self._owner, self._there, self._counts
        moving = self._particles, count
        self._pack = device.compile(Kernel(make_pack(device.add)))((count,), *moving, *tables, memory)
        self._unpack = device.compile(Kernel(unpack))((records,), *moving, self._window, memory)

    def leavers(self, first: int, end: int) -> tuple[dict[int, np.ndarray], int]:
        """Records by rank of those who left from entries `first` to `end`, and how many were absorbed there."""
        device = self._device
        self._window[:], self._counts[:] = device.to_device(np.array([first, end])), 0
        self._count_gone()
        *counts, absorbed = device.to_host(self._counts).tolist()
        ends = np.cumsum(counts)
        if not (total := int(ends[-1])):
            return {}, absorbed
        if total > self._room:
            self._make_room(2 * total)
        self._counts[:] = device.to_device(np.array([0, *ends], np.int32))
        self._pack()
        packed = device.page_locked((total * self._record.itemsize,), np.uint8)
        device.download(self._bytes[: len(packed)], packed)
        records = packed.view(self._record)
        return {
            rank: records[last - n : last] for rank, (n, last) in enumerate(zip(counts, ends, strict=True)) if n
        }, absorbed

    def put(self, records: np.ndarray, first: int) -> None:
        """Records become the particles of the entries from `first` on."""
        if len(records) > self._room:
            self._make_room(2 * len(records))
        self._window[:] = self._device.to_device(np.array([first, first + len(records)]))
        self._device.upload(records.view(np.uint8), self._bytes[: records.nbytes])
        self._unpack()
