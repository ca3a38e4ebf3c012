"""A rule is written before the result: one that changed says so. Results depend on papers' numbers, not on rules."""

import os
import shutil
import subprocess

import pytest
from helpers.workshop import forge

from repro.errors import InputError
from repro.files import read_json
from repro.study.judge import claims
from repro.study.judge.verdicts import Verdict
from repro.study.notebooks import Project, catalogue
from repro.study.publish import published
from repro.study.publish.publish import publish
from repro.study.show import report, scoreboard

PROJECT = Project.default()
ALL = {claim.id: claim for path in claims.files(PROJECT) for claim in claims.read(path)}
BOTH = "profiles = { quick = {}, paper = {} }"
REASON = " | reason = the grid of the paper is finer"

#: claims that were known to have changed when the column `was` was made
CHANGED = [
    *(f"dpd-{n:03d}" for n in (62, 64, 65)),
    "swap-018",
    *(f"porous-{n:03d}" for n in (*range(26, 32), 41, 51, 53, 115, 116, 117, 123)),
]


@pytest.fixture
def made(workshop):
    """A checkout that has published a result of toy-001 and toy-004, and one of toy-002."""
    workshop.add("toy/a", "pass", entry=BOTH)
    workshop.add("toy/b", "pass", entry=BOTH)
    workshop.commit()
    order = {"64": [1, 1, 1], "128": [3, 4, 5]}
    workshop.finish("toy/a", {"toy-001": {"measured": 0.5541}, "toy-004": {"measured": order}}, profile="paper")
    workshop.finish("toy/b", {"toy-002": {"measured": 1000.0}}, profile="paper")
    publish(project=workshop.project)
    workshop.commit()
    return workshop


def changes(workshop) -> list[str]:
    return published.rule_changes(catalogue.load(workshop.project).notebooks, workshop.project)


def states(workshop) -> dict[str, str]:
    return published.states(catalogue.load(workshop.project), workshop.project)


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"tolerance": "0.1"}, "its tolerance was '0.0015' when a result was made and is '0.1'"),
        ({"rule": "at least"}, "its rule was 'within' when a result was made and is 'at least'"),
        ({"value": "0.5"}, "its value was '0.5543' when a result was made and is '0.5'"),
        ({"quantity": "another thing"}, "its quantity was 'centre'"),
        ({"case": "Re=1000"}, "its case was 'Re=400'"),
        ({"kind": "mechanism"}, "its kind was 'physics'"),
        ({"trend": "> 0: it is there"}, "its trend was 'nothing'"),
    ],
)
def test_a_rule_that_changed_after_its_result_is_named_and_refused_without_was(made, columns, text):
    assert changes(made) == []
    made.state("toy-001", **columns)
    (line,) = changes(made)
    assert line.startswith("toy-001: ")
    assert text in line
    made.commit()
    with pytest.raises(InputError, match="say so in its column was: nothing is published"):
        publish(project=made.project)
    old = {"tolerance": "0.0015", "rule": "within", "value": "0.5543", "quantity": "centre", "case": "Re=400"}
    name = next(iter(columns))
    made.state("toy-001", was=f"{name} = {old.get(name, 'physics' if name == 'kind' else '')}{REASON}")
    assert changes(made) == []


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        # silent about what changed, taken away again, or another first rule than was kept
        ({"tolerance": "0.1", "was": f"case = Re=400{REASON}"}, "its tolerance was '0.0015'"),
        ({"was": ""}, "its column was had 'tolerance = 0.0015' when a result was made: keep the first rule"),
        ({"was": "", "tolerance": "5"}, "its column was had 'tolerance = 0.0015'"),
        ({"was": f"tolerance = 0.01{REASON}", "tolerance": "5"}, "its column was had 'tolerance = 0.0015'"),
        (
            {"same_as": "toy-003"},
            "its same_as was 'nothing' when a result was made and is 'toy-003'",
        ),
    ],
)
def test_a_first_rule_that_was_kept_is_not_lost_again(made, columns, text):
    made.claims.write_text("".join(x for x in made.claims.read_text().splitlines(True) if not x.startswith("toy-007")))
    if text.startswith("its column"):
        made.state("toy-001", tolerance="0.01", was=f"tolerance = 0.0015{REASON}")
        made.commit()
        order = {"64": [1, 1, 1], "128": [3, 4, 5]}
        made.finish("toy/a", {"toy-001": {"measured": 0.5541}, "toy-004": {"measured": order}}, profile="paper")
        publish(project=made.project)
    made.state("toy-001", **columns)
    assert any(text in line for line in changes(made))


def test_a_claim_with_a_result_is_not_taken_away(made):
    made.claims.write_text("".join(x for x in made.claims.read_text().splitlines(True) if not x.startswith("toy-002")))
    assert changes(made) == [
        "toy-002: it has a result and is gone from data/published: keep it, as arithmetic or as restated"
    ]


def test_a_rule_that_changed_between_a_run_and_its_publication_is_refused(made):
    made.finish("toy/b", {"toy-002": {"measured": 1000.0}, "toy-003": {"measured": 0.1}}, profile="paper")
    made.state("toy-003", tolerance="9")
    made.commit()
    with pytest.raises(InputError, match="toy-003: its tolerance was '0.06' when a result was made and is '9'"):
        publish(project=made.project)


def test_a_changed_rule_is_refused_though_its_notebook_did_not_run(made):
    made.state("toy-001", tolerance="9")
    made.commit()
    shutil.rmtree(made.folder("paper"))
    made.finish("toy/b", {"toy-002": {"measured": 1000.0}}, profile="paper")
    for beside in (False, True):
        with pytest.raises(InputError, match="toy-001: its tolerance was '0.0015'"):
            publish(project=made.project, beside=beside)


def test_the_rules_of_every_machine_count(made):
    old = made.project.data / "measured/machine/toy/a.json"
    for name in ("alpha", "zeta"):
        other = made.project.data / f"measured/{name}/toy/a.json"
        other.parent.mkdir(parents=True)
        other.write_text(old.read_text())
        content = read_json(other)
        content["rules"]["toy-001"]["tolerance"] = "0.1"
        forge(other, rules=content["rules"])
    made.state("toy-001", tolerance="0.1")
    assert "its tolerance was '0.0015'" in changes(made)[0]


@pytest.mark.parametrize(
    "rules", [["x"], 5, None, {"toy-001": ["a"]}, {"toy-001": 5}, {"toy-001": {"tolerance": {}}}], ids=str
)
def test_rules_that_no_run_wrote_are_a_damaged_result(made, rules):
    forge(made.project.data / "measured/machine/toy/a.json", rules=rules)
    assert states(made)["toy/a"] == "a.json is damaged"
    assert changes(made) == []


@pytest.mark.parametrize("used", [["toy-001"], 5, {"toy-001": {"a": 1}}], ids=str)
def test_numbers_that_no_run_wrote_are_a_damaged_result(made, used):
    path = made.project.data / "measured/machine/toy/a.json"
    run = read_json(path)["run"]
    forge(path, run=run | {"depends": run["depends"] | {"claims": used}})
    assert states(made)["toy/a"] == "a.json is damaged"


def test_where_the_study_stands_makes_no_result_stale(made):
    made.source("study/__init__.py")
    made.source("study/keep.py", "A = 1")
    code = "from repro.study.keep import A\nfrom repro.study import (\n    keep,\n)\nprint(1)"
    made.add("toy/c", code, entry=BOTH)
    made.finish("toy/c", profile="paper")
    plan = made.plan("toy/c", profile="paper")
    made.source("study/keep.py", "A = 2")
    made.write("toy/c", code.replace("from repro.study.keep import A\n", "from repro.study import keep\n"))
    assert plan.state(plan.books[-1]) == "up to date"
    made.write("toy/c", code.replace("print(1)", "print(2)"))
    assert plan.state(plan.books[-1]).startswith("out of date: notebooks/toy/c.ipynb changed")


def test_a_second_change_needs_a_second_word(made):
    made.state("toy-001", tolerance="0.1", was=f"tolerance = 0.0015{REASON}")
    made.commit()
    made.finish(
        "toy/a", {"toy-001": {"measured": 0.5541}, "toy-004": {"not_measured": "no", "measured": None}}, profile="paper"
    )
    publish(project=made.project)
    made.state("toy-001", tolerance="0.2")
    assert "its tolerance was '0.1' when a result was made and is '0.2'" in changes(made)[0]
    made.state("toy-001", was=f"tolerance = 0.0015{REASON}, and finer still")
    assert changes(made) == []


def test_words_beside_the_rule_may_change(made):
    made.state("toy-001", why="another reason", note="a note", where="table 2", hardware="a card")
    assert changes(made) == []


@pytest.mark.parametrize(
    "columns",
    [
        {"tolerance": "0.1"},
        {"rule": "at least"},
        {"why": "so"},
        {"kind": "mechanism"},
        {"was": f"tolerance = 1{REASON}"},
    ],
    ids=lambda columns: next(iter(columns)),
)
def test_a_rule_makes_no_result_stale(made, columns):
    made.state("toy-001", **columns)
    assert states(made) == {"toy/a": "up to date", "toy/b": "up to date"}


@pytest.mark.parametrize(
    ("claim", "columns", "book", "change"),
    [
        ("toy-001", {"value": "0.6"}, "toy/a", "toy-001 was 0.5543 x/L and is 0.6 x/L"),
        ("toy-001", {"unit": "m"}, "toy/a", "toy-001 was 0.5543 x/L and is 0.5543 m"),
        ("toy-004", {"value": "64"}, "toy/a", "toy-004 was 128 threads and is 64 threads"),
        ("toy-002", {"value": "9"}, "toy/b", "toy-002 was 924 MLUPS and is 9 MLUPS"),
    ],
)
def test_a_number_makes_exactly_those_stale_that_use_it(made, claim, columns, book, change):
    made.state(claim, **columns)
    expected = dict.fromkeys(("toy/a", "toy/b"), "up to date") | {book: f"out of date: {change}"}
    assert states(made) == expected


def test_a_number_that_is_gone_makes_those_stale_that_used_it(made):
    lines = made.claims.read_text().splitlines(keepends=True)
    made.claims.write_text("".join(line for line in lines if not line.startswith("toy-002")))
    assert states(made)["toy/b"] == "out of date: toy-002 is gone"
    assert states(made)["toy/a"] == "up to date"


@pytest.fixture(scope="module")
def ours():
    """The report of what is published in this checkout."""
    return report.open_published(PROJECT)


def test_no_rule_of_this_checkout_changed_without_a_word():
    assert published.rule_changes(catalogue.load(PROJECT).notebooks, PROJECT) == []


@pytest.mark.parametrize("identifier", CHANGED)
def test_what_is_known_to_have_changed_says_what_it_was(identifier):
    assert claims.first_rule(ALL[identifier]).reason


def test_nothing_that_follows_from_a_definition_is_counted(ours):
    nowhere = {i for i, claim in ALL.items() if claim.kind in (*claims.SHOWN, "setup") or claim.same_as}
    assert not nowhere & {row["id"] for row in ours.rows}
    counted = sum(count for row in ours.counts() for name, count in row.items() if name in report.VERDICTS)
    assert counted == len(ours.rows) == sum(claim.judged for claim in ALL.values())


def test_what_hangs_on_hardware_is_never_judged(ours):
    bound = [row["verdict"] for row in ours.rows if ALL[row["id"]].kind in claims.INCOMPARABLE]
    assert bound
    assert set(bound) <= {Verdict.NOT_COMPARABLE, Verdict.NOT_MEASURED}


def test_every_changed_rule_is_shown_with_its_first_verdict_and_counted(ours):
    changed = {identifier for identifier, claim in ALL.items() if claim.was}
    assert changed == {row["id"] for row in ours.corrected}
    assert all(row["by the first rule"] and row["was"] for row in ours.corrected)
    assert sum(row[report.CORRECTED] for row in ours.counts()) == len(changed)


def test_first_and_present_verdicts_stand_side_by_side_on_every_page(workshop):
    workshop.add("toy/good", "pass")
    was = f"tolerance = 0.0015{REASON}"
    workshop.state("toy-001", tolerance="0.1", was=was)
    workshop.finish("toy/good", {"toy-001": {"measured": 0.5}})
    found = report.open_report(project=workshop.project)
    row = next(row for row in found.rows if row["id"] == "toy-001")
    assert (row["verdict"], row["first"]) == ("reproduced", "not reproduced")
    for page in scoreboard.write_scoreboard(found):
        text = page.read_text()
        assert "the grid of the paper is finer" in text
        assert "not reproduced" in text


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """This checkout once more, with links in place of its files, and a file of claims that can be changed."""
    root = tmp_path_factory.mktemp("copy")
    names = ("repro", "notebooks", "data", "figures")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *names], cwd=PROJECT.root, capture_output=True
    )
    for name in listed.stdout.decode().splitlines():
        if (PROJECT.root / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            os.link(PROJECT.root / name, root / name)
    for path in claims.files(Project(root)):
        shutil.copy(path, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)
    return Project(root)


@pytest.fixture(scope="module")
def before(copy) -> dict[str, str]:
    """What is published of it, as long as nothing has changed."""
    return published.states(catalogue.load(copy), copy)


def users(identifier: str) -> set[str]:
    """The notebooks whose shown results use a number of a paper."""
    books = catalogue.load(PROJECT).notebooks
    results = {book.id: report.results.read_json(path) for book in books if (path := published.shown(book, PROJECT))}
    return {book for book, result in results.items() if identifier in result["run"]["depends"].get("claims", ())}


@pytest.mark.parametrize(
    ("identifier", "column", "text"),
    [
        ("porous-022", "tolerance", "0.0017"),
        ("dpd-061", "why", "another reason"),
        ("dpd-005", "rule", "within"),
        ("porous-022", "value", "0.8123"),
        ("dpd-041", "value", "3.21e5"),
        ("electrons-009", "value", "5"),
    ],
)
def test_in_this_checkout_a_rule_makes_nothing_stale_and_a_number_what_uses_it(copy, before, identifier, column, text):
    path = copy.data / f"published/{identifier.partition('-')[0]}.csv"
    content = path.read_text()
    claim = ALL[identifier]
    line = next(line for line in content.splitlines() if line.startswith(f"{identifier},"))
    old = getattr(claim, column)
    assert f",{old}," in line or f'"{old}"' in line
    path.write_text(content.replace(line, line.replace(f",{old},", f",{text},", 1).replace(f'"{old}"', text, 1)))
    try:
        after = published.states(catalogue.load(copy), copy)
    finally:
        path.write_text(content)
    changed = {book for book in before if before[book] != after[book]}
    assert changed == (users(identifier) if column == "value" else set())
    assert changed or column != "value"
