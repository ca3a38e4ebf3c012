"""Run folders: which is the newest, and whether it has results."""

from pathlib import Path

from repro.errors import InputError

from . import catalogue
from .catalogue import Catalogue
from .parameters import show
from .paths import Project, require_folder
from .results import Result, look


def newest(project: Project, profile: str = "") -> Path:
    """The run folder with the profile's own parameters that was written to last; InputError if there is none."""
    if profile:
        catalogue.load(project).require_profile(profile)
    # runs with changed parameters, PROFILE,NAME=VALUE, are shown only on request
    locks = project.build.glob(f"{profile or '*'}/*/.lock")
    found = [lock.parent for lock in locks if "," not in lock.parent.parent.name]
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
    return {fact[key] for result in found.values() for fact in _facts(result) if isinstance(fact.get(key), str)}


def changed(found: dict[str, Result]) -> dict[str, str]:
    """The parameters that were changed for each notebook, for people; only notebooks with such."""
    facts = {i: _facts(result) for i, result in found.items()}
    texts = {i: [show(fact["changed"]) for fact in some if _changed(fact)] for i, some in facts.items()}
    return {i: " and ".join(dict.fromkeys(some)) for i, some in texts.items() if some}


def _facts(result: Result) -> list[dict]:
    """What the runner noted in a result and in a failure after it."""
    return [*([result.sidecar["run"]] if result.sidecar else []), *([result.failure] if result.failure else [])]


def _changed(fact: dict) -> bool:
    return isinstance(fact.get("changed"), dict) and bool(fact["changed"])
