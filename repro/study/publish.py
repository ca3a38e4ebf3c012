"""Copies a finished run into the checkout: rendered notebooks, figures, measured data."""

import shutil
from pathlib import Path

from repro.errors import InputError

from . import catalogue, parameters
from .catalogue import Notebook
from .paths import Project, require_writable
from .results import Result, figure_files
from .runs import look_at_all, named, newest

PUBLISHED = ("paper", "beyond")
"""Profiles whose results stand for the papers' claims."""


def publish(folder: Path | None = None, profile: str = PUBLISHED[0], project: Project | None = None) -> list[Path]:
    """Copy the run in `folder` (made here or elsewhere), else the newest of `profile`.

    InputError if a notebook is unfinished or failed, if the run is smaller than the papers' or if parameters were
    changed. Notebooks go to notebooks/rendered, figures to figures, sidecars to data/measured/MACHINE.
    """
    project = project or Project.default()
    _require_published(profile, f"profile {profile}")
    folder = folder or newest(project, profile)
    books = catalogue.load(project)
    found = look_at_all(folder, books, project)
    profile = _one_profile(folder, found)
    expected = [book for book in books.notebooks if profile in book.profiles]
    for book in expected:
        _require_finished(book, found[book.id], folder)
        _require_unchanged(book, found[book.id].sidecar["run"], project)
    copies = [pair for book in expected for pair in _copies(book, found[book.id].sidecar, folder, project)]
    for source, target in copies:
        require_writable(target.parent, "publish writes into the checkout")
        shutil.copyfile(source, target)
    return [target for _, target in copies]


def _require_published(profile: str, what: str) -> None:
    if profile not in PUBLISHED:
        raise InputError(f"{what}: only runs of the profile {' or '.join(PUBLISHED)} are published")


def _one_profile(folder: Path, found: dict[str, Result]) -> str:
    profiles = named(found, "profile")
    if len(profiles) != 1:
        raise InputError(f"{folder} mixes the profiles {', '.join(sorted(profiles))}: nothing is published")
    (profile,) = profiles
    _require_published(profile, f"{folder} holds the profile {profile}")
    return profile


def _require_finished(book: Notebook, result: Result, folder: Path) -> None:
    if result.failure:
        raise InputError(f"{book.id} failed in {folder.name}: nothing is published")
    if result.trouble or not result.sidecar:
        why = f" ({result.trouble})" if result.trouble else ""
        raise InputError(f"{book.id} is not finished in {folder.name}{why}: nothing is published")


def _require_unchanged(book: Notebook, run: dict, project: Project) -> None:
    if changed := run.get("changed") or _differences(book, run, project):
        raise InputError(
            f"{book.id} ran with {parameters.show(changed)}, not as its profile says: nothing is published"
        )


def _differences(book: Notebook, run: dict, project: Project) -> dict:
    """Parameters of a run that differ from those of its profile; the device may."""
    defaults = parameters.defaults(book.source(project))
    wanted, made = defaults | book.profiles[run["profile"]], defaults | run["parameters"]
    return {n: v for n, v in made.items() if n not in parameters.AUTOMATIC and (n not in wanted or v != wanted[n])}


def _copies(book: Notebook, sidecar: dict, folder: Path, project: Project) -> list[tuple[Path, Path]]:
    rendered = project.notebooks / "rendered" / book.relative
    measured = project.data / "measured" / sidecar["run"]["machine"] / f"{book.id}.json"
    pairs = [(folder / f"{book.id}.ipynb", rendered), (folder / f"{book.id}.json", measured)]
    return pairs + [(folder / name, project.root / name) for name in figure_files(sidecar)]
