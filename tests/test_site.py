"""The site, without building it: nothing is left out, links lead somewhere, nothing comes from elsewhere."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from repro.study.notebooks import Project, catalogue
from repro.study.publish import published

PROJECT = Project.default()
ROOT = PROJECT.root
BOOKS = [book for book in catalogue.load(PROJECT).notebooks if published.sidecars(book, PROJECT)]
"""What is published: a new notebook has no page yet, nor need a new paper have one."""
PAPERS = [paper for paper in catalogue.load(PROJECT).papers() if paper in {book.paper for book in BOOKS}]
DOCS = sorted((ROOT / "docs").rglob("*.md"))


def tool(name):
    """A module of tools/, or of the site's extensions."""
    for folder in ("tools", "docs/_ext"):
        if str(ROOT / folder) not in sys.path:
            sys.path.insert(0, str(ROOT / folder))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def laid_out():
    """Every page that Sphinx reads, and the places of the files that they link to."""
    site_layout = tool("site_layout")
    places = tool("site_links").Places(ROOT, site_layout.shown_figures(PROJECT))
    return site_layout.pages(PROJECT, places) | site_layout.notebooks(PROJECT, places), places


def entries(text: str) -> list[str]:
    """The pages that a page's tables of contents name."""
    lines = "\n".join(re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)).splitlines()
    return [line.rpartition("<")[2].rstrip(">") for line in lines if line and not line.startswith(":")]


def in_contents(pages) -> list[str]:
    """Every page that stands in a table of contents, from the top of the site."""
    found = []
    for name, text in pages.items():
        for entry in entries(text) if name.endswith(".md") else []:
            found.append(entry.lstrip("/") if entry.startswith("/") else str(Path(name).parent / entry))
    return found


def test_every_page_stands_in_one_table_of_contents(laid_out):
    names = [name.rpartition(".")[0] for name in laid_out[0]]
    assert sorted(in_contents(laid_out[0])) == sorted(set(names) - {"index"})


def test_every_published_notebook_is_a_page(laid_out):
    pages = {name for name in laid_out[0] if name.endswith(".ipynb")}
    assert pages == {f"notebooks/{book.relative}" for book in BOOKS}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_an_introduction_with_its_notebooks_and_claims(paper, laid_out):
    written = (ROOT / f"docs/papers/{paper}.md").read_text()
    # without equations, and without what came out, which is generated
    left_out = r"\$\$.*?\$\$|<!-- written by .*?<!-- end: outcome -->"
    introduction = re.sub(left_out, "", written.partition("## The notebooks")[0], flags=re.DOTALL)
    assert re.search(r"## What was found\n\n<!-- .* -->\n\w", written)
    assert 300 <= len(introduction.split()) <= 550
    text = laid_out[0][f"papers/{paper}.md"]
    own = [f"/notebooks/{book.relative.with_suffix('')}" for book in BOOKS if book.paper == paper]
    assert entries(text) == own
    assert f"[{paper}-" in text.partition("## Its claims")[2]


def test_the_scoreboard_comes_first(laid_out):
    text = laid_out[0]["index.md"]
    assert 0 < text.index("| paper | reproduced |") < text.index("## ")


def test_a_claim_leads_to_its_row_its_figures_and_the_code_in_its_notebook(laid_out):
    pages, _ = laid_out
    links = re.findall(
        r"^\| \[([a-z]+-\d+)\]\((\S+?\.ipynb)#(.+?)\) .*\| ([^|]+) \|$", pages["claims.md"], re.MULTILINE
    )
    assert len(links) > 100
    for claim, page, place, evidence in links:
        assert place == claim
        assert f'id=\\"{claim}\\"' in pages[page], f"{page} has no place for {claim}"
        figures = re.findall(r"\[\S+\]\((\S+?\.ipynb)#(figure-\S+?)\)", evidence)
        assert {at for at, _ in figures} <= {page}
        assert all(f'id=\\"{figure}\\"' in pages[page] for _, figure in figures)
        assert "](api/repro.papers." in evidence


def test_every_notebook_page_leads_to_its_file(laid_out):
    pages, places = laid_out
    for name in (name for name in pages if name.endswith(".ipynb")):
        assert f"files/{name}>`" in pages[name]
        assert places.files[f"files/{name}"].relative_to(PROJECT.notebooks).parts[0] != "rendered"


def test_every_link_of_a_page_leads_to_a_page_or_to_a_file_that_is_copied(laid_out):
    pages, places = laid_out
    known = set(pages) | set(places.files)
    for name in (name for name in pages if name.endswith(".md")):
        text = re.sub(r"^ *```.*?^ *```$|`[^`\n]*`", "", pages[name], flags=re.MULTILINE | re.DOTALL)
        for url in re.findall(r"\]\(([^)#\s]+)", text):
            target = (Path("/") / Path(name).parent / url).as_posix()
            assert "://" in url or str(Path(target).resolve())[1:] in known, f"{name}: {url}"


@pytest.mark.parametrize("file", DOCS, ids=lambda file: file.name)
def test_links_of_a_page_hold_in_the_checkout(file):
    text = re.sub(r"^ *```.*?^ *```$|`[^`\n]*`", "", file.read_text(), flags=re.MULTILINE | re.DOTALL)
    links = [url for url in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in url]
    assert [url for url in links if not (file.parent / url.partition("#")[0]).is_file()] == []


def test_a_link_to_nothing_is_refused():
    places = tool("site_links").Places(ROOT)
    with pytest.raises(FileNotFoundError, match=r"docs/index.md links to nowhere.md"):
        places.mended("[a](nowhere.md)", ROOT / "docs/index.md", "index.md")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](cavity.ipynb)", "[a](cavity.ipynb)"),
        ("[a](../dpd/channel.ipynb)", "[a](../dpd/channel.ipynb)"),
        ("[a](../../../LICENSE)", "[a](../../files/LICENSE)"),
        ("[a](../../../repro/dpd/forces.py)", "[a](../../api/repro.dpd.md#reprodpdforces)"),
        ("![a](figures/porous-cavity-streamlines.png)", "![a](../../files/figures/porous-cavity-streamlines.png)"),
        ("[a](https://doi.org/10) [b](#here) `[c](d)`", "[a](https://doi.org/10) [b](#here) `[c](d)`"),
    ],
)
def test_where_links_of_an_executed_notebook_lead(text, expected):
    origin = ROOT / "notebooks/rendered/porous/duct.ipynb"
    assert tool("site_links").Places(ROOT).mended(text, origin, "notebooks/porous/duct.ipynb") == expected


@pytest.mark.parametrize("file", [ROOT / "docs/conf.py", *sorted((ROOT / "docs").rglob("*.css"))], ids=lambda f: f.name)
def test_nothing_is_loaded_from_elsewhere(file):
    assert not re.search(r"//|@import", re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL))


def test_the_checker_finds_what_is_dead_and_what_is_foreign(tmp_path):
    (tmp_path / "a.html").write_text(
        '<link rel="next" href="https://x.org"><link rel="stylesheet" href="https://x.org/a.css">'
        '<p id="here"><a href="#here"></a><a href="#gone"></a><a href="b.html"></a><a href="https://x.org"></a>'
        '<img src="c.png"><img src="data:image/png;base64,"><p style="background: url(//x.org/d.png)">'
    )
    (tmp_path / "e.css").write_text('@import "https://x.org/f.css"; a { background: url(data:x) url("e.css") }')
    assert tool("site_check").problems(tmp_path) == [
        "a.html: dead link #gone",
        "a.html: dead link b.html",
        "a.html: loads https://x.org/a.css from elsewhere",
        "a.html: loads c.png, which is missing",
        "a.html: loads //x.org/d.png from elsewhere",
        "e.css: loads https://x.org/f.css from elsewhere",
    ]


def test_formulas_become_mathml():
    pytest.importorskip("sphinx", reason="make site installs it")
    formula = tool("mathml").formula
    assert formula(r"\tau", block=False).startswith("<math")
    assert 'display="block"' in formula(r"\frac{1}{2}", block=True)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a*b_ of `x`."], [r"a\*b\_ of \ ``x``\ ."]),
        (["Where:", "", "    a  b*", "    c", "", "End."], ["Where:", "", "::", "", "    a  b*", "    c", "", r"End."]),
        (["- one `a`", "- two"], ["- one \\ ``a``\\ ", "- two"]),
    ],
)
def test_docstrings_are_plain_text(lines, expected):
    pytest.importorskip("sphinx", reason="make site installs it")
    assert tool("plain_docstrings").as_rst(lines) == expected
