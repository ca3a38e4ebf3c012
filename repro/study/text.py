"""The scoreboard as text for a terminal and as Markdown."""

from .progress import duration
from .report import VERDICTS, Report, Rows
from .verdicts import MEANINGS


def show(value) -> str:
    """A measured value for people."""
    if value is None or value != value:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def summary(report: Report) -> str:
    """What a run prints at its end."""
    lines = [report.title(), ""]
    lines += _columns(counts_for_people(report.books))
    judged = report.tested()
    if judged:
        lines += ["", *_columns([_short(row) for row in judged])]
    missing = len(report.rows) - len(judged)
    lines += ["", f"{len(judged)} claims judged, {missing} not measured in this run."]
    lines += report.problems()
    return "\n".join(lines)


def markdown(report: Report) -> str:
    """scoreboard.md"""
    parts = [f"# {report.title()}"]
    if problems := report.problems():
        parts.append("\n".join(f"- **{line}**" for line in problems))
    parts += [
        table(counts_for_people(report.books)),
        "## Claims",
        table(claims_for_people(report.rows)),
    ]
    if report.linked:
        parts += ["## Stated twice, counted once", table(report.linked)]
    return "\n\n".join(parts) + "\n"


def verdicts() -> str:
    """What each verdict says, as a Markdown table."""
    return table([{"verdict": str(verdict), "meaning": meaning} for verdict, meaning in MEANINGS.items()])


def claims_for_people(rows: Rows) -> Rows:
    """The claims with short columns."""
    columns = ["id", "where", "quantity", "case", "paper", "measured", "unit", "verdict", "reason"]
    named = [row | {"paper": row["value"], "measured": show(row["measured"])} for row in rows]
    return [{name: row[name] for name in columns} for row in named]


def table(rows: Rows) -> str:
    """A Markdown table; empty without rows."""
    cells = [[str(cell) for cell in row.values()] for row in rows]
    lines = [list(row) for row in rows[:1]] + [["---"] * len(row) for row in rows[:1]] + cells
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def counts_for_people(books: Rows) -> Rows:
    """Notebooks with status, time and the counts of their verdicts."""
    return [
        {"notebook": row["notebook"], "status": row["status"], "time": _time(row["seconds"])}
        | {verdict: row[verdict] for verdict in VERDICTS}
        for row in books
    ]


def _time(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _short(row: dict) -> dict:
    """A claim in a line of a terminal."""
    what = f"{row['quantity']}, {row['case']}" if row["case"] else row["quantity"]
    found = {"measured": show(row["measured"]), "paper": row["value"], "unit": row["unit"]}
    return {"claim": row["id"], "verdict": row["verdict"], "quantity": what} | found


def _columns(rows: Rows) -> list[str]:
    """Aligned columns under their names, numbers to the right."""
    columns = {name: [name, *(str(row[name]) for row in rows)] for name in rows[0]}
    for name, cells in columns.items():
        width = max(map(len, cells))
        right = all(isinstance(row[name], int | float) for row in rows)
        columns[name] = [cell.rjust(width) if right else cell.ljust(width) for cell in cells]
    return ["  ".join(line).rstrip() for line in zip(*columns.values(), strict=True)]
