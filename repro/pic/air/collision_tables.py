"""Tables of collisions in air over the energy: how often each process happens, and the continuous loss.

An electron that flies loses energy all the time, and its cross-section Sigma changes with it. So its optical depth is
counted with a majorant M, at least as large as Sigma at all energies it may have before the segment ends; where the
depth is used up there is a candidate, which is a collision with the probability Sigma / M (null collisions).

Nodes divide each octave of the energy, counted from the cut, into equal parts: the bits of a number in floating point
say in which part it lies, without a logarithm, and nodes lie on the cut and on twice the cut, where processes begin.
"""

from dataclasses import dataclass, field
from functools import cache
from math import frexp
from typing import Annotated, NamedTuple

import numpy as np

from repro.declared import Kind, Number, Numbers, checked
from repro.errors import InputError, require
from repro.parallel import device_function, fma

from ..constants import REST_ENERGY, SMALLEST
from .medium import Air
from .processes import PROCESSES
from .stopping import HIGHEST_ENERGY, LOWEST_ENERGY

#: parts of an octave, as a power of two: interpolation is then within 1e-4
_PARTS = 6

#: share of its energy that an electron may lose in a segment, by the rate at its start, and one that it cannot lose
FALL, _COVERED = 1 / 16, 5 / 64

#: share by which rounding may put an electron of the highest energy above it
_ROUNDING = 1e-5

#: columns of a table's row: cumulative cross-sections of the candidates of PROCESSES, of which the last is TOTAL, and
#: the restricted stopping power
TOTAL, STOPPING = len(PROCESSES) - 1, len(PROCESSES)
COLUMNS = STOPPING + 1


class Tables(NamedTuple):
    """Collisions as kernels take them. Energies are in m c^2, lengths in m."""

    #: COLUMNS of a node, row after row
    rows: np.ndarray
    #: M between a node and the next
    majorant: np.ndarray
    #: bits of the first node over the cut, and parts in all
    first: int
    parts: int
    per_cut: float
    #: energy above which a secondary or photon is an event, and below which an electron is slow
    cut: float
    stop: float
    #: energy above which the tables end, with room for rounding
    highest: float


@dataclass(frozen=True)
@checked
class Collisions:
    """Which collisions are events of their own. Energies in eV."""

    air: Annotated[Air, Kind(Air)] = field(default_factory=Air)
    #: secondaries and photons above it are events, those below a continuous loss
    cut: Annotated[float, Number(SMALLEST, unit="eV")] = 1e3
    #: an electron below it flies no further; below the least the stopping power is unknown
    stop: Annotated[float, Number(LOWEST_ENERGY, unit="eV")] = 1e3
    #: the tables end here
    highest: Annotated[float, Number(SMALLEST, HIGHEST_ENERGY, "eV")] = HIGHEST_ENERGY

    def __post_init__(self):
        if not self.stop <= self.cut <= self.highest / 2:
            raise InputError(
                f"cut = {self.cut:g} eV: from {self.stop:g} eV, at which electrons stop, to {self.highest / 2:g} eV, "
                "half of the highest energy"
            )

    def require_energies(self, energies) -> None:
        """Refuse kinetic energies in eV that the tables do not hold, and none at all."""
        energies = Numbers(None, unit="eV").array("energies", energies)
        require(len(energies), "energies: none given, where there must be at least one in eV")
        low, high = energies.min(), energies.max()
        if not (self.stop <= low and high <= self.highest):
            raise InputError(
                f"electrons of {low:g} to {high:g} eV: collisions are known from {self.stop:g} to {self.highest:g} eV"
            )

    def restricted_stopping(self, tau) -> np.ndarray:
        """The continuous loss in m c^2 per metre: all but what events take."""
        return sum(process.loss(tau, self.cut / REST_ENERGY, self.air) for process in PROCESSES)

    def rows(self, tau) -> np.ndarray:
        """The table's rows at energies in m c^2, of shape (count, COLUMNS)."""
        rates = [process.candidates(tau, self.cut / REST_ENERGY, self.air) for process in PROCESSES]
        return np.column_stack([*np.cumsum(rates, 0), self.restricted_stopping(tau)])


def _nodes(low: float, high: float) -> np.ndarray:
    """The nodes from the last one at or below `low` to the first one at or above `high`, in cuts."""
    octaves = np.arange(frexp(low)[1] - 1, frexp(high)[1] + 1)
    every = (2.0 ** octaves[:, None] * (1 + np.arange(2**_PARTS) / 2**_PARTS)).ravel()
    return every[np.searchsorted(every, low, "right") - 1 : np.searchsorted(every, high) + 1]


def tables(collisions: Collisions, device, real) -> Tables:
    """The tables on a device, in type `real`. InputError where events take more than the whole loss."""
    nodes = _nodes((1 - _COVERED) * collisions.stop / collisions.cut, collisions.highest / collisions.cut)
    cut, stop = collisions.cut / REST_ENERGY, collisions.stop / REST_ENERGY
    rows = collisions.rows(cut * nodes)
    if (gains := rows[:, STOPPING] <= 0).any():
        worst = REST_ENERGY * cut * nodes[gains.argmax()]
        raise InputError(
            f"at {worst:g} eV events take more energy than electrons lose: the continuous loss that is left must be "
            "above 0; lower the rate of a process or what its events take"
        )
    lowest = np.maximum(np.searchsorted(nodes, (1 - _COVERED) * nodes[:-1], "right") - 1, 0)
    majorant = [rows[low : part + 2, TOTAL].max() for part, low in enumerate(lowest)]
    return Tables(
        device.to_device(rows.astype(real).ravel()),
        device.to_device(np.array(majorant, real)),
        int(real(nodes[0]).view(_whole(real))),
        len(majorant),
        real(1 / cut),
        real(cut),
        real(stop),
        real(collisions.highest / REST_ENERGY * (1 + _ROUNDING)),
    )


def _whole(real):
    return np.int32 if real is np.float32 else np.int64


@cache
def make_find_part(real):
    """The part of the tables in which an energy lies, and where in it, from 0 to 1: find(tau, tables)."""
    whole, digits = _whole(real), np.finfo(real).nmant - _PARTS
    inside, scale, zero, one = whole(2**digits - 1), real(2.0**-digits), real(0), real(1)

    @device_function
    def find(tau, tables):
        offset = whole(real(tau * tables.per_cut).view(whole) - tables.first)
        part, place = offset >> whole(digits), real(offset & inside) * scale
        if part < 0:
            part, place = whole(0), zero
        elif part >= tables.parts:
            part, place = whole(tables.parts - 1), one
        return part, place

    return find


@device_function
def between(rows, part, column, place):
    """A column of the tables at a place between two nodes."""
    # unsigned, as in `gather`
    low, high = rows[np.uintp(COLUMNS * part + column)], rows[np.uintp(COLUMNS * (part + 1) + column)]
    return fma(place, high - low, low)


@cache
def make_look_ahead(real):
    """Majorant M (1/m), stopping power (m c^2 / m) and longest segment (m) at an energy: look_ahead(tau, tables).

    M holds for a segment that is no longer.
    """
    find, fall = make_find_part(real), real(FALL)

    @device_function
    def look_ahead(tau, tables):
        part, place = find(tau, tables)
        stopping = between(tables.rows, part, STOPPING, place)
        return tables.majorant[np.uintp(part)], stopping, fall * tau / stopping

    return look_ahead


@cache
def make_slow_down(real):
    """The energy after a path in m, by the midpoint rule: slow_down(tau, stopping, path, tables).

    `stopping` is the stopping power at the start, and the path no longer than `make_look_ahead` allows.
    """
    find, half = make_find_part(real), real(0.5)

    @device_function
    def slow_down(tau, stopping, path, tables):
        part, place = find(fma(-half * stopping, path, tau), tables)
        return fma(-between(tables.rows, part, STOPPING, place), path, tau)

    return slow_down
