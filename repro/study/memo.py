"""What was worked out from texts, kept between processes: the same text is not read through again.

Entries are named by the hash of the text and of the module that reads it, so none can be out of date.
"""

import atexit
import hashlib
import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path

from repro.files import cache_folder, read_json, write_json

MOST = 4000
"""Entries that are kept, the newest."""


def remember(function: Callable) -> Callable:
    """`function` of texts, whose result JSON can hold, worked out once for each of its arguments."""
    salt = f"{function.__qualname__}\0{Path(inspect.getfile(function)).read_text(encoding='utf-8')}"

    @cache
    @wraps(function)
    def remembered(*texts: str):
        name = hashlib.sha256("\0".join((salt, *texts)).encode()).hexdigest()[:32]
        known = _known()
        if name not in known:
            known[name] = function(*texts)
            _save_at_exit()
        return known[name]

    return remembered


def _file() -> Path:
    return cache_folder() / "sources.json"


@cache
def _known() -> dict:
    content = read_json(_file())
    return content if isinstance(content, dict) else {}


@cache
def _save_at_exit() -> None:
    atexit.register(_save)


def _save() -> None:
    # without a place to keep them they are worked out again
    with suppress(OSError):
        write_json(_file(), dict(list(_known().items())[-MOST:]))
