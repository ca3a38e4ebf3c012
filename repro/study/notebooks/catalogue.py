"""The catalogue of notebooks, notebooks/catalogue.toml."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from math import inf
from pathlib import Path

from repro.errors import InputError, require
from repro.files import read_toml
from repro.study.notebooks import Project, did_you_mean, file_stem, has_shape

EVERYTHING = "*"

ALL_PAPERS = "all"
BEYOND = "beyond"
"""What stands for the paper of a notebook that is about none: it has no claims."""


@dataclass(frozen=True, eq=False)
class Notebook:
    """One entry of the catalogue."""

    id: str
    """Path below notebooks/ without its ending."""
    paper: str
    """Key of the paper, "all", or "beyond" for none."""
    title: str
    needs: tuple[str, ...] = ()
    """Ids that must be finished before; "*" for all others."""
    tests: tuple[str, ...] = ()
    """Ids of the claims that it tests."""
    data: tuple[str, ...] = ()
    """Globs below data/ of the files it reads."""
    timing: bool = False
    """It measures speed: it has all cores, and the others stand still while it does."""
    profiles: dict[str, dict] = field(default_factory=dict)
    """Parameters for each profile it takes part in."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Expected duration for each profile."""
    limits: dict[str, dict] = field(default_factory=dict)
    """What its parameters can be, by name: the least and most of a number, or what a value must be one of."""
    shows: dict[str, list[str]] = field(default_factory=dict)
    """What shows a figure, a table or a section of the paper: names of figures, or a heading with its #."""
    file: str = ""
    """File below notebooks/, where it is not ID.ipynb."""

    @property
    def relative(self) -> Path:
        """The notebook's file below notebooks/."""
        return Path(self.file or f"{self.id}.ipynb")

    @property
    def slug(self) -> str:
        """The id as a file name."""
        return file_stem(self.id)

    def source(self, project: Project) -> Path:
        """The notebook's file."""
        return project.notebooks / self.relative


@dataclass(frozen=True)
class Catalogue:
    """All notebooks, in the order in which they run."""

    notebooks: tuple[Notebook, ...]

    def papers(self) -> list[str]:
        """Key of every paper that some notebook is about."""
        keys = dict.fromkeys(book.paper for book in self.notebooks)
        return [key for key in keys if key not in (ALL_PAPERS, BEYOND)]

    def profiles(self) -> list[str]:
        """Every profile that some notebook has."""
        return list(dict.fromkeys(name for book in self.notebooks for name in book.profiles))

    def require_profile(self, name: str) -> None:
        """InputError if no notebook has the profile."""
        known = self.profiles()
        require(name in known, f"unknown profile '{name}': choose one of {', '.join(known)}")

    def select(self, names: Iterable[str] | None = None) -> list[Notebook]:
        """Notebooks by id, last part of an id, or folder, with those they need; all without names."""
        if not names:
            return list(self.notebooks)
        chosen = {book.id for name in names for book in self._match(name)}
        while extra := {n for b in self.notebooks if b.id in chosen for n in b.needs} - chosen - {EVERYTHING}:
            chosen |= extra
        return [book for book in self.notebooks if book.id in chosen]

    def _match(self, name: str) -> list[Notebook]:
        name = name.removesuffix(".ipynb").removeprefix("notebooks/").rstrip("/")
        exact = [book for book in self.notebooks if name in (book.id, str(book.relative.with_suffix("")))]
        folder = [book for book in self.notebooks if book.id.startswith(f"{name}/")]
        last = [book for book in self.notebooks if book.id.rpartition("/")[2] == name]
        if not exact and not folder and len(last) > 1:
            raise InputError(f"notebook '{name}' is ambiguous: {' or '.join(book.id for book in last)}")
        found = exact or folder or last
        if not found:
            ids = [book.id for book in self.notebooks]
            short = [book.id.rpartition("/")[2] for book in self.notebooks]
            raise InputError(f"unknown notebook '{name}': {did_you_mean(name, ids + short)}")
        return found


def _is_limit(value) -> bool:
    """Whether a table says what a value must be one of, or bounds and factor of a number, or what a list has."""
    if not isinstance(value, dict) or not value:
        return False
    if "one_of" in value:
        return len(value) == 1 and isinstance(value["one_of"], list) and value["one_of"] != []
    bounds = {name: bound for name, bound in value.items() if name not in ("has", "together", "fewest")}
    known = bounds.keys() <= {"least", "most", "multiple"} and bounds.get("multiple", 1) != 0
    ends = (bounds.get(end, 0) for end in ("least", "most"))
    each = [bounds.get("multiple", 1), *(part for end in ends for part in (end if isinstance(end, list) else [end]))]
    right = known and all(type(bound) in (int, float) for bound in each)
    lists = isinstance(value.get("has", []), list) and value.get("together", True) is True
    return right and lists and type(value.get("fewest", 1)) is int


_TEXT, _TEXTS = ("a text", str), ("a list of texts", [str])

_RIGHT = {
    "id": (
        "a path of letters, digits, _ and -",
        lambda value: isinstance(value, str) and re.fullmatch(r"[\w-]+(/[\w-]+)*", value),
    ),
    "paper": _TEXT,
    "title": _TEXT,
    "file": _TEXT,
    "needs": _TEXTS,
    "tests": _TEXTS,
    "data": _TEXTS,
    "timing": ("true or false", bool),
    "profiles": ("a table of tables", {str: dict}),
    "seconds": ("a table of seconds", {str: lambda value: type(value) in (int, float) and 0 < value < inf}),
    "shows": ("a table of lists of texts", {str: lambda names: has_shape(names, [str]) and names}),
    "limits": ("a table of { least, most, multiple, has, fewest, together } or { one_of }", {str: _is_limit}),
}
"""What a value of an entry must be, in words and as a shape."""


def load(project: Project) -> Catalogue:
    """Read the catalogue; InputError says which entry is wrong and how."""
    path = project.notebooks / "catalogue.toml"
    try:
        content = read_toml(path)
    except FileNotFoundError:
        advice = "name the folder of your checkout with REPRO_ROOT=PATH"
        raise InputError(f"{project.root} is no checkout, it lacks notebooks/catalogue.toml: {advice}") from None
    entries, common = content.get("notebook", []), content.get("limits", {})
    require(has_shape(entries, [dict]), "catalogue.toml: notebooks are tables [[notebook]]")
    _require("catalogue.toml", "limits", common)
    books = tuple(_notebook(entry, number, common) for number, entry in enumerate(entries, 1))
    ids = [book.id for book in books]
    for book in books:
        require(ids.count(book.id) == 1, f"catalogue.toml: '{book.id}' stands there twice")
        # only what stands before can be needed: no circles
        before = ids[: ids.index(book.id)]
        for need in set(book.needs) - {EVERYTHING} - set(before):
            raise InputError(f"catalogue.toml: {book.id} needs '{need}', which does not stand before it")
    return Catalogue(books)


def _require(place: str, name: str, value) -> None:
    wanted, shape = _RIGHT[name]
    require(has_shape(value, shape), f"{place}: {name} = {value!r} must be {wanted}")


def _notebook(entry: dict, number: int, common: dict) -> Notebook:
    place = f"catalogue.toml, {entry.get('id', f'entry {number}')}"
    known = [f.name for f in fields(Notebook)]
    for name in entry:
        if name not in known:
            raise InputError(f"{place}: unknown key '{name}', {did_you_mean(name, known)}")
        _require(place, name, entry[name])
    for name in ("id", "paper", "title", "profiles"):
        require(entry.get(name), f"{place}: '{name}' is missing")
    own = entry.get("limits", {})
    entry = entry | {"limits": {name: common.get(name, {}) | own.get(name, {}) for name in common | own}}
    return Notebook(**{k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()})


def require_files(books: Iterable[Notebook], project: Project) -> None:
    """InputError if a notebook of the catalogue has no file."""
    for book in books:
        if not book.source(project).is_file():
            raise InputError(f"catalogue.toml lists {book.id}, but notebooks/{book.relative} is missing")
