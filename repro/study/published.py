"""What is published in this checkout: whether it is what the runs made, and whether the sources have outgrown it."""

from collections.abc import Mapping
from pathlib import Path

from repro.files import read_json

from . import catalogue, fingerprint, seal
from .catalogue import EVERYTHING, Catalogue, Notebook
from .outdated import changes_since
from .paths import Project
from .results import Result, figure_files, flaw_of


def sidecar_of(book: Notebook, machine: str, project: Project) -> Path:
    """Where the result of a notebook on a machine is published."""
    return project.data / "measured" / machine / f"{book.id}.json"


def place(name: str, book: Notebook, project: Project) -> Path:
    """Where a file of a result, named as in its run folder, is published."""
    return project.notebooks / "rendered" / book.relative if name.endswith(".ipynb") else project.root / name


def sidecars(book: Notebook, project: Project) -> list[Path]:
    """The published results of a notebook, by machine."""
    return sorted((project.data / "measured").glob(f"*/{book.id}.json"))


def shown(book: Notebook, project: Project) -> Path | None:
    """The published result whose executed notebook and figures are in the checkout; those of others stand beside it."""
    found = sidecars(book, project)
    if len(found) < 2:
        return found[0] if found else None
    return min(found, key=lambda path: _distance(path, book, project))


def _distance(path: Path, book: Notebook, project: Project) -> tuple[bool, int, bool]:
    """Whether anything is wrong with a result, how many files are not those that it lists, and whether it is sound.

    Figures of two machines may be the same. So where all is not well a result that was edited or damaged itself comes
    before one that was not: else what was done to it would be told of the other one, too.
    """
    content = read_json(path)
    listed = content.get(seal.FILES) if isinstance(content, dict) else None
    files = {place(name, book, project): wanted for name, wanted in listed.items()} if isinstance(listed, dict) else {}
    others = sum(not file.is_file() or seal.digest(file) != wanted for file, wanted in files.items())
    flaws = seal.flaws(path, lambda name: place(name, book, project))
    return bool(flaws), others, not own_flaws(path, flaws)


def files(book: Notebook, project: Project) -> set[Path]:
    """The published files of a notebook, of all machines; of a damaged result only itself."""
    found = set()
    for path in sidecars(book, project):
        content = read_json(path)
        names = () if flaw_of(content, book.id) else (f"{book.id}.ipynb", *figure_files(content))
        found |= {path, *(place(name, book, project) for name in names)}
    return found


def look(book: Notebook, machine: str, project: Project) -> Result:
    """What is published of a notebook's result on a machine, as `results.look` says it of a run folder."""
    path = sidecar_of(book, machine, project)
    if not path.exists():
        return Result(None, None, "")
    trouble = next(iter(edits(path, book, project)), "")
    # an executed notebook or a figure may be lost; a result that was edited itself says nothing
    return Result(None if trouble.startswith(path.name) else read_json(path), None, trouble)


def flaw(book: Notebook, project: Project) -> str:
    """Why a notebook's published result cannot stand, in words; empty if it can."""
    found = sidecars(book, project)
    if not found:
        return "it is missing"
    return next((problem for path in found for problem in _flaws(path, book, project)), "")


def edited(books: Catalogue, project: Project) -> list[str]:
    """A line for each published file that is not what a run made."""
    found = [(book, path) for book in books.notebooks for path in sidecars(book, project)]
    return [f"{book.id}: {text}" for book, path in found for text in edits(path, book, project)]


def states(books: Catalogue, project: Project) -> dict[str, str]:
    """What there is of each notebook's published result: "up to date", or what is wrong with it."""
    return {book.id: flaw(book, project) or "up to date" for book in books.notebooks}


def changes(path: Path, run: Mapping, book: Notebook, project: Project) -> list[str]:
    """In what the sources at hand differ from those of a published result, of which `run` tells."""
    books = catalogue.load(project).notebooks if EVERYTHING in book.needs else ()
    # what shows the others' results shows those that are published with their notebooks, of whatever machine
    others = {file: f"results/{other.id}.json" for other in books if (file := shown(other, project))}
    return changes_since(book, run, project, {file: name for file, name in others.items() if file != path})


def _flaws(path: Path, book: Notebook, project: Project) -> list[str]:
    if found := edits(path, book, project):
        return found
    found = changes(path, read_json(path)["run"], book, project)
    return [f"out of date: {fingerprint.in_words(found)}"] if found else []


def edits(path: Path, book: Notebook, project: Project) -> list[str]:
    """What of a published result is not what a run made, a line each."""
    content = read_json(path)
    if why := flaw_of(content, book.id):
        return [f"{path.name} is damaged" + (f" ({why})" if why != "damaged" else "")]
    if content["run"]["machine"] != machine_of(path, project):
        return [f"{path.name} is of another machine, {content['run']['machine']}"]
    found = seal.flaws(path, lambda name: place(name, book, project))
    # what stands beside the results of another machine has neither notebook nor figures here
    return found if path == shown(book, project) else own_flaws(path, found)


def own_flaws(path: Path, flaws: list[str]) -> list[str]:
    """Those of a result's flaws that are in the sealed result itself, and not in its files."""
    return [flaw for flaw in flaws if flaw.startswith(f"{path.name} ")]


def machine_of(path: Path, project: Project) -> str:
    """The machine below whose name a result is published."""
    return path.relative_to(project.data / "measured").parts[0]
