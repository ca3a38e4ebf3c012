"""What a notebook takes from the package is there: a name that moved would be noticed in its run only."""

import ast
import json
from importlib import import_module
from types import ModuleType

import pytest

from repro.study.notebooks import Project, catalogue

PROJECT = Project.default()
BOOKS = {book.id: book.source(PROJECT) for book in catalogue.load(PROJECT).notebooks}


def missing(code: str) -> list[str]:
    """What is imported from the package, or read off an imported module of it, and is not there."""
    tree, known, lost = ast.parse(code), {}, []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("repro"):
            continue
        module = import_module(node.module)
        for name in node.names:
            try:
                found = getattr(module, name.name, None) or import_module(f"{node.module}.{name.name}")
            except ModuleNotFoundError:
                lost.append(f"{node.module}.{name.name}")
                continue
            if isinstance(found, ModuleType):
                known[name.asname or name.name] = found
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            module = known[node.value.id]
            if not hasattr(module, node.attr):
                lost.append(f"{module.__name__}.{node.attr}")
    return lost


def code_of(notebook: dict) -> str:
    """The code cells of a notebook as one text, without what IPython alone understands."""
    lines = (
        line
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        for line in [*"".join(cell["source"]).splitlines(), ""]
    )
    return "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))


@pytest.mark.parametrize("book", BOOKS)
def test_all_that_a_notebook_takes_from_the_package_is_there(book):
    assert missing(code_of(json.loads(BOOKS[book].read_text(encoding="utf-8")))) == []


def test_a_name_that_moved_is_missed():
    code = "from repro.parallel import select, selekt\nfrom repro.lbm import exact\nexact.duct_flo(3)\nselect('serial')"
    assert missing(code) == ["repro.parallel.selekt", "repro.lbm.exact.duct_flo"]
