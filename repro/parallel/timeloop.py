"""The time loop of all methods: steps from Python, as CUDA graphs on a GPU, with looks at what went wrong."""

from collections.abc import Callable
from math import isfinite

import numpy as np

from repro.declared import OneOf, Whole
from repro.errors import DivergenceError, InputError, require, short

from .step_counter import step_counter

PRECISIONS = {"single": np.float32, "double": np.float64}

#: steps in one CUDA graph; even, so that a replay ends in the array where it began
GRAPH_STEPS = 100

#: most steps between two looks at what went wrong
CHECK_STEPS = 1000

#: of a run, beyond every patience: nine years of a step a microsecond
MOST_STEPS = 2**48


class TimeLoop:
    """Launches time steps on a device and counts them.

    `launches[t % len(launches)]` launches time step t, `start` what must happen once before the first one, and `look`
    raises if the state has become invalid.
    """

    def __init__(self, device, launches, *, start: Callable[[], None], look: Callable[[], None]):
        self.device, self.steps = device, 0
        #: most steps between two looks
        self.check_steps = CHECK_STEPS
        self._launches, self._start_once, self._look = tuple(launches), start, look
        self._graphs, self._started, self._warm = {}, False, 0

    def source(self, *parts: str) -> str:
        """The text of the kernels of a step as they run, equations and all; of some of its `parts` only, if named.

        Raises InputError for a name that no part has.
        """
        # a method whose steps have named parts offers them so
        known = getattr(self, "parts", {})
        for part in parts:
            OneOf(known).check("part", part)
        launches = [known[part] for part in parts or known] or self._launches
        return self.device.source(*launches)

    @property
    def has_stepped(self) -> bool:
        """Whether a step has been taken here: not in a run that has just been taken up from a checkpoint."""
        return self._warm > 0

    def start(self) -> None:
        """Launch what comes before the first step; nothing on a second call."""
        if not self._started:
            self._start_once()
            self._started = True

    def resume(self, steps: int) -> None:
        """Take the arrays as they are for the state after `steps` steps (a checkpoint's)."""
        Whole(0, MOST_STEPS).check("steps", steps)
        self.steps, self._started = int(steps), True

    def look(self) -> None:
        """Raise DivergenceError (or what else the look raises) if the state has become invalid, as between steps."""
        self._look()

    def _require_untouched(self, what: str):
        require(not self._started, f"set {what} before the first step and the first look; this is step {self.steps}")

    def advance(self, count: int, *, every: int = GRAPH_STEPS, observers=()) -> None:
        """Launch `count` steps, without waiting for them and without a look at the result.

        On a GPU `every` steps are one CUDA graph. After each `every` steps the observers are launched, which must have
        been launched before; `count` must then be a multiple of it.
        """
        observers = _require_steps(count, every, observers)
        self.start()
        while count:
            # a graph can be captured once every kernel has been compiled, which its first launch does
            if count >= every and self._warm >= len(self._launches):
                self._graph(every, observers)()
                done = every
            else:
                done = every if observers else 1
                self._launch(self.steps, done, observers)
                self._warm += done
            self.steps += done
            count -= done

    def _launch(self, first: int, count: int, observers: tuple):
        for step in range(first, first + count):
            self._launches[step % len(self._launches)]()
        for observer in observers:
            observer.launch()

    def _graph(self, every: int, observers: tuple):
        first = self.steps % len(self._launches)
        key = first, every, observers
        if key not in self._graphs:
            self._graphs[key] = self.device.capture(lambda: self._launch(first, every, observers))
        return self._graphs[key]

    def step(self, count: int, *, every: int = GRAPH_STEPS, observers=(), progress=None) -> None:
        """Advance `count` steps; the observers sample each `every` steps, `progress(done)` hears of every thousand.

        Without `progress` a cell of JupyterLab that takes long shows them.
        Raises DivergenceError (or what else the look raises) within 1000 steps of the first one that went wrong.
        """
        observers = _require_steps(count, every, observers)
        if not (progress is None or callable(progress)):
            raise InputError(f"progress = {short(progress)}: must be a function of the number of steps done, or None")
        progress = progress or step_counter()
        while count > 0:
            portion = min(count, max(every, self.check_steps // every * every))
            self.advance(portion, every=every, observers=observers)
            self._look()
            count -= portion
            if progress:
                progress(portion)


def _require_steps(count: int, every: int, observers) -> tuple:
    """The observers, if they are some and all sample when the steps are done."""
    Whole(0, MOST_STEPS).check("steps", count)
    Whole(1, MOST_STEPS).check("every", every)
    if not isinstance(observers, list | tuple) or not all(hasattr(observer, "launch") for observer in observers):
        raise InputError(f"observers = {short(observers)}: must be a list of observers, each bound to this simulation")
    if observers and count % every:
        raise InputError(f"steps = {count} with a sample each {every}: must be a multiple of it")
    return tuple(observers)


def require_finite(values, steps: int, description: str) -> None:
    """Raise DivergenceError if an array of populations or fields holds a value that is not finite."""
    if not isfinite(float(values.sum(dtype=np.float64))):
        raise DivergenceError(f"the flow diverged by step {steps}: {description}")
