"""Copies a finished run into the checkout: rendered notebooks, figures, measured data."""

import shutil
from pathlib import Path

from ..parallel.errors import InputError
from . import catalogue, results
from .catalogue import Notebook
from .paths import Project, require_writable


def publish(folder: Path, project: Project | None = None) -> list[Path]:
    """Copy the run in `folder` (made here or elsewhere); InputError if a notebook is unfinished or failed.

    Notebooks go to notebooks/rendered, figures to figures, sidecars to data/measured/MACHINE.
    """
    project = project or Project.default()
    found = {book: results.look(folder, book.id) for book in _expected(folder, project)}
    for book, result in found.items():
        if result.failure:
            raise InputError(f"{book.id} failed in {folder.name}: nothing is published")
        if result.trouble or not result.sidecar:
            why = f" ({result.trouble})" if result.trouble else ""
            raise InputError(f"{book.id} is not finished in {folder.name}{why}: nothing is published")
    copies = [pair for book, result in found.items() for pair in _copies(book, result.sidecar, folder, project)]
    for source, target in copies:
        require_writable(target.parent, "publish writes into the checkout")
        shutil.copyfile(source, target)
    return [target for _, target in copies]


def _expected(folder: Path, project: Project) -> list[Notebook]:
    """The notebooks of the run's profile, which any of its sidecars names."""
    books = catalogue.load(project).notebooks
    found = [results.look(folder, book.id).sidecar for book in books]
    profiles = {sidecar["run"]["profile"] for sidecar in found if sidecar}
    if len(profiles) != 1:
        raise InputError(f"{folder} is not the folder of a run")
    (profile,) = profiles
    return [book for book in books if profile in book.profiles]


def _copies(book: Notebook, sidecar: dict, folder: Path, project: Project) -> list[tuple[Path, Path]]:
    rendered = project.notebooks / "rendered" / book.relative
    measured = project.data / "measured" / sidecar["run"]["machine"] / f"{book.id}.json"
    pairs = [(folder / f"{book.id}.ipynb", rendered), (folder / f"{book.id}.json", measured)]
    return pairs + [(folder / name, project.root / name) for name in results.figure_files(sidecar)]
