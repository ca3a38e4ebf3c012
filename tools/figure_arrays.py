"""Compares the arrays behind every figure of a smoke run with those committed in data/smoke/figures.json.

.venv/bin/python tools/figure_arrays.py build/smoke/MACHINE            # exit status 1 and a line a difference
.venv/bin/python tools/figure_arrays.py build/smoke/MACHINE --write    # commit these

What is written is of the notebooks that have run there and fit the sources; of the others stays what was kept.

Arrays and not pixels: fonts and versions of matplotlib change pixels, physics changes arrays. The arrays of a notebook
on speed are times, and are left out. Every notebook must have the figures and tables that it had, with all their files,
and no figure may be there that is nobody's. The reference is of a machine without a GPU.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from repro.files import read_json, write_json
from repro.study.keep import fingerprint, results
from repro.study.notebooks import Project, catalogue
from repro.study.notebooks.catalogue import EVERYTHING, Notebook

REFERENCE = Path(__file__).resolve().parent.parent / "data/smoke/figures.json"
MISSING = results.Result(None, None, "")
"""Of a notebook that has not run."""
MOST = 32
"""Values kept of an array, spread over it."""
TOLERANCE = 1e-3
"""Of the largest value of an array: what processors with other units may round differently."""
TINY = 1e-300
LOOSE = {
    "porous/bcc_precision figures changes change, single, deviations": "it is rounding itself",
    "dpd/random_numbers": "method one draws numbers in the order in which threads come",
}
"""Beginnings of the names of arrays that differ from run to run or processor, and why."""
FACTOR = 30
"""How far the root mean squares of such arrays may be apart."""


def main() -> int:
    """Compare or write; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a finished smoke run")
    parser.add_argument("--write", action="store_true", help="make what has run there the reference")
    given = parser.parse_args()
    books = drawing(Project.default())
    if given.write:
        ran = finished(books, given.folder, Project.default())
        found = contents(ran, given.folder)
        write_json(REFERENCE, merged(read_json(REFERENCE) or {}, found, books))
        print("\n".join([*found, f"{len(found)} of {len(books)} notebooks written"]))
        return 0
    found = contents(books, given.folder)
    lines = [*differences(read_json(REFERENCE), found), *orphans(given.folder)]
    count = sum(len(book["figures"]) for book in found.values())
    print("\n".join([*lines, f"{count} figures compared, {len(lines)} differences"]))
    return 1 if lines else 0


def drawing(project: Project) -> list[Notebook]:
    """The notebooks of the smoke profile that have figures of their own."""
    return [b for b in catalogue.load(project).notebooks if "smoke" in b.profiles and EVERYTHING not in b.needs]


def finished(books: list[Notebook], folder: Path, project: Project) -> list[Notebook]:
    """Those whose result in a run's folder is of the sources at hand."""
    found = {book.id: result for book in books if (result := results.look(folder, book.id)) != MISSING}
    sound = {name: result.sidecar for name, result in found.items() if result.sidecar and not result.trouble}
    old = fingerprint.outdated(books, sound, project)
    return [book for book in books if book.id in found and book.id not in old]


def merged(kept: dict, found: dict, books: list[Notebook]) -> dict:
    """What was kept of each notebook, or in its place what was found, in the order of the catalogue."""
    known = kept | found
    return {book.id: known[book.id] for book in books if book.id in known}


def contents(books: list[Notebook], folder: Path) -> dict:
    """What each notebook has: {notebook: {"tables": {name: {}}, "figures": {name: {array: {"shape", "values"}}}}}."""
    return {book.id: _contents_of(book, folder) for book in books}


def _contents_of(book: Notebook, folder: Path) -> dict:
    result = results.look(folder, book.id)
    if result.sidecar is None or result.trouble:
        raise SystemExit(f"{folder}: {book.id} has no whole result {result.trouble}")
    drawn = result.sidecar["figures"].items()
    figures = {name: {} if book.timing else _arrays_of(figure, folder) for name, figure in drawn}
    return {"tables": {name: {} for name in result.sidecar["tables"]}, "figures": figures}


def _arrays_of(figure: dict, folder: Path) -> dict:
    arrays = dict(figure.get("arrays", {}))
    for name in figure["files"]:
        if name.endswith(".npz"):
            arrays |= np.load(folder / name)
    return {name: _kept(np.asarray(values)) for name, values in arrays.items()}


def orphans(folder: Path) -> list[str]:
    """Figures in a run's folder that no result names."""
    apart = {".jobs", "failed"}
    sidecars = [read_json(f) for f in folder.rglob("*.json") if not apart & set(f.relative_to(folder).parts)]
    named = {name for sidecar in sidecars for name in results.figure_files(sidecar)}
    files = sorted(file.relative_to(folder).as_posix() for file in (folder / "figures").iterdir())
    return [f"{name}: is nobody's" for name in files if name not in named]


def _kept(values: np.ndarray) -> dict:
    kept = {"shape": list(values.shape)}
    flat = values.ravel()
    some = flat[np.linspace(0, flat.size - 1, min(flat.size, MOST)).astype(int)]
    if some.dtype.kind not in "biuf":
        return kept | {"values": some.astype(str).tolist()}
    return kept | {"values": [float(f"{value:.6g}") for value in np.nan_to_num(some.astype(float))]}


def differences(wanted: dict, found: dict, above: str = "") -> Iterator[str]:
    """A line for each notebook, figure or array that is missing, too much, or other than it was."""
    for name in sorted(wanted.keys() | found.keys()):
        path = f"{above} {name}".strip()
        if name not in found or name not in wanted:
            yield f"{path}: {'is not there' if name not in found else 'is new'}"
        elif "shape" not in wanted[name]:
            yield from differences(wanted[name], found[name], path)
        elif why := _other(wanted[name], found[name], loose=path.startswith(tuple(LOOSE))):
            yield f"{path}: {why}"


def _other(wanted: dict, found: dict, loose: bool) -> str:
    """In what an array is not as it was; empty if it is."""
    was, now = (np.array(kept.get("values", [])) for kept in (wanted, found))
    if wanted["shape"] != found["shape"]:
        # one look more or less at a run until it has settled
        if len(wanted["shape"]) != 1 or abs(wanted["shape"][0] - found["shape"][0]) > 1:
            return f"has the shape {found['shape']}, not {wanted['shape']}"
        was, now = was[[0, -1]], now[[0, -1]]
    if "U" in (was.dtype.kind, now.dtype.kind):
        return "" if was.tolist() == now.tolist() else "has other texts"
    if not was.size:
        return ""
    if loose:
        apart = _size(now) / _size(was)
        return "" if 1 / FACTOR <= apart <= FACTOR else f"is {apart:.2g} times as large"
    off = np.abs(now - was).max() / max(np.abs(was).max(), TINY)
    return f"is off by {off:.2g} of its largest value" if off > TOLERANCE else ""


def _size(values: np.ndarray) -> float:
    return max(float(np.sqrt((values**2).mean())), TINY)


if __name__ == "__main__":
    sys.exit(main())
