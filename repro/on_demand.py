"""Public names of a package that are imported when asked for: what needs no compiler waits for none."""

from collections.abc import Callable, Mapping
from importlib import import_module


def names_on_demand(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package: `homes` says in which of its modules each name stands."""

    def get(name: str):
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{homes[name]}", package), name)

    return get
