"""The time loop: steps from Python, as CUDA graphs on a GPU, with a look for values that are not finite."""

from collections.abc import Callable
from math import isfinite

import numpy as np

from repro.parallel import DivergenceError, InputError

PRECISIONS = {"single": np.float32, "double": np.float64}

#: steps in one CUDA graph; even, so that a replay ends in the array where it began
GRAPH_STEPS = 100

#: most steps between two looks for values that are not finite
CHECK_STEPS = 1000


class TimeLoop:
    """Steps a scheme on a device and counts; describe() says what is simulated, for the message of a divergence."""

    def __init__(self, scheme, device, describe: Callable[[], str]):
        self.scheme, self.device, self.steps = scheme, device, 0
        self._describe, self._graphs, self._started = describe, {}, False

    @property
    def state(self):
        """The device array that holds the populations now."""
        return self.scheme.states[self.steps % 2]

    def _start(self):
        if not self._started:
            self.scheme.start()
            self._started = True

    def _require_untouched(self):
        if self._started:
            raise InputError(f"set populations before the first step and the first look; this is step {self.steps}")

    def advance(self, count: int) -> None:
        """Launch `count` time steps, without waiting for them and without a look at the result."""
        self._start()
        ready = self.steps >= 2
        while count:
            if ready and count >= GRAPH_STEPS:
                self._graph()()
                done = GRAPH_STEPS
            else:
                self.scheme.steps[self.steps % 2]()
                done = 1
            self.steps += done
            count -= done
            ready = ready or self.steps >= 2

    def _graph(self):
        parity = self.steps % 2
        if parity not in self._graphs:
            steps = self.scheme.steps
            self._graphs[parity] = self.device.capture(
                lambda: [steps[(parity + k) % 2]() for k in range(GRAPH_STEPS)] and None
            )
        return self._graphs[parity]

    def step(self, count: int) -> None:
        """Advance `count` time steps; raises DivergenceError within 1000 steps of the first value not finite."""
        while count > 0:
            portion = min(count, CHECK_STEPS)
            self.advance(portion)
            self._require_finite()
            count -= portion

    def _require_finite(self):
        if not isfinite(float(self.state.sum(dtype=np.float64))):
            raise DivergenceError(f"the flow diverged by step {self.steps}: {self._describe()}")
