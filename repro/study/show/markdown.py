"""The scoreboard as Markdown, and REPORT.md: what became of every claim, with what has been found of each paper.

REPORT.md is made from published results alone. Links are relative to where a page lies.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from repro.errors import InputError, require
from repro.files import read_toml
from repro.study.judge.claims import number
from repro.study.judge.verdicts import MEANINGS, Verdict
from repro.study.notebooks import Project, did_you_mean
from repro.study.publish.publish import PUBLISHED
from repro.study.show.report import VERDICTS, Report, Rows, time_of, what, with_units


@dataclass(frozen=True)
class Links:
    """What stands before the names of a run folder's files in a link."""

    notebooks: str = ""
    figures: str = ""
    code: str | None = None
    """None where the sources are not beside."""
    of_claims: bool = False
    """Whether a notebook's page has a place for each claim that it tests, which pages in HTML have."""


HERE = Links()


def scoreboard_markdown(report: Report, links: Links = HERE) -> str:
    """scoreboard.md: what a run says about the papers, without the figures themselves."""
    parts = [f"# {report.title()}", _warnings(report.problems()), table(report.counts()), notebooks(report, links)]
    parts += ["## Claims judged", claims(report.tested(), report, links)]
    parts += ["## Claims not measured in this run", claims(report.tested(False), report, links), *apart(report, links)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _warnings(lines: Iterable[str]) -> str:
    return "\n".join(f"- **{line}**" for line in lines)


def apart(report: Report, links: Links) -> list[str]:
    """What is not counted, and rules that changed: headings and tables."""
    parts = []
    if report.corrected:
        others = sum(row["now"] != row["by the first rule"] for row in report.corrected)
        how_many = (
            f"The rule, set-up or reading of {len(report.corrected)} claims changed after a first result of theirs had "
            f"been published. By its first rule the verdict would be another one for {others} of them."
        )
        parts += ["## Rules that changed after a first result", how_many, table(report.corrected)]
    if report.shown:
        counted_nowhere = "what follows from definitions or inputs, and numbers of other sources"
        parts += [f"## Shown and counted nowhere: {counted_nowhere}", claims(report.shown, report, links)]
    if report.linked:
        parts += ["## Stated twice, counted once", table(report.linked)]
    return parts


def verdicts() -> str:
    """What each verdict says, as a Markdown table."""
    return table([{"verdict": verdict, "meaning": meaning} for verdict, meaning in MEANINGS.items()])


def notebooks(report: Report, links: Links) -> str:
    """Notebooks with status, time, where they ran if on several machines, and the counts of their verdicts: a table."""
    several = len(machines_of(report.books)) > 1
    return table(
        [
            {"notebook": _linked(row["notebook"], row["notebook"], report, links), "status": row["status"]}
            | {"time": time_of(row["seconds"])}
            | ({"machine": row["machine"]} if several else {})
            | {verdict: row[verdict] for verdict in VERDICTS}
            for row in report.books
        ]
    )


def _linked(text: str, notebook: str, report: Report, links: Links, place: str = "") -> str:
    """The text as a link to a notebook's result, or to a place in it, where there is a whole one."""
    made = any(book["notebook"] == notebook and book["machine"] for book in report.books)
    return f"[{text}]({links.notebooks}{notebook}.ipynb{place})" if made and notebook not in report.troubles else text


def claims(rows: Rows, report: Report, links: Links) -> str:
    """Claims as a Markdown table: verdict and reason first, then what shows it, and what other machines gave.

    What is not reproduced comes first, then what was judged by another rule before.
    """
    here = {row["id"] for row in rows}
    elsewhere = {name: said for name, said in report.elsewhere.items() if here & said.keys()}
    lines = []
    for row in sorted(rows, key=lambda row: (row["verdict"] != Verdict.NOT_REPRODUCED, not row["first"])):
        notebook = row["notebook"]
        judged = links.of_claims and row["verdict"] in VERDICTS and row["verdict"] != Verdict.NOT_MEASURED
        cells = {"claim": _linked(row["id"], notebook, report, links, f"#{row['id']}" if judged else "")}
        other = row["first"] if row["first"] != row["verdict"] else "the same"
        cells["verdict"] = row["verdict"] + (f" (by its first rule: {other})" if row["first"] else "")
        cells["what"] = what(row)
        cells["paper"], cells["here"] = with_units(row)
        cells |= {name: row[name] for name in ("reason", "where")}
        for name, said in elsewhere.items():
            cells[f"published, {name}"] = "{} ({})".format(*said[row["id"]]) if row["id"] in said else ""
        lines.append(cells | {"shown by": "; ".join(filter(None, evidence(notebook, report, links)))})
    return table(lines)


def evidence(notebook: str, report: Report, links: Links) -> tuple[str, str]:
    """Links to a notebook's figures, and to the code that it calls."""
    files = report.code.get(notebook, ()) if links.code is not None else ()
    names = {file: file.removeprefix("repro/papers/").removesuffix("/__init__.py") for file in files}
    code = [f"[{name}]({links.code}{file})" for file, name in names.items()]
    return figures(report.figures.get(notebook, ()), links), ", ".join(code)


def figures(files: Iterable[str], links: Links) -> str:
    """Links to figures, each named without the notebook's own name."""
    names = {file: PurePath(file).stem.split("-", 2)[-1] for file in files}
    return ", ".join(f"[{name}]({links.figures}{file})" for file, name in names.items())


def gallery(report: Report, links: Links) -> str:
    """Every notebook with links to its figures, as a Markdown list."""
    lines = [
        f"- {_linked(i, i, report, links)}: {figures(files, links)}" for i, files in report.figures.items() if files
    ]
    return "\n".join(lines)


def table(rows: Rows) -> str:
    """A Markdown table; empty without rows."""
    cells = [[str(cell) for cell in row.values()] for row in rows]
    lines = [list(row) for row in rows[:1]] + [["---"] * len(row) for row in rows[:1]] + cells
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def machines_of(books: Rows) -> dict[str, list[str]]:
    """The machines of results, with the notebooks that each ran."""
    found: dict[str, list[str]] = {}
    for row in books:
        if row["machine"]:
            found.setdefault(row["machine"], []).append(row["notebook"])
    return found


PLACES = Links(notebooks="notebooks/rendered/", code="")
DIGITS = 3
"""Of a number in a paragraph."""
CHART = "figures/scoreboard-speedups.png"
#: a claim, what is published of it, or a claim with the verdict that a sentence takes it to have, shown or not
NAMED = re.compile(r"\{([^{}]+)\}")


def findings(project: Project) -> dict[str, str]:
    """The paragraphs of docs/findings.toml by paper."""
    path = project.root / "docs/findings.toml"
    said = read_toml(path) if path.is_file() else {}
    for paper, paragraph in said.items():
        require(isinstance(paragraph, str), f"docs/findings.toml: {paper} must be a text, not {paragraph!r}")
    return {paper: paragraph.strip() for paper, paragraph in said.items()}


def report_markdown(report: Report, said: Mapping[str, str]) -> str:
    """The report as Markdown, with the paragraphs `said` of the papers."""
    return f"# Do the papers hold? Profile {report.profile} on {report.machine}\n\n{body(report, said)}"


def body(report: Report, said: Mapping[str, str], links: Links = PLACES) -> str:
    """The report without its title; `links` from where it stands."""
    parts = [
        "Made by `python -m repro report --published` from the results in data/measured alone: every value is judged "
        "anew. What the verdicts mean stands below."
    ]
    counted, doubts = {row["notebook"] for row in report.tested()}, []
    for name, why in report.troubles.items():
        kept = f"EDITED {name}: {why}; what its sealed result says is counted"
        doubts.append(kept if name in counted else f"NOT COUNTED {name}: {why}")
    if report.outdated:
        names = ", ".join(report.outdated)
        doubts.append(f"OUT OF DATE, counted as they were: the sources of {len(report.outdated)} have changed: {names}")
    parts += [*filter(None, [_warnings(doubts)]), table(report.counts()), verdicts()]
    if (report.folder / CHART).is_file():
        parts.append(f"![Published speedups beside those measured here]({CHART})")
    for counted in report.counts():
        parts += _paper(counted["paper"], report, said, links)
    return "\n\n".join([*parts, *apart(report, links)]) + "\n"


def _paper(paper: str, report: Report, said: Mapping[str, str], links: Links) -> list[str]:
    rows = [row for row in report.rows if row["id"].partition("-")[0] == paper]
    missed = [row for row in rows if row["verdict"] == Verdict.NOT_REPRODUCED]
    parts = [f"## `{paper}`", *_measured_on(paper, report)]
    if paper in said:
        parts.append(filled(said[paper], report))
    if missed:
        parts += ["### What is not reproduced", "\n".join(map(_missed, missed))]
    parts += ["### All claims", claims(rows, report, links)]
    captions = [_captioned(i, report, links) for i in report.figures if i.partition("/")[0] == paper]
    return [*parts, "### Figures", "\n".join(filter(None, captions))] if any(captions) else parts


def _captioned(notebook: str, report: Report, links: Links) -> str:
    """The figures of a notebook that have a caption, a line each."""
    known = report.captions.get(notebook, {})
    named = [(figures([file], links), known[file]) for file in report.figures[notebook] if file in known]
    return "\n".join(f"- {_linked(notebook, notebook, report, links)}, {link}: {text}" for link, text in named)


def _measured_on(paper: str, report: Report) -> list[str]:
    """Which machine measured what of a paper, where the report is of several."""
    if len(machines_of(report.books)) < 2:
        return []
    found = machines_of([row for row in report.books if row["notebook"].partition("/")[0] == paper])
    each = [f"{machine} ({', '.join(i.rpartition('/')[2] for i in some)})" for machine, some in found.items()]
    return [f"Measured on {' and '.join(found if len(found) == 1 else each)}."] if found else []


def _missed(row: Mapping) -> str:
    note = f" ({row['note']})" if row["note"] else ""
    return f"- {row['id']}, {what(row)}: {row['reason']}{note}"


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
        if isinstance(measured, str) and (over := re.match(r"([\d.,]+) \(over ", measured)):
            # a speedup, whose baseline the notebook tells
            measured = float(over[1].replace(",", ""))
        text = number(measured, DIGITS) if isinstance(measured, int | float) else (measured or "(not measured)")
        values |= {row["id"]: text, f"{row['id']}.paper": row["value"]}
    return values


def from_notebook(report: Report) -> Links:
    """Links from the executed scoreboard.

    The one of a profile that is published has its figures where `publish` puts them; in JupyterLab it lies elsewhere
    than what it shows.
    """
    if not os.environ.get("REPRO_RUN"):
        folder = f"{os.path.relpath(report.folder)}/"
        return Links(folder, folder)
    return Links(figures="../../") if set(report.profile.split(", ")) & set(PUBLISHED) else Links()
