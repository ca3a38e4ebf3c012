"""The CPU: `serial`, item by item on one core, and `threads`, runs of items on all cores."""

import time
from functools import cache, partial
from math import prod

import numba
import numpy as np
import psutil

from repro.hardware import cpu_model

from .inlined import source
from .jit import device_function
from .kernel import Kernel, flattened
from .loops import cpu_launch, cpu_loop
from .operations import add_alone, add_locked, exchange_alone, exchange_locked

#: fewest nodes of a grid that are worth a core: to start cores and to wait for them takes as long as some thousands
NODES_A_CORE = 4096


@device_function
def _no_barrier():
    pass


class CpuDevice:
    """One core or all cores of the CPU. `lanes` is the length of a run of items (1 for `serial`).

    `workers` limits the cores of "threads"; with 1 it is the same rows of items on one core. A small grid takes fewer:
    a node has the same bits on any number.
    """

    simulated = False
    barrier = staticmethod(_no_barrier)
    xp = np

    def __init__(self, name: str, workers: int | None = None):
        self.name = name
        self.parallel = name == "threads" and workers != 1
        self.lanes = 128 if name == "threads" else 1
        self.workers = (workers or numba.get_num_threads()) if self.parallel else 1
        #: add and exchange(array, index, value) for kernels: others may do so too; they return what was there before
        self.add = add_locked if self.parallel else add_alone
        self.exchange = exchange_locked if self.parallel else exchange_alone

    def __repr__(self):
        return f"{self.name} ({self.workers} of {psutil.cpu_count()} cores)"

    @property
    def description(self) -> str:
        """Hardware and number of cores used, for tables."""
        return f"{cpu_model()}, {self.workers} core{'s' * (self.workers > 1)}"

    def zeros(self, shape, dtype) -> np.ndarray:
        """An array of zeros on the device."""
        return np.zeros(shape, dtype)

    def to_device(self, array: np.ndarray) -> np.ndarray:
        """A copy of an array: the host is the device."""
        return np.array(array)

    def upload(self, source: np.ndarray, target: np.ndarray) -> None:
        """Copy an array into another one."""
        np.copyto(target, source)

    to_host, download = to_device, upload

    # the host is the device
    page_locked = staticmethod(np.empty)

    def free_memory(self) -> int:
        """Bytes that can be allocated."""
        return psutil.virtual_memory().available

    def compile(self, kernel: Kernel):
        """Returns bind(shape, *arguments), which returns a function without arguments that runs the kernel.

        Of a kernel with `parts` within(first, count) of that runs it over so many items along the slowest axis.
        """

        def bind(shape, *arguments):
            packing, flat = flattened(arguments)
            whole = kernel.padded(shape)
            run = self._launch(kernel, packing, whole, flat)
            if kernel.parts:
                run.within = lambda at, count: self._launch(kernel, packing, kernel.layers(whole, count), flat, at)
            return run

        return bind

    def _launch(self, kernel: Kernel, packing, extents, flat, first: int = 0):
        """The launch of a kernel over an index space, or over a part that begins at `first` along the slowest axis."""
        lanes = kernel.block if kernel.shared_rows else self.lanes
        loop = cpu_loop(kernel.body, packing, lanes=lanes, edges=kernel.edges, **kernel.options)
        start = first if kernel.parts else None
        # compiled when it is first launched
        ready = cache(partial(cpu_launch, loop, packing, self._cores(kernel, extents), extents, flat, start))

        def run():
            ready()()

        run.compiled = loop
        return run

    def _cores(self, kernel: Kernel, shape: tuple[int, ...]) -> int:
        """Cores that a launch takes: all of them for particles, of which each may have a hundred neighbours."""
        return self.workers if kernel.ndim == 1 else max(1, min(self.workers, prod(shape) // NODES_A_CORE))

    source = staticmethod(source)

    def capture(self, run):
        """On the CPU a recorded sequence is the sequence itself."""
        return run

    def synchronise(self):
        """Nothing runs behind Python's back on the CPU."""

    def clock(self, run) -> float:
        """Seconds that `run()` takes."""
        start = time.perf_counter()
        run()
        return time.perf_counter() - start
