"""The scoreboard as text for a terminal and as Markdown."""

import pandas as pd

from .progress import duration
from .report import VERDICTS, Report


def show(value) -> str:
    """A measured value for people."""
    if value is None or value != value:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def summary(report: Report) -> str:
    """What a run prints at its end."""
    lines = [report.title(), ""]
    lines += _columns(counts_for_people(report.notebooks))
    judged = report.judged()
    if len(judged):
        lines += ["", *_columns(_judged(judged))]
    missing = len(report.claims) - len(judged)
    lines += ["", f"{len(judged)} claims judged, {missing} not measured in this run."]
    lines += report.problems()
    return "\n".join(lines)


def markdown(report: Report) -> str:
    """scoreboard.md"""
    parts = [f"# {report.title()}"]
    if problems := report.problems():
        parts.append("\n".join(f"- **{line}**" for line in problems))
    parts += [
        table(counts_for_people(report.notebooks)),
        "## Claims",
        table(claims_for_people(report.claims)),
    ]
    if len(report.linked):
        parts += ["## Stated twice, counted once", table(report.linked)]
    return "\n\n".join(parts) + "\n"


def claims_for_people(frame: pd.DataFrame) -> pd.DataFrame:
    """The claims with short columns."""
    columns = ["id", "where", "quantity", "case", "paper", "measured", "unit", "verdict", "reason"]
    shown = frame.rename(columns={"value": "paper"})[columns].copy()
    shown["measured"] = [show(v) for v in frame["measured"]]
    return shown


def table(frame: pd.DataFrame) -> str:
    """A Markdown table."""
    rows = [list(frame.columns), ["---"] * len(frame.columns), *frame.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def counts_for_people(notebooks: pd.DataFrame) -> pd.DataFrame:
    """Notebooks with status, time and the counts of their verdicts."""
    frame = notebooks[["notebook", "status", "seconds", *VERDICTS]].copy()
    frame["seconds"] = [duration(s) if s == s and s is not None else "" for s in frame["seconds"]]
    return frame.rename(columns={"seconds": "time"})


def _judged(judged: pd.DataFrame) -> pd.DataFrame:
    what = [f"{q}, {c}" if c else q for q, c in zip(judged["quantity"], judged["case"], strict=True)]
    columns = {"claim": judged["id"], "verdict": judged["verdict"], "quantity": what}
    columns |= {"measured": [show(v) for v in judged["measured"]], "paper": judged["value"]}
    return pd.DataFrame(columns | {"unit": judged["unit"]})


def _columns(frame: pd.DataFrame) -> list[str]:
    """Aligned columns, numbers to the right."""
    rows = [[str(c) for c in frame.columns], *frame.astype(str).to_numpy().tolist()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(frame.columns))]
    right = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    fit = [str.rjust if numeric else str.ljust for numeric in right]
    return ["  ".join(f(c, w) for f, c, w in zip(fit, row, widths, strict=True)).rstrip() for row in rows]
