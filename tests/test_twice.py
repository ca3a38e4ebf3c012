"""Two runs are compared value by value, times aside."""

import importlib
import sys

import pytest

from repro.study.notebooks import Project, catalogue

sys.path.insert(0, str(Project.default().root / "tools"))
tool = importlib.import_module("twice")
RESULT = {"claims": {"toy-001": {"measured": 0.5}}, "tables": {}, "figures": {"a": {"arrays": {"u": [1.0, 2.0]}}}}


@pytest.mark.parametrize(
    ("change", "places"),
    [
        ({"seconds": 3.0, "timings": [1]}, []),
        ({"claims": {"toy-001": {"measured": 0.6}}}, ["/claims/toy-001/measured"]),
        ({"figures": {"a": {"arrays": {"u": [1.0, 2.5]}}}}, ["/figures/a/arrays/u/1"]),
        ({"figures": {"a": {"arrays": {"u": [1.0]}}}}, ["/figures/a/arrays/u/1"]),
    ],
    ids=["times", "claim", "array", "shorter"],
)
def test_every_value_that_differs_is_found_and_no_time(change, places):
    assert tool.differences(RESULT, RESULT | change) == places


def test_what_may_differ_is_a_notebook_of_the_catalogue():
    assert set(tool.OPEN) <= {book.id for book in catalogue.load(Project.default()).notebooks if not book.timing}
