"""Public names of a package that are imported when asked for: what needs no compiler waits for none."""

from collections.abc import Callable, Mapping
from importlib import import_module


def names_on_demand(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package: `homes` are the names that stand in each of its modules, with blanks between."""
    modules = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str):
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{modules[name]}", package), name)

    return get
