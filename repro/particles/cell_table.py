"""A table of fixed capacity, a column a cell, filled atomically (dpd paper, section 4.1, table 2)."""

from functools import cache
from typing import NamedTuple

import numpy as np

from repro.errors import CapacityError, require
from repro.parallel import device_function

from .cells import cell_of
from .launch import launch_of


class Table(NamedTuple):
    """For kernels: the s-th particle of cell c is entries[s * cells + c], for s below particles_in(table, c)."""

    counts: object
    entries: object
    capacity: int


@device_function
def particles_in(table, c):
    """Number of particles of cell c that the table holds."""
    return min(table.counts[c], table.capacity)


@device_function
def _clear(x, n, counts, peaks):
    for c in range(x, x + n):
        peaks[c] = max(peaks[c], counts[c])
        counts[c] = 0


@cache
def fill_body(real, add):
    """Writes each particle into the column of its cell, unless that is full: fill(x, n, r, table, count, cells)."""
    cell = cell_of(real)

    @device_function
    def fill(x, n, r, table, count, cells):
        total = cells[0] * cells[1] * cells[2]
        for i in range(x, x + n):
            c = cell(r[i], r[count + i], r[2 * count + i], cells)
            slot = add(table.counts, c, 1)
            if slot < table.capacity:
                table.entries[slot * total + c] = i

    return fill


class CellTable:
    """Numbers of the particles of each cell, in a `Table` with room for `capacity` of them."""

    def __init__(self, device, cells, capacity: int, real):
        require(1 <= capacity <= 1024, f"capacity {capacity} of a cell: choose 1 to 1024 particles")
        self.device, self.cells, self.capacity, self._real = device, cells, capacity, real
        self.counts, self.peaks = device.zeros(cells.count, np.int32), device.zeros(cells.count, np.int32)
        self.entries = device.zeros(cells.count * capacity, np.int32)
        self.table = Table(self.counts, self.entries, capacity)

    def update(self, r, count: int) -> dict:
        """The launches that empty the table and fill it from positions `r`, by name."""
        clear = launch_of(self.device, _clear, self.cells.count, self.counts, self.peaks)
        body = fill_body(self._real, self.device.add)
        fill = launch_of(self.device, body, count, r, self.table, count, self.cells.shape)
        return {"clear the table": clear, "fill the table": fill}

    def check(self) -> None:
        """Raise CapacityError if a cell has ever held more than its column: forces were missing since then."""
        most = np.maximum(self.device.to_host(self.counts), self.device.to_host(self.peaks))
        worst = int(most.argmax())
        if most[worst] > self.capacity:
            where = tuple(map(int, np.unravel_index(worst, self.cells.shape, order="F")))
            held = f"cell {where} held {most[worst]} particles and the table has room for {self.capacity}"
            hint = f"start again with a capacity of at least {most[worst]}, or a strategy that sorts"
            raise CapacityError(f"{held}: {hint}")
