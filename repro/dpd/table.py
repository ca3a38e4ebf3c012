"""The paper's cell list: a table of fixed capacity, a column a cell, filled atomically (section 4.1, table 2)."""

import numpy as np

from repro.parallel import InputError, Kernel, inline

from .cells import cell_of


class CapacityError(InputError):
    """A cell held more particles than the table has rows for."""


@inline
def _clear(x, n, counts, peaks):
    for c in range(x, x + n):
        peaks[c] = max(peaks[c], counts[c])
        counts[c] = 0


def _fill_body(real, add, capacity):
    cell = cell_of(real)

    @inline
    def fill(x, n, r, counts, table, count, cells):
        total = cells[0] * cells[1] * cells[2]
        for i in range(x, x + n):
            c = cell(r[i], r[count + i], r[2 * count + i], cells)
            slot = add(counts, c, 1)
            if slot < capacity:
                table[slot * total + c] = i

    return fill


class CellTable:
    """Numbers of the particles of each cell: the s-th of cell c is table[s * cells + c], for s below counts[c]."""

    def __init__(self, device, cells, capacity: int, real):
        if not 1 <= capacity <= 1024:
            raise InputError(f"capacity {capacity} of a cell: choose 1 to 1024 particles")
        self.device, self.cells, self.capacity, self._real = device, cells, capacity, real
        self.counts, self.peaks = device.zeros(cells.count, np.int32), device.zeros(cells.count, np.int32)
        self.table = device.zeros(cells.count * capacity, np.int32)

    def update(self, r, count: int):
        """Returns the launches that empty the table and fill it from positions `r`, by name."""
        clear = self.device.compile(Kernel(_clear))((self.cells.count,), self.counts, self.peaks)
        fill = self.device.compile(Kernel(_fill_body(self._real, self.device.add, self.capacity)))
        arguments = (r, self.counts, self.table, count, self.cells.shape)
        return {"clear the table": clear, "fill the table": fill((count,), *arguments)}

    def check(self) -> None:
        """Raise CapacityError if a cell has ever held more than its column: forces were missing since then."""
        held = np.maximum(self.device.to_host(self.counts), self.device.to_host(self.peaks))
        worst = int(held.argmax())
        if held[worst] > self.capacity:
            nx, ny, _ = self.cells.shape
            where = worst % nx, worst // nx % ny, worst // (nx * ny)
            raise CapacityError(
                f"cell {where} held {held[worst]} particles and the table has room for {self.capacity}: "
                f"start again with a capacity of at least {held[worst]}, or a strategy that sorts"
            )
