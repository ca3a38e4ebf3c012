"""A kernel: one body, with what it needs beside its arguments, and how these are packed.

Named tuples are taken apart before a launch and put together again inside: a body reads `particles.r` and takes five
arguments instead of fifteen, while what is launched has flat arguments, which every loop and every CUDA kernel takes,
and which cost nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Kernel:
    """What a device needs to know to run a body (see `loops` for the body's arguments)."""

    body: Callable
    ndim: int = 1
    #: rows of the private scratch array of each run
    rows: int = 0
    #: rows of a second one, for bodies that work on two items
    other_rows: int = 0
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
    #: keep each block within a row on the GPU, for items that do other work at its ends than in its midst
    along_rows: bool = False
    #: most registers that the compiler may give a thread on the GPU; None leaves it to the compiler
    registers: int | None = None
    #: can be launched over a part of its index space, by the same code: another one would round otherwise
    parts: bool = False
    #: IEEE arithmetic in the order of the formula, so that devices agree to the last bit; otherwise the fastest
    strict: bool = False

    @property
    def options(self) -> dict:
        """What `loops` needs to know on every device."""
        names = ("ndim", "rows", "other_rows", "index_rows", "shared_rows", "strict", "parts")
        return {name: getattr(self, name) for name in names} | {"dtype": np.dtype(self.dtype)}

    def padded(self, shape: tuple[int, ...]) -> tuple[int, int, int]:
        """The index space (nx, ny, nz), x fastest, with ones for the axes that the kernel does not have."""
        if len(shape) != self.ndim:
            raise ValueError(f"index space {shape} for a {self.ndim}-dimensional kernel")
        return tuple(int(extent) for extent in shape) + (1,) * (3 - self.ndim)

    def layers(self, extents: tuple[int, int, int], count: int) -> tuple[int, int, int]:
        """An index space with so many items along its slowest axis."""
        return (*extents[: self.ndim - 1], count, *extents[self.ndim :])


class Packing(NamedTuple):
    """How flat arguments become a body's: for each the named tuple's class, or None for an argument as it is."""

    classes: tuple[type | None, ...]

    @property
    def names(self) -> list[str]:
        """Names of the flat arguments."""
        count = sum(1 if kind is None else len(kind._fields) for kind in self.classes)
        return [f"a{k}" for k in range(count)]

    @property
    def call(self) -> list[str]:
        """The text of each of the body's arguments."""
        names, texts = iter(self.names), []
        for kind in self.classes:
            if kind is None:
                texts.append(next(names))
            else:
                texts.append(f"{kind.__name__}({', '.join(next(names) for _ in kind._fields)})")
        return texts

    @property
    def imports(self) -> str:
        """The lines that import the classes."""
        kinds = sorted({(kind.__module__, kind.__name__) for kind in self.classes if kind is not None})
        return "".join(f"from {module} import {name}\n" for module, name in kinds)


def flattened(arguments) -> tuple[Packing, list]:
    """How the arguments are packed, and their parts one after the other."""
    classes, flat = [], []
    for argument in arguments:
        named = isinstance(argument, tuple) and hasattr(argument, "_fields")
        classes.append(type(argument) if named else None)
        flat += argument if named else [argument]
    return Packing(tuple(classes)), flat
