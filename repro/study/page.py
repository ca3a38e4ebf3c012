"""The scoreboard as one HTML page, with the executed notebooks beside it."""

import base64
from html import escape
from pathlib import Path

import pandas as pd

from . import cells
from .light import light
from .report import Report
from .text import claims_for_people, counts_for_people

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; color: #222 }
td:first-child { white-space: nowrap }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px }
th, td { border-bottom: 1px solid #ddd; padding: .3rem .6rem; text-align: left; vertical-align: top }
figure { display: inline-block; margin: .5rem; vertical-align: top } img { max-width: 24rem }
.reproduced { color: #00714f } .met-by-newer-hardware { color: #00567a } .tie { color: #6a4c93 }
.not-reproduced, .failed { color: #b33c00 } .trend-only { color: #8a5a00 }
.not-measured, .not-comparable { color: #666 }
"""


def html(report: Report) -> str:
    """scoreboard.html: counts, claims and figures on one page that needs no other file."""
    title = escape(report.title())
    counts = counts_for_people(report.notebooks)
    counts["notebook"] = [_linked(report, name) for name in counts["notebook"]]
    failures = [f'<p class="failed">{escape(line)}</p>' for line in report.problems()]
    missing = report.claims.drop(report.judged().index)
    body = [f"<h1>{title}</h1>", *failures, _table(report.papers().reset_index()), _table(counts)]
    body += ["<h2>Claims judged</h2>", _claims(report.judged()), _figures(report)]
    body += ["<h2>Claims not measured in this run</h2>", _claims(missing)]
    body += ["<h2>Stated twice, counted once</h2>", _table(report.linked)] if len(report.linked) else []
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'


def _claims(frame: pd.DataFrame) -> str:
    shown = claims_for_people(frame).map(lambda cell: escape(str(cell)))
    shown["verdict"] = [f'<span class="{v.replace(" ", "-")}">{v}</span>' for v in shown["verdict"]]
    return _table(shown)


def _table(frame: pd.DataFrame) -> str:
    return frame.to_html(index=False, border=0, escape=False)


def _linked(report: Report, name: str) -> str:
    page = convert(report.folder / f"{name}.ipynb")
    return f'<a href="{page.relative_to(report.folder)}">{name}</a>' if page else name


def convert(notebook: Path) -> Path | None:
    """The executed notebook as an HTML page beside it, made anew only where it is newer; None without one."""
    page = notebook.with_suffix(".html")
    if cells.read(notebook) is None:
        return None
    if not page.is_file() or page.stat().st_mtime < notebook.stat().st_mtime:
        exporter = light("nbconvert").HTMLExporter
        page.write_text(exporter().from_filename(str(notebook))[0], encoding="utf-8")
    return page


def _figures(report: Report) -> str:
    parts = []
    for name, files in report.figures.items():
        parts += [f"<h2>{name}</h2>"] if files else []
        parts += [_image(report.folder / file) for file in files]
    return "".join(parts)


def _image(file: Path) -> str:
    content = base64.b64encode(file.read_bytes()).decode()
    image = f'<img alt="{file.stem}" src="data:image/png;base64,{content}">'
    return f"<figure>{image}<figcaption>{file.stem}</figcaption></figure>"
