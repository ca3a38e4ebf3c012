"""Which notebooks there are: where things lie in a checkout, and how its notebooks' files are read."""

import difflib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from repro.errors import InputError
from repro.files import read_json


@dataclass(frozen=True)
class Project:
    """The folders of a checkout whose top is `root`."""

    root: Path

    @classmethod
    def default(cls) -> "Project":
        """The checkout named by REPRO_ROOT, else the one this package lies in."""
        here = os.environ.get("REPRO_ROOT") or Path(__file__).resolve().parents[3]
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
        return own if own.is_dir() else Path(__file__).resolve().parents[2]

    def run_folder(self, profile: str, machine: str) -> Path:
        """Folder of one profile's results on one machine."""
        return self.build / profile / machine


def as_rendered(text: str) -> str:
    """A text of a notebook as it stands where it is published, a folder further down: its links lead on to docs/."""
    return text.replace("](../../docs/", "](../../../docs/")


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


def read_cells(notebook: Path) -> list[dict] | None:
    """The cells of a notebook, None if the file is missing or not a notebook."""
    content = read_json(notebook)
    cells = content.get("cells") if isinstance(content, dict) else None
    return cells if isinstance(cells, list) and all(map(_is_cell, cells)) else None


def _is_cell(cell) -> bool:
    if not isinstance(cell, dict) or not isinstance(cell.get("metadata", {}), dict):
        return False
    # nbformat allows a text or a list of lines
    lines = cell.get("source")
    return isinstance(cell.get("cell_type"), str) and isinstance(lines, str | list) and all(map(_is_text, lines))


def _is_text(line) -> bool:
    return isinstance(line, str)


def read_code(notebook: Path) -> list[str]:
    """Texts of the code cells, empty if the file is missing or not a notebook."""
    return ["".join(cell["source"]) for cell in read_cells(notebook) or [] if cell["cell_type"] == "code"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error message: the names closest to `name`, else all that are known."""
    known = sorted(set(known))
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"known: {', '.join(known)}" if known else "there are none"
