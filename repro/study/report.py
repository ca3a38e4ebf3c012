"""The scoreboard: every claim of the papers joined with what a run has measured."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from ..parallel.errors import InputError
from . import atomic, catalogue, claims, results
from .catalogue import EVERYTHING, Catalogue, Notebook
from .paths import Project
from .verdicts import Verdict

VERDICTS = [str(v) for v in Verdict]
COLUMNS = [
    "id",
    "where",
    "quantity",
    "case",
    "value",
    "unit",
    "measured",
    "verdict",
    "reason",
    "kind",
    "notebook",
]


@dataclass(frozen=True)
class Report:
    """What a run folder says about the papers."""

    folder: Path
    profile: str
    machine: str
    notebooks: pd.DataFrame
    """A row a notebook: title, status, seconds, counts of the verdicts."""
    claims: pd.DataFrame
    """A row a claim (set-up left out)."""
    failures: dict[str, str]
    """Why notebooks failed."""
    troubles: dict[str, str]
    """Which file of a notebook's result is damaged or missing."""
    figures: dict[str, list[str]]
    """PNG files of each notebook, relative to the folder."""

    def problems(self) -> list[str]:
        """A line for each notebook that failed or whose result is damaged."""
        failed = [f"FAILED {name}: {why}" for name, why in self.failures.items()]
        return failed + [f"NOT FINISHED {name}: {why}; run it again" for name, why in self.troubles.items()]

    def papers(self) -> pd.DataFrame:
        """Counts of the verdicts for each paper."""
        paper = self.claims["id"].str.partition("-")[0].rename("paper")
        counts = pd.crosstab(paper, self.claims["verdict"])
        return counts.reindex(columns=VERDICTS, fill_value=0).rename_axis(columns=None)

    def judged(self) -> pd.DataFrame:
        """The claims that the run has tested."""
        return self.claims[self.claims["verdict"] != Verdict.NOT_MEASURED]


def open_report(folder: Path | None = None, project: Project | None = None, profile: str = "") -> Report:
    """Report of a run folder: the one given, the one of the run going on, else the newest of `profile`."""
    project = project or Project.default()
    folder = Path(folder or os.environ.get("REPRO_RUN") or newest(project, profile))
    books = catalogue.load(project)
    found = {book.id: results.look(folder, book.id) for book in books.notebooks}
    sidecars = {i: result.sidecar for i, result in found.items() if result.sidecar}
    failures = {i: _failure(result.failure, i in sidecars) for i, result in found.items() if result.failure}
    troubles = {i: result.trouble for i, result in found.items() if result.trouble}
    judged = _claims(books, sidecars, failures, project)
    # what only shows the others' results has none of its own to count
    shown = [b for b in books.notebooks if EVERYTHING not in b.needs or b.id in failures]
    table = pd.DataFrame([_status(b, found[b.id], judged, folder) for b in shown])
    figures = {i: _figures(sidecar, folder) for i, sidecar in sidecars.items()}
    return Report(folder, folder.parent.name, folder.name, table, judged, failures, troubles, figures)


def newest(project: Project, profile: str = "") -> Path:
    """The run folder that was written to last; InputError if there is none."""
    found = [f.parent for f in project.build.glob(f"{profile or '*'}/*/.lock")]
    if not found:
        what = f"the profile {profile}" if profile else "any profile"
        raise InputError(f"no results of {what} in {project.build.name}/: start with `python -m repro run`")
    return max(found, key=lambda f: f.stat().st_mtime)


def _failure(entry: dict, kept: bool) -> str:
    cell = f" (cell {entry['cell']})" if entry.get("cell") is not None else ""
    earlier = "; the earlier result is shown" if kept else ""
    return f"{results.reason(entry)}{cell}{earlier}"


def _claims(books: Catalogue, sidecars: dict, failures: dict, project: Project) -> pd.DataFrame:
    papers = dict.fromkeys(book.paper for book in books.notebooks)
    rows = []
    for claim in (c for paper in papers for c in claims.load(paper, project).values() if c.kind != "setup"):
        found = [(i, s["claims"][claim.id]) for i, s in sidecars.items() if claim.id in s["claims"]]
        # a value beats the statement of another notebook that it has none
        found.sort(key=lambda pair: pair[1]["verdict"] == Verdict.NOT_MEASURED)
        why = "no notebook of this run tests it"
        nothing = {"measured": None, "verdict": str(Verdict.NOT_MEASURED), "reason": why}
        notebook, entry = found[0] if found else ("", nothing)
        reason = entry["reason"] + ("; the notebook has failed since" if notebook in failures else "")
        rows.append(asdict(claim) | entry | {"notebook": notebook, "reason": reason})
    return pd.DataFrame(rows, columns=COLUMNS)


def _status(book: Notebook, found: results.Result, judged: pd.DataFrame, folder: Path) -> dict:
    run = (found.sidecar or {}).get("run", {})
    if found.failure:
        status = "failed"
    elif found.trouble:
        status = "not finished"
    elif not run and folder.parent.name not in book.profiles:
        status = "not in this profile"
    else:
        status = "done" if run else "not run"
    counts = judged.loc[judged["notebook"] == book.id, "verdict"].value_counts()
    facts = {"notebook": book.id, "title": book.title, "status": status, "seconds": run.get("seconds")}
    return facts | {verdict: int(counts.get(verdict, 0)) for verdict in VERDICTS}


def _figures(sidecar: dict, folder: Path) -> list[str]:
    files = results.figure_files(sidecar)
    return [name for name in files if name.endswith(".png") and (folder / name).is_file()]


def write(report: Report) -> list[Path]:
    """Write scoreboard.csv, scoreboard.md and scoreboard.html into the run folder."""
    from . import page, text

    files = {
        "scoreboard.csv": report.claims.to_csv(index=False),
        "scoreboard.md": text.markdown(report),
        "scoreboard.html": page.html(report),
    }
    for name, content in files.items():
        atomic.write_text(report.folder / name, content)
    return [report.folder / name for name in files]
