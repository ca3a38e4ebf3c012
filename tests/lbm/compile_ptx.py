"""Compile every kernel of a lattice to PTX for sm_90, without a GPU; prints one JSON object a kernel.

python compile_ptx.py LATTICE PRECISION
python compile_ptx.py COLLISION PRECISION     the strategies for porous media
python compile_ptx.py swaps PRECISION         those of the swap paper, on the cubic cavity
"""

import json
import re
import sys
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from numba import cuda, from_dtype, types

from repro.lbm.boundaries import Boundaries
from repro.lbm.cases import CubicCavity
from repro.lbm.lattice import LATTICES
from repro.lbm.media import PoreSpace
from repro.lbm.model import Model, Problem
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.porous.strategies import STRATEGIES as POROUS_STRATEGIES
from repro.lbm.simulation import Simulation
from repro.lbm.strategies import STRATEGIES, SWAPS
from repro.lbm.timeloop import PRECISIONS
from repro.parallel import inline
from repro.parallel.gpu import _threads_barrier
from repro.parallel.loops import cuda_kernel

P, H, E = "periodic", "half-way", "extrapolation"

#: the paper's cavity and duct, and a closed box
CASES = {
    "D2Q9": ((H, H, H, E, P, P), 3, None, (256, 16, 1)),
    "D3Q15": ((P, P, E, E, E, E), None, "luo", (128, 8, 8)),
    "D3Q19": ((H,) * 6, 3, "guo", (256, 8, 8)),
}


class PtxDevice:
    """Takes a GPU's place: a kernel that is bound is compiled for the types of its arguments and kept as text."""

    name, xp = "cuda", np
    barrier = staticmethod(inline(_threads_barrier))

    def __init__(self):
        self.kernels = {}

    def zeros(self, shape, dtype):
        return np.zeros(shape, dtype)

    def to_device(self, array):
        return array

    def free_memory(self):
        return 1 << 40

    def compile(self, kernel):
        def bind(shape, *arguments):
            name = kernel.body.__name__
            if (kernel, len(arguments)) not in self.kernels:
                self.kernels[kernel, len(arguments)] = name, ptx(kernel, arguments)
            return lambda: None

        return bind


def ptx(kernel, arguments):
    settings = replace(kernel, edges=False)
    wrapped = cuda_kernel(
        settings.body,
        ndim=settings.ndim,
        rows=settings.rows,
        dtype=np.dtype(settings.dtype),
        index_rows=settings.index_rows,
        shared_rows=settings.shared_rows,
        block=settings.block,
    )
    signature = [types.int64]
    for value in arguments:
        if isinstance(value, np.ndarray):
            signature.append(types.Array(from_dtype(value.dtype), 1, "C"))
        elif isinstance(value, int):
            signature.append(types.int64)
        else:
            signature.append(types.float32 if isinstance(value, np.float32) else types.float64)
    # compiling asks the driver for the device's age even where it is given
    hopper = SimpleNamespace(compute_capability=(9, 0))
    with patch("numba.cuda.dispatcher.get_current_device", lambda: hopper):
        return cuda.compile_ptx(wrapped.py_func, tuple(signature), cc=(9, 0), fastmath=True)[0]


def box_flow(lattice, strategy, precision, device):
    faces, moving, forcing, shape = CASES[lattice]
    force = (1e-4, 0.0, 0.0) if forcing else (0.0, 0.0, 0.0)
    velocity = (0.05, 0.0, 0.0) if moving is not None else (0.0, 0.0, 0.0)
    model = Model(LATTICES[lattice], Boundaries(faces, moving), "bgk", forcing)
    problem = Problem(model, shape, 0.8, force=force, wall_velocity=velocity)
    Simulation(problem, device, strategy=strategy, precision=precision)


def porous_flow(collision, strategy, precision, device):
    problem = PorousProblem(PoreSpace(np.zeros((4, 4, 4), bool)), 0.8, (1e-4, 0.0, 0.0), collision)
    PorousFlow(problem, device, strategy=strategy, precision=precision)


def cubic_flow(_, strategy, precision, device):
    Simulation(CubicCavity(nodes=34).problem, device, strategy=strategy, precision=precision)


def main(what, precision):
    build, strategies = (box_flow, STRATEGIES) if what in CASES else (porous_flow, POROUS_STRATEGIES)
    if what == "swaps":
        build, strategies = cubic_flow, [name for name in SWAPS if name != "swap sweep"] + ["esoteric pull"]
    for strategy in strategies:
        device = PtxDevice()
        build(what, strategy, precision, device)
        for name, text in device.kernels.values():
            found = {
                "strategy": strategy,
                "kernel": name,
                "local": len(re.findall(r"\.local\b", text)),
                "double": len(re.findall(r"\.f64\b", text)),
                "single": len(re.findall(r"\.f32\b", text)),
                "shared": ".shared" in text,
                "barriers": len(re.findall(r"\bbar\.sync|\bbarrier\.sync", text)),
                "loads": len(re.findall(r"\bld\.global", text)),
                "target": re.search(r"\.target (\w+)", text)[1],
            }
            print(json.dumps(found), flush=True)
    assert np.dtype(PRECISIONS[precision]).itemsize in (4, 8)


if __name__ == "__main__":
    main(*sys.argv[1:])
