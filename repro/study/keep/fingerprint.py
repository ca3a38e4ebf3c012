"""What a notebook's result depends on, and in what that differs from what it was made from.

Sources count without comments and docstrings, notebooks without outputs, and nothing by its date. The look of figures
is no part of a result, nor is what carries and judges it: a verdict is derived anew wherever it is shown. Of the
papers' claims the numbers count that a notebook has drawn or used. What has changed since is told part by part.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from repro.environment import counted
from repro.errors import InputError
from repro.files import LONGEST_DESCRIPTION, is_regular, read_toml
from repro.source_code import code_hash
from repro.study.judge import claims
from repro.study.keep import provenance
from repro.study.keep.results import digest, in_words
from repro.study.keep.sources import remember, sources
from repro.study.notebooks import Project, parameters, read_cells
from repro.study.notebooks.catalogue import EVERYTHING, Notebook
from repro.study.notebooks.parameters import defaults

LOOKS = ("papers/style.py",)
"""Sources that change how a figure looks, and nothing in it."""
STUDY = "study/"
"""Sources that carry, judge and show values, and compute none."""
IMPORT_OF_STUDY = re.compile(r"(?m)^from repro\.study[\w.]* import (\([^)]*\)|.*)\n?")
PARTS = ("files", "claims", "settings", "versions")


def dependencies(book: Notebook, project: Project, parameters: Mapping | None = None) -> list[Path]:
    """The notebook, the sources it imports directly or indirectly, its data files, and files its parameters name.

    `parameters` are those that have another value than their default.
    """
    source = book.source(project)
    values = defaults(source) | dict(parameters or {})
    own = {file for file in sources(source, project) if _counts(file, book, project)}
    data = {f for pattern in book.data for f in project.data.glob(pattern) if f.is_file()} - set(claims.files(project))
    named = {f for value in values.values() for f in _named(value, project.root)}
    return [source, *sorted(own), *sorted(data | named)]


def _counts(file: Path, book: Notebook, project: Project) -> bool:
    name = file.relative_to(project.package).as_posix()
    # what only shows the others' results is made by the study
    return name not in LOOKS and (not name.startswith(STUDY) or EVERYTHING in book.needs)


def stated_now(depends: Mapping, project: Project) -> dict[str, str]:
    """The numbers of the papers that a result has used, as they stand now; what is gone is left out."""
    used = depends.get("claims") or {}
    papers = {path.stem: path for path in claims.files(project)}
    wanted = {identifier.partition("-")[0] for identifier in used} & papers.keys()
    known = {claim.id: claim for paper in wanted for claim in claims.read(papers[paper])}
    return {identifier: known[identifier].stated for identifier in used if identifier in known}


def _named(value, folder: Path) -> Iterator[Path]:
    """The files that the texts in a value name, and those that a description in TOML names, whatever it is called."""
    for text in _texts(value):
        for path in _files_of(text, folder):
            yield path
            # nothing is said by what no reader takes
            with suppress(InputError):
                said = read_toml(path) if path.stat().st_size <= LONGEST_DESCRIPTION else {}
                yield from (file for text in _texts(said) for file in _files_of(text, path.parent))


def _texts(value) -> Iterator[str]:
    """All texts in a value, in its lists and tables too."""
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list | tuple | dict):
            rest += part.values() if isinstance(part, dict) else part


def _files_of(text: str, folder: Path) -> list[Path]:
    """The file that a text names, beside or below a folder, or all in the folder that it names, such as slices.

    Names are those of links, as a reader sees them: slices that change places are another image.
    """
    path = folder / text
    inside = path.iterdir() if Path(text).name not in ("", "..") and os.path.isdir(path) else [path]
    # a text that is too long for a name is no file, and no error
    return [file for file in inside if os.path.isfile(file) and is_regular(file)]


def depends(
    files: Iterable[Path], project: Project, settings: Mapping, names: Mapping[Path, str] | None = None
) -> dict:
    """What a result is made from: hashes of files by name, settings, and the versions that compute it.

    `names` gives names of files outside of the project.
    """
    known, hashes = names or {}, {}
    for file in files:
        # a file outside is where it is: two of one name are two files
        own = file.relative_to(project.root) if file.is_relative_to(project.root) else file
        hashes[known.get(file) or own.as_posix()] = _hash(file, project)
    # as it reads after it was kept as JSON
    return json.loads(json.dumps({"files": hashes, "settings": dict(settings), "versions": versions(settings)}))


def differences(old, new: Mapping, parts: Iterable[str] = PARTS) -> list[str]:
    """What has changed from `old` to `new`, a few words each; empty if nothing has."""
    found = []
    for part in parts:
        before, now = (old.get(part) or {}) if isinstance(old, Mapping) else {}, new.get(part, {})
        for name in (name for name in now if name in before and now[name] != before[name]):
            texts = [str(values[name]) for values in (before, now)]
            was, is_now = (text if len(text) <= 40 else f"{text[:37]}..." for text in texts)
            found.append(f"{name} changed" if part == "files" else f"{name} was {was} and is {is_now}")
        found += [f"{name} is gone" for name in before if name not in now]
        found += [f"{name} is new" for name in now if name not in before]
    return found


def versions(settings: Mapping) -> dict[str, str]:
    """The versions and variables of this process that compute a result with these settings."""
    driver = provenance.gpu().get("driver") if settings.get("device") == "cuda" else None
    return provenance.versions() | counted(os.environ) | ({"driver": driver} if driver else {})


def _hash(file: Path, project: Project) -> str:
    # elsewhere a file of any content may be called so
    if file.suffix == ".py" and file.is_relative_to(project.package):
        return _code_hash(file.read_text(encoding="utf-8"))
    if file.suffix == ".ipynb" and file.is_relative_to(project.notebooks):
        content = json.dumps([(c["cell_type"], without_study("".join(c["source"]))) for c in read_cells(file) or []])
    else:
        return digest(file)[:16]
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def without_study(code: str) -> str:
    """The text of a cell without the lines that import from the study: where it stands changes no result."""
    return IMPORT_OF_STUDY.sub("", code)


_code_hash = remember(code_hash)


ANYWHERE = ("files", "claims", "settings")
"""What can be compared on any machine; versions and the driver are those of the machine that ran."""


def named_results(folder: Path, own: Path) -> dict[Path, str]:
    """Results in a folder other than `own`, finished and failed, with the names by which others depend on them."""
    found = sorted(f for f in folder.rglob("*.json") if ".jobs" not in f.relative_to(folder).parts and f != own)
    return {file: f"results/{file.relative_to(folder).as_posix()}" for file in found}


def outdated(books: Iterable[Notebook], sidecars: Mapping[str, dict], project: Project) -> dict[str, str]:
    """Why results no longer fit sources, data and catalogue, by notebook; what shows other results is left out."""
    own = [book for book in books if book.id in sidecars and EVERYTHING not in book.needs]
    found = {book.id: changes_since(book, sidecars[book.id]["run"], project) for book in own}
    return {identifier: in_words(changes) for identifier, changes in found.items() if changes}


def changes_since(
    book: Notebook, run: Mapping, project: Project, others: Mapping[Path, str] | None = None
) -> list[str]:
    """In what sources, data and catalogue differ from those that a run was made from.

    `others` names other results, for what shows them.
    """
    others = others if others and EVERYTHING in book.needs else {}
    machine = {"profile": run["profile"], "device": run["device"]}
    chosen = parameters.of_profile(book, parameters.defaults(book.source(project)), **machine) | run.get("changed", {})
    now = depends([*dependencies(book, project, chosen), *others], project, machine | chosen, others)
    return differences(run["depends"], now | {"claims": stated_now(run["depends"], project)}, ANYWHERE)
