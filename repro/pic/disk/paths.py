"""Names of files that a user gives, and files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repro.errors import InputError
from repro.files import whole

from ..checks import short


def path_of(path) -> Path:
    """The path of a file, whether there is one or not; raises InputError for what can be none."""
    if not isinstance(path, str | os.PathLike) or not Path(path).name or "\0" in str(path):
        raise InputError(f"path = {short(path)}: must be the name of a file")
    return Path(path)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A temporary file that takes the place of `path` if all goes well, see `files.whole`.

    Raises InputError where there can be no such file, or no room for it.
    """
    try:
        # a folder cannot be replaced, and a device must not
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: cannot be written: it is there, and no file")
        with whole(path) as temporary:
            yield temporary
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
