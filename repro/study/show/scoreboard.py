"""The scoreboard in a terminal of 80 columns, and as files: for a spreadsheet, Markdown readers and a browser."""

from pathlib import Path

from repro.files import write_text
from repro.study.judge.verdicts import Verdict
from repro.study.keep.results import NOT_RUN
from repro.study.notebooks import Project, require_writable
from repro.study.run.progress import wrapped
from repro.study.show import html, markdown
from repro.study.show.report import VERDICTS, Report, Rows, as_csv, time_of, what, with_units


def write_report(report: Report, project: Project) -> list[Path]:
    """Write REPORT.md and REPORT.csv at the top of the checkout."""
    text = markdown.report_markdown(report, markdown.findings(project))
    return _written(project.root, {"REPORT.md": text, "REPORT.csv": as_csv(report)})


def write_scoreboard(report: Report) -> list[Path]:
    """Write scoreboard.csv, scoreboard.md and scoreboard.html into the run folder; InputError if that cannot be."""
    require_writable(report.folder)
    text = {".csv": as_csv(report), ".md": markdown.scoreboard_markdown(report), ".html": html.html(report)}
    return _written(report.folder, {f"scoreboard{ending}": content for ending, content in text.items()})


def _written(folder: Path, files: dict[str, str]) -> list[Path]:
    for name, content in files.items():
        write_text(folder / name, content)
    return [folder / name for name in files]


SMALL = "smoke"
"""Profile that shows that all runs."""
HEADS = dict(zip(Verdict, ("yes", "newer", "tie", "trend", " no", "n/c", "n/m"), strict=True))
"""Heads of the columns of counts."""
SHORT = {Verdict.NEWER_HARDWARE: "newer hardware"}
"""Verdicts whose names are too long for a line with a claim."""


def summary(report: Report) -> str:
    """What a run prints at its end: notebooks with the counts of their verdicts, claims, and what went wrong."""
    parts = [wrapped(report.title()), _notebooks(report.books)]
    judged = report.tested()
    if judged:
        parts.append("\n".join(_claim(row) for row in judged))
    missing = len(report.rows) - len(judged)
    if report.rows:
        small = "" if judged or report.profile != SMALL else " Smoke is too small: claims are judged from quick on."
        parts.append(wrapped(f"{len(judged)} claims judged, {missing} not measured in this run.{small}", indent=0))
    if problems := report.problems():
        parts.append("\n".join(map(wrapped, problems)))
    return "\n\n".join(parts)


def headlines(report: Report) -> str:
    """What the notebooks themselves say in a few words; empty without any."""
    return "\n".join(wrapped(f"{name}: {line}") for name, lines in report.headlines.items() for line in lines)


def _notebooks(books: Rows) -> str:
    """A line a notebook; where there are claims, with their counts under short heads that the last line explains.

    Those that have not run are counted.
    """
    idle = [row for row in books if row["status"] == NOT_RUN]
    books = [row for row in books if row not in idle] if len(idle) > 1 else books
    heads = HEADS if any(row[verdict] for row in books for verdict in VERDICTS) else {}
    width = max((len(row["notebook"]) for row in books), default=0)
    lines = ["  ".join([" " * width, " " * 7, *heads.values()])] if heads else []
    for row in books:
        counts = [str(row[verdict] or "").rjust(len(head)) for verdict, head in heads.items()]
        state = [row["status"]] if row["status"] != "done" else [time_of(row["seconds"]).rjust(7), *counts]
        lines.append("  ".join([row["notebook"].ljust(width), *state]).rstrip())
    lines += [f"{len(idle)} have not run"] if len(idle) > 1 else []
    legend = ", ".join(f"{head.strip()}: {verdict}" for verdict, head in heads.items() if head != verdict)
    return "\n".join([*lines, "", wrapped(legend)] if heads else lines)


def _claim(row: dict) -> str:
    """A claim with its verdict, and what was measured against what was published."""
    paper, measured = with_units(row)
    text = f"{what(row)}: {measured}, paper {paper}"
    verdict = SHORT.get(row["verdict"], row["verdict"])
    return wrapped(f"{row['id']:13}  {verdict:14}  {text}", indent=31)
