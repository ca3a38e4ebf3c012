"""Each claim that is judged is declared by one notebook of its paper, and no notebook declares another."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from repro.study.judge import claims
from repro.study.judge.claims import read_code
from repro.study.notebooks import Project

NOTEBOOKS = Project.default().root / "notebooks"


def declared(notebook: Path) -> set[str]:
    """Ids that it gives to `open_record`, of modules that it imports, and those that stand as texts in it."""
    names, body = {}, ast.parse("\n".join(read_code(notebook))).body
    calls = {call.func.id: call for node in body for call in ast.walk(node) if hasattr(getattr(call, "func", 0), "id")}
    (given,) = [keyword.value for keyword in calls["open_record"].keywords if keyword.arg == "claims"]
    used = {node.id for node in ast.walk(given) if isinstance(node, ast.Name)}
    for node in body:
        found = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
        if isinstance(node, ast.ImportFrom) or (isinstance(node, ast.Assign | ast.AugAssign) and found & used):
            exec(compile(ast.Module([node], []), str(notebook), "exec"), names)
    return {*eval(compile(ast.Expression(given), str(notebook), "eval"), names)} | claims.named_in(notebook)


@pytest.mark.parametrize("paper", ["dpd", "electrons", "porous", "sph", "swap"])
def test_each_judged_claim_is_declared_by_one_notebook(paper):
    counts = Counter(claim for notebook in sorted((NOTEBOOKS / paper).glob("*.ipynb")) for claim in declared(notebook))
    # what follows by counting needs no run
    judged = {c.id for c in claims.load(paper).values() if c.measurable and c.kind != "arithmetic"}
    assert judged <= set(counts)
    assert set(counts.values()) == {1}
