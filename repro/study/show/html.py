"""The scoreboard as one HTML page, with the executed notebooks beside it."""
# #DOC mathml: Markdown with formulas as MathML, which a browser draws without anything from elsewhere.

import base64
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path

from repro.errors import InputError
from repro.files import write_text
from repro.study.notebooks import file_stem, read_cells
from repro.study.run.execute import import_without_grammar
from repro.study.show.markdown import (
    CHANGED_RULES,
    COUNTED_NOWHERE,
    STATED_TWICE,
    changed_rules,
    claims_for_people,
    counts_for_people,
)
from repro.study.show.report import Report, Rows

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

OFFLINE = """{% extends 'index.html.j2' %}
{% block html_head_js_requirejs %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
"""
"""nbconvert's page without what it would load from the network."""


def html(report: Report) -> str:
    """scoreboard.html: counts, claims and figures on one page that needs no other file."""
    title = escape(report.title())
    pages = {row["notebook"]: convert(report.folder / f"{row['notebook']}.ipynb") for row in report.books}
    places = {name: page.relative_to(report.folder) for name, page in pages.items() if page}
    counts = [
        row | {"notebook": _linked(row["notebook"], row["notebook"], places)} for row in counts_for_people(report.books)
    ]
    failures = [f'<p class="failed">{escape(line)}</p>' for line in report.problems()]
    body = [f"<h1>{title}</h1>", *failures, _table(report.counts()), _table(counts)]
    body += ["<h2>Claims judged</h2>", _claims(report.tested(), report, places), _figures(report)]
    body += ["<h2>Claims not measured in this run</h2>", _claims(report.tested(False), report, places)]
    if report.corrected:
        body += [
            f"<h2>{CHANGED_RULES}</h2><p>{changed_rules(report.corrected)}</p>",
            _table(_escaped(report.corrected)),
        ]
    body += [f"<h2>{COUNTED_NOWHERE}</h2>", _claims(report.shown, report, places)] if report.shown else []
    body += [f"<h2>{STATED_TWICE}</h2>", _table(_escaped(report.linked))] if report.linked else []
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'


def _claims(rows: Rows, report: Report, places: Mapping[str, Path]) -> str:
    """Claims with links to their notebooks' pages and to the figures below."""
    shown = []
    for row, texts in zip(rows, _escaped(claims_for_people(rows, report.elsewhere)), strict=True):
        name = row["notebook"]
        figures = f'<a href="#{file_stem(name)}">figures</a>' if report.figures.get(name) else ""
        links = {"id": _linked(row["id"], name, places), "figures": figures}
        shown.append(texts | links | {"verdict": _coloured(row["verdict"])})
    return _table(shown)


def _coloured(verdict: str) -> str:
    return f'<span class="{verdict.replace(" ", "-")}">{verdict}</span>'


def _escaped(rows: Rows) -> Rows:
    return [{name: escape(str(cell)) for name, cell in row.items()} for row in rows]


def _table(rows: Rows) -> str:
    """Rows of HTML as a table; nothing without rows."""
    lines = [_line("th", row) for row in rows[:1]] + [_line("td", row.values()) for row in rows]
    return f"<table>{''.join(lines)}</table>" if rows else ""


def _line(tag: str, cells: Iterable) -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>\n"


def _linked(text: str, notebook: str, places: Mapping[str, Path]) -> str:
    """The text as a link to a notebook's page, if there is one."""
    return f'<a href="{places[notebook]}">{text}</a>' if notebook in places else text


def convert(notebook: Path) -> Path | None:
    """The executed notebook as an HTML page beside it, made anew only where it has changed; None without one."""
    page = notebook.with_suffix(".html")
    if read_cells(notebook) is None:
        return None
    try:
        return _converted(notebook, page)
    except (InputError, OSError):
        raise
    except Exception:  # whatever an edit by hand has made of it; that it was edited is told beside
        return None


def _converted(notebook: Path, page: Path) -> Path:
    made_from = notebook.stat().st_mtime
    # its own time would be wrong where the clock was
    if not page.is_file() or page.stat().st_mtime != made_from:
        nbconvert = import_without_grammar("nbconvert")
        exporter = nbconvert.HTMLExporter(raw_template=OFFLINE, filters={"markdown2html": markdown_to_html})
        content, _ = exporter.from_notebook_node(_with_films(notebook), {"metadata": {"name": notebook.stem}})
        write_text(page, content)
        os.utime(page, (made_from, made_from))
    return page


def _with_films(notebook: Path):
    """The notebook as nbformat reads it, but animations as HTML: nbconvert shows no GIF."""
    content = import_without_grammar("nbformat").read(notebook, as_version=4)
    for data in (output.get("data", {}) for cell in content.cells for output in cell.get("outputs", [])):
        if "image/gif" in data:
            film = "".join(data.pop("image/gif").split())
            data["text/html"] = f'<img alt="animation" src="data:image/gif;base64,{film}">'
    return content


def _figures(report: Report) -> str:
    parts = []
    for name, files in report.figures.items():
        parts += [f'<h2 id="{file_stem(name)}">{name}</h2>'] if files else []
        parts += [_image(report.folder / file) for file in files]
    return "".join(parts)


def _image(file: Path) -> str:
    content = base64.b64encode(file.read_bytes()).decode()
    image = f'<img alt="{file.stem}" src="data:image/png;base64,{content}">'
    return f"<figure>{image}<figcaption>{file.stem}</figcaption></figure>"


def markdown_to_html(source: str) -> str:
    """A text in Markdown as HTML, its formulas as MathML, its links to notebooks as links to their pages."""
    renderer, reader = _reader()
    return reader(renderer=renderer(escape=False, exclude_anchor_links=True)).render(source)


@cache
def _reader() -> tuple[type, type]:
    """What draws a text, and what reads it; imported where a page is made, for it takes a while."""
    mistune = import_without_grammar("nbconvert.filters.markdown_mistune")

    class Renderer(mistune.IPythonRenderer):
        def block_math(self, body: str) -> str:
            return formula(body, "block")

        def inline_math(self, body: str) -> str:
            return formula(body, "inline")

        def latex_environment(self, name: str, body: str) -> str:
            return formula(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")

        def link(self, text: str, url: str, title: str | None = None) -> str:
            return super().link(text, page_of(url), title)

    return Renderer, mistune.MarkdownWithMath


def formula(text: str, display: str) -> str:
    """A formula in LaTeX as MathML, as a "block" or "inline"."""
    from latex2mathml.converter import convert

    # the converter knows no name after a size
    for name, sign in (("langle", "⟨"), ("rangle", "⟩")):
        text = re.sub(rf"(\\[Bb]igg?[lr]?)\\{name}\b", rf"\1{sign}", text)
    return convert(text, display=display)


def page_of(url: str) -> str:
    """A relative link to a notebook as a link to its page; a number before its name orders files and is left out."""
    if "://" in url:
        return url
    return re.sub(r"(?:(?<=/)|^)(?:\d+_)?([\w-]+)\.ipynb(?=#|$)", r"\1.html", url)
