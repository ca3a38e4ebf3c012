"""Copies a finished run into the checkout: rendered notebooks, figures, measured data. And renews published texts.

A run takes a GPU and an hour, a better sentence takes neither: where the text of a notebook alone has changed, what was
computed stands. The code of the executed notebook, which the seal vouches for, must be that of the source, and
everything else that the result depends on must be as it was.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from repro.errors import InputError, require
from repro.files import json_text, read_json, whole
from repro.study.keep import fingerprint, provenance, results
from repro.study.notebooks import Project, as_rendered, catalogue, parameters, read_cells, read_code, require_writable
from repro.study.notebooks.catalogue import EVERYTHING, Notebook
from repro.study.publish import published

PUBLISHED = ("paper", "beyond")
"""Profiles whose results stand for the papers' claims."""


def publish(
    folder: Path | None = None, profile: str = PUBLISHED[0], *, project: Project, beside: bool = False
) -> list[Path]:
    """Copy the run in `folder` (made here or elsewhere), else the newest of `profile`.

    Several runs may build one publication: what a folder does not hold must be published already, and still fit. A run
    that is to stand `beside` what another machine shows adds its measurements alone.
    InputError if a notebook failed, is unfinished, was edited, did not converge, or was made from other sources than
    those at hand, from a tree with changes, at a smaller size than the papers' or with changed parameters. Notebooks
    go to notebooks/rendered, figures to figures, sidecars to data/measured/MACHINE; those of other machines stay as
    long as they fit.
    """
    _require_published(profile, f"profile {profile}")
    folder = folder or results.newest(project, profile)
    books = catalogue.load(project)
    found = results.look_at_all(folder, books, project)
    profiles = sorted(results.named(found, "profile"))
    require(len(profiles) == 1, f"{folder} mixes the profiles {', '.join(profiles)}: nothing is published")
    profile = profiles[0]
    _require_published(profile, f"{folder} holds the profile {profile}")
    expected = [book for book in books.notebooks if profile in book.profiles]
    ran = [book for book in expected if found[book.id].sidecar or found[book.id].failure or found[book.id].trouble]
    require_clean(project)
    made = [found[book.id].sidecar for book in ran if found[book.id].sidecar]
    if changed := published.rule_changes(books.notebooks, project, made):
        raise InputError(f"{changed[0]}: nothing is published")
    for book in ran:
        for fault in _faults(book, found[book.id], folder, project):
            raise InputError(f"{fault}: nothing is published")
    for book in expected:
        if book not in ran and (why := published.flaw(book, project)):
            raise InputError(f"{book.id} is not in {folder.name}, and of what is published {why}: nothing is published")
    if beside:
        copies = [pair for book in ran for pair in _measured(book, found[book.id].sidecar, folder, project)]
        gone = set()
    else:
        copies = [pair for book in ran for pair in _copies(book, found[book.id].sidecar, folder, project)]
        # figures that a notebook draws no more, and results of other machines that do not fit any more
        gone = {file for book in ran for file in _replaced(book, project)} - {target for _, target in copies}
    touched = (*(target for _, target in copies), *gone, published.list_file(project))
    results.require_no_links(project.root, [file.relative_to(project.root).as_posix() for file in touched])
    _put(copies, project)
    published.note(books, gone, project)
    for file in gone:
        file.unlink(missing_ok=True)
    return [target for _, target in copies]


def _put(copies: list[tuple[Path, Path]], project: Project) -> None:
    """Copy all files or, where there is no room or no right to, none."""
    for folder in {target.parent for _, target in copies}:
        require_writable(folder, "publish writes into the checkout")
    project.build.mkdir(exist_ok=True)
    # what a killed process leaves there is no change of the checkout
    with TemporaryDirectory(prefix="publishing-", dir=project.build) as staging:
        staged = [(Path(staging) / str(k), target) for k, (_, target) in enumerate(copies)]
        for (source, _), (copy, _) in zip(copies, staged, strict=True):
            shutil.copyfile(source, copy)
        for copy, target in staged:
            shutil.move(copy, target)


def require_clean(project: Project) -> None:
    """Raise InputError if the checkout has changes that are not committed, or no commit."""
    at_hand = provenance.commit(project.root)
    if at_hand.get("dirty", True):
        why = "has changes that are not committed" if at_hand else "has neither git nor a manifest"
        raise InputError(f"the checkout {why}: nothing is published")


def _faults(book: Notebook, result: results.Result, folder: Path, project: Project) -> Iterator[str]:
    """Why a result of a run is not published."""
    if result.failure:
        yield f"{book.id} failed in {folder.name}"
    if result.trouble or not result.sidecar:
        yield f"{book.id} is not finished in {folder.name}" + (f" ({result.trouble})" if result.trouble else "")
        return
    run, made = result.sidecar["run"], result.sidecar["provenance"]
    if result.sidecar["void"]:
        yield f"{book.id} is not valid ({result.sidecar['void'][0]})"
    if untrue := results.untrue(result.sidecar):
        yield f"{book.id} says what its run does not show ('{untrue[0]}')"
    if run.get("changed"):
        yield f"{book.id} ran with {parameters.show(run['changed'])}, not as its profile says"
    others = fingerprint.named_results(folder, folder / f"{book.id}.json")
    if changes := fingerprint.changes_since(book, run, project, others):
        yield f"{book.id} is out of date, {results.in_words(changes)}"
    if made.get("dirty", True) or not made.get("commit"):
        yield f"{book.id} was made from a tree with changes or without a commit"


def _require_published(profile: str, what: str) -> None:
    require(profile in PUBLISHED, f"{what}: only runs of the profile {' or '.join(PUBLISHED)} are published")


def _copies(book: Notebook, sidecar: dict, folder: Path, project: Project) -> list[tuple[Path, Path]]:
    """Sidecars last: they say what the other files must be."""
    measured = published.sidecar_of(book, sidecar["run"]["machine"], project)
    files = [(folder / name, published.place(name, book, project)) for name in sidecar["files"]]
    return [*files, (folder / f"{book.id}.json", measured)]


def _measured(book: Notebook, sidecar: dict, folder: Path, project: Project) -> list[tuple[Path, Path]]:
    """The sidecar alone, where another machine shows the notebook; what shows the others' results is left out."""
    if EVERYTHING in book.needs:
        return []
    target, shown = published.sidecar_of(book, sidecar["run"]["machine"], project), published.shown(book, project)
    if shown in (None, target):
        raise InputError(f"{book.id} is not published by another machine: publish it without --beside")
    return [(folder / f"{book.id}.json", target)]


def _replaced(book: Notebook, project: Project) -> set[Path]:
    """The published files of a notebook but the measurements of other machines that still fit."""
    kept = [] if EVERYTHING in book.needs else [p for p in published.sidecars(book, project) if _fits(p, book, project)]
    return published.files(book, project) - set(kept)


def _fits(path: Path, book: Notebook, project: Project) -> bool:
    flaws = published.own_flaws(path, results.seal_flaws(path, lambda name: published.place(name, book, project)))
    return not flaws and not fingerprint.changes_since(book, read_json(path)["run"], project)


INJECTED, PARAMETERS = "injected-parameters", "parameters"
"""Tags of the cell that papermill adds, and of the one after which it stands."""


def republish_text(project: Project) -> list[str]:
    """Put the text of the sources at hand into published notebooks; returns the ids of those that were renewed.

    Left as it is: what was edited, what has changed in more than its text, and what other machines have beside the
    result that is shown, whose executed notebooks are not here; `status --published` names them.
    InputError if the checkout has changes that are not committed.
    """
    require_clean(project)
    books, hashes = catalogue.load(project).notebooks, {}
    # what shows the others' results depends on them
    ordered = sorted(books, key=lambda book: EVERYTHING in book.needs)
    return [book.id for book in ordered if _renewed(book, hashes, project)]


def _renewed(book: Notebook, hashes: dict[str, tuple[str, str]], project: Project) -> bool:
    """Renew one notebook if its text is all that has changed; `hashes` are those of results before and after."""
    path = published.shown(book, project)
    if path is None or published.missing(book, project) or published.edits(path, book, project):
        return False
    sidecar, source = read_json(path), book.source(project)
    name, depends = source.relative_to(project.root).as_posix(), sidecar["run"]["depends"]["files"]
    depends |= {result: now for result, (then, now) in hashes.items() if depends.get(result) == then}
    changes, told = published.changes(path, sidecar["run"], book, project), None
    executed = published.place(f"{book.id}.ipynb", book, project)
    if changes == [f"{name} changed"]:
        told = _retold(executed, source)
        depends[name], sidecar["run"]["text"] = _hash(source, project), provenance.commit(project.root)["commit"]
    elif not changes and sidecar != read_json(path):
        # it follows what the others' results have become
        told = read_json(executed)
    if told is None:
        return False
    then, files = _hash(path, project), {file: published.place(file, book, project) for file in sidecar[results.FILES]}
    with whole(executed) as notebook, whole(path) as result:
        notebook.write_text(json_text(told), encoding="utf-8")
        result.write_text(json_text(results.sealed(sidecar, files | {f"{book.id}.ipynb": notebook})), encoding="utf-8")
    hashes[f"results/{book.id}.json"] = then, _hash(path, project)
    return True


def _hash(file: Path, project: Project) -> str:
    (found,) = fingerprint.depends([file], project, {})["files"].values()
    return found


def _retold(executed: Path, source: Path) -> dict | None:
    """The executed notebook with the text cells of its source; None if their code differs."""
    content, wanted = read_json(executed), read_cells(source)
    ran = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    injected = [cell for cell in ran if INJECTED in _tags(cell)]
    ran = [cell for cell in ran if cell not in injected]
    codes = (["".join(cell["source"]) for cell in ran], read_code(source))
    then, now = (list(map(fingerprint.without_study, code)) for code in codes)
    if wanted is None or then != now:
        return None
    rest, told = iter(ran), []
    for cell in wanted:
        told += [next(rest) if cell["cell_type"] == "code" else cell | {"source": as_rendered("".join(cell["source"]))}]
        if PARAMETERS in _tags(cell):
            told += injected
    return content | {"cells": told}


def _tags(cell: dict) -> list:
    return cell.get("metadata", {}).get("tags", [])
