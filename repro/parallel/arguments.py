"""Arguments of kernels: named tuples are taken apart before a launch and put together again inside.

A body reads `particles.r` and takes five arguments instead of fifteen, while what is launched has flat arguments, which
every loop and every CUDA kernel takes, and which cost nothing.
"""

from typing import NamedTuple


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
