"""Every figure that a notebook keeps has one caption, and every caption belongs to a figure."""

import ast
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch

import pytest

from repro.study.notebooks import Project, catalogue, read_cells
from repro.study.notebooks.catalogue import Notebook

PROJECT = Project.default()
BOOKS = catalogue.load(PROJECT).notebooks
CAPTIONS = tomllib.loads((PROJECT.root / "notebooks/captions.toml").read_text(encoding="utf-8"))
KEEPS = {"record.figure": 0, "keep_film": 1, "keep_animation": 1}
"""What keeps a picture, and which of its arguments is the name."""
GIVEN = {
    "porosity_figures": ["porosity-MLUPS", "porosity-MFLUPS"],
    "flag_word_figures": ["drop", "share", "blocks"],
}
"""Names that functions give to the figures that they return."""


def figures(book: Notebook) -> Iterator[str]:
    """Names that the code of a notebook gives to pictures, with a * for what is known only in a run."""
    for cell in read_cells(book.source(PROJECT)):
        if cell["cell_type"] == "code":
            yield from kept(ast.parse("".join(cell["source"])))


def kept(tree: ast.AST) -> Iterator[str]:
    """Names of the pictures that code keeps; of a name that is a variable, what its loop gives it."""
    loops = {call: loop for loop in ast.walk(tree) if isinstance(loop, ast.For) for call in ast.walk(loop)}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and (function := ast.unparse(call.func)) in KEEPS:
            name = call.args[KEEPS[function]]
            if isinstance(name, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "*" for part in name.values)
            elif isinstance(name, ast.Constant):
                yield name.value
            else:
                yield from given(loops[call].iter)


def given(values: ast.expr) -> list[str]:
    """The first of each tuple that a loop goes over, which are written there or are .items() of a function's."""
    if isinstance(values, ast.Tuple):
        return [each.elts[0].value for each in values.elts]
    return GIVEN[values.func.value.func.attr]


def test_names_are_found_wherever_code_has_them():
    code = 'record.figure(f"at-{re:g}", *drawn)\nkeep_film(record, "film", images)\n'
    code += 'for name, rows in (("a", flat), ("b", deep)):\n    record.figure(name, *draw(rows))\n'
    code += "for name, drawn in figures.porosity_figures(table).items():\n    record.figure(name, *drawn)\n"
    assert sorted(kept(ast.parse(code))) == sorted(["at-*", "film", "a", "b", *GIVEN["porosity_figures"]])


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_every_figure_has_one_caption_and_every_caption_a_figure(book):
    found, captions = list(figures(book)), CAPTIONS.get(book.id, {})
    assert {name: [key for key in captions if fnmatch(name, key)] for name in found} == {name: [name] for name in found}
    assert sorted(captions) == sorted(found)


def test_every_table_of_captions_belongs_to_a_notebook():
    assert set(CAPTIONS) <= {book.id for book in BOOKS}


@pytest.mark.parametrize(
    ("place", "caption"),
    [(f"{book} {name}", text) for book, texts in CAPTIONS.items() for name, text in texts.items()],
)
def test_a_caption_is_a_sentence_or_two(place, caption):
    assert 8 <= len(caption.split()) <= 45, place
    assert caption == " ".join(caption.split()), place
    assert caption.endswith("."), place
    assert len(re.findall(r"\.(?= [A-Z]|$)", caption)) <= 2, place
    assert not set("*_`$\\\u2014") & set(caption.replace("G_fs", "")), f"{place}: plain text"
