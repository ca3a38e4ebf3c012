"""One thread a particle in air: it is followed through its collisions; secondaries move in launches of their own.

The host launches again as long as there are secondaries that have not moved in this step.
"""

import numpy as np

from repro.parallel import Kernel, device_function
from repro.parallel.launch_sequence import in_turn

from ..air.transport import air_arguments, make_transport
from ..particle_source import count_steps
from ..state import DEFERRED


@device_function
def _wake(x, n, cell):
    for i in range(x, x + n):
        if cell[i] <= DEFERRED:
            cell[i] = DEFERRED - cell[i]


class InAir:
    """A step's launches, made by the host; `tallies` are what the electrons have done so far, see `air.tallies`."""

    def __init__(self, simulation):
        device, self._used, self._cell = simulation.device, simulation.used, simulation.particles_on_device.cell
        self._deferred = device.zeros(1, np.int32)
        air = air_arguments(simulation, simulation.clock, self._deferred)
        self.tallies = air[0].tallies
        kernel = Kernel(make_transport(simulation.real, device.add), strict=True)
        self._all, self._rest = (simulation.bind(kernel, *air, resuming) for resuming in (0, 1))
        self._wake = device.compile(Kernel(_wake))((len(self._cell),), self._cell)
        injection = simulation.bind_source(simulation.source_target)
        self._before = list(injection.values()) or [count_steps(device, simulation.clock)]

    def __call__(self):
        """A step."""
        in_turn(*self._before)
        self._all()
        self._go_on()

    def resume(self):
        """Move the particles that are in the midst of a step."""
        self._rest()
        self._go_on()

    def _go_on(self):
        while int(self._deferred[0]) and int(self._used[0]) <= len(self._cell):
            self._deferred[:] = 0
            self._wake()
            self._rest()


def build(simulation) -> dict:
    """The launches of a step by name."""
    return {"particles": InAir(simulation)}
