"""The scoreboard as one HTML page, with the executed notebooks beside it."""

import base64
import hashlib
import re
from functools import cache
from html import escape
from importlib import metadata
from pathlib import Path

from repro.errors import InputError
from repro.files import write_text
from repro.study.keep.results import digest
from repro.study.notebooks import read_cells
from repro.study.run.execute import import_without_grammar
from repro.study.show.markdown import Links, scoreboard_markdown
from repro.study.show.report import VERDICTS, Report

#: a cell that says a verdict, and the one by the first rule where that changed
VERDICT = re.compile(rf"<td>({'|'.join(VERDICTS)})( \(.*?\))?</td>")
CLAIM, ROW = re.compile(r"<td>([a-z]+-\d+)</td>"), re.compile(r"<tr>.*?</tr>", re.DOTALL)


def html(report: Report) -> str:
    """scoreboard.html: counts, claims and figures on one page that needs no other file."""
    for row in report.books:
        convert(report.folder / f"{row['notebook']}.ipynb")
    body = markdown_to_html(scoreboard_markdown(report, Links(figures="#", of_claims=True)), escaped=True)
    for name, files in report.figures.items():
        body += f"<h2>{name}</h2>" if files else ""
        body += "".join(_image(report.folder / file, file) for file in files)
    body = VERDICT.sub(_coloured, body)
    head = f'<meta charset="utf-8"><title>{escape(report.title())}</title><style>{_beside("page.css")}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def convert(notebook: Path) -> Path | None:
    """The executed notebook as an HTML page beside it, made anew only where it has changed; None without one."""
    page = notebook.with_suffix(".html")
    if read_cells(notebook) is None:
        return None
    # times would be wrong where the clock was
    if _source_of(page) != (made_from := digest(notebook)):
        try:
            content = _converted(notebook)
        except (InputError, OSError):
            raise
        except Exception:  # whatever an edit by hand has made of it; that it was edited is told beside
            return None
        write_text(page, f"{content}<!-- {made_from} {hashlib.sha256(content.encode()).hexdigest()} -->\n")
    return page


def is_whole(page: Path) -> bool:
    """Whether a page is as it was made; one that is not there yet is."""
    return not page.is_file() or bool(_source_of(page))


def _source_of(page: Path) -> str:
    """The hash of the notebook that a page was made from, by its last line; empty where the page was changed since."""
    content, _, stamp = page.read_bytes().rpartition(b"<!-- ") if page.is_file() else (b"", b"", b"")
    own = hashlib.sha256(content).hexdigest().encode()
    known = re.fullmatch(rb"(\w{64}) " + own + rb" -->\n", stamp)
    return known[1].decode() if known else ""


def _converted(notebook: Path) -> str:
    # before the templates of a user, and of the folder that somebody stands in
    own = [file.locate() for file in metadata.files("nbconvert") or () if file.match("lab/index.html.j2")]
    exporter = import_without_grammar("nbconvert").HTMLExporter(
        raw_template=_beside("offline.html.j2"),
        filters={"markdown2html": markdown_to_html},
        extra_template_basedirs=[str(file.resolve().parents[1]) for file in own],
    )
    content = import_without_grammar("nbformat").read(notebook, as_version=4)
    for data in (output.get("data", {}) for cell in content.cells for output in cell.get("outputs", [])):
        if "text/html" in data:
            data["text/html"] = with_places("".join(data["text/html"]))
        # nbconvert shows no animation
        if "image/gif" in data:
            film = "".join(data.pop("image/gif").split())
            data["text/html"] = f'<img alt="animation" src="data:image/gif;base64,{film}">'
    return exporter.from_notebook_node(content, {"metadata": {"name": notebook.stem}})[0]


def with_places(text: str) -> str:
    """HTML whose tables have a place for each claim that a row judges, and verdicts with a class of their own."""

    def row(match: re.Match) -> str:
        line, judged = VERDICT.subn(_coloured, match[0])
        return CLAIM.sub(r'<td id="\1">\1</td>', line, count=1) if judged else line

    return ROW.sub(row, text)


def _coloured(cell: re.Match) -> str:
    return f'<td class="{cell[1].replace(" ", "-")}">{cell[1]}{cell[2] or ""}</td>'


def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _image(file: Path, name: str) -> str:
    content = base64.b64encode(file.read_bytes()).decode()
    image = f'<img alt="{file.stem}" src="data:image/png;base64,{content}">'
    return f'<figure id="{name}">{image}<figcaption>{file.stem}</figcaption></figure>'


def markdown_to_html(source: str, escaped: bool = False) -> str:
    """A text in Markdown as HTML, its formulas as MathML, its links to notebooks as links to their pages.

    `escaped` shows tags of HTML as they are written.
    """
    renderer, reader = _reader()
    return reader(renderer=renderer(escape=escaped, exclude_anchor_links=True)).render(source)


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
            # to a notebook's page, without the number before its name, which orders files
            page = re.sub(r"(?:(?<=/)|^)(?:\d+_)?([\w-]+)\.ipynb(?=#|$)", r"\1.html", url)
            return super().link(text, url if "://" in url else page, title)

    return Renderer, mistune.MarkdownWithMath


def formula(text: str, display: str) -> str:
    """A formula in LaTeX as MathML, as a "block" or "inline"."""
    from latex2mathml.converter import convert

    # the converter knows no name after a size
    for name, sign in (("langle", "⟨"), ("rangle", "⟩")):
        text = re.sub(rf"(\\[Bb]igg?[lr]?)\\{name}\b", rf"\1{sign}", text)
    return convert(text, display=display)
