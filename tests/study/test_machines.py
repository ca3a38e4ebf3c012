"""Results that are published are judged anew from data/measured alone, and stand beside those of a run."""

import csv

import pytest
from helpers.workshop import claim, forge

from repro.study.judge.claims import find
from repro.study.judge.evidence import Evidence
from repro.study.notebooks import catalogue
from repro.study.publish import published
from repro.study.publish.publish import publish
from repro.study.show import markdown, report, scoreboard

ENTRY = "profiles = { quick = {}, paper = {} }"


@pytest.fixture
def two(workshop, tmp_path):
    """Two machines that have published toy/a: "machine" shows it, "faster" has measured something else."""
    workshop.add("toy/a", "pass", entry=ENTRY)
    workshop.commit()
    workshop.finish("toy/a", {"toy-001": {"measured": 0.5541}, "toy-002": {"measured": 1000.0}}, profile="paper")
    publish(project=workshop.project)
    folder = tmp_path / "second"
    again = {"profile": "paper", "folder": folder, "figures": ("b",), "machine": "faster"}
    workshop.finish("toy/a", {"toy-001": {"measured": 0.9}}, **again)
    publish(folder, project=workshop.project, beside=True)
    return workshop


def row(found, claim):
    (one,) = [row for row in found.rows if row["id"] == claim]
    return one


def test_the_machine_that_is_shown_comes_first(two):
    assert published.machine_names(catalogue.load(two.project), two.project) == ["machine", "faster"]


def test_a_machine_that_has_made_the_scoreboard_alone_is_none_of_those_with_results(two, tmp_path):
    two.add("score", "pass", entry=f'needs = ["*"]\n{ENTRY}')
    two.commit()
    folder = two.finish("toy/a", profile="paper", folder=tmp_path / "third").parents[1]
    two.finish("score", profile="paper", folder=folder, machine="laptop")
    publish(folder, project=two.project)
    books = catalogue.load(two.project)
    assert [path.parent.name for path in published.sidecars(books.notebooks[-1], two.project)] == ["laptop"]
    assert published.machine_names(books, two.project) == ["machine", "faster"]


def test_machines_answer_the_claims_that_they_are_asked_for_but_those_of_their_own_run(two):
    books, stated = catalogue.load(two.project), find(["toy-001", "toy-002"], two.project)
    answers = {"machine": {"toy-001": ("0.5541", "reproduced"), "toy-002": ("1,000", "met by newer hardware")}}
    faster = {"faster": {"toy-001": ("0.9", "not reproduced")}}
    assert published.machine_answers(stated, books, two.project, {}) == answers | faster
    assert published.machine_answers(stated, books, two.project, {"toy/a": "machine"}) == faster
    assert published.machine_answers(stated, books, two.project, {"toy/b": "machine"}) == answers | faster
    second = {"toy-002": stated["toy-002"]}
    told = {"machine": {"toy-002": answers["machine"]["toy-002"]}}
    assert published.machine_answers(second, books, two.project, {}) == told
    forge(two.project.data / "measured/machine/toy/a.json", claims={"toy-002": {"measured": 5.0, "verdict": "yes"}})
    assert published.machine_answers(stated, books, two.project, {}) == faster


def test_what_is_published_is_judged_without_any_run_folder(two):
    found = report.open_published(two.project)
    assert (found.machine, row(found, "toy-001")["verdict"]) == ("machine", "reproduced")
    assert found.elsewhere == {"faster": {"toy-001": ("0.9", "not reproduced")}}


def test_a_published_result_that_was_edited_says_nothing_and_is_named(two):
    forge(two.project.data / "measured/machine/toy/a.json", claims={"toy-001": {"measured": 0.5, "verdict": "yes"}})
    found = report.open_published(two.project)
    assert row(found, "toy-001")["verdict"] == "not measured"
    assert "unknown key 'verdict'" in found.troubles["toy/a"]


def test_every_machine_stands_beside_a_run_in_all_files_of_the_scoreboard(two):
    two.finish("toy/a", {"toy-001": {"measured": 0.55}})
    found = report.open_report(two.folder(), two.project)
    table, markdown, page = scoreboard.write_scoreboard(found)
    first = next(csv.DictReader(table.open()))
    assert first["measured on faster, published"] == "0.9"
    assert first["verdict on machine, published"] == "reproduced"
    assert all("0.9 (not reproduced)" in file.read_text() for file in (markdown, page))


def test_a_machine_says_nothing_of_a_claim_that_asks_for_something_else_now(two):
    """Nor of one that is no longer judged."""
    assert published._answer(claim("0.9", rule="order"), Evidence(0.9)) is None
    assert published._answer(claim("0.9", kind="setup", rule=""), Evidence(0.9)) is None
    assert published._answer(claim("0.9"), Evidence(not_measured="no time")) is None
    assert published._answer(claim("0.9", tolerance="0.1"), Evidence(12345.6)) == ("12,346", "not reproduced")
    order = {"a": [2.0] * 3, "b": [1.0] * 3}
    assert published._answer(claim("a > b", rule="order"), Evidence(order)) == ("a > b", "reproduced")


@pytest.fixture
def shared(workshop, tmp_path):
    """A publication to which each of two machines has given a notebook, with a scoreboard made on the first."""
    for name in ("toy/a", "toy/b"):
        workshop.add(name, "pass", entry=ENTRY)
    workshop.add("score", "pass", entry=f'needs = ["*"]\n{ENTRY}')
    workshop.commit()
    folder = tmp_path / "both"
    of = {"profile": "paper", "folder": folder}
    workshop.finish("toy/a", {"toy-001": {"measured": 0.5541}}, **of)
    workshop.finish("toy/b", {"toy-002": {"measured": 1000.0}}, **of, machine="faster")
    workshop.finish("score", **of)
    publish(folder, project=workshop.project)
    return workshop


def test_a_publication_of_two_machines_is_reported_as_one(shared):
    found = report.open_published(shared.project)
    assert found.machine == "faster, machine"
    assert [row(found, i)["verdict"] for i in ("toy-001", "toy-002")] == ["reproduced", "met by newer hardware"]
    assert found.elsewhere == {}
    assert markdown.machines_of(found.books) == {"machine": ["toy/a"], "faster": ["toy/b"]}
    assert "\n\nMeasured on machine (a) and faster (b).\n\n" in markdown.report_markdown(found, {})
    assert "[toy/b](toy/b.ipynb) | done | 3 s | faster |" in markdown.scoreboard_markdown(found)


def test_of_one_machine_no_table_and_no_paragraph_names_it(two):
    found = report.open_published(two.project)
    assert "Measured on" not in markdown.report_markdown(found, {})
    assert "[toy/a](toy/a.ipynb) | done | 3 s | 1 |" in markdown.scoreboard_markdown(found)


def test_a_scoreboard_of_two_machines_fits_until_one_of_them_measures_anew(shared, tmp_path):
    books = catalogue.load(shared.project)
    assert set(published.states(books, shared.project).values()) == {"up to date"}
    again = {"profile": "paper", "folder": tmp_path / "again", "machine": "faster"}
    shared.finish("toy/b", {"toy-002": {"measured": 1100.0}}, **again)
    (shared.project.data / "measured/faster/toy/b.json").write_bytes((tmp_path / "again/toy/b.json").read_bytes())
    assert "results/toy/b.json changed" in published.states(books, shared.project)["score"]


def test_a_machine_that_says_nothing_of_a_table_has_no_column_in_it(two):
    found = report.open_published(two.project)
    assert "published, faster" in markdown.claims([row(found, "toy-001")], found, markdown.HERE)
    assert "published, faster" not in markdown.claims([row(found, "toy-002")], found, markdown.HERE)


@pytest.mark.parametrize(
    ("claim", "evidence", "ratio"),
    [
        ("toy-002", {"measured": 1848.0}, 2),
        ("toy-006", {"measured": 10.0}, 2),
        ("toy-006", {"measured": 4.5}, 1),
        ("toy-006", {"measured": 2.0}, 0.5),
        ("toy-004", {"measured": {"64": [1.0] * 3, "128": [2.0] * 3}}, None),
    ],
    ids=["bound", "above a range", "in a range", "below a range", "order"],
)
def test_ratio_is_to_the_nearer_end_of_what_is_published(good, claim, evidence, ratio):
    good.finish("toy/good", {claim: evidence})
    assert row(report.open_report(good.folder(), good.project), claim)["ratio"] == ratio
