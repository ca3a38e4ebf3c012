"""Files that are either whole or not there, texts and JSON among them; where compiled kernels are kept."""

import atexit
import json
import os
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from platformdirs import user_cache_dir

from .errors import InputError, short

# it can only be read by setting it, which other threads must not see
_UMASK = os.umask(0o077)
os.umask(_UMASK)


def wanted_cache() -> Path:
    """The folder that the user wants compiled kernels and the like in; it may not exist, nor be writable."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_dir("gpu-papers-repro"))


def cache_folder() -> Path:
    """The wanted folder of compiled kernels and the like, else a temporary one that nobody else can write to."""
    return _usable(wanted_cache())


@cache
def _usable(wanted: Path) -> Path:
    # what lies there is run: it must be this user's own
    if not unwritable(wanted):
        return wanted
    own = Path(tempfile.gettempdir()) / f"gpu-papers-repro-{os.getuid()}"
    with suppress(FileExistsError):
        own.mkdir(mode=0o700)
    if _is_own(own):
        return own
    # the name is taken: for this process alone
    alone = Path(tempfile.mkdtemp(prefix="gpu-papers-repro-"))
    atexit.register(shutil.rmtree, alone, ignore_errors=True)
    return alone


def _is_own(folder: Path) -> bool:
    """Whether it is a folder, no link to one, of this user, whom alone it lets in."""
    facts = folder.lstat()
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o077


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


def read_toml(path: Path) -> dict:
    """Content of a TOML file, with or without the mark that editors put before UTF-8.

    Raises FileNotFoundError, and InputError with the place of what is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name}: not a TOML file: {error}") from None
