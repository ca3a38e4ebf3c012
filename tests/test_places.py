"""notebooks/README.md leads from each figure and table of the papers to what shows it, and to nothing else."""

import ast
import csv
import fnmatch
import sys

import pytest

from repro.files import read_json
from repro.study.judge import claims
from repro.study.notebooks import Project, catalogue, read_code
from repro.study.notebooks.catalogue import EVERYTHING
from repro.study.publish import published

PROJECT = Project.default()
ROOT = PROJECT.root
BOOKS = [book for book in catalogue.load(PROJECT).notebooks if EVERYTHING not in book.needs]
sys.path.insert(0, str(ROOT / "tools"))

import places  # noqa: E402

#: what the papers have: how many figures, tables and listings of each chapter, or of all
PAPERS = {
    "porous": {"figure": {2: 1, 3: 4, 4: 7, 5: 13, 6: 12}, "table": {4: 1}, "listing": 2},
    "swap": {"figure": 10, "table": 5},
    "dpd": {"figure": 10, "table": 4},
    "sph": {"figure": 8, "table": 2},
    "electrons": {"figure": 1, "table": 0},
}


def stated(paper: str) -> set[str]:
    """Every figure, table and listing of a paper."""
    found = set()
    for kind, counts in PAPERS[paper].items():
        chapters = {f"{n}.": count for n, count in counts.items()} if isinstance(counts, dict) else {"": counts}
        found |= {f"{kind} {chapter}{n}" for chapter, count in chapters.items() for n in range(1, count + 1)}
    return found


def shown(paper: str) -> set[str]:
    """Every place of a paper that a notebook says to show."""
    return {place for book in BOOKS if book.paper == paper for place in book.shows}


def drawn(notebook) -> list[str]:
    """Names of the figures in a notebook's cells, with * for what a run fills in; a name in a variable is only *."""
    names = []
    for node in ast.walk(ast.parse("\n".join(read_code(notebook)))):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            # an animation has the record before its name
            place = {"figure": 0, "keep_animation": 1, "keep_film": 1}.get(called)
            names += [] if place is None else [_pattern(node.args[place])]
    return names


def _pattern(name: ast.expr) -> str:
    if isinstance(name, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "*" for part in name.values)
    return name.value if isinstance(name, ast.Constant) else "*"


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_and_table_of_a_paper_is_shown_or_said_not_to_be(paper):
    left_out = set(places.NOT_SHOWN[paper])
    numbered = {place for place in shown(paper) if place.split()[0] in ("figure", "table", "listing")}
    assert numbered | left_out == stated(paper)
    assert not numbered & left_out


@pytest.mark.parametrize("paper", PAPERS)
def test_what_claims_are_about_is_a_figure_or_table_of_the_paper(paper):
    with (PROJECT.data / f"published/{paper}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    named = {place for row in rows for place in places.places(row["where"])}
    assert {place for place in named if place.split()[0] in ("figure", "table")} <= stated(paper)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_section_that_is_shown_has_a_claim(paper):
    named = {place for claim in claims.load(paper, PROJECT).values() for place in places.places(claim.where)}
    assert {place for place in shown(paper) if place.split()[0] not in places.KINDS} <= named


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_what_shows_a_place_is_drawn_by_the_notebook(book):
    named = {name for names in book.shows.values() for name in names}
    patterns = drawn(book.source(PROJECT))
    heads = places.headings(book.source(PROJECT))
    assert {n for n in named if not any(fnmatch.fnmatchcase(n, p) for p in patterns)} <= heads


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.id)
def test_what_shows_a_place_is_published(book):
    file, run = published.shown(book, PROJECT), PROJECT.notebooks / "rendered" / book.relative
    if not file or drawn(run) != drawn(book.source(PROJECT)):
        pytest.skip("its figures are not published yet")
    known = set(read_json(file)["figures"]) | places.headings(run)
    assert {name for names in book.shows.values() for name in names} <= known


@pytest.fixture(scope="module")
def rows() -> dict[str, list[str]]:
    """The rows of the page by paper and place, as cells."""
    text = (PROJECT.notebooks / "README.md").read_text(encoding="utf-8").partition("excerpt.py: figures -->")[2]
    found = {}
    for part in text.split("### `")[1:]:
        for line in part.splitlines():
            if line.startswith("| "):
                found[part.partition("`")[0], line.split(" | ")[0].lstrip("| ")] = line.split(" | ")
    return found


def test_a_place_leads_to_what_shows_it_and_to_nothing_else(rows):
    _, here, notebook, reached = rows["porous", "figure 4.3"]
    folder = "../figures/porous-cavity"
    assert here == f"[set-up]({folder}-set-up.png), [streamlines]({folder}-streamlines.png)"
    assert notebook == "[cavity](rendered/porous/cavity.ipynb)"
    assert "porous-110" in reached


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_table_and_listing_has_its_row_and_counterpart(rows, paper):
    if not any(name == paper for name, _ in rows):
        pytest.skip("nothing of it is published yet")
    for place in stated(paper) - set(places.NOT_SHOWN[paper]):
        assert rows[paper, place][1].strip(), place


def test_a_place_without_a_claim_has_its_row_too(rows):
    assert rows["dpd", "figure 2"][3].strip(" |") == ""
    assert "swap-swap_rules-" in rows["swap", "figure 5"][1]


def test_a_film_is_a_figure(rows):
    assert "sph-dam_break-film.gif" in rows["sph", "figure 8"][1]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("fig 4.3(b)", ["figure 4.3"]),
        ("fig 5.10b", ["figure 5.10"]),
        ("4.2(2)/fig 4.4", ["figure 4.4"]),
        ("2.2/table 3", ["table 3"]),
        ("table 2/4", ["table 2"]),
        ("4.2/4.3", ["section 4.2/4.3"]),
        ("0", ["introduction"]),
        ("eq 4.2", ["eq 4.2"]),
    ],
)
def test_places_that_a_claim_names(where, expected):
    assert places.places(where) == expected


def test_claims_in_a_row_are_given_in_short():
    assert places.in_short(["md-001", "md-002", "md-003", "md-005", "md-008", "md-009"]) == (
        "md-001 to -003, md-005, md-008, md-009"
    )
    assert places.in_short([]) == ""


def test_places_stand_in_the_order_of_their_numbers():
    right = ["figure 2", "figure 5.9", "figure 5.10", "table 1", "equation 4.3", "section 2", "section 4.2(3)"]
    assert sorted(set(right), key=places._order) == right
