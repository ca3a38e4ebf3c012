"""The scoreboard: every claim of the papers joined with what a run has measured.

Tables are made of rows, dictionaries by column, and become frames for notebooks: a command needs no pandas.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from repro.errors import InputError

from . import catalogue, judged, machines, results
from .catalogue import EVERYTHING, Catalogue, Notebook
from .judged import COLUMNS, Rows
from .outdated import outdated
from .paths import Project
from .runs import changed, look_at_all, named, newest
from .verdicts import Verdict

if TYPE_CHECKING:
    import pandas as pd

VERDICTS = [str(v) for v in Verdict]


@dataclass(frozen=True)
class Report:
    """What a run folder says about the papers."""

    folder: Path
    profile: str
    machine: str
    books: Rows
    """A row a notebook: title, status, seconds, machine, counts of the verdicts."""
    rows: Rows
    """A row a claim that is judged."""
    linked: Rows
    """Claims that only restate others, with the id of the other."""
    failures: dict[str, str]
    """Why notebooks failed."""
    troubles: dict[str, str]
    """Which file of a notebook's result is damaged or missing."""
    outdated: dict[str, str]
    """In what the sources at hand differ from those that a result was made from."""
    changed: dict[str, str]
    """Parameters that were changed for a notebook, such as "nodes=64"."""
    figures: dict[str, list[str]]
    """PNG files of each notebook, relative to the folder."""
    headlines: dict[str, list[str]]
    """What each notebook says in a few words."""
    code: dict[str, list[str]]
    """The folders and files of its paper's experiments that each notebook calls, from the top of the checkout."""
    elsewhere: dict[str, machines.Answers]
    """What is published of each other machine, or of this one at another time."""

    def only(self, ids: Iterable[str]) -> "Report":
        """What the report says about these notebooks alone."""
        chosen = set(ids)
        rows = [[row for row in some if row["notebook"] in chosen] for some in (self.books, self.rows)]
        facts = {f.name: getattr(self, f.name) for f in fields(self)}
        tables = {k: {i: v[i] for i in v if i in chosen} for k, v in facts.items() if isinstance(v, dict)}
        tables["elsewhere"] = self.elsewhere
        return replace(self, books=rows[0], rows=rows[1], linked=[], **tables)

    def title(self) -> str:
        """What was run, where, and which parameters were changed for it."""
        changes = "".join(f", {name} with {values}" for name, values in self.changed.items())
        return f"Scoreboard: profile {self.profile} on {self.machine}{changes}"

    def problems(self) -> list[str]:
        """A line for each notebook that failed, or whose result is damaged or out of date."""
        failed = [f"FAILED {name}: {why}" for name, why in self.failures.items()]
        failed += [f"NOT FINISHED {name}: {why}; run it again" for name, why in self.troubles.items()]
        return failed + [f"OUT OF DATE {name}: {why}; run it again" for name, why in self.outdated.items()]

    def tested(self, yes: bool = True) -> Rows:
        """The claims that the run has tested, or the others."""
        return [row for row in self.rows if (row["verdict"] != Verdict.NOT_MEASURED) == yes]

    def counts(self) -> Rows:
        """Counts of the verdicts for each paper."""
        papers = sorted({_paper(row) for row in self.rows})
        counts = {p: Counter(row["verdict"] for row in self.rows if _paper(row) == p) for p in papers}
        return [{"paper": paper} | {v: counts[paper][v] for v in VERDICTS} for paper in papers]

    @cached_property
    def notebooks(self) -> "pd.DataFrame":
        """`books` as a frame."""
        return _frame(self.books)

    @cached_property
    def claims(self) -> "pd.DataFrame":
        """`rows` as a frame."""
        return _frame(self.rows, COLUMNS)

    def papers(self) -> "pd.DataFrame":
        """`counts` as a frame, indexed by paper."""
        return _frame(self.counts(), ["paper", *VERDICTS]).set_index("paper")

    def judged(self) -> "pd.DataFrame":
        """`tested` as a frame."""
        return self.claims[self.claims["verdict"] != Verdict.NOT_MEASURED]


def _paper(row: dict) -> str:
    return row["id"].partition("-")[0]


def _frame(rows: Rows, columns: list[str] | None = None) -> "pd.DataFrame":
    # half a second that a command does not have
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def open_report(folder: Path | None = None, project: Project | None = None, profile: str = "") -> Report:
    """Report of a run folder: the one given, the one of the run going on, else the newest of `profile`.

    Profile and machine are those that the results name. InputError if there is no result.
    """
    project = project or Project.default()
    place = Path(folder or os.environ.get("REPRO_RUN") or newest(project, profile))
    books = catalogue.load(project)
    return _report(books, look_at_all(place, books, project), place, project)


def open_published(project: Project | None = None, machine: str = "") -> Report:
    """Report of what is published, made from data/measured alone.

    Of every notebook the result that its rendered notebook and figures show, of whatever machine; or all of `machine`.
    """
    project = project or Project.default()
    books = catalogue.load(project)
    if not machines.names(books, project):
        raise InputError("no results are published: data/measured has none")
    found = machines.results_of(machine, books, project) if machine else machines.results_shown(books, project)
    own = {i: result.sidecar["run"]["machine"] for i, result in found.items() if result.sidecar}
    return _report(books, found, project.root, project, own)


def _report(
    books: Catalogue,
    found: dict[str, results.Result],
    folder: Path,
    project: Project,
    own: Mapping[str, str] | None = None,
) -> Report:
    sidecars = {i: result.sidecar for i, result in found.items() if result.sidecar}
    failures = {i: _failure(result.failure, i in sidecars) for i, result in found.items() if result.failure}
    troubles = {i: result.trouble for i, result in found.items() if result.trouble}
    profiles, hosts = (named(found, key) for key in ("profile", "machine"))
    known = judged.claims_of(books, project)
    rows = judged.rows(known, books, found, profiles, project)
    # what only shows the others' results has none of its own to count
    shown = [b for b in books.notebooks if EVERYTHING not in b.needs or b.id in failures]
    table = [_status(b, found[b.id], rows, profiles) for b in shown]
    figures = {i: _figures(sidecar, folder) for i, sidecar in sidecars.items()}
    names = (", ".join(sorted(some)) or "unknown" for some in (profiles, hosts))
    linked, old = judged.linked(books, project), outdated(books.notebooks, sidecars, project)
    said = {i: results.headlines(sidecar) for i, sidecar in sidecars.items()}
    beside = machines.answers(known, books, project, own)
    code = {book.id: judged.code_of(book, project) for book in books.notebooks}
    facts = (linked, failures, troubles, old, changed(found), figures, said, code, beside)
    return Report(folder, *names, table, rows, *facts)


def _failure(entry: dict, kept: bool) -> str:
    cell = f" (cell {entry['cell']})" if entry.get("cell") is not None else ""
    earlier = "; the earlier result is shown" if kept else ""
    return f"{results.reason(entry)}{cell}{earlier}"


def _status(book: Notebook, found: results.Result, rows: Rows, profiles: set[str]) -> dict:
    run = (found.sidecar or {}).get("run", {})
    if found.failure:
        status = "failed"
    elif found.trouble:
        status = "not finished"
    elif not run and profiles and not profiles & book.profiles.keys():
        status = "not in this profile"
    else:
        status = "done" if run else "not run"
    counts = Counter(row["verdict"] for row in rows if row["notebook"] == book.id)
    facts = {"notebook": book.id, "title": book.title, "status": status, "seconds": run.get("seconds")}
    facts["machine"] = run.get("machine", "")
    return facts | {verdict: counts[verdict] for verdict in VERDICTS}


def _figures(sidecar: dict, folder: Path) -> list[str]:
    files = results.figure_files(sidecar)
    return [name for name in files if name.endswith(".png") and (folder / name).is_file()]
