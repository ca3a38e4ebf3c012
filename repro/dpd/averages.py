"""Averages in bins along x and z while a simulation runs, gathered on the device."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from repro.errors import require
from repro.parallel import device_function
from repro.particles.cells import cell_along
from repro.particles.launch import launch_of
from repro.particles.position import cell_bits

#: what is summed in each bin
COUNT, MOMENTUM_X, MOMENTUM_Z, SQUARE = range(4)


@cache
def _add_body(real, add):
    upper = cell_bits(real)

    @device_function
    def gather(x, n, particles, sums, samples, columns, rows, low, high):
        r, v, _, ids, count, moving = particles
        for i in range(x, x + n):
            height = upper(r[i + 2 * count])
            if ids[i] < moving and low <= height < high:
                column = cell_along(upper(r[i]), columns)
                k = 4 * (column * rows + (height - low) * rows // (high - low))
                add(sums, k + COUNT, 1.0)
                add(sums, k + MOMENTUM_X, float(v[i]))
                add(sums, k + MOMENTUM_Z, float(v[i + 2 * count]))
                square = v[i] * v[i] + v[i + count] * v[i + count] + v[i + 2 * count] * v[i + 2 * count]
                add(sums, k + SQUARE, float(square))
            if i == 0:
                samples[0] += 1

    return gather


@dataclass(frozen=True)
class Field:
    """Averages over time in bins of shape (columns, rows): middles of the bins, and what was found in them."""

    x: np.ndarray
    z: np.ndarray
    #: particles per volume
    density: np.ndarray
    #: mean velocity along x and z; nan where no particle came
    velocity_x: np.ndarray
    velocity_z: np.ndarray
    #: (mean square velocity - square of the mean along x and z) / 3
    temperature: np.ndarray
    samples: int


class Averages:
    """Sums over the fluid in `columns` bins along x and `rows` bins from height `low` to `high`.

    An observer of `Simulation.advance`; `take()` gives the averages since the last one and begins anew.
    """

    def __init__(self, simulation, *, columns: int = 1, rows: int = 30, low: float = 0.0, high: float | None = None):
        system, device = simulation.system, simulation.device
        high = system.box[2] if high is None else high
        bins = f"{columns} x {rows} bins from z = {low} to {high}"
        fits = columns >= 1 and rows >= 1 and 0 <= low < high <= system.box[2]
        require(fits, f"{bins}: the box has z from 0 to {system.box[2]}")
        self._device, self._box, self._shape, self._range = device, system.box, (columns, rows), (low, high)
        self._share = simulation.share
        self._sums, self._samples = device.zeros(4 * columns * rows, np.float64), device.zeros(1, np.int64)
        state, units = simulation.state, [int(height / system.box[2] * 2**32) for height in (low, high)]
        arguments = state.particles, self._sums, self._samples, columns, rows, *units
        body = _add_body(simulation.real, device.add)
        self.launch = launch_of(device, body, state.count, *arguments, dtype=simulation.real)
        # the first launch compiles, which a graph cannot
        self.launch()
        self._reset()

    def _reset(self):
        self._sums[:] = 0
        self._samples[:] = 0

    def take(self) -> Field:
        """The averages since the last call; raises InputError if nothing was sampled. All ranks must call it."""
        sums = self._share.sum(self._device.to_host(self._sums)).reshape(*self._shape, 4)
        samples = int(self._device.to_host(self._samples)[0])
        require(samples, "no sample since the last call of take(): run some steps with this observer first")
        self._reset()
        (columns, rows), (low, high) = self._shape, self._range
        volume = self._box[0] / columns * self._box[1] * (high - low) / rows
        count = sums[..., COUNT]
        with np.errstate(invalid="ignore", divide="ignore"):
            u, w, square = (sums[..., k] / count for k in (MOMENTUM_X, MOMENTUM_Z, SQUARE))
        x = (np.arange(columns) + 0.5) * self._box[0] / columns
        z = low + (np.arange(rows) + 0.5) * (high - low) / rows
        return Field(x, z, count / (samples * volume), u, w, (square - u**2 - w**2) / 3, samples)
