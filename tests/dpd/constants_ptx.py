"""Compile the force kernels with their constants in every place to PTX for sm_90; prints one JSON object a kernel."""

import json
import re
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from numba import cuda, typeof, types

from repro.dpd.cases import Bulk
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import constants
from repro.parallel import inline
from repro.parallel.gpu import add_on_gpu
from repro.parallel.loops import cuda_kernel


class PtxDevice:
    """Takes a GPU's place: force kernels that are bound are compiled for the types of their arguments."""

    name, xp, simulated = "cuda", np, False
    add = staticmethod(inline(add_on_gpu))

    def __init__(self):
        self.text = ""

    def zeros(self, shape, dtype):
        return np.zeros(shape, dtype)

    def to_device(self, array):
        return array

    def free_memory(self):
        return 1 << 40

    def compile(self, kernel):
        def bind(shape, *arguments):
            if kernel.body.__name__ == "forces":
                self.text = ptx(kernel, arguments)
            return lambda: None

        return bind


def ptx(kernel, arguments):
    scratch = {"rows": 0, "index_rows": 0, "shared_rows": 0}
    wrapped = cuda_kernel(kernel.body, ndim=1, dtype=np.dtype(kernel.dtype), block=kernel.block, **scratch)
    hopper = SimpleNamespace(compute_capability=(9, 0))
    # compiling asks the driver for the device's age even where it is given
    with patch("numba.cuda.dispatcher.get_current_device", lambda: hopper):
        signature = (types.int64, *(typeof(value) for value in arguments))
        return cuda.compile_ptx(wrapped.py_func, signature, cc=(9, 0), fastmath=True)[0]


def pair_loop(text):
    """The text of the innermost loop around the root that only near pairs need."""
    lines = text.splitlines()
    labels = {match[1]: k for k, line in enumerate(lines) if (match := re.match(r"(\$\w+):", line))}
    root = next(k for k, line in enumerate(lines) if "sqrt" in line and "approx" in line and inside(lines, labels, k))
    return "\n".join(lines[slice(*inside(lines, labels, root))])


def inside(lines, labels, place):
    """The shortest stretch from a label to a branch back to it around a place; None if there is none."""
    jumps = ((k, re.search(r"bra(?:\.uni)?\s+(\$\w+)", line)) for k, line in enumerate(lines))
    spans = [(labels[jump[1]], k) for k, jump in jumps if jump and labels[jump[1]] < place < k]
    return min(spans, key=lambda span: span[1] - span[0], default=None)


def main():
    device = PtxDevice()
    setup = Simulation(Bulk((3.0, 3.0, 3.0)).system(), device, strategy="particle").setup
    for stencil in constants.STENCILS:
        for place in constants.PLACES:
            constants.build(setup, place, stencil)
            found = {"stencil": stencil, "place": place}
            found["in the loop"] = len(re.findall(r"\bld\.global\.", pair_loop(device.text)))
            for kind in ("ld.param", "ld.const", "ld.global.nc", "ld.global"):
                found[kind] = len(re.findall(rf"\b{re.escape(kind)}\.", device.text))
            # a = 18.75 as a number of the program
            print(json.dumps(found | {"literal": "0f41960000" in device.text}), flush=True)


if __name__ == "__main__":
    main()
