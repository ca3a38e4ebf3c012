"""Renews the words of published notebooks: where their text alone has changed, what was computed stands.

A run takes a GPU and an hour, a better sentence takes neither. The code of the executed notebook, which the seal
vouches for, must be that of the source, and everything else that the result depends on must be as it was.
"""

from pathlib import Path

from repro.files import json_text, read_json, whole

from . import catalogue, cells, fingerprint, manifest, published, seal
from .catalogue import EVERYTHING, Notebook
from .paths import Project
from .publish import require_clean

INJECTED, PARAMETERS = "injected-parameters", "parameters"
"""Tags of the cell that papermill adds, and of the one after which it stands."""


def renew(project: Project | None = None) -> list[str]:
    """Put the text of the sources at hand into published notebooks; returns the ids of those that were renewed.

    Left as it is: what was edited, what has changed in more than its text, and what other machines have beside the
    result that is shown, whose executed notebooks are not here; `status --published` names them.
    InputError if the checkout has changes that are not committed.
    """
    project = project or Project.default()
    require_clean(project)
    books, hashes = catalogue.load(project).notebooks, {}
    # what shows the others' results depends on them
    ordered = sorted(books, key=lambda book: EVERYTHING in book.needs)
    return [book.id for book in ordered if _renewed(book, hashes, project)]


def _renewed(book: Notebook, hashes: dict[str, tuple[str, str]], project: Project) -> bool:
    """Renew one notebook if its text is all that has changed; `hashes` are those of results before and after."""
    path = published.shown(book, project)
    if path is None or published.edits(path, book, project):
        return False
    sidecar, source = read_json(path), book.source(project)
    name, depends = source.relative_to(project.root).as_posix(), sidecar["run"]["depends"]["files"]
    depends |= {result: now for result, (then, now) in hashes.items() if depends.get(result) == then}
    changes, told = published.changes(path, sidecar["run"], book, project), None
    executed = published.place(f"{book.id}.ipynb", book, project)
    if changes == [f"{name} changed"]:
        told = _retold(executed, source)
        depends[name], sidecar["run"]["text"] = _hash(source, project), manifest.commit(project.root)["commit"]
    elif not changes and sidecar != read_json(path):
        # it follows what the others' results have become
        told = read_json(executed)
    if told is None:
        return False
    then, files = _hash(path, project), {file: published.place(file, book, project) for file in sidecar[seal.FILES]}
    with whole(executed) as notebook, whole(path) as result:
        notebook.write_text(json_text(told), encoding="utf-8")
        result.write_text(json_text(seal.sealed(sidecar, files | {f"{book.id}.ipynb": notebook})), encoding="utf-8")
    hashes[f"results/{book.id}.json"] = then, _hash(path, project)
    return True


def _hash(file: Path, project: Project) -> str:
    (found,) = fingerprint.depends([file], project, {})["files"].values()
    return found


def _retold(executed: Path, source: Path) -> dict | None:
    """The executed notebook with the text cells of its source; None if their code differs."""
    content, wanted = read_json(executed), cells.read(source)
    ran = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    injected = [cell for cell in ran if INJECTED in _tags(cell)]
    ran = [cell for cell in ran if cell not in injected]
    if wanted is None or list(map(_text, ran)) != cells.code(source):
        return None
    rest, told = iter(ran), []
    for cell in wanted:
        told += [next(rest) if cell["cell_type"] == "code" else cell]
        if PARAMETERS in _tags(cell):
            told += injected
    return content | {"cells": told}


def _text(cell: dict) -> str:
    return "".join(cell["source"])


def _tags(cell: dict) -> list:
    return cell.get("metadata", {}).get("tags", [])
