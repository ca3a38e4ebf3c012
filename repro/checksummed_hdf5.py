"""HDF5 files with a seal: a hash of all of the file, which is looked at before a library reads a byte of it.

Checksums inside a file are not enough: HDF5 1.14 goes round for ever in some files of which one bit of the structure is
wrong. The seal stands in the block that HDF5 leaves to its users at the start of a file. It covers nothing of another
file, and is no signature: who makes a file can seal it. So what leads out of a file, and what is larger than it, is
refused before anything is read.
"""

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np

from .errors import DivergenceError, InputError, require
from .files import path_of, regular_file, whole

#: the type of an entry that is a text
TEXT = np.dtype(str)

#: bytes that HDF5 leaves free (`userblock_size`)
BLOCK = 512


class _Patient(io.FileIO):
    """A file whose first failure waits: HDF5 says one in pages, or ends in it, and leaves others to the collector."""

    failure = None

    def write(self, data) -> int:
        rest = memoryview(data).cast("B")
        try:
            while rest:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.failure = self.failure or error
        return len(data)

    def truncate(self, size=None) -> int:
        """As any file's; what fails is kept."""
        try:
            return super().truncate(size)
        except OSError as error:
            self.failure = self.failure or error
            return self.tell()


@contextmanager
def created(path: Path, **options) -> Iterator[h5py.File]:
    """A new HDF5 file to write to; where there is no room for it that is the system's OSError, as of any file."""
    with _Patient(path, "w+") as disk:
        try:
            with h5py.File(disk, "w", locking=False, **options) as file:
                yield file
        # what HDF5 makes of a file that lacks a part follows from that
        except Exception:
            if not disk.failure:
                raise
        if disk.failure:
            raise disk.failure


@contextmanager
def written(path, kind: str, version: int) -> Iterator[h5py.File]:
    """A new file of a `kind` (such as "checkpoint of particles") to write to: whole and sealed, or not there at all."""
    with whole(path) as temporary:
        with created(temporary, userblock_size=BLOCK) as file:
            file.attrs["version"] = version
            yield file
        seal(temporary, kind)


@contextmanager
def opened(path, kind: str, version: int) -> Iterator[h5py.File]:
    """A file of this kind and version to read; what is or is found wrong with it is an InputError that names it."""
    path = regular_file(path_of(path), "checkpoint")
    with refused(path):
        try:
            _require_sealed(path, kind)
            with h5py.File(path, "r", locking=False) as file:
                if not np.array_equal(found := file.attrs.get("version"), version):
                    raise InputError(f"a checkpoint of version {found}, and this program reads {version}")
                links = []
                file.id.links.visit(lambda name, link: links.append((name, link.type)), info=True)
                for name, way in links:
                    _require_own(file, name, way)
                yield file
        except InputError:
            raise
        except (OSError, KeyError, RuntimeError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"not a whole {kind} ({error})") from None


@contextmanager
def refused(path) -> Iterator[None]:
    """What is wrong with a file is an error that names it; so is a state in it at which any run would have stopped."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{path}: {error}") from None
    except DivergenceError as error:
        raise InputError(f"{path}: no run goes on from such a state: {error}") from None


def _require_own(file: h5py.File, name: bytes, way: int) -> None:
    """Refuse an entry that is not wholly in the file, as plain bytes of its own size, which is how one is written."""
    if way != h5py.h5l.TYPE_HARD:
        raise InputError(f"{name.decode()} is a link, and an entry of a checkpoint is its own")
    dataset = h5py.h5o.open(file.id, name)
    if not isinstance(dataset, h5py.h5d.DatasetID):
        return
    layout = dataset.get_create_plist()
    # chunks may be compressed, and a virtual dataset is parts of others
    if layout.get_layout() != h5py.h5d.CONTIGUOUS or layout.get_external_count():
        raise InputError(f"{name.decode()} is compressed, in pieces or in another file, as no entry of a checkpoint is")
    size = dataset.get_space().get_simple_extent_npoints() * dataset.get_type().get_size()
    # that of texts, which stand elsewhere in the file, is known in part
    if not size <= dataset.get_storage_size() <= Path(file.filename).stat().st_size:
        raise InputError(f"{name.decode()} claims {size} bytes, which the file does not have")


def entry(file: h5py.File, name: str, kind: np.dtype, shape: tuple):
    """The TEXT or the finite numbers under a name, if they have this type and shape, in which None is any length."""
    dataset = file.get(name)
    if not isinstance(dataset, h5py.Dataset):
        raise InputError(f"not a whole checkpoint: {name} is missing, or cannot be read")
    is_text = h5py.check_string_dtype(dataset.dtype) is not None
    found = TEXT if is_text else dataset.dtype
    require(found == kind, f"{name} is {_named(found)}, not {_named(kind)}")
    # before it is read: a damaged shape may be one that no memory holds
    if (
        dataset.shape is None
        or len(dataset.shape) != len(shape)
        or any(n not in (None, m) for n, m in zip(shape, dataset.shape, strict=True))
    ):
        wanted = str(tuple("any" if n is None else n for n in shape)).replace("'", "")
        raise InputError(f"{name} has the shape {dataset.shape}, not {wanted}")
    values = dataset.asstr()[()] if is_text else dataset[()]
    if found.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"{name} is damaged: {np.size(values) - np.isfinite(values).sum()} numbers are not finite")
    return values if is_text else np.asarray(values)


def _named(kind: np.dtype) -> str:
    return "text" if kind == TEXT else str(kind)


def seal(path: Path, kind: str) -> None:
    """Write the hash of a file with a user block into it."""
    with path.open("r+b") as file:
        line = _title(kind) + _digest(file) + b"\n"
        file.seek(0)
        file.write(line)


def _require_sealed(path: Path, kind: str) -> None:
    title = _title(kind)
    with path.open("rb") as file:
        require(file.read(len(title)) == title, f"not a {kind}")
        digest, rest = file.read(64), file.read(BLOCK - len(title) - 64)
        if digest != _digest(file) or rest.strip(b"\0") != b"\n":
            raise InputError("it is damaged: its SHA-256 is not that with which it was written")


def _title(kind: str) -> bytes:
    return f"{kind}, SHA-256 of what follows: ".encode()


def _digest(file) -> bytes:
    file.seek(BLOCK)
    return hashlib.file_digest(file, "sha256").hexdigest().encode()
