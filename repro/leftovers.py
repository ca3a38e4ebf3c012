"""What killed processes leave outside their folder: sockets and keys of kernels, shared memory of MPI's ranks."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp

from repro.files import Lock, lock

PREFIX, FRESH = "gpu-papers-run-", 10.0
"""Names of private folders, and seconds in which one that was just made may not be held yet."""

SHARED = Path("/dev/shm")
RANKS = ("mpich_shm_*", "mpich_shar_tmp*", "ucx_shm_posix_*")
"""Where Linux has shared memory, and what MPICH and its UCX call theirs."""

#: seconds in which shared memory that was just made may not be mapped yet
UNMAPPED = 0.1


@contextmanager
def private_folder() -> Iterator[Path]:
    """A temporary folder that only this user can read and that is gone at the end.

    First those go that killed processes have left: a living one holds the lock of its own.
    """
    for left in _own(Path(gettempdir()), (f"{PREFIX}*",), FRESH):
        with suppress(OSError), _held(left):
            rmtree(left, ignore_errors=True)
    folder = Path(mkdtemp(prefix=PREFIX))
    try:
        # where there are no locks nothing is swept either
        with _held(folder, needed=False):
            yield folder
    finally:
        rmtree(folder, ignore_errors=True)


@contextmanager
def _held(folder: Path, needed: bool = True) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if lock(handle, wait=False) is not Lock.HELD and needed:
            raise BlockingIOError
        yield
    finally:
        os.close(handle)


def sweep_shared_memory() -> None:
    """Remove this user's shared memory of MPI's ranks that no living process has mapped."""
    left, mapped = list(_own(SHARED, RANKS, UNMAPPED)), set()
    for maps in Path("/proc").glob("[0-9]*/maps") if left else ():
        # another user's, or gone
        with suppress(OSError):
            mapped.update(line.split()[-1] for line in maps.read_text().splitlines() if str(SHARED) in line)
    for file in left:
        if str(file) not in mapped:
            file.unlink(missing_ok=True)


def _own(place: Path, names: tuple[str, ...], seconds: float) -> Iterator[Path]:
    """What this user, and nobody else, has made there more than some seconds ago."""
    for path in (path for name in names for path in place.glob(name)):
        with suppress(FileNotFoundError):
            about = path.lstat()
            # also what a clock that was ahead has made
            if about.st_uid == os.geteuid() and abs(time.time() - about.st_mtime) > seconds:
                yield path
