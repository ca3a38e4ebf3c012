"""What is printed fits a terminal of 80 columns, and a run of chosen notebooks says what they say."""

from dataclasses import replace

import pytest
from helpers.workshop import forge

from repro.study.show import report, scoreboard
from repro.study.show.report import shown

CLAIMS = {
    "toy-001": {"measured": 0.5541},
    "toy-006": {"measured": 4.5, "baseline": "one core, " + "very " * 30 + "slow"},
}
LONG = "toy/permeability_of_another_rock"


@pytest.fixture
def finished(good):
    """Two results, of which one has a long name, and a notebook that has not run."""
    good.add(LONG, "pass")
    good.add("toy/later", "pass")
    good.finish("toy/good", CLAIMS)
    good.finish(LONG, {"toy-002": {"measured": None, "not_measured": "no GPU"}})
    return good


def test_every_line_fits_80_columns(finished):
    lines = scoreboard.summary(report.open_report(project=finished.project)).splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert "centre, Re=400: 0.5541 x/L, paper 0.5543 x/L" in text
    assert f"4.5 (over one core, {'very ' * 30}slow), paper 4-5 x" in text
    assert "yes: reproduced, newer: met by newer hardware" in text


def test_a_run_of_chosen_notebooks_shows_theirs_alone(finished):
    found = report.open_report(project=finished.project).only([LONG])
    text = scoreboard.summary(found)
    assert LONG in text
    assert "toy/good" not in text
    assert "toy-001" not in text
    assert "0 claims judged, 1 not measured in this run." in text


def test_notebook_without_claims_says_nothing_of_claims(finished):
    found = report.open_report(project=finished.project).only(["toy/later"])
    assert scoreboard.summary(found) == "Scoreboard: profile quick on machine\n\ntoy/later  not run"


def test_what_has_not_run_is_counted_and_smoke_says_that_it_judges_nothing(finished):
    finished.add("toy/later_still", "pass")
    lines = scoreboard.summary(report.open_report(project=finished.project)).splitlines()
    assert "2 have not run" in lines
    assert not any("later" in line for line in lines)
    found = report.open_report(project=finished.project)
    hint = "Smoke is too small: claims are judged from quick on."
    assert hint not in scoreboard.summary(replace(found, profile="smoke"))
    assert hint not in scoreboard.summary(found.only([LONG]))
    assert hint in " ".join(scoreboard.summary(replace(found.only([LONG]), profile="smoke")).split())


def test_headlines_are_told_with_their_notebook(finished):
    forge(finished.folder() / "toy/good.json", headlines=["k = 3 millidarcy"])
    found = report.open_report(project=finished.project)
    assert scoreboard.headlines(found) == "toy/good: k = 3 millidarcy"
    assert scoreboard.headlines(found.only([LONG])) == ""
    scoreboard.write_scoreboard(found)


@pytest.mark.parametrize("wrong", ["k = 3", [3], {"k": 3}])
def test_result_with_wrong_headlines_is_damaged(finished, wrong):
    forge(finished.folder() / "toy/good.json", headlines=wrong)
    assert report.open_report(project=finished.project).troubles["toy/good"] == "toy/good.json is damaged"


@pytest.mark.parametrize(("value", "text"), [(None, ""), (float("nan"), ""), (4.3196e-3, "0.0043196"), (3, "3")])
def test_values_are_shown_with_significant_digits(value, text):
    assert shown(value) == text
