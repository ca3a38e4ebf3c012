"""Each claim that is judged is declared by one notebook of its paper, the one for which the catalogue names it."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from repro.study.judge import claims
from repro.study.notebooks import Project, catalogue, read_code
from repro.study.notebooks.catalogue import EVERYTHING

PROJECT = Project.default()
BOOKS = [book for book in catalogue.load(PROJECT).notebooks if EVERYTHING not in book.needs]


def declared(notebook: Path) -> set[str]:
    """Ids that it gives to `open_record`, of modules that it imports."""
    names, body = {}, ast.parse("\n".join(read_code(notebook))).body
    calls = {call.func.id: call for node in body for call in ast.walk(node) if hasattr(getattr(call, "func", 0), "id")}
    (given,) = [keyword.value for keyword in calls["open_record"].keywords if keyword.arg == "claims"]
    used = {node.id for node in ast.walk(given) if isinstance(node, ast.Name)}
    for node in body:
        found = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
        if isinstance(node, ast.ImportFrom) or (isinstance(node, ast.Assign | ast.AugAssign) and found & used):
            exec(compile(ast.Module([node], []), str(notebook), "exec"), names)
    return {*eval(compile(ast.Expression(given), str(notebook), "eval"), names)}


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_a_notebook_declares_the_claims_that_the_catalogue_says_it_tests(book):
    assert declared(book.source(PROJECT)) == set(book.tests)
    assert all(claim.startswith(f"{book.paper}-") for claim in book.tests)


def test_each_judged_claim_is_tested_by_one_notebook():
    counts = Counter(claim for book in BOOKS for claim in book.tests)
    known = [c for paper in catalogue.load(PROJECT).papers() for c in claims.load(paper).values()]
    # what follows by counting needs no run
    assert {c.id for c in known if c.measurable and c.kind != "arithmetic"} <= set(counts)
    assert set(counts) <= {c.id for c in known if c.measurable}
    assert set(counts.values()) == {1}
