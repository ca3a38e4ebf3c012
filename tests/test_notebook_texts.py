"""What every notebook tells its reader: which paper it is about, what to try, and where to go next."""

import ast
import itertools
import re
import shlex
from collections.abc import Container, Sequence
from pathlib import Path
from string import Formatter

import pytest

from repro.study.keep.record import MOST_NUMBERS
from repro.study.notebooks import Project, catalogue, parameters, read_cells
from repro.study.notebooks.catalogue import BEYOND, Notebook
from repro.study.publish import published
from repro.study.run.plan import make_plan

PROJECT = Project.default()
ALL = catalogue.load(PROJECT).notebooks
BOOKS = [book for book in ALL if book.paper != "all"]
PUBLISHED = {book.id for book in ALL if published.sidecars(book, PROJECT)}
MOST_WORDS = 600
"""Of text before the first figure: about three minutes of reading."""
SHOWS = re.compile(r"\brecord\.figure\(")
"""What shows a figure in a code cell."""


def texts(book: Notebook) -> list[tuple[str, str]]:
    """Kind and text of each cell."""
    return [(cell["cell_type"], "".join(cell["source"])) for cell in read_cells(book.source(PROJECT))]


def words_before_a_figure(book: Notebook) -> int:
    """Words of Markdown, formulas included, before the first cell that shows a figure; all words where none does."""
    count = 0
    for kind, text in texts(book):
        if kind == "code" and SHOWS.search(text):
            break
        if kind == "markdown":
            count += len(text.split())
    return count


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_the_first_cell_is_a_title_and_cites_the_paper_if_it_is_about_one(book):
    kind, text = texts(book)[0]
    assert kind == "markdown"
    title, *rest = text.splitlines()
    assert title.startswith("# ")
    cited = [line.removeprefix("**Paper**: ") for line in rest if line.startswith("**Paper**: ")]
    assert len(cited) == (book.paper != BEYOND)
    assert all("*" in line for line in cited), "the paper's title stands in italics"


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_the_last_cell_says_what_to_try_and_where_to_go_next(book):
    text = [text for kind, text in texts(book) if kind == "markdown"][-1]
    assert "**Try it.**" in text
    assert f"python -m repro run {book.id.rpartition('/')[2]}" in text or f"python -m repro run {book.id}" in text
    (name,) = re.findall(r"\*\*Next:\*\* \[[^\]]+\]\(([^)]+)\)", text)
    target = (book.source(PROJECT).parent / name).resolve()
    assert target in [other.source(PROJECT) for other in may_follow(book, ALL, PUBLISHED)]


def may_follow(book: Notebook, books: Sequence[Notebook], published: Container[str]) -> list[Notebook]:
    """What a notebook may name as next: the next of its paper; after the last of it where a later paper begins.

    The catalogue's last paper is the scoreboard. What is not published yet may be passed over, so that a new notebook
    changes nothing in those that are there.
    """
    papers: dict[str, list[Notebook]] = {}
    for other in books[books.index(book) + 1 :]:
        papers.setdefault(other.paper, []).append(other)
    rest = papers.pop(book.paper, [])
    found = _up_to_published(rest, published)
    if not any(other.id in published for other in rest):
        found += [other for paper in papers.values() for other in _up_to_published(paper, published)]
    return found


def _up_to_published(books: list[Notebook], published: Container[str]) -> list[Notebook]:
    first = next((n for n, book in enumerate(books) if book.id in published), len(books))
    return books[: first + 1]


@pytest.mark.parametrize(
    ("after", "new", "names"),
    [
        ("a/1", "", "a/2"),
        ("a/1", "a/2", "a/2 a/3"),
        ("a/2", "", "a/3"),
        ("a/2", "a/3", "a/3 b/1 c/1 board"),
        ("a/3", "", "b/1 c/1 board"),
        ("a/3", "b/1", "b/1 b/2 c/1 board"),
        ("b/2", "c/1", "c/1 board"),
        ("c/1", "c/1", "board"),
    ],
)
def test_a_new_notebook_changes_nothing_in_those_that_are_published(after, new, names):
    ids = ["a/1", "a/2", "a/3", "b/1", "b/2", "c/1", "board"]
    books = [Notebook(i, "all" if i == "board" else i[0], i) for i in ids]
    found = may_follow(books[ids.index(after)], books, set(ids) - {new})
    assert " ".join(book.id for book in found) == names


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_a_figure_comes_before_the_reader_is_tired(book):
    assert words_before_a_figure(book) <= MOST_WORDS


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_what_a_reader_is_told_to_run_exists(book):
    known = {b.id for b in BOOKS} | {Path(b.id).name for b in BOOKS} | {b.paper for b in BOOKS}
    said = [name for _, text in texts(book) for name in re.findall(r"python -m repro run ([\w/]+)", text)]
    assert set(said) <= known


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_what_a_reader_is_told_to_try_can_be_run(book, tmp_path):
    said = [
        shlex.split(command)[4:]
        for _, text in texts(book)
        for command in re.findall(r"`(python -m repro run [^`]+)`", text)
    ]
    for name, *words in said:
        overrides = [word for before, word in itertools.pairwise(words) if before == "-p"]
        assert make_plan([name], profile="quick", device="serial", overrides=overrides, output=tmp_path).changed


@pytest.mark.parametrize("book", ALL, ids=lambda book: book.id)
def test_a_record_is_opened_with_the_values_that_the_run_has_set(book):
    cells = [cell for cell in read_cells(book.source(PROJECT)) if cell["cell_type"] == "code"]
    rest = [cell for cell in cells if "parameters" not in cell["metadata"].get("tags", ())]
    body = ast.parse("\n".join("".join(cell["source"]) for cell in rest)).body
    (opening,) = [node for node in body if "open_record(" in ast.unparse(node)]
    assert "parameters=globals()" in ast.unparse(opening)
    # before it nothing gives another value to a parameter, or its name to something else
    before = [part for node in body[: body.index(opening)] for part in ast.walk(node)]
    names = {part.id for part in before if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    names |= {part.asname or part.name for part in before if isinstance(part, ast.alias)}
    assert not names & parameters.defaults(book.source(PROJECT)).keys()


def said(body: Sequence[ast.stmt], texts: dict[str, list[str]]) -> list[str]:
    """The templates of `record.say(...)` in statements, whichever branches run; `texts` holds what names stand for."""
    found = []
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(name)]) if known := values(node.value, texts):
                texts[name] = known
            case ast.AugAssign(target=ast.Name(name)) if name in texts:
                texts[name] = [a + b for a, b in itertools.product(texts[name], values(node.value, texts))]
        for call in ast.walk(node) if not hasattr(node, "body") else ():
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "record.say":
                templates = values(call.args[0], texts)
                assert templates, f"cannot be followed: {ast.unparse(call)}"
                found += templates
        for branch in ("body", "orelse"):
            found += said(getattr(node, branch, ()), texts)
    return found


def values(node: ast.expr, texts: dict[str, list[str]]) -> list[str]:
    """What an expression of texts may be; what is filled into an f-string or replaced stands for itself."""
    match node:
        case ast.Constant(str(text)):
            return [text]
        case ast.Name(name):
            return texts.get(name, [])
        case ast.JoinedStr(parts):
            return ["".join(part.value if isinstance(part, ast.Constant) else "..." for part in parts)]
        case ast.IfExp(body=one, orelse=other):
            return values(one, texts) + values(other, texts)
        case ast.BinOp(left=left, right=right):
            return [a + b for a, b in itertools.product(values(left, texts), values(right, texts))]
        case ast.Call(func=ast.Attribute(value=inner)):
            return values(inner, texts)
    return []


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_a_sentence_has_no_more_numbers_than_a_record_takes(book):
    """Also one that only a GPU or a large profile says."""
    body = ast.parse("\n".join(text for kind, text in texts(book) if kind == "code")).body
    for sentence in said(body, {}):
        names = {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}
        assert len(names) <= MOST_NUMBERS, sentence
