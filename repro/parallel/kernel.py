"""A kernel: one body, with what it needs beside its arguments."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Kernel:
    """What a device needs to know to run a body (see `loops` for the body's arguments)."""

    body: Callable
    ndim: int = 1
    #: rows of the private scratch array of each run
    rows: int = 0
    #: type of the scratch
    dtype: type = np.float32
    #: give the first and the last item of each row a run of their own, so that a run is uniform at the walls
    edges: bool = False
    #: rows of the private scratch array of 32-bit integers of each run
    index_rows: int = 0
    #: rows of the array that the threads of a block share; a run is then exactly one block
    shared_rows: int = 0
    #: threads a block on the GPU
    block: int = 128
    #: most registers that the compiler may give a thread on the GPU; None leaves it to the compiler
    registers: int | None = None
    #: IEEE arithmetic in the order of the formula, so that devices agree to the last bit; otherwise the fastest
    strict: bool = False

    @property
    def options(self) -> dict:
        """What `loops` needs to know on every device."""
        names = ("ndim", "rows", "index_rows", "shared_rows", "strict")
        return {name: getattr(self, name) for name in names} | {"dtype": np.dtype(self.dtype)}

    def padded(self, shape: tuple[int, ...]) -> tuple[int, int, int]:
        """The index space (nx, ny, nz), x fastest, with ones for the axes that the kernel does not have."""
        if len(shape) != self.ndim:
            raise ValueError(f"index space {shape} for a {self.ndim}-dimensional kernel")
        return tuple(int(extent) for extent in shape) + (1,) * (3 - self.ndim)
