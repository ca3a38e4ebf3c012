"""Copies a finished run into the checkout: rendered notebooks, figures, measured data."""

import shutil
from pathlib import Path

from ..parallel.errors import InputError
from . import atomic, catalogue
from .catalogue import Notebook
from .paths import Project, require_writable


def publish(folder: Path, project: Project | None = None) -> list[Path]:
    """Copy the run in `folder` (made here or elsewhere); InputError if a notebook is unfinished or failed.

    Notebooks go to notebooks/rendered, figures to figures, sidecars to data/measured/MACHINE.
    """
    project = project or Project.default()
    sidecars = {book: atomic.read_json(folder / f"{book.id}.json") for book in _expected(folder, project)}
    for book, sidecar in sidecars.items():
        if (folder / "failed" / f"{book.id}.json").exists():
            raise InputError(f"{book.id} failed in {folder.name}: nothing is published")
        if not (sidecar or {}).get("run", {}).get("finished"):
            raise InputError(f"{book.id} is not finished in {folder.name}: nothing is published")
    copies = [pair for book, sidecar in sidecars.items() for pair in _copies(book, sidecar, folder, project)]
    for source, _ in copies:
        if not source.is_file():
            raise InputError(f"{source.name} is missing in {folder.name}: nothing is published")
    for source, target in copies:
        require_writable(target.parent)
        shutil.copyfile(source, target)
    return [target for _, target in copies]


def _expected(folder: Path, project: Project) -> list[Notebook]:
    """The notebooks of the run's profile, which any of its sidecars names."""
    books = catalogue.load(project).notebooks
    found = [atomic.read_json(folder / f"{book.id}.json") or {} for book in books]
    profiles = {sidecar["run"]["profile"] for sidecar in found if "run" in sidecar}
    if len(profiles) != 1:
        raise InputError(f"{folder} is not the folder of a run")
    (profile,) = profiles
    return [book for book in books if profile in book.profiles]


def _copies(book: Notebook, sidecar: dict, folder: Path, project: Project) -> list[tuple[Path, Path]]:
    rendered = project.notebooks / "rendered" / book.relative
    measured = project.data / "measured" / sidecar["run"]["machine"] / f"{book.id}.json"
    pairs = [(folder / f"{book.id}.ipynb", rendered), (folder / f"{book.id}.json", measured)]
    files = [name for figure in sidecar.get("figures", {}).values() for name in figure["files"]]
    return pairs + [(folder / name, project.root / name) for name in files]
