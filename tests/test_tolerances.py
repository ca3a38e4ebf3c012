"""What a test compares with a small number is not met by zero."""

import ast
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).resolve().parent


@pytest.mark.parametrize("small", [1e-13, -3e-20, [1e-13, 1.0], {"velocity": 1e-13}, np.array([1e-13, 1e-14])])
@pytest.mark.parametrize("tolerance", [{}, {"rel": 1e-3}])
def test_nothing_is_taken_for_a_small_number(small, tolerance):
    zeros = {"velocity": 0.0} if isinstance(small, dict) else 0 * np.array(small)
    assert zeros != pytest.approx(small, **tolerance)
    assert small == pytest.approx(small, **tolerance)
    assert pytest.approx(1e-13, abs=1e-12) == 0.0


def test_numpys_closeness_names_its_absolute_tolerance():
    """By itself it is 1e-8, which takes zero for a charge or an acceleration."""
    calls = [
        f"{file.relative_to(TESTS)}:{call.lineno}"
        for file in sorted(TESTS.rglob("*.py"))
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("isclose", "allclose")
        if not {"atol", "abs_tol"} & {keyword.arg for keyword in call.keywords}
    ]
    assert not calls
