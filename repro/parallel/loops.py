"""The two ways a kernel body runs: a loop on one core, of which all cores take a share each, and a CUDA kernel.

A body handles a run of `n` neighbouring items that starts at `x`:

    body(x, n, s, *arguments)              one-dimensional index space
    body(x, n, y, s, *arguments)           two-dimensional, x fastest
    body(x, n, y, z, s, *arguments)        three-dimensional

`s` is the run's private scratch of shape (rows, n at most) and is left out when the kernel asks for no rows; after it
come, where a kernel asks for them, another one of `other_rows`, one of 32-bit integers of `index_rows`, and the block's
shared array of `shared_rows`. On the CPU the run is a piece of a row, which the compiler vectorises; on the GPU it is
one item and the loops over the run vanish. numba cannot compile a CUDA kernel with `*args`, so the wrappers are
generated for the body's arguments, of which some may be named tuples (see `kernel`).
"""

from functools import cache, partial

from numba import config

from .jit import generated
from .kernel import Packing
from .numba_internals import UNDERSTOOD, cached_apart, compiled

_CPU = '''"""Generated: the share of one core of a loop over runs of items."""
from numba import carray, int32, njit

from repro.parallel.operations import stack_array
{imports}

def make(body, rows, other_rows, dtype, lanes, edges, index_rows, shared_rows):
    count, other_count, index_count = rows * lanes, other_rows * lanes, index_rows * lanes
    shared_count = shared_rows * lanes

    @njit(fastmath={fast}, cache={cache}, error_model="numpy", no_cfunc_wrapper=True, _nrt={counted})
    def loop(chunk, chunks, nx, ny, nz{start}{arguments}):
{scratch}{walk}
    return loop
'''

_PARALLEL_FOR = '''"""Generated: all cores run a compiled loop, each its share."""
from numba import int64, njit, prange

from repro.parallel.operations import call_at


@njit(parallel=True, cache={cache}, no_cfunc_wrapper=True)
def parallel_for(address, chunks, nx, ny, nz{arguments}):
    for chunk in prange(chunks):
        call_at(address, (int64(chunk), chunks, nx, ny, nz{arguments}))
'''

_WALK_LINES = """        for line in range(chunk * ny * nz // chunks, (chunk + 1) * ny * nz // chunks):
            y = line % ny
            z = line // ny
            x = 0
            while x < nx:
                n = lanes
                if edges and (x == 0 or x == nx - 1):
                    n = 1
                elif edges:
                    n = min(lanes, nx - 1 - x)
                else:
                    n = min(lanes, nx - x)
                {call}
                x += n
"""

# where a run is a block, a core takes whole blocks
_WALK_POINTS = """        grain = lanes if shared_rows else 1
        grains = (nx + grain - 1) // grain
        x = chunk * grains // chunks * grain
        stop = min(nx, (chunk + 1) * grains // chunks * grain)
        while x < stop:
            n = min(lanes, stop - x)
            {call}
            x += n
"""

_CUDA = '''"""Generated: a CUDA kernel, one item a thread."""
from numba import cuda, int32, int64, uint32
{imports}

def make(body, rows, other_rows, dtype, index_rows, shared_rows, block, registers):
    @cuda.jit(fastmath={fast}, cache={cache}{limit})
    def kernel({extents}{start}{arguments}):
{place}{scratch}        if {inside}:
            {call}
    return kernel
'''

#: where a thread's item is: with blocks along rows, and with blocks along the whole index space, whatever its rows
_ALONG_ROWS = """        x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        y = cuda.blockIdx.y
        z = cuda.blockIdx.z
"""
_ALONG_ALL = """        item = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        line = uint32(uint32(item) // uint32(nx))
        x = int64(uint32(uint32(item) - uint32(line * uint32(nx))))
        z = int64(uint32(line // uint32(ny)))
        y = int64(uint32(line - uint32(uint32(z) * uint32(ny))))
"""


#: lines that make the scratch arrays, by their names in the call
_CPU_SCRATCH = {
    "s": "        s = carray(stack_array(count, dtype), (rows, lanes))\n",
    "o": "        o = carray(stack_array(other_count, dtype), (other_rows, lanes))\n",
    "r": "        r = carray(stack_array(index_count, int32), (index_rows, lanes))\n",
    "t": "        t = carray(stack_array(shared_count, dtype), (shared_rows, lanes))\n",
}
_CUDA_SCRATCH = {
    "s": "        s = cuda.local.array((rows, 1), dtype)\n",
    "o": "        o = cuda.local.array((other_rows, 1), dtype)\n",
    "r": "        r = cuda.local.array((index_rows, 1), int32)\n",
    "t": "        t = cuda.shared.array((shared_rows, block), dtype)\n",
}


#: the argument of a loop or kernel over a part of its index space
_START = ", first"


def _parameters(packing: Packing) -> str:
    return "".join(f", {name}" for name in packing.names)


def _parts(
    packing: Packing, ndim: int, run: str, lines: dict[str, str], rows: tuple[int, ...], parts: bool
) -> dict[str, str]:
    """What the text of a wrapper is filled with, for the arguments and the scratch arrays of a body.

    One for `parts` of an index space has `first`, where it begins along the slowest axis, before the body's arguments.
    """
    scratch = [name for name, count in zip(lines, rows, strict=True) if count]
    *axes, slowest = ["x", "y", "z"][:ndim]
    x, *others = [*axes, f"first + {slowest}" if parts else slowest]
    made, start = "".join(lines[name] for name in scratch), _START if parts else ""
    texts = {"start": start, "arguments": _parameters(packing), "imports": packing.imports, "scratch": made}
    return texts | {"call": f"body({', '.join([x, run, *others, *scratch, *packing.call])})"}


@cache
def cpu_loop(
    body,
    packing: Packing,
    *,
    ndim,
    rows,
    other_rows=0,
    dtype,
    lanes,
    edges,
    index_rows,
    shared_rows,
    strict=False,
    parts=False,
):
    """Wrap `body` into a loop: returns loop(chunk, chunks, nx, ny, nz, *flat arguments), the share of one core.

    One for `parts` of an index space takes before these where it begins along the slowest axis.
    """
    if edges and lanes == 1:
        edges = False
    scratch = rows, other_rows, index_rows, shared_rows
    texts = _parts(packing, ndim, "1" if lanes == 1 else "n", _CPU_SCRATCH, scratch, parts)
    walk = (_WALK_POINTS if ndim == 1 else _WALK_LINES).format(**texts)
    constants = body, rows, other_rows, dtype, lanes, edges, index_rows, shared_rows
    # references to arrays are counted at each use of one, which takes up to three quarters of a loop's time: a body
    # makes no array, and only the views of scratch need the count
    text = _CPU.format(**texts, walk=walk, fast=not strict, cache=UNDERSTOOD, counted=bool(texts["scratch"]))
    module = generated("cpu", text, *constants)
    return cached_apart(module.make(*constants))


def cpu_launch(loop, packing: Packing, workers: int, extents, flat, first: int | None = None):
    """Compile a loop of `cpu_loop` for its arguments; returns a function that runs it on so many cores.

    `first` is where one for parts begins.
    """
    numbers = (workers, *extents, *([] if first is None else [first]), *flat)
    address = compiled(loop, tuple(map(loop.typeof_pyval, (0, *numbers))))
    if workers == 1:
        return partial(loop, 0, *numbers)
    launch = _parallel_for(("" if first is None else _START) + _parameters(packing))
    compiled(launch, tuple(map(launch.typeof_pyval, (address, *numbers))))
    return partial(launch, address, *numbers)


@cache
def _parallel_for(parameters: str):
    module = generated("parallel_for", _PARALLEL_FOR.format(arguments=parameters, cache=UNDERSTOOD))
    return cached_apart(module.parallel_for)


@cache
def cuda_kernel(
    body,
    packing: Packing,
    *,
    along_rows=True,
    ndim,
    rows,
    other_rows=0,
    dtype,
    index_rows,
    shared_rows,
    block,
    registers=None,
    strict=False,
    parts=False,
):
    """Wrap `body` into a CUDA kernel for blocks (block, 1, 1).

    With blocks along rows, kernel(nx, *flat arguments), y and z are those of a block, and the last one of each row may
    have less to do; otherwise, kernel(nx, ny, nz, ...), blocks go along the whole index space, below 2^32 items.
    `parts` as of `cpu_loop`.
    """
    texts = _parts(packing, ndim, "1", _CUDA_SCRATCH, (rows, other_rows, index_rows, shared_rows), parts)
    # the simulator has no registers
    limited = registers is not None and not config.ENABLE_CUDASIM
    limit = ", max_registers=registers" if limited else ""
    # numba would take a kernel with one limit from the cache for another
    cached = UNDERSTOOD and not shared_rows and not limited
    constants = body, rows, other_rows, dtype, index_rows, shared_rows, block, registers
    extents, place, inside = ("nx", _ALONG_ROWS, "x < nx") if along_rows else ("nx, ny, nz", _ALONG_ALL, "z < nz")
    texts |= {"extents": extents, "place": place, "inside": inside}
    text = _CUDA.format(**texts, fast=not strict, cache=cached, limit=limit)
    module = generated("cuda", text, *constants)
    return cached_apart(module.make(*constants))
