"""Imports without what only costs time."""

import importlib
import sys
from types import ModuleType

from repro.errors import InputError

#: checks links in JSON; nothing here has any, and its grammar takes 1.5 s to build in every process
_NOT_NEEDED = "rfc3987_syntax"


def light(name: str) -> ModuleType:
    """The module `name`, imported without the grammar of links that comes along with notebooks' JSON schema.

    InputError if it is not installed, or what it needs is not.
    """
    if _NOT_NEEDED in sys.modules:
        return _imported(name)
    sys.modules[_NOT_NEEDED] = None
    try:
        return _imported(name)
    finally:
        del sys.modules[_NOT_NEEDED]


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: python -m pip install -r requirements.txt") from None
