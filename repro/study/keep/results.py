"""What a run folder holds of a notebook, read with care: files may be missing, cut off or not ours.

A seal, hashes of the executed notebook, of the figures and of the result itself, tells a result that was edited or
mixed up from one that a run made. It is no signature: who computes it anew can forge it.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from repro.errors import InputError, require
from repro.files import json_text, read_json
from repro.study.judge.evidence import Evidence, read_evidence
from repro.study.notebooks import Project, catalogue, has_shape, read_cells, require_folder
from repro.study.notebooks.catalogue import Catalogue
from repro.study.notebooks.parameters import show


@dataclass(frozen=True)
class Result:
    """What there is of one notebook."""

    sidecar: dict | None
    """The finished result, None without one."""
    failure: dict | None
    """Why the notebook failed last, None if it did not."""
    trouble: str
    """Which file is damaged or missing, so that the notebook is not finished; empty if none is."""


def look(folder: Path, identifier: str) -> Result:
    """The result of notebook `identifier` in a run folder."""
    path = folder / f"{identifier}.json"
    sidecar, trouble = _read(folder, f"{identifier}.json", lambda content: flaw_of(content, identifier))
    failed = f"failed/{identifier}.json"
    failure, odd = _read(folder, failed, lambda content: "" if has_shape(content, _FAILURE) else "damaged")
    if sidecar is not None:
        flaws = [f"{name} is a link" for name in sidecar[FILES] if link_in(folder, name)]
        flaws = flaws or seal_flaws(path, lambda name: folder / name)
        if not flaws and read_cells(folder / f"{identifier}.ipynb") is None:
            flaws = [f"{identifier}.ipynb is damaged"]
        trouble = in_words(flaws) if flaws else ""
        if trouble.startswith(path.name):
            sidecar = None
    return Result(sidecar, failure, trouble or odd)


def in_words(faults: list[str]) -> str:
    """The first of some changes or flaws, and how many more there are."""
    return faults[0] + (f", and {len(faults) - 1} more" if len(faults) > 1 else "")


def evidence_of(sidecar: dict) -> dict[str, Evidence]:
    """What a result says about each claim."""
    return {claim: read_evidence(claim, entry) for claim, entry in sidecar["claims"].items()}


def figure_files(sidecar: dict | None) -> list[str]:
    """Files of all figures of a result, relative to the run folder."""
    names = [name for figure in (sidecar or {}).get("figures", {}).values() for name in figure["files"]]
    return list(dict.fromkeys(names))


def untrue(sidecar: dict) -> list[str]:
    """Sentences of a notebook that its run does not show."""
    return [sentence["text"] for sentence in sidecar.get("sentences", []) if not sentence["holds"]]


def reason(failure: dict) -> str:
    """Why a notebook failed, in one line; empty where it did not."""
    return ": ".join(filter(None, (failure.get("error"), failure.get("message"))))


def _read(folder: Path, name: str, flaw_in) -> tuple[dict | None, str]:
    if link_in(folder, name):
        return None, f"{name} is damaged (a link)"
    content = read_json(folder / name)
    if content is None:
        return None, f"{name} is damaged" if (folder / name).exists() else ""
    flaw = flaw_in(content)
    return (None, f"{name} is damaged" + (f" ({flaw})" if flaw != "damaged" else "")) if flaw else (content, "")


def _is_number(value) -> bool:
    # no comparison holds for NaN, and whole numbers may be too large for a float
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max


def _is_below_figures(name) -> bool:
    """No file elsewhere may be replaced or removed in the name of a figure, on any system: the names that runs give."""
    return isinstance(name, str) and re.fullmatch(r"figures/\w[\w.-]*", name) is not None


def link_in(folder: Path, name: str) -> Path | None:
    """A link on the way from a folder to a file in it, which leads elsewhere, if there is one."""
    way = (folder / name, *(folder / name).parents)
    return next((path for path in way if path != folder and path.is_relative_to(folder) and path.is_symlink()), None)


def require_no_links(folder: Path, names: Iterable[str] | None = None) -> None:
    """Refuse a folder with links in it, or what has no end, or links on the way to files of these `names`.

    Somebody else may have made it: what links lead to is neither shown nor replaced in the name of a result.
    """
    for name in _all_in(folder) if names is None else names:
        if link := link_in(folder, name):
            raise InputError(f"{link} is a link: results lie in their own folder; put there what it leads to")
        path = folder / name
        # what is gone meanwhile is none of these
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError(f"{path} is a pipe, a socket or a device, which no run makes: remove it")


def _all_in(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        yield from (os.path.relpath(os.path.join(place, name), folder) for name in (*folders, *files))
        # what is in there comes and goes
        folders[:] = [name for name in folders if name != ".jobs"]


FILES, SEAL = "files", "seal"

#: state of a notebook that has no result
NOT_RUN = "not run"

#: where a notebook lies is known without its name
SEALED = {
    FILES: lambda files: isinstance(files, dict) and all(_is_below_figures(n) or n.endswith(".ipynb") for n in files)
}
_FAILURE = {"error": str, "message": str, "profile?": str, "machine?": str, "changed?": dict}
_RESULT = {
    # what the runner notes
    "run": {
        "finished": lambda value: value is True,
        "started": _is_number,
        "seconds": _is_number,
        "profile": str,
        # it becomes a folder
        "machine": lambda name: isinstance(name, str) and re.fullmatch(r"\w[\w.-]*", name),
        "device": str,
        "depends": {"files": dict, "settings?": dict, "versions?": dict, "claims?": {str: str}},
        "parameters": dict,
        "changed?": dict,
    },
    "claims": dict,
    "rules?": {str: {str: str}},
    "figures": {str: {"files": [_is_below_figures], "caption?": str}},
    "headlines?": [str],
    "sentences?": [{"text": str, "holds": bool}],
    "void": list,
    "provenance": dict,
}


def flaw_of(content, identifier: str) -> str:
    """What keeps `content` from being a notebook's result; empty if nothing does, "damaged" if it is none at all."""
    if not has_shape(content, _RESULT):
        return "damaged"
    if content.get("id") != identifier:
        return f"it is the result of {content.get('id')}"
    # nothing may be put elsewhere in the name of the result, nor any of its files be left unsealed
    if not has_shape(content, {FILES: dict}) or set(content[FILES]) != {f"{identifier}.ipynb", *figure_files(content)}:
        return "it seals other files than its own"
    try:
        evidence_of(content)
    except InputError as error:
        return str(error)
    return ""


def newest(project: Project, profile: str = "") -> Path:
    """The run folder with the profile's own parameters that was written to last; InputError if there is none."""
    if profile:
        catalogue.load(project).require_profile(profile)
    # runs with changed parameters, PROFILE,NAME=VALUE, are shown only on request
    locks = project.build.glob(f"{profile or '*'}/*/.lock")
    found = [lock.parent for lock in locks if "," not in lock.parent.parent.name]
    what, option = (f"the profile {profile}", f" --profile {profile}") if profile else ("any profile", "")
    require(found, f"no results of {what} in {project.build.name}/: start with `python -m repro run{option}`")
    return max(found, key=lambda f: f.stat().st_mtime)


def look_at_all(folder: Path, books: Catalogue, project: Project) -> dict[str, Result]:
    """What there is of every notebook's result; InputError if none has finished or failed."""
    require_folder(folder)
    require_no_links(folder)
    found = {book.id: look(folder, book.id) for book in books.notebooks}
    if any(result.sidecar or result.failure for result in found.values()):
        return found
    damaged = "".join(f" ({i}: {result.trouble})" for i, result in found.items() if result.trouble)
    name = folder.resolve().parent.name
    ours = folder.resolve().parents[1:2] == (project.build,) and name in books.profiles()
    option = f"--profile {name}" if ours else f"--output {folder}"
    raise InputError(f"no finished run is in {folder}{damaged}: make one with `python -m repro run {option}`")


def named(found: dict[str, Result], key: str) -> set[str]:
    """Profiles or machines (`key`) that results and failures name."""
    return {fact[key] for result in found.values() for fact in _facts(result) if key in fact}


def changed_parameters(found: dict[str, Result]) -> dict[str, str]:
    """The parameters that were changed for each notebook, for people; only notebooks with such."""
    texts = {i: [show(fact["changed"]) for fact in _facts(r) if fact.get("changed")] for i, r in found.items()}
    return {i: " and ".join(dict.fromkeys(some)) for i, some in texts.items() if some}


def _facts(result: Result) -> list[dict]:
    """What the runner noted in a result and in a failure after it."""
    return [facts for facts in ((result.sidecar or {}).get("run"), result.failure) if facts]


def sealed(sidecar: Mapping, files: Mapping[str, Path]) -> dict:
    """The result with the hashes of its files, by name, and its own."""
    content = {k: v for k, v in sidecar.items() if k != SEAL} | {FILES: {n: digest(p) for n, p in files.items()}}
    return {**content, SEAL: _hash(json_text(content).encode())}


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def digest(path: Path) -> str:
    """SHA-256 of a file, which may be larger than the memory; empty for a pipe or a device, which may have no end."""
    if path.exists() and not path.is_file():
        return ""
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def seal_flaws(path: Path, place: Callable[[str], Path]) -> list[str]:
    """What is wrong with the sealed result at `path`, a line each; `place` tells where a file of it lies."""
    content = read_json(path)
    if not has_shape(content, SEALED):
        return [f"{path.name} is damaged"]
    # of all bytes but the line of the seal, the last one: what reads the same is not the same
    rest, _, own = path.read_bytes().rpartition(f',\n "{SEAL}": '.encode())
    end = b"\n}\n"
    if own != f'"{_hash(rest + end)}"'.encode() + end:
        return [f"{path.name} was edited after the run"]
    flaws = []
    for name, wanted in content[FILES].items():
        if (file := place(name)).is_symlink() or not file.is_file():
            flaws.append(f"{name} is missing")
        elif digest(file) != wanted:
            flaws.append(f"{name} is not what the run made")
    return flaws
