"""A newcomer adds a paper by docs/adding.md alone: it runs, is judged, and the tests of the checkout pass."""

import csv
from pathlib import Path

import pytest
from helpers import checkouts, newcomer

TESTS = [
    *("tests/test_notebook_texts.py", "tests/test_links.py", "tests/test_artifact.py", "tests/test_figure_arrays.py"),
    *("tests/test_site.py", "tests/test_rooms.py", "tests/study/test_published.py", "tests/study/test_claims.py"),
    "tests/study/test_document.py",
    "tests/test_places.py::test_what_shows_a_place_is_drawn_by_the_notebook[cylinders/drag]",
]
"""Those that look at all notebooks, claims, pages, results or modules of a checkout."""
SLOW = "not any_edited_byte and not load_no_compiler"
"""Of these, without what says nothing of a new paper."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of the checkout with the paper of the documentation, after all commands that its steps name."""
    if (checkouts.ROOT / "repro/papers/cylinders").exists():
        pytest.skip("the paper of the documentation is here already")
    root = checkouts.copy(tmp_path_factory.mktemp("newcomer") / "checkout")
    newcomer.write(root)
    for words in newcomer.commands():
        folders = [str(f.relative_to(root)) for f in root.glob("build/smoke/*")]
        checkouts.python(root, *(folders[0] if word == "build/smoke/MACHINE" else word for word in words))
    return root


def verdict(checkout: Path) -> str:
    """What the newest scoreboard says of the claim."""
    (table,) = checkout.glob("build/smoke/*/scoreboard.csv")
    with open(table, newline="") as file:
        return {row["id"]: row["verdict"] for row in csv.DictReader(file)}["cylinders-001"]


def test_the_claim_of_the_new_paper_is_judged(checkout):
    assert verdict(checkout) == "reproduced"


def test_the_new_notebook_stands_on_the_path_of_learning(checkout):
    page = (checkout / "notebooks/README.md").read_text()
    assert "### `cylinders`: flow past cylinders" in page
    # with a link to its result only once there is one
    assert "rendered/cylinders" not in page + (checkout / "README.md").read_text()
    assert "[The drag on a cylinder among others (table 1)](cylinders/drag.ipynb): what a cylinder feels" in page


def test_the_tests_pass_with_the_new_paper(checkout):
    checkouts.python(checkout, "-m", "ruff", "check", ".", "notebooks")
    checkouts.python(checkout, "-m", "ruff", "format", "--check", ".", "notebooks")
    checkouts.python(checkout, "-m", "pytest", "-q", "-p", "no:xdist", *TESTS, "-k", SLOW)


def test_another_value_of_the_paper_gives_another_verdict(checkout):
    claims = checkout / "data/published/cylinders.csv"
    claims.write_text(claims.read_text().replace(",24.83,", ",49.66,"))
    checkouts.python(checkout, "-m", "repro", "report", "--profile", "smoke")
    assert verdict(checkout) == "not reproduced"
