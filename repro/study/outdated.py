"""Which results the sources at hand have outgrown."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from . import fingerprint, parameters
from .catalogue import EVERYTHING, Notebook
from .paths import Project

SOURCES = ("files", "settings")
"""What can be compared on any machine; versions and the driver are those of the machine that ran."""


def named_results(folder: Path, own: Path) -> dict[Path, str]:
    """Results in a folder other than `own`, finished and failed, with the names by which others depend on them."""
    found = sorted(f for f in folder.rglob("*.json") if ".jobs" not in f.relative_to(folder).parts and f != own)
    return {file: f"results/{file.relative_to(folder).as_posix()}" for file in found}


def outdated(books: Iterable[Notebook], sidecars: Mapping[str, dict], project: Project) -> dict[str, str]:
    """Why results no longer fit sources, data and catalogue, by notebook; what shows other results is left out."""
    found = {}
    for book in books:
        if book.id in sidecars and EVERYTHING not in book.needs:
            changes = changes_since(book, sidecars[book.id]["run"], project)
            if changes:
                found[book.id] = fingerprint.in_words(changes)
    return found


def changes_since(
    book: Notebook, run: Mapping, project: Project, others: Mapping[Path, str] | None = None
) -> list[str]:
    """In what sources, data and catalogue differ from those that a run was made from.

    `others` names other results, for what shows them.
    """
    others = others if others and EVERYTHING in book.needs else {}
    known, machine = parameters.defaults(book.source(project)), {"profile": run["profile"], "device": run["device"]}
    automatic = {name: value for name, value in machine.items() if name in known}
    wanted = parameters.check(book.profiles.get(run["profile"], {}), known, f"catalogue.toml, {book.id}")
    chosen = automatic | wanted | run.get("changed", {})
    files = fingerprint.dependencies(book, project, chosen)
    now = fingerprint.depends([*files, *others], project, machine | chosen, others)
    return fingerprint.differences(run["depends"], now, SOURCES)
