"""REPORT.md says what the published results say, and its paragraphs no more than that."""

import re
from dataclasses import replace

import pytest

from repro.errors import InputError
from repro.study.notebooks import Project
from repro.study.publish.publish import publish
from repro.study.show import markdown, report
from repro.study.show.report import as_csv

PROJECT = Project.default()


@pytest.fixture(scope="module")
def ours():
    """The report of this checkout."""
    return report.open_published(PROJECT)


def test_the_report_of_this_checkout_is_what_its_results_say(ours):
    # a source that changes does not change what was found; `status --published` tells it, and a report made since
    written = re.sub(r"(- \*\*OUT OF DATE.*\n)+\n", "", (PROJECT.root / "REPORT.md").read_text(encoding="utf-8"))
    assert written == markdown.report_markdown(replace(ours, outdated={}), markdown.findings(PROJECT))
    assert (PROJECT.root / "REPORT.csv").read_text(encoding="utf-8") == as_csv(ours)


def test_no_paragraph_of_this_checkout_takes_a_claim_to_have_another_verdict(ours):
    assert markdown.outgrown(markdown.findings(PROJECT), ours) == []


def test_number_figure_and_code_of_every_claim_are_a_click_away(ours):
    for row in ours.tested():
        book = next(book for book in ours.books if book["notebook"] == row["notebook"])
        assert (PROJECT.notebooks / f"rendered/{book['notebook']}.ipynb").is_file()
        assert ours.figures[row["notebook"]]
        assert ours.code[row["notebook"]]
        assert all((PROJECT.root / file).exists() for file in ours.code[row["notebook"]])


def test_every_published_paper_has_its_paragraph_and_readme_has_one_of_all(ours):
    assert set(markdown.findings(PROJECT)) == {"all"} | {row["id"].partition("-")[0] for row in ours.tested()}


@pytest.fixture
def made(workshop):
    """The report of a made-up paper, one claim of which is not reproduced."""
    workshop.add("toy/a", "pass", entry="profiles = { paper = {} }")
    workshop.commit()
    values = {"toy-001": {"measured": 0.9}, "toy-002": {"measured": 1000.0}}
    workshop.finish("toy/a", values, profile="paper")
    publish(project=workshop.project)
    return report.open_published(workshop.project)


def test_numbers_of_a_paragraph_are_those_of_the_results(made):
    said = {"toy": "It is {toy-001|not reproduced}, not {toy-001.paper}, and {toy-003}{toy-002=tie}."}
    assert "It is 0.9, not 0.5543, and (not measured)." in markdown.report_markdown(made, said)


def test_what_was_edited_and_what_the_sources_have_outgrown_is_told_first(made, workshop):
    (workshop.project.root / "figures/toy-a-a.png").write_bytes(b"edited")
    line = "- **EDITED toy/a: figures/toy-a-a.png is not what the run made; what its sealed result says is counted**"
    assert line in markdown.report_markdown(report.open_published(workshop.project), {})
    # nothing of a result that was edited itself counts
    sidecar = workshop.project.data / "measured/machine/toy/a.json"
    sidecar.write_text(sidecar.read_text().replace("0.9", "0.5543"))
    assert "- **NOT COUNTED toy/a: " in markdown.report_markdown(report.open_published(workshop.project), {})
    old = replace(made, outdated={"toy/a": "repro/lbm.py changed", "toy/b": "a.py changed"})
    line = "- **OUT OF DATE, counted as they were: the sources of 2 have changed: toy/a, toy/b**"
    assert line in markdown.report_markdown(old, {})


@pytest.mark.parametrize("content", [b"x = ", b"toy = 3", b"toy = '\xe9'"])
def test_paragraphs_that_are_none_are_one_line(workshop, content):
    file = workshop.project.root / "docs/findings.toml"
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"findings.toml"):
        markdown.findings(workshop.project)


def test_unknown_name_in_a_paragraph_is_an_error(made):
    with pytest.raises(InputError, match="unknown value 'toy-01'"):
        markdown.filled("{toy-01}", made)


def test_a_verdict_that_a_sentence_does_not_have_any_more_is_named(made):
    assert markdown.outgrown({"toy": "{toy-001|reproduced} {toy-002|met by newer hardware} {toy-002=tie}"}, made) == [
        "docs/findings.toml takes toy-001 as reproduced: it is not reproduced",
        "docs/findings.toml takes toy-002 as tie: it is met by newer hardware",
    ]


def test_what_is_not_reproduced_is_listed_with_its_reason(made):
    text = markdown.report_markdown(made, {})
    listed = text.partition("### What is not reproduced")[2].partition("### All claims")[0].split()
    assert listed[:2] == ["-", "toy-001,"]
    assert "toy-002" not in "".join(listed)


def test_the_captions_of_a_result_name_its_figures(made):
    assert "### Figures" not in markdown.report_markdown(made, {})
    known = replace(made, captions={"toy/a": {"figures/toy-a-a.png": "Dots are this run."}})
    text = markdown.report_markdown(known, {}).partition("### Figures")[2]
    linked = "[toy/a](notebooks/rendered/toy/a.ipynb), [a](figures/toy-a-a.png)"
    assert text.split("\n")[2] == f"- {linked}: Dots are this run."


def test_captions_are_those_that_a_result_was_made_with():
    sidecar = {"figures": {"a": {"files": ["a.png", "a.svg"], "caption": "Dots."}, "b": {"files": ["b.png"]}}}
    assert report._captions(sidecar) == {"a.png": "Dots.", "a.svg": "Dots."}
    assert report._captions({}) == {}
