"""One thread a particle in air: it is followed through its collisions; secondaries move in launches of their own.

The host launches again as long as there are secondaries that have not moved in this step.
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, inline

from ..air.collision_tables import tables
from ..air.scattering import TALLIES, AirAround, scattering
from ..births import count_steps
from ..constants import LIGHT
from ..state import LATE


@cache
def _body(real, add):
    travel, one = scattering(real, add), real(1)

    @inline
    def follow(x, n, particles, count, fields, around, courant, layout, air, tables, late):
        for i in range(x, x + n):
            # those of which the step has begun move alone in the later launches
            if particles.cell[i] >= 0 and (not late or particles.left[i] <= one):
                travel(i, particles, count, fields, around, courant, layout, air, tables)

    return follow


@inline
def _wake(x, n, cell):
    for i in range(x, x + n):
        if cell[i] <= LATE:
            cell[i] = LATE - cell[i]


class InAir:
    """A step's launches, made by the host; `tallies` are what the electrons have done so far, see `scattering`."""

    def __init__(self, setup):
        device, real, system = setup.device, setup.real, setup.system
        self._setup, count = setup, len(setup.particles.cell)
        self.tallies, self._late = device.zeros(TALLIES, np.int64), device.zeros(1, np.int32)
        light = LIGHT * system.dt
        air = AirAround(setup.used, setup.clock, self._late, self.tallies, np.uint32(system.seed), light)
        bind, table = device.compile(Kernel(_body(real, device.add), strict=True)), tables(system.air, device, real)
        self._all, self._rest = (
            bind((count,), setup.particles, count, *setup.surroundings, air, table, late) for late in (0, 1)
        )
        self._wake = device.compile(Kernel(_wake))((count,), setup.particles.cell)
        births = system.source is not None and system.source.per_step
        self._before = list(setup.bear(setup.cradle).values()) if births else [count_steps(device, setup.clock)]

    def __call__(self):
        """A step."""
        for launch in self._before:
            launch()
        self._all()
        self._go_on()

    def late(self):
        """Move those who are in the midst of a step."""
        self._rest()
        self._go_on()

    def _go_on(self):
        while int(self._late[0]) and int(self._setup.used[0]) <= len(self._setup.particles.cell):
            self._late[:] = 0
            self._wake()
            self._rest()


def build(setup) -> dict:
    """The launches of a step by name."""
    return {"particles": InAir(setup)}


def late(setup, moves: dict):
    """The launch that moves those who are in the midst of a step."""
    return moves["particles"].late
