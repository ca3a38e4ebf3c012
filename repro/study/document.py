"""REPORT.md: what became of every claim, made from published results alone, with what has been found of each paper."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from repro.errors import InputError
from repro.files import write_text

from . import text
from .links import Links
from .nearest import did_you_mean
from .numbers import number
from .paths import Project
from .report import Report
from .scoreboard import as_csv
from .verdicts import Verdict

PLACES = Links(notebooks="notebooks/rendered/", code="")
DIGITS = 3
"""Of a number in a paragraph."""
CHART = "figures/scoreboard-speedups.png"
#: a claim, what is published of it, or a claim with the verdict that a sentence takes it to have, shown or not
NAMED = re.compile(r"\{([^{}]+)\}")


def write(report: Report, project: Project) -> list[Path]:
    """Write REPORT.md and REPORT.csv at the top of the checkout."""
    files = {"REPORT.md": markdown(report, findings(project)), "REPORT.csv": as_csv(report)}
    for name, content in files.items():
        write_text(project.root / name, content)
    return [project.root / name for name in files]


def findings(project: Project) -> dict[str, str]:
    """The paragraphs of docs/findings.toml by paper."""
    path = project.root / "docs/findings.toml"
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise InputError(f"docs/findings.toml cannot be read: {error}") from None
    for paper, paragraph in said.items():
        if not isinstance(paragraph, str):
            raise InputError(f"docs/findings.toml: {paper} must be a text, not {paragraph!r}")
    return {paper: paragraph.strip() for paper, paragraph in said.items()}


def markdown(report: Report, said: Mapping[str, str]) -> str:
    """The report as Markdown, with the paragraphs `said` of the papers."""
    return f"# Do the papers hold? Profile {report.profile} on {report.machine}\n\n{body(report, said)}"


def body(report: Report, said: Mapping[str, str], links: Links = PLACES) -> str:
    """The report without its title; `links` from where it stands."""
    parts = [
        "Made by `python -m repro report --published` from the results in data/measured alone: every value is judged "
        "anew. What the verdicts mean stands below."
    ]
    if doubts := _doubts(report):
        parts.append("\n".join(f"- **{line}**" for line in doubts))
    parts += [text.table(report.counts()), text.verdicts()]
    if (report.folder / CHART).is_file():
        parts.append(f"![Published speedups beside those measured here]({CHART})")
    for counted in report.counts():
        parts += _paper(counted["paper"], report, said, links)
    if report.linked:
        parts += ["## Stated twice, counted once", text.table(report.linked)]
    return "\n\n".join(parts) + "\n"


def _doubts(report: Report) -> list[str]:
    """A line for each published result that is damaged, of which a file was edited, or that is out of date."""
    counted = {row["notebook"] for row in report.tested()}
    lines = [
        f"EDITED {name}: {why}; what its sealed result says is counted"
        if name in counted
        else f"NOT COUNTED {name}: {why}"
        for name, why in report.troubles.items()
    ]
    return lines + [f"OUT OF DATE {name}: {why}; counted as it was" for name, why in report.outdated.items()]


def _paper(paper: str, report: Report, said: Mapping[str, str], links: Links) -> list[str]:
    rows = [row for row in report.rows if row["id"].partition("-")[0] == paper]
    missed = [row for row in rows if row["verdict"] == Verdict.NOT_REPRODUCED]
    parts = [f"## `{paper}`", *_measured_on(paper, report)]
    if paper in said:
        parts.append(filled(said[paper], report))
    if missed:
        parts += ["### What is not reproduced", "\n".join(map(_missed, missed))]
    return [*parts, "### All claims", text.claims(rows, report, links)]


def _measured_on(paper: str, report: Report) -> list[str]:
    """Which machine measured what of a paper, where the report is of several."""
    if len(text.machines_of(report.books)) < 2:
        return []
    found = text.machines_of([row for row in report.books if row["notebook"].partition("/")[0] == paper])
    if len(found) == 1:
        return [f"Measured on {next(iter(found))}."]
    each = [f"{machine} ({', '.join(i.rpartition('/')[2] for i in some)})" for machine, some in found.items()]
    return [f"Measured on {' and '.join(each)}."] if each else []


def _missed(row: Mapping) -> str:
    what = f"{row['quantity']}, {row['case']}" if row["case"] else row["quantity"]
    note = f" ({row['note']})" if row["note"] else ""
    return f"- {row['id']}, {what}: {row['reason']}{note}"


def filled(paragraph: str, report: Report) -> str:
    """A paragraph with the numbers of a report in the place of their names; InputError for an unknown name."""
    values = _values(report)

    def value(match: re.Match) -> str:
        name = re.split("[|=]", match[1])[0]
        if name not in values:
            raise InputError(f"docs/findings.toml: unknown value '{name}': {did_you_mean(name, values)}")
        return "" if "=" in match[1] else values[name]

    return NAMED.sub(value, paragraph)


def outgrown(said: Mapping[str, str], report: Report) -> list[str]:
    """A line for each claim that a paragraph takes to have another verdict than it has."""
    verdicts = {row["id"]: row["verdict"] for row in report.rows}
    names = [match[1] for paragraph in said.values() for match in NAMED.finditer(paragraph)]
    taken = [re.split("[|=]", name) for name in names if "|" in name or "=" in name]
    return [f"docs/findings.toml takes {i} as {v}: it is {verdicts.get(i)}" for i, v in taken if verdicts.get(i) != v]


def _values(report: Report) -> dict[str, str]:
    """What a paragraph may name: measured values and published ones."""
    values = {}
    for row in report.rows:
        measured = row["measured"]
        text = number(measured, DIGITS) if isinstance(measured, int | float) else (measured or "(not measured)")
        values |= {row["id"]: text.partition(" (over ")[0], f"{row['id']}.paper": row["value"]}
    return values
