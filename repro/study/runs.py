"""Run folders: which is the newest, and whether it has results."""

from pathlib import Path

from ..parallel.errors import InputError
from . import catalogue
from .catalogue import Catalogue
from .paths import Project, require_folder
from .results import Result, look


def newest(project: Project, profile: str = "") -> Path:
    """The run folder below build/ that was written to last; InputError if there is none."""
    if profile:
        catalogue.load(project).require_profile(profile)
    found = [f.parent for f in project.build.glob(f"{profile or '*'}/*/.lock")]
    if not found:
        what = f"the profile {profile}" if profile else "any profile"
        option = f" --profile {profile}" if profile else ""
        raise InputError(f"no results of {what} in {project.build.name}/: start with `python -m repro run{option}`")
    return max(found, key=lambda f: f.stat().st_mtime)


def look_at_all(folder: Path, books: Catalogue, project: Project) -> dict[str, Result]:
    """What there is of every notebook's result; InputError if none has finished or failed."""
    require_folder(folder)
    found = {book.id: look(folder, book.id) for book in books.notebooks}
    if any(result.sidecar or result.failure for result in found.values()):
        return found
    damaged = "".join(f" ({i}: {result.trouble})" for i, result in found.items() if result.trouble)
    option = _option(folder, books, project)
    raise InputError(f"no finished run is in {folder}{damaged}: make one with `python -m repro run {option}`")


def _option(folder: Path, books: Catalogue, project: Project) -> str:
    """The option of `run` that writes to this folder."""
    name = folder.resolve().parent.name
    ours = folder.resolve().parents[1:2] == (project.build,) and name in books.profiles()
    return f"--profile {name}" if ours else f"--output {folder}"


def named(found: dict[str, Result], key: str) -> set[str]:
    """Profiles or machines (`key`) that results and failures name."""
    facts = [result.sidecar["run"] for result in found.values() if result.sidecar]
    facts += [result.failure for result in found.values() if result.failure]
    return {fact[key] for fact in facts if isinstance(fact.get(key), str)}
