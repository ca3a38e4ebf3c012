"""Files that are either whole or not there, texts and JSON among them; where compiled kernels are kept."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_dir

from .errors import InputError, short

# it can only be read by setting it, which other threads must not see
_UMASK = os.umask(0o077)
os.umask(_UMASK)


def cache_folder() -> Path:
    """The folder of compiled kernels that the user wants; it may not exist."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_dir("gpu-papers-repro"))


def unwritable(folder: Path) -> str:
    """Why no file can be written to a folder, which is made if need be; empty if one can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it takes the place of `path`, on disk, only if all went well.

    Raises OSError where the folder cannot be made or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        yield Path(name)
        os.fsync(handle)
        # a temporary file is its owner's alone
        os.chmod(name, 0o666 & ~_UMASK)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def path_of(path) -> Path:
    """The path of a file that a user names, whether there is one or not; raises InputError for what can be none."""
    if not isinstance(path, str | os.PathLike) or not Path(path).name or "\0" in str(path):
        raise InputError(f"path = {short(path)}: must be the name of a file")
    return Path(path)


def is_regular(path: Path) -> bool:
    """Whether a path is a file with an end: not a folder, pipe or device, nor one of /proc, which says it is empty."""
    return path.is_file() and path.stat().st_size > 0


def regular_file(path: Path, what: str) -> Path:
    """The path of a file that can be read to its end; raises InputError for any other, of which `what` is the kind."""
    if not path.exists():
        raise InputError(f"{path}: no such {what} file")
    if not is_regular(path):
        raise InputError(f"{path}: no {what} file: it is empty, or a folder, a pipe or a device")
    return path


@contextmanager
def named(path) -> Iterator[Path]:
    """As `whole`, for a file that a user names; raises InputError where there can be none, or no room for it."""
    path = path_of(path)
    try:
        # a folder cannot be replaced, and a device must not
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: cannot be written: it is there, and no file")
        with whole(path) as temporary:
            yield temporary
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, on disk before the name appears."""
    with whole(path) as file:
        file.write_text(text, encoding="utf-8")


def write_json(path: Path, content: dict) -> None:
    """Replace `path` by `content` as JSON in one step."""
    write_text(path, json_text(content))


def json_text(content: dict) -> str:
    """The one way in which `content` is written as JSON here."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: Path):
    """Content of a JSON file, None if it is missing or not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
