"""A device that runs kernel bodies as the plain Python they are: nothing is compiled, and no thread is started."""

from functools import partial

import numpy as np

from repro.parallel.operations import add_alone, exchange_alone


class PlainDevice:
    """Takes a GPU's place in wide matrices of tiny grids; a run has up to `lanes` items, as on a CPU.

    A kernel with shared rows runs block by block.
    """

    name, xp, simulated, workers = "cuda", np, True, 1
    description = "plain Python"

    def __init__(self, lanes: int = 3):
        self.lanes = lanes
        # the functions behind the compiler's mark
        self.add, self.exchange = add_alone, exchange_alone

    def __repr__(self):
        return "plain"

    @staticmethod
    def barrier():
        """Nobody else is there to wait for."""

    barrier_any = bool

    zeros = staticmethod(np.zeros)
    to_device = to_host = staticmethod(np.array)
    page_locked = staticmethod(np.empty)

    @staticmethod
    def upload(source, target):
        """Over a bus, if there were one."""
        np.copyto(target, source)

    download = upload

    @staticmethod
    def free_memory():
        return 1 << 30

    @staticmethod
    def capture(run):
        return run

    @staticmethod
    def synchronise():
        """Nothing runs behind Python's back."""

    def compile(self, kernel):
        lanes = kernel.block if kernel.shared_rows else self.lanes

        def bind(shape, *arguments):
            extents = kernel.padded(shape)

            def launch():
                run(kernel, lanes, extents, arguments)

            launch.within = lambda first, count: partial(
                run, kernel, lanes, kernel.layers(extents, count), arguments, first
            )
            return launch

        return bind


class PlainCore(PlainDevice):
    """Plain Python on a core on which every launch takes a millisecond."""

    name, launches = "serial", 0

    def compile(self, kernel):
        bind = super().compile(kernel)

        def noted(shape, *arguments):
            launch = bind(shape, *arguments)

            def run():
                self.launches += 1
                launch()

            return run

        return noted

    def clock(self, run) -> float:
        before = self.launches
        run()
        return 1e-3 * (self.launches - before)


def run(kernel, lanes, extents, arguments, first=0):
    """All runs of a kernel's index space, one after the other, which begins at `first` along its slowest axis."""
    nx, ny, nz = extents
    private = (kernel.rows, kernel.dtype), (kernel.other_rows, kernel.dtype), (kernel.index_rows, np.int32)
    rows = (*private, (kernel.shared_rows, kernel.dtype))
    with np.errstate(all="ignore"):
        for z in range(nz):
            for y in range(ny):
                x = 0
                while x < nx:
                    n = length(x, nx, lanes, kernel.edges)
                    scratch = [np.full((count, lanes), 77, dtype) for count, dtype in rows if count]
                    place = [x, y, z][: kernel.ndim]
                    place[-1] += first
                    kernel.body(place[0], n, *place[1:], *scratch, *arguments)
                    x += n


def length(x, nx, lanes, edges) -> int:
    """Items of the run that begins at x; with `edges` the first and the last have a run of their own."""
    if edges and x in (0, nx - 1):
        return 1
    return min(lanes, nx - x - bool(edges))
