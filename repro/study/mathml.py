"""Markdown with formulas as MathML, which a browser draws without anything from elsewhere."""

import re

from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath


def html(source: str) -> str:
    """A text in Markdown as HTML, its formulas as MathML, its links to notebooks as links to their pages."""
    return MarkdownWithMath(renderer=_Renderer(escape=False, exclude_anchor_links=True)).render(source)


class _Renderer(IPythonRenderer):
    def block_math(self, body: str) -> str:
        return _formula(body, "block")

    def inline_math(self, body: str) -> str:
        return _formula(body, "inline")

    def latex_environment(self, name: str, body: str) -> str:
        return _formula(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return super().link(text, page_of(url), title)


def _formula(text: str, display: str) -> str:
    # the converter knows no name after a size
    for name, sign in (("langle", "⟨"), ("rangle", "⟩")):
        text = re.sub(rf"(\\[Bb]igg?[lr]?)\\{name}\b", rf"\1{sign}", text)
    return convert(text, display=display)


def page_of(url: str) -> str:
    """A relative link to a notebook as a link to its page; a number before its name orders files and is left out."""
    if "://" in url:
        return url
    return re.sub(r"(?:(?<=/)|^)(?:\d+_)?([\w-]+)\.ipynb(?=#|$)", r"\1.html", url)
