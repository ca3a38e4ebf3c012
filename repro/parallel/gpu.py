"""An NVIDIA GPU: CuPy owns memory, streams and graphs, numba owns the kernels.

With NUMBA_ENABLE_CUDASIM=1 the kernels run in numba's simulator on host arrays: slow, and exactly the same bodies.
"""

import warnings
from functools import cached_property
from math import prod

import numpy as np
from numba import config, cuda

from repro.errors import DeviceError

from .gpu_detection import require_gpu
from .inlined import source
from .jit import device_function
from .kernel import Kernel, flattened
from .loops import cuda_kernel
from .second_stream import SecondStream

SIMULATED = bool(config.ENABLE_CUDASIM)

_GRID_LIMIT = 65535

# a small grid is a user's choice, not a mistake
warnings.filterwarnings("ignore", message=".*GPU under-utilization.*")
if SIMULATED:
    # integers wrap around on a GPU; NumPy's scalars do too, and warn
    warnings.filterwarnings("ignore", message="overflow encountered in scalar")


def add_on_gpu(array, index, value):
    """array[index] += value, for the threads of a GPU; returns what was there before."""
    return cuda.atomic.add(array, index, value)


def exchange_on_gpu(array, index, value):
    """array[index] = value, for the threads of a GPU; returns what was there before."""
    return cuda.atomic.exch(array, index, value)


def _threads_barrier():
    cuda.syncthreads()


def _threads_barrier_any(flag):
    """A barrier that tells each thread of the block whether the flag of any is set."""
    return cuda.syncthreads_or(np.int32(flag))


class CudaDevice:
    """The current GPU, with one stream on which everything runs in order."""

    name = "cuda"
    simulated = SIMULATED

    def __init__(self):
        if SIMULATED:
            self.xp = np
            self._bind_operations(cuda.jit(device=True))
            return
        self.xp, self._stream = _open_gpu()
        self._numba_stream = cuda.external_stream(self._stream.ptr)
        self._bind_operations(device_function)

    def _bind_operations(self, mark):
        self.add, self.exchange = mark(add_on_gpu), mark(exchange_on_gpu)
        self.barrier, self.barrier_any = mark(_threads_barrier), mark(_threads_barrier_any)

    def __repr__(self):
        return f"cuda ({self.description})"

    @property
    def description(self) -> str:
        """Name of the GPU, for tables."""
        if SIMULATED:
            return "CUDA simulator"
        return self.xp.cuda.runtime.getDeviceProperties(self.xp.cuda.Device().id)["name"].decode()

    def zeros(self, shape, dtype):
        """An array of zeros on the device."""
        return self.xp.zeros(shape, dtype)

    def to_device(self, array: np.ndarray):
        """A copy of a host array on the device."""
        return self.xp.array(array)

    def to_host(self, array) -> np.ndarray:
        """A copy of a device array on the host."""
        return np.array(array) if SIMULATED else self.xp.asnumpy(array)

    def upload(self, source: np.ndarray, target) -> None:
        """Copy a host array into an array of the device, over the bus."""
        np.copyto(target, source) if SIMULATED else target.set(source)

    def download(self, source, target: np.ndarray) -> None:
        """Copy an array of the device into a host array, over the bus."""
        np.copyto(target, source) if SIMULATED else source.get(out=target)

    def page_locked(self, shape: tuple[int, ...], dtype) -> np.ndarray:
        """Room on the host that the GPU reads and writes at full speed; what is given back is used again."""
        if SIMULATED:
            return np.empty(shape, dtype)
        memory = self.xp.cuda.alloc_pinned_memory(max(1, prod(shape)) * np.dtype(dtype).itemsize)
        return np.frombuffer(memory, dtype, prod(shape)).reshape(shape)

    def free_memory(self) -> int:
        """Bytes that can be allocated: what the driver has free and what CuPy's pool holds unused."""
        if SIMULATED:
            return 1 << 30
        pool = self.xp.get_default_memory_pool()
        return self.xp.cuda.runtime.memGetInfo()[0] + pool.free_bytes()

    def compile(self, kernel: Kernel):
        """Returns bind(shape, *arguments), which returns a function without arguments that launches the kernel.

        Of a kernel with `parts` within(first, count) of that launches it over so many items along the slowest axis.
        """

        def bind(shape, *arguments):
            packing, flat = flattened(arguments)
            whole, values = kernel.padded(shape), [self._view(argument) for argument in flat]
            run = self._launch(kernel, packing, whole, values)
            if kernel.parts:
                run.within = lambda at, count: self._launch(kernel, packing, kernel.layers(whole, count), values, at)
            return run

        return bind

    def _launch(self, kernel: Kernel, packing, extents, values, first: int = 0):
        """The launch of a kernel over an index space, or over a part that begins at `first` along the slowest axis."""
        (nx, ny, nz), items = extents, prod(extents)
        # a warp that a row does not fill takes the place of a full one; rows that fill blocks need no division
        many, full = max(ny, nz) > _GRID_LIMIT, kernel.ndim == 1 or nx % kernel.block == 0
        along_rows = bool(kernel.along_rows or kernel.shared_rows or (full and not many))
        if along_rows and many:
            raise DeviceError(f"{ny} x {nz} rows: CUDA launches at most {_GRID_LIMIT} along y and along z")
        if not along_rows and items >= 2**32 - kernel.block:
            raise DeviceError(f"{nx} x {ny} x {nz} items: a kernel numbers fewer than 2^32")
        fixed = {"along_rows": along_rows, "block": kernel.block, "registers": kernel.registers}
        compiled = cuda_kernel(kernel.body, packing, **fixed, **kernel.options)
        along, sizes = (nx, (nx,)) if along_rows else (items, extents)
        # a simulated GPU has a thread of Python for each item: none for those that a block has beyond the last one
        block = min(kernel.block, max(1, along)) if SIMULATED and not kernel.shared_rows else kernel.block
        grid = (-(-along // block), *((ny, nz) if along_rows else (1, 1)))
        configuration = grid, (block, 1, 1), 0 if SIMULATED else self._numba_stream
        launch, numbers = compiled[configuration], (*sizes, *([first] if kernel.parts else []), *values)

        def run():
            # the simulator keeps one configuration for a kernel, the last one, whatever was bound with another
            (compiled[configuration] if SIMULATED else launch)(*numbers)

        run.compiled, run.values = compiled, numbers
        return run

    source = staticmethod(source)

    def resources(self, run) -> dict[str, int]:
        """What a kernel takes that `compile` has bound and that has been launched once.

        Keys: registers a thread, local bytes a thread (memory in place of registers), shared bytes a block.
        """
        if SIMULATED:
            raise DeviceError("the CUDA simulator compiles nothing: a kernel takes no registers on it")
        kernel = self.kernel_of(run)
        return {
            "registers": kernel.regs_per_thread,
            "local": kernel.local_mem_per_thread,
            "shared": kernel.shared_mem_per_block,
        }

    def kernel_of(self, run):
        """numba's kernel of a launch that has run: what is compiled once may have one for each set of types."""
        return run.compiled.overloads[tuple(map(run.compiled.typeof_pyval, run.values))]

    def _view(self, argument):
        """numba's view of a CuPy array: made once, because making it costs more than a launch."""
        if SIMULATED or not isinstance(argument, self.xp.ndarray):
            return argument
        return cuda.as_cuda_array(argument, sync=False)

    def capture(self, run):
        """Record the launches of `run()` in a CUDA graph; the kernels must have been launched once before.

        Returns a function that replays them: a launch costs tens of microseconds from Python, one in a graph one.
        """
        if SIMULATED:
            return run
        self._stream.begin_capture()
        try:
            run()
        finally:
            graph = self._stream.end_capture()
        return lambda: graph.launch(self._stream)

    @cached_property
    def second_stream(self) -> SecondStream:
        """A stream for copies and messages beside kernels."""
        return SecondStream(self.xp, self._stream)

    def synchronise(self):
        """Wait until the GPU has done what was launched."""
        if not SIMULATED:
            self._stream.synchronize()

    def clock(self, run) -> float:
        """Seconds between two events around `run()` on the stream."""
        if SIMULATED:
            raise DeviceError("the CUDA simulator has no clock: nothing can be timed on it")
        start, stop = self.xp.cuda.Event(), self.xp.cuda.Event()
        start.record(self._stream)
        run()
        stop.record(self._stream)
        stop.synchronize()
        return self.xp.cuda.get_elapsed_time(start, stop) * 1e-3


def _open_gpu():
    """CuPy and a stream on the current GPU, or a DeviceError that says what is missing."""
    require_gpu()
    import cupy

    # A blocking stream: what CuPy runs on the default stream waits for it. The current stream belongs to a thread, so
    # an operation elsewhere, such as in a notebook's later cell, would otherwise read what is not yet written.
    stream = cupy.cuda.Stream(non_blocking=False)
    stream.use()
    return cupy, stream
