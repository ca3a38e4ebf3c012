"""The seal of a file of a run: a hash of all of it, which is looked at before a library reads a byte.

Checksums inside a file are not enough: HDF5 1.14 goes round for ever in some files of which one bit of the structure is
wrong. The seal stands in the block that HDF5 leaves to its users at the start of a file.
"""

import hashlib
from pathlib import Path

from repro.errors import InputError

#: bytes that HDF5 leaves free (`userblock_size`)
BLOCK = 512

_TITLE = b"electrons, SHA-256 of what follows: "


def seal(path: Path) -> None:
    """Write the hash of a file with a user block into it."""
    with path.open("r+b") as file:
        line = _TITLE + _digest(file) + b"\n"
        file.seek(0)
        file.write(line)


def require_sealed(path: Path, kind: str) -> None:
    """Refuse a file that is not of this `kind`, or in which a bit is not what was sealed."""
    with path.open("rb") as file:
        title, wanted = file.read(len(_TITLE)), file.read(64)
        if title != _TITLE:
            raise InputError(f"not a {kind}")
        if _digest(file) != wanted:
            raise InputError("it is damaged: its SHA-256 is not that with which it was written")


def _digest(file) -> bytes:
    file.seek(BLOCK)
    return hashlib.file_digest(file, "sha256").hexdigest().encode()
