"""Which notebooks there are: where things lie in a checkout, and how its notebooks' files are read."""

import difflib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from repro.errors import InputError, require
from repro.files import read_json, unwritable


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


def slug(text: str) -> str:
    """`text` as a part of a file name: its words, in small letters."""
    return "-".join(re.findall(r"[^\W_]+", text.lower()))


def require_folder(folder: Path) -> None:
    """InputError if something else than a folder has this name."""
    require(folder.is_dir() or not folder.exists(), f"{folder} is a file: name a folder")


def require_writable(folder: Path, advice: str = "name another folder with --output") -> None:
    """Make `folder` and prove that a file can be written there; InputError if not."""
    if why := unwritable(folder):
        raise InputError(f"cannot write to {folder}: {why}; {advice}")


def has_shape(value, shape) -> bool:
    """Whether JSON or TOML has a shape.

    That is a class, a test, [the shape of each part], {str: the shape of each value} or {name: the shape of this one},
    of which "name?" may be missing.
    """
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(part, shape[0]) for part in value)
    if not isinstance(shape, dict):
        return isinstance(value, shape) if isinstance(shape, type) else bool(shape(value))
    if not isinstance(value, dict):
        return False
    if str in shape:
        return all(has_shape(part, shape[str]) for part in value.values())
    parts = [(name.removesuffix("?"), name, part) for name, part in shape.items()]
    return all(has_shape(value[key], part) if key in value else key != name for key, name, part in parts)


#: nbformat allows a text or a list of lines
_CELL = {
    "cell_type": str,
    "source": lambda text: isinstance(text, str) or has_shape(text, [str]),
    "metadata?": dict,
}


def read_cells(notebook: Path) -> list[dict] | None:
    """The cells of a notebook, None if the file is missing or not a notebook."""
    content = read_json(notebook)
    return content["cells"] if has_shape(content, {"cells": [_CELL]}) else None


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
