"""The scoreboard as files: for a spreadsheet, for Markdown readers and for a browser."""

import csv
from io import StringIO
from pathlib import Path

from repro.files import write_text

from . import page, text
from .paths import require_writable
from .report import COLUMNS, Report


def write(report: Report) -> list[Path]:
    """Write scoreboard.csv, scoreboard.md and scoreboard.html into the run folder; InputError if that cannot be."""
    require_writable(report.folder)
    files = {
        "scoreboard.csv": _csv(report),
        "scoreboard.md": text.markdown(report),
        "scoreboard.html": page.html(report),
    }
    for name, content in files.items():
        write_text(report.folder / name, content)
    return [report.folder / name for name in files]


def _csv(report: Report) -> str:
    file = StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(report.rows)
    return file.getvalue()
