"""Where things lie in a checkout."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from repro.errors import InputError


@dataclass(frozen=True)
class Project:
    """The folders of a checkout whose top is `root`."""

    root: Path

    @classmethod
    def default(cls) -> "Project":
        """The checkout named by REPRO_ROOT, else the one this package lies in."""
        here = os.environ.get("REPRO_ROOT") or Path(__file__).resolve().parents[2]
        return cls(Path(here).resolve())

    @property
    def notebooks(self) -> Path:
        """Folder of the notebooks and their catalogue."""
        return self.root / "notebooks"

    @property
    def data(self) -> Path:
        """Folder of published, reference and measured data."""
        return self.root / "data"

    @property
    def build(self) -> Path:
        """Folder of everything a run writes."""
        return self.root / "build"

    @property
    def package(self) -> Path:
        """Source folder of `repro`: the checkout's, else the installed one."""
        own = self.root / "repro"
        return own if own.is_dir() else Path(__file__).resolve().parents[1]

    def run_folder(self, profile: str, machine: str) -> Path:
        """Folder of one profile's results on one machine."""
        return self.build / profile / machine


def file_stem(identifier: str) -> str:
    """A notebook's id as a part of a file name."""
    return identifier.replace("/", "-")


def require_folder(folder: Path) -> None:
    """InputError if something else than a folder has this name."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder")


def require_writable(folder: Path, advice: str = "name another folder with --output") -> None:
    """Make `folder` and prove that a file can be written there; InputError if not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}; {advice}") from None
