"""Files that are either whole or not there, texts and JSON among them; locks; where compiled kernels are kept."""

import atexit
import errno
import fcntl
import json
import os
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import IO

from platformdirs import user_cache_dir

from .errors import InputError, short


def wanted_cache() -> Path:
    """The folder that the user wants compiled kernels and the like in; it may not exist, nor be writable."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_dir("gpu-papers-repro"))


def cache_folder(name: str = "") -> Path:
    """The wanted folder of compiled kernels and the like, or one in it, else a temporary one of this user alone."""
    return _usable(wanted_cache(), name)


@cache
def _usable(wanted: Path, name: str) -> Path:
    if not unusable(wanted) and not unusable(wanted / name):
        return wanted / name
    own = _private() / name
    own.mkdir(exist_ok=True)
    return own


@cache
def _private() -> Path:
    """A temporary folder that nobody else can write to."""
    own = Path(tempfile.gettempdir()) / f"gpu-papers-repro-{os.getuid()}"
    with suppress(FileExistsError):
        own.mkdir(mode=0o700)
    facts = own.lstat()
    # a folder, no link to one, of this user, whom alone it lets in
    if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o077:
        return own
    # the name is taken: for this process alone
    alone = Path(tempfile.mkdtemp(prefix="gpu-papers-repro-"))
    atexit.register(shutil.rmtree, alone, ignore_errors=True)
    return alone


def unusable(folder: Path) -> str:
    """Why nothing that is run is kept in a folder, which is made if need be; empty if it is safe there."""
    if why := unwritable(folder):
        return why
    facts = folder.stat()
    if facts.st_uid != os.getuid():
        return "it belongs to another user"
    return "everybody may write to it" if facts.st_mode & stat.S_IWOTH else ""


def unwritable(folder: Path) -> str:
    """Why no file can be written to a folder, which is made if need be; empty if one can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


#: what may have a name and is no file: it is neither read as one nor replaced by one
_NO_FILES = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a circle of links",
}


def path_of(path) -> Path:
    """The path of a file that a user names, whether there is one or not; raises InputError for what can be none."""
    if not isinstance(path, str | os.PathLike) or not Path(path).name or not _is_encodable(path):
        raise InputError(f"path = {short(path)}: must be the name of a file")
    if Path(path).parts[0] == "~":
        raise InputError(f"path = {short(path)}: ~ is a shell's name of your home: write that out")
    return Path(path)


def _is_encodable(path) -> bool:
    """Whether a file system can be asked for a path."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def is_regular(path: Path) -> bool:
    """Whether a path is a file with an end: not a folder, pipe or device, nor one of /proc, which says it is empty."""
    return path.is_file() and path.stat().st_size > 0


def require_regular(path: Path, what: str) -> None:
    """Refuse what has no end, or is no file: nobody waits for it. Raises OSError where there is nothing."""
    if found := _NO_FILES.get(stat.S_IFMT(path.stat().st_mode)):
        raise InputError(f"{path}: no {what} file: it is {found}, and must be a regular file")


def regular_file(path: Path, what: str) -> Path:
    """The path of a file that can be read to its end; raises InputError for any other, of which `what` is the kind."""
    try:
        require_regular(path, what)
    except OSError as error:
        why = "" if isinstance(error, FileNotFoundError) else f" ({error.strerror})"
        raise InputError(f"{path}: no such {what} file{why}") from None
    if not is_regular(path):
        raise InputError(f"{path}: no {what} file: it is empty")
    return path


@contextmanager
def _place(path) -> Iterator[tuple[Path, os.stat_result | None]]:
    """Where what is written to `path` belongs, with links followed, and what is there now; None if nothing is.

    Raises InputError where there is something else than a file, and for what the system refuses meanwhile.
    """
    path = path_of(path)
    name = f"{path}, a link to {os.path.realpath(path)}" if os.path.islink(path) else f"{path}"
    try:
        # but not the folder of a link's target: what it is on may not be mounted
        path.parent.mkdir(parents=True, exist_ok=True)
        target = Path(os.path.realpath(path))
        old = target.lstat() if os.path.lexists(target) else None
        if old and not stat.S_ISREG(old.st_mode):
            raise InputError(f"{name}: cannot be written: it is {_NO_FILES[stat.S_IFMT(old.st_mode)]}, and no file")
        # a file can be replaced without the right to write to it: who took that right away wants to keep it
        if old and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "it is write-protected")
        yield target, old
    except FileExistsError as error:
        raise InputError(f"{name}: cannot be written: {path.parent} is no folder") from error
    except OSError as error:
        raise InputError(f"{name}: cannot be written: {error.strerror or error}") from error


@contextmanager
def whole(path) -> Iterator[Path]:
    """A temporary file to write to; it takes the place of `path`, on disk, only if all went well.

    Every file is written so. Where `path` is a link, that is what the link leads to; a file that was there keeps owner
    and rights. Raises InputError where there can be no file or no room for it, and for a folder, pipe or device.
    """
    with _place(path) as (target, old):
        # a name of 255 bytes has no room for more
        temporary = target.with_name(f".{target.name[:50]}.{token_hex(4)}")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if old else 0o666)
        try:
            yield temporary
            os.fsync(handle)
            if old:
                with suppress(PermissionError):
                    os.chown(temporary, old.st_uid, old.st_gid)
                os.chmod(temporary, stat.S_IMODE(old.st_mode))
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)


def append_text(path, text: str, flaw_of: Callable[[IO[bytes]], str]) -> None:
    """Add `text` to a file, on disk; where that fails the file is as it was. Raises InputError as `whole` does.

    And for a file of which `flaw_of` says why nothing may follow, as where a process was killed while it wrote.
    """
    with _place(path) as (target, old):
        if not old:
            return write_text(path, text)
        # without a buffer, which would be written after all when the file is closed
        with open(target, "a+b", buffering=0) as file:
            if flaw := flaw_of(file):
                raise InputError(f"{path}: nothing is appended: {flaw}")
            try:
                rest = memoryview(text.encode())
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except BaseException:
                file.truncate(old.st_size)
                raise


def write_text(path, text: str) -> None:
    """Replace `path` by `text` in one step, on disk before the name appears; raises InputError as `whole` does."""
    with whole(path) as file:
        file.write_text(text, encoding="utf-8")


def write_json(path: Path, content: dict) -> None:
    """Replace `path` by `content` as JSON in one step."""
    write_text(path, json_text(content))


def json_text(content: dict) -> str:
    """The one way in which `content` is written as JSON here."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: Path):
    """Content of a JSON file, None if it is missing or not JSON, as a pipe, which may never end."""
    try:
        return json.loads(path.read_text(encoding="utf-8")) if is_regular(path) else None
    except (OSError, ValueError, RecursionError):
        return None


#: bytes of a user's file in TOML: a longer one is something else, and a name of as many dots takes their square in
#: memory
LONGEST_DESCRIPTION = 1 << 14


def read_toml(path: Path) -> dict:
    """Content of a TOML file, with or without the mark that editors put before UTF-8.

    Raises FileNotFoundError, and InputError with the place of what is no TOML, and for a pipe.
    """
    require_regular(path, "TOML")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        # Python writes no number of thousands of digits, hexadecimal ones neither: no message could name it
        repr(content)
        return content
    except UnicodeDecodeError:
        flaw = "it must be saved as UTF-8"
    except tomllib.TOMLDecodeError as error:
        flaw = " ".join(str(error).split())
    except RecursionError:
        flaw = "it is nested too deep"
    # of all other values only numbers are errors
    except ValueError:
        flaw = "a number in it has thousands of digits"
    raise InputError(f"{path.name}: not a TOML file: {flaw}")


class Lock(Enum):
    """What became of asking for a lock, which the system lets go of even after kill -9; some file systems have none."""

    HELD = "this process has it, as long as the file is open"
    TAKEN = "another process has it"
    NONE = "the file system has no locks"


def lock(file, *, shared: bool = False, wait: bool = True) -> Lock:
    """Ask for the lock of an open file, of which many processes may have a `shared` one; TAKEN only without `wait`.

    The file must be open for reading and writing: network file systems ask for that.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(file, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return Lock.TAKEN
    except OSError:
        return Lock.NONE
    return Lock.HELD
