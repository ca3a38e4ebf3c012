"""Imports without what only costs time."""

import importlib
import sys
from types import ModuleType

#: checks links in JSON; nothing here has any, and its grammar takes 1.5 s to build in every process
_NOT_NEEDED = "rfc3987_syntax"


def light(name: str) -> ModuleType:
    """The module `name`, imported without the grammar of links that comes along with notebooks' JSON schema."""
    if _NOT_NEEDED in sys.modules:
        return importlib.import_module(name)
    sys.modules[_NOT_NEEDED] = None
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules[_NOT_NEEDED]
