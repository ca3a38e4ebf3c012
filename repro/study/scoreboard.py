"""The scoreboard as files: for a spreadsheet, for Markdown readers and for a browser."""

from pathlib import Path

from repro.files import write_text

from . import page, text
from .paths import require_writable
from .report import Report


def write(report: Report) -> list[Path]:
    """Write scoreboard.csv, scoreboard.md and scoreboard.html into the run folder; InputError if that cannot be."""
    require_writable(report.folder)
    files = {
        "scoreboard.csv": report.claims.to_csv(index=False),
        "scoreboard.md": text.markdown(report),
        "scoreboard.html": page.html(report),
    }
    for name, content in files.items():
        write_text(report.folder / name, content)
    return [report.folder / name for name in files]
