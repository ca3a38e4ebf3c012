"""The scoreboard as files: for a spreadsheet, for Markdown readers and for a browser."""

import csv
from io import StringIO
from pathlib import Path

from repro.files import write_text

from . import page, text
from .judged import COLUMNS
from .paths import require_writable
from .report import Report


def write(report: Report) -> list[Path]:
    """Write scoreboard.csv, scoreboard.md and scoreboard.html into the run folder; InputError if that cannot be."""
    require_writable(report.folder)
    files = {
        "scoreboard.csv": as_csv(report),
        "scoreboard.md": text.markdown(report),
        "scoreboard.html": page.html(report),
    }
    for name, content in files.items():
        write_text(report.folder / name, content)
    return [report.folder / name for name in files]


def as_csv(report: Report) -> str:
    """The claims, a line each, and what is published of other machines."""
    file = StringIO()
    beside = [f"{what} on {name}, published" for name in report.elsewhere for what in ("measured", "verdict")]
    writer = csv.DictWriter(file, [*COLUMNS, *beside], lineterminator="\n")
    writer.writeheader()
    for row in report.rows:
        answers = [text for said in report.elsewhere.values() for text in said.get(row["id"], ("", ""))]
        writer.writerow(row | dict(zip(beside, answers, strict=True)))
    return file.getvalue()
