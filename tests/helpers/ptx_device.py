"""A stand-in for a GPU that compiles each kernel to PTX for sm_90, without a GPU.

The texts are kept beside the compiled kernels of the CPU, so that only a kernel that has changed is compiled again.
"""

import hashlib
import os
import re
import time
from dataclasses import replace
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from numba import cuda, typeof, types
from numba.cuda.cudadrv import nvvm

from repro.files import read_json, write_json
from repro.parallel import device_function
from repro.parallel.gpu import _threads_barrier, _threads_barrier_any, add_on_gpu, exchange_on_gpu
from repro.parallel.jit import CACHE_FOLDER
from repro.parallel.kernel import flattened
from repro.parallel.loops import cuda_kernel
from repro.parallel.numba_internals import _no_garbage_collection

#: what has been compiled in this process, for whichever device
_COMPILED = {}

#: seconds after which a text that nobody has asked for is removed
_LONGEST_KEPT = 7 * 24 * 3600


class PtxDevice:
    """Takes a GPU's place: a kernel that is bound is compiled for the types of its arguments and kept as text.

    With fuse=False the compiler leaves products and sums apart, except where a formula fuses them itself; with several
    values there is a text for each.
    """

    name, xp, simulated = "cuda", np, False
    barrier, barrier_any, add, exchange = (
        staticmethod(device_function(operation))
        for operation in (_threads_barrier, _threads_barrier_any, add_on_gpu, exchange_on_gpu)
    )

    def __init__(self, *fuse):
        self.kernels, self.fuse = {}, fuse or (True,)

    def zeros(self, shape, dtype):
        return np.zeros(shape, dtype)

    def to_device(self, array):
        return array

    def to_host(self, array):
        return np.array(array)

    def upload(self, source, target):
        np.copyto(target, source)

    def download(self, source, target):
        np.copyto(target, source)

    def free_memory(self):
        return 1 << 40

    def compile(self, kernel):
        def bind(shape, *arguments):
            name = kernel.body.__name__
            kinds = tuple(typeof(value) for value in flattened(arguments)[1])
            if (kernel, kinds) not in self.kernels:
                key = kernel, kinds, (rows := shape[0] % kernel.block == 0), self.fuse
                if key not in _COMPILED:
                    _COMPILED[key] = ptx(kernel, rows, arguments, self.fuse)
                self.kernels[kernel, kinds] = name, *_COMPILED[key]
            return lambda: None

        return bind


def ptx(kernel, along_rows, arguments, fuse):
    settings = replace(kernel, edges=False)
    packing, flat = flattened(arguments)
    along_rows = bool(along_rows or kernel.along_rows or kernel.ndim == 1 or kernel.shared_rows)
    wrapped = cuda_kernel(
        settings.body,
        packing,
        along_rows=along_rows,
        ndim=settings.ndim,
        rows=settings.rows,
        other_rows=settings.other_rows,
        dtype=np.dtype(settings.dtype),
        index_rows=settings.index_rows,
        shared_rows=settings.shared_rows,
        block=settings.block,
        parts=settings.parts,
    )
    extents = [types.int64] * ((1 if along_rows else 3) + settings.parts)
    signature = (*extents, *map(typeof, flat))
    # the module's name tells the kernel, all that it calls and its constants; the folder numba and how it is told
    facts = f"{wrapped.py_func.__module__} {signature} {fuse} {kernel.strict} {_compilers()}"
    file = CACHE_FOLDER / f"ptx-{hashlib.sha256(facts.encode()).hexdigest()[:24]}.json"
    if kept := read_json(file):
        os.utime(file)
        return kept["texts"]
    texts = _translated(wrapped, signature, fuse, kernel.strict)
    write_json(file, {"texts": texts})
    _sweep()
    return texts


@cache
def _compilers() -> tuple:
    """What else makes PTX: NVIDIA's wheels, and this file."""
    wheels = sorted(
        f"{dist.name} {dist.version}"
        for dist in distributions()
        if (dist.name or "").startswith(("cuda", "numba", "nvidia"))
    )
    return *wheels, hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


@cache
def _sweep() -> None:
    for file in CACHE_FOLDER.glob("ptx-*.json"):
        if time.time() - file.stat().st_mtime > _LONGEST_KEPT:
            file.unlink(missing_ok=True)


def _translated(wrapped, signature, fuse, strict) -> list[str]:
    # compiling asks the driver for the device's age even where it is given
    hopper = SimpleNamespace(compute_capability=(9, 0))
    compile_ir, texts = nvvm.compile_ir, []

    def fusing(code, **options):
        texts[:] = [compile_ir(code, **options, fma=each) for each in fuse]
        return texts[0]

    with (
        _no_garbage_collection(),
        patch("numba.cuda.dispatcher.get_current_device", lambda: hopper),
        patch("numba.cuda.cudadrv.nvvm.compile_ir", fusing),
    ):
        cuda.compile_ptx(wrapped.py_func, signature, cc=(9, 0), fastmath=not strict)
    return [text.decode() for text in texts]


def look(text: str) -> dict:
    """What the tests ask about a kernel's PTX."""
    return {
        "local": len(re.findall(r"\.local\b", text)),
        "double": len(re.findall(r"\.f64\b", text)),
        "single": len(re.findall(r"\.f32\b", text)),
        "fused": len(re.findall(r"\bfma\.rn\.f32\b", text)),
        "shared": ".shared" in text,
        "barriers": len(re.findall(r"\bbar\.sync|\bbarrier\.sync", text)),
        "loads": len(re.findall(r"\bld\.global", text)),
        "atomics": len(re.findall(r"\batom\.|\bred\.", text)),
        "target": re.search(r"\.target (\w+)", text)[1],
    }
