"""The scoreboard as Markdown."""

from collections.abc import Iterable, Mapping

from .judged import Rows
from .links import Links
from .machines import Answers
from .numbers import number
from .report import VERDICTS, Report
from .terminal import shown, time_of
from .verdicts import MEANINGS


def markdown(report: Report) -> str:
    """scoreboard.md"""
    parts = [f"# {report.title()}"]
    if problems := report.problems():
        parts.append("\n".join(f"- **{line}**" for line in problems))
    parts += [notebooks(report, Links()), "## Claims", claims(report.rows, report, Links())]
    if report.linked:
        parts += ["## Stated twice, counted once", table(report.linked)]
    return "\n\n".join(parts) + "\n"


def verdicts() -> str:
    """What each verdict says, as a Markdown table."""
    return table([{"verdict": str(verdict), "meaning": meaning} for verdict, meaning in MEANINGS.items()])


def notebooks(report: Report, links: Links) -> str:
    """Notebooks with status, time and the counts of their verdicts, as a Markdown table."""
    rows = counts_for_people(report.books)
    return table([row | {"notebook": _linked(row["notebook"], row["notebook"], report, links)} for row in rows])


def _linked(text: str, notebook: str, report: Report, links: Links) -> str:
    """The text as a link to a notebook's result, where there is one."""
    done = any(book["notebook"] == notebook and book["status"] == "done" for book in report.books)
    return links.notebook(notebook, text) if done else text


def claims(rows: Rows, report: Report, links: Links) -> str:
    """Claims with links to their notebooks and their notebooks' figures, as a Markdown table."""
    named = zip(rows, claims_for_people(rows, report.elsewhere), strict=True)
    return table(
        [
            cells
            | {"id": _linked(row["id"], row["notebook"], report, links)}
            | {"figures": figures(report.figures.get(row["notebook"], ()), links)}
            | _code(row["notebook"], report, links)
            for row, cells in named
        ]
    )


def _code(notebook: str, report: Report, links: Links) -> dict[str, str]:
    return {} if links.code is None else {"code": ", ".join(map(links.source, report.code.get(notebook, ())))}


def figures(files: Iterable[str], links: Links) -> str:
    """Links to figures."""
    return ", ".join(map(links.figure, files))


def gallery(report: Report, links: Links) -> str:
    """Every notebook with links to its figures, as a Markdown list."""
    lines = [
        f"- {_linked(i, i, report, links)}: {figures(files, links)}" for i, files in report.figures.items() if files
    ]
    return "\n".join(lines)


def claims_for_people(rows: Rows, elsewhere: Mapping[str, Answers]) -> Rows:
    """The claims with short columns, and what is published of other machines that speak of any of them."""
    columns = ["id", "where", "quantity", "case", "paper", "measured", "ratio", "unit", "verdict", "reason"]
    here = {row["id"] for row in rows}
    elsewhere = {name: said for name, said in elsewhere.items() if here & said.keys()}
    shown_rows = []
    for row in rows:
        ratio = "" if row["ratio"] is None else number(row["ratio"], 3)
        cells = row | {"paper": row["value"], "measured": shown(row["measured"]), "ratio": ratio}
        beside = {f"published, {name}": " ".join(_answer(said.get(row["id"]))) for name, said in elsewhere.items()}
        shown_rows.append({name: cells[name] for name in columns} | beside)
    return shown_rows


def _answer(said: tuple[str, str] | None) -> tuple[str, ...]:
    return (said[0], f"({said[1]})") if said else ()


def table(rows: Rows) -> str:
    """A Markdown table; empty without rows."""
    cells = [[str(cell) for cell in row.values()] for row in rows]
    lines = [list(row) for row in rows[:1]] + [["---"] * len(row) for row in rows[:1]] + cells
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def counts_for_people(books: Rows) -> Rows:
    """Notebooks with status, time and the counts of their verdicts, and where they ran if not all on one machine."""
    several = len(machines_of(books)) > 1
    return [
        {"notebook": row["notebook"], "status": row["status"], "time": time_of(row["seconds"])}
        | ({"machine": row["machine"]} if several else {})
        | {verdict: row[verdict] for verdict in VERDICTS}
        for row in books
    ]


def machines_of(books: Rows) -> dict[str, list[str]]:
    """The machines of results, with the notebooks that each ran."""
    found: dict[str, list[str]] = {}
    for row in books:
        if row["machine"]:
            found.setdefault(row["machine"], []).append(row["notebook"])
    return found
