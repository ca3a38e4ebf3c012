"""A checkout may lie anywhere: nothing goes by the names of the folders above it."""

import json

import pytest
from helpers import checkouts

from repro.study.keep.fingerprint import named_results
from repro.study.run import execute

TESTS = [
    *("tests/test_rooms.py", "tests/study/test_plan.py", "tests/study/test_catalogue.py"),
    *("tests/test_figure_arrays.py", "tests/parallel/test_devices.py", "tests/particles/test_cells.py"),
]
"""Of several rooms, among them what meets the simulator and what must not."""
SLOW = "not (load_no_compiler or both_lists or tables_and_figures or serial or threads)"
"""Of these, without what starts processes, compiles or takes long."""
LARGE = ("notebooks/rendered", "figures", "docs/_static", "data/measured")
"""What these tests do not need."""
ABOVE = "a b.build/rendered/.jobs/failed"
"""Names by which files are told apart inside a checkout or a run."""


def test_the_tests_pass_in_folders_of_any_name(tmp_path):
    root = checkouts.copy(tmp_path / ABOVE / "study/lbm/papers/tests/study/lbm/papers/tests", without=LARGE)
    checkouts.python(root, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *TESTS, "-k", SLOW)


def test_results_of_a_run_are_seen_in_a_folder_of_any_name(tmp_path):
    folder = tmp_path / ".jobs/run"
    for name in ("toy/a.json", ".jobs/toy/b.json"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).touch()
    assert named_results(folder, folder / "own.json") == {folder / "toy/a.json": "results/toy/a.json"}


@pytest.mark.parametrize(
    ("root", "text", "scrubbed"),
    [
        ("/study", "see repro/study/cells.py", "see repro/study/cells.py"),
        ("/study", "in /study/repro/study/cells.py, '/study/a'", "in repro/study/cells.py, 'a'"),
        ("/study", "../study/a", "../study/a"),
        ("/a/study", "-I/a/study/b and repro/study/c", "-Ib and repro/study/c"),
    ],
)
def test_only_what_begins_with_the_checkout_loses_its_name(root, text, scrubbed, tmp_path):
    notebook = tmp_path / "a.ipynb"
    notebook.write_text(json.dumps({"cells": [{"source": text}]}))
    execute._scrub(notebook, {"root": root})
    assert json.loads(notebook.read_text())["cells"] == [{"source": scrubbed}]
