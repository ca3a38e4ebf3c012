"""Links in what is read in the checkout lead somewhere: pages, notebooks, and what runs have written into them."""

import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from repro.study.notebooks import Project

PROJECT = Project.default()
ROOT = PROJECT.root
NOTEBOOKS = sorted(f for f in PROJECT.notebooks.rglob("*.ipynb") if f.parent.name != ".ipynb_checkpoints")
RENDERED = [f for f in NOTEBOOKS if f.is_relative_to(PROJECT.notebooks / "rendered")]
PAGES = [ROOT / "README.md", ROOT / "REPORT.md", ROOT / "notebooks/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^ *(```|~~~).*?^ *\1|^ {4}.*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
IN_MARKDOWN = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)")
IN_HTML = re.compile(r"(?:href|src)\s*=\s*[\"']([^\"']+)[\"']")
ELSEWHERE = re.compile(r"[a-z]+:|//", re.IGNORECASE)


def links(markdown: str, html: str = "") -> list[str]:
    """The links of a text, without those in code."""
    text = CODE.sub("", markdown)
    return IN_MARKDOWN.findall(text) + IN_HTML.findall(text) + IN_HTML.findall(html)


def texts(notebook: Path) -> tuple[str, str]:
    """The Markdown and the HTML of a notebook, outputs included."""
    markdown, html = [], []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            markdown.append("".join(cell["source"]))
        for data in (output.get("data", {}) for output in cell.get("outputs", [])):
            markdown.append("".join(data.get("text/markdown", "")))
            html.append("".join(data.get("text/html", "")))
    return "\n\n".join(markdown), "\n".join(html)


@cache
def anchors(file: Path) -> set[str]:
    """What a link may name after # in a file: its headings, as GitHub and as Jupyter write them, and its ids."""
    markdown, html = texts(file) if file.suffix == ".ipynb" else (file.read_text(encoding="utf-8"), "")
    heads = re.findall(r"^#+ +(.+?) *#*$", BLOCK.sub("", markdown), re.MULTILINE)
    as_github = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
    return as_github | {h.replace(" ", "-") for h in heads} | set(re.findall(r"\bid=[\"']([^\"']+)", markdown + html))


def broken(file: Path, found: list[str]) -> list[str]:
    """The links of a file that lead to no file of the checkout, or to no place in one."""
    bad = []
    for link in found:
        if ELSEWHERE.match(link):
            continue
        name, _, place = unquote(link).partition("#")
        target = (file.parent / name).resolve() if name else file
        known = target.exists() and target.is_relative_to(ROOT)
        readable = known and target.suffix in (".md", ".ipynb")
        if not known or (place and readable and place not in anchors(target)):
            bad.append(link)
    return bad


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda f: f.relative_to(ROOT).as_posix())
def test_links_of_notebooks_lead_somewhere(file):
    assert broken(file, links(*texts(file))) == []


@pytest.mark.parametrize("file", RENDERED, ids=lambda f: f.stem)
def test_no_text_in_a_table_of_a_published_notebook_is_cut_off(file):
    cells = re.findall(r"<t[dh][^>]*>([^<]+)</t[dh]>", texts(file)[1])
    assert [cell for cell in cells if re.search(r"\w.*(\.\.\.|…)\s*$", cell)] == []


@pytest.mark.parametrize("file", PAGES, ids=lambda f: f.relative_to(ROOT).as_posix())
def test_links_of_pages_lead_somewhere(file):
    found = links(file.read_text(encoding="utf-8"))
    assert found or file.parent.name == "docs"
    assert broken(file, found) == []


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("[a](README.md) [b](README.md#run-it) [b](REPORT.md#porous) [c](https://nowhere/x.md)", []),
        ("[a](no.md)", ["no.md"]),
        ("[a](README.md#nowhere)", ["README.md#nowhere"]),
        ("![a](figures/no.png)", ["figures/no.png"]),
        ('<img src="figures/no.png">', ["figures/no.png"]),
        ("[a](../outside.md)", ["../outside.md"]),
        ("`[a](no.md)` and f[i](x)\n\n    [a](no.md)\n", ["x"]),
    ],
)
def test_a_link_that_leads_nowhere_is_found(text, bad):
    assert broken(ROOT / "README.md", links(text)) == bad
