"""The scoreboard judges anew what the results hold, and counts that."""

import json
import os
import re
import shutil
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from helpers.workshop import CLAIMS as FILE
from helpers.workshop import GOOD, claim, forge

from repro.errors import InputError
from repro.files import read_json
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Judgement, Verdict
from repro.study.keep import results
from repro.study.notebooks import Project, catalogue, read_cells
from repro.study.show import html, markdown, report, scoreboard
from repro.study.show.html import convert
from repro.study.show.markdown import Links

CLAIMS = {"toy-001": {"measured": 0.5541}, "toy-002": {"measured": None, "not_measured": "no GPU"}}


@pytest.fixture
def finished(good):
    """A run folder as a run leaves it: toy/good done, toy/bad failed, toy/later not in the profile."""
    good.add("toy/bad", "1 / 0")
    good.add("toy/later", "pass", entry="profiles = { paper = {} }")
    good.finish("toy/good", CLAIMS)
    good.fail("toy/bad")
    return good


def row(workshop, claim: str):
    return report.frame(report.open_report(project=workshop.project).rows).set_index("id").loc[claim]


def test_untested_claims_count_as_not_measured_and_set_up_and_restatements_not_at_all(finished):
    counts = report.open_report(project=finished.project).papers().loc["toy"].to_dict()
    assert {verdict: count for verdict, count in counts.items() if count} == {"reproduced": 1, "not measured": 4}
    assert list(counts) == [*report.VERDICTS, report.CORRECTED]


def test_restatements_are_listed_with_the_claim_that_they_restate(finished):
    found = report.open_report(project=finished.project)
    assert [(row["id"], row["same_as"]) for row in found.linked] == [("toy-007", "toy-001")]
    assert "toy-007" not in {row["id"] for row in found.rows}
    for page in scoreboard.write_scoreboard(found)[1:]:
        assert "Stated twice, counted once" in page.read_text()
        assert "toy-007" in page.read_text()


def test_set_up_is_not_listed(finished):
    found = report.open_report(project=finished.project)
    assert "toy-005" not in {row["id"] for row in (*found.rows, *found.linked)}


def test_a_number_that_only_serves_as_a_yardstick_is_listed_though_no_rule_judges_it(finished):
    finished.claims.write_text(FILE + "toy-008,text,bandwidth,,900,GB/s,,yardstick,,,of the card,,\n")
    found = report.open_report(project=finished.project)
    assert [row["id"] for row in found.shown] == ["toy-008"]
    assert "toy-008" not in {row["id"] for row in found.rows}


def test_status_of_each_notebook_is_told(finished):
    rows = pd.DataFrame(report.open_report(project=finished.project).books).set_index("notebook")
    assert rows["status"].to_dict() == {
        "toy/good": "done",
        "toy/bad": "failed",
        "toy/later": "not in this profile",
    }
    assert rows.loc["toy/good", ["reproduced", "not measured"]].tolist() == [1, 1]


def test_verdict_follows_the_claims_at_hand_and_is_read_from_nowhere(finished):
    assert row(finished, "toy-001")["verdict"] == "reproduced"
    finished.claims.write_text(FILE.replace("0.5543", "0.6"))
    assert row(finished, "toy-001")["verdict"] == "not reproduced"


def test_verdict_that_was_written_into_a_result_is_refused(finished):
    entry = {"measured": 0.9, "verdict": "reproduced"}
    forge(finished.folder() / "toy/good.json", claims={"toy-001": entry})
    found = report.open_report(project=finished.project)
    assert "toy-001: unknown key 'verdict'" in found.troubles["toy/good"]
    assert not len(found.judged())


def test_value_that_was_edited_is_not_judged(finished):
    path = finished.folder() / "toy/good.json"
    path.write_text(path.read_text().replace("0.5541", "0.5543"))
    found = report.open_report(project=finished.project)
    assert found.problems()[1] == "NOT FINISHED toy/good: good.json was edited after the run; run it again"
    assert not len(found.judged())


def test_claim_that_two_notebooks_measure_is_an_error_that_names_both(finished):
    finished.add("toy/again", GOOD.replace("toy/good", "toy/again"))
    finished.finish("toy/again", {"toy-001": {"measured": 0.9}})
    with pytest.raises(InputError, match="claim toy-001 is measured by toy/good and by toy/again"):
        report.open_report(project=finished.project)


def test_notebook_that_has_no_value_for_a_claim_leaves_it_to_the_one_that_has(finished):
    finished.add("toy/again", GOOD.replace("toy/good", "toy/again"))
    finished.finish("toy/again", {"toy-002": {"measured": 1000.0}})
    assert row(finished, "toy-002")[["notebook", "verdict"]].tolist() == ["toy/again", "met by newer hardware"]


def test_result_that_the_sources_have_outgrown_is_named_with_what_changed(finished):
    finished.write("toy/good", GOOD + "    more = 1")
    found = report.open_report(project=finished.project)
    assert found.outdated == {"toy/good": "notebooks/toy/good.ipynb changed"}
    line = "OUT OF DATE toy/good: notebooks/toy/good.ipynb changed; run it again"
    assert all(
        line in page
        for page in (scoreboard.summary(found), *(f.read_text() for f in scoreboard.write_scoreboard(found)[1:]))
    )


def test_what_shows_other_results_is_not_named_as_out_of_date(finished):
    finished.add("score", "pass", entry='needs = ["*"]')
    finished.finish("score")
    assert report.open_report(project=finished.project).outdated == {}


def test_result_that_fits_its_sources_is_not_out_of_date(finished):
    assert report.open_report(project=finished.project).outdated == {}


def test_speedup_is_shown_with_what_it_is_over(finished):
    entry = {"measured": 4.5, "baseline": "one core, 5 MLUPS"}
    finished.finish("toy/good", {"toy-006": entry})
    assert "4.5 (over one core, 5 MLUPS)" in scoreboard.summary(report.open_report(project=finished.project))


def test_pages_name_failures_claims_and_figures(finished):
    found = report.open_report(project=finished.project)
    csv, markdown, html = (file.read_text() for file in scoreboard.write_scoreboard(found))
    assert csv.count("\n") == 6
    for page in (markdown, html, scoreboard.summary(found)):
        assert "ZeroDivisionError: division by zero (cell 1)" in page
        assert "toy-001" in page
    assert 'src="data:image/png;base64,' in html
    assert '<a href="toy/good.html">toy/good</a>' in html


def test_claims_are_linked_to_their_notebook_and_its_figures(finished):
    found = report.open_report(project=finished.project)
    page = markdown.claims(found.rows, found, Links(figures="../../"))
    assert "[toy-001](toy/good.ipynb)" in page
    assert "[a](../../figures/toy-good-a.png)" in page
    text = scoreboard.write_scoreboard(found)[1].read_text()
    assert all((found.folder / name).is_file() for name in re.findall(r"\]\(([^)]+)\)", text))


@pytest.mark.parametrize(("profile", "prefix"), [("quick", ""), ("paper", "../../")])
def test_figures_are_where_the_executed_scoreboard_will_lie(good, monkeypatch, profile, prefix):
    good.catalogue.write_text("")
    good.add("toy/good", GOOD, entry="profiles = { quick = {}, paper = {} }")
    good.finish("toy/good", CLAIMS, profile=profile)
    folder = good.folder(profile)
    monkeypatch.chdir(good.project.notebooks)
    place = markdown.from_notebook(report.open_report(folder, good.project))
    assert place.figures == place.notebooks == f"../build/{profile}/machine/"
    monkeypatch.setenv("REPRO_RUN", str(folder))
    assert markdown.from_notebook(report.open_report(project=good.project)) == Links("", prefix)


def test_no_reason_is_cut_off(finished):
    entry = {"measured": None, "not_measured": "why " * 100 + "it is so"}
    finished.finish("toy/good", {"toy-001": entry})
    found = report.open_report(project=finished.project)
    assert all(entry["not_measured"] in file.read_text() for file in scoreboard.write_scoreboard(found))


def test_a_notebooks_page_needs_no_network_and_writes_formulas_as_mathml(tmp_path):
    v4, book = nbformat.v4, tmp_path / "formulas.ipynb"
    source = "$k = u_d\\nu/g$ and\n\n$$\\Big\\langle x \\Big\\rangle$$\n\n[Next](other.ipynb) [all](../00_all.ipynb#a)"
    nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell(source)]), book)
    page = convert(book).read_text()
    assert page.count("<math") == 2
    assert "langle" not in re.sub(r'alttext="[^"]*"', "", page)
    assert "<script" not in page
    assert not re.search(r"""(src|href)=["'](https?:)?//""", page)
    assert 'href="other.html"' in page
    assert 'href="../all.html#a"' in page


def test_every_formula_of_the_notebooks_has_mathml():
    project = Project.default()
    for book in catalogue.load(project).notebooks:
        for cell in read_cells(book.source(project)):
            if cell["cell_type"] == "markdown":
                page = html.markdown_to_html("".join(cell["source"]))
                assert not re.search(r"<m\w[^>]*>[^<]*\\", page), book.id


@pytest.mark.parametrize("edit", [{"nbformat": 99}, {"cells": [{"cell_type": "code", "source": ""}]}, {"cells": [3]}])
def test_a_notebook_that_was_edited_by_hand_has_no_page(tmp_path, edit):
    book = tmp_path / "edited.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("text")]), book)
    book.write_text(json.dumps(json.loads(book.read_text()) | edit))
    assert convert(book) is None
    assert list(tmp_path.iterdir()) == [book]


def test_a_notebooks_page_shows_its_animations(tmp_path):
    book, film = tmp_path / "film.ipynb", "R0lGODlhAQABAAAAACw="
    shown = nbformat.v4.new_output("display_data", {"image/gif": film + "\n", "text/plain": "<Image object>"})
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("film", outputs=[shown])]), book)
    page = convert(book).read_text()
    assert f'src="data:image/gif;base64,{film}"' in page
    assert "Image object" not in page


def test_report_without_a_run_says_how_to_start_one(good, tmp_path):
    with pytest.raises(InputError, match="python -m repro run --profile quick"):
        report.open_report(project=good.project, profile="quick")
    with pytest.raises(InputError, match="no finished run .*python -m repro run --profile quick"):
        report.open_report(good.folder(), good.project)
    with pytest.raises(InputError, match=f"no finished run .*python -m repro run --output {tmp_path}/nowhere"):
        report.open_report(tmp_path / "nowhere", good.project)
    assert not (tmp_path / "nowhere").exists()


def test_report_of_an_unknown_profile_is_refused(good):
    with pytest.raises(InputError, match="unknown profile 'qick'"):
        report.open_report(project=good.project, profile="qick")


def test_profile_and_machine_are_those_of_the_results(finished, tmp_path):
    folder = tmp_path / "elsewhere"
    shutil.move(finished.folder(), folder)
    found = report.open_report(folder, finished.project)
    assert (found.profile, found.machine) == ("quick", "machine")
    assert next(row["status"] for row in found.books if row["notebook"] == "toy/later") == "not in this profile"
    finished.fail("toy/bad", folder, profile="paper")
    assert report.open_report(folder, finished.project).profile == "paper, quick"


def test_changed_parameters_stand_in_the_title_and_their_folder_is_not_the_newest(finished):
    folder = finished.folder("quick,value=2")
    finished.finish("toy/good", CLAIMS, folder=folder, changed=("value=2",))
    title = "Scoreboard: profile quick on machine, toy/good with value=2"
    found = report.open_report(folder, finished.project)
    assert all(title in page.read_text() for page in scoreboard.write_scoreboard(found)[1:])
    assert scoreboard.summary(found).startswith(title + "\n")
    assert found.outdated == {}
    assert report.open_report(project=finished.project).changed == {}


@pytest.mark.parametrize("later", ["slow", "fast"])
def test_report_is_of_the_folder_that_was_written_to_last(good, later):
    for machine in ("slow", "fast"):
        folder = good.project.run_folder("quick", machine)
        good.finish("toy/good", CLAIMS, folder=folder, machine=machine)
        moment = 2e9 if machine == later else 1e9
        os.utime(folder, (moment, moment))
    assert report.open_report(project=good.project).machine == later


def test_claim_without_a_value_says_what_became_of_its_notebook(finished):
    finished.add("toy/third", "pass", entry='tests = ["toy-003"]')
    for name, tested in {"toy/later": "toy-004", "toy/bad": "toy-006"}.items():
        entry = f'id = "{name}"\n'
        finished.catalogue.write_text(finished.catalogue.read_text().replace(entry, f'{entry}tests = ["{tested}"]\n'))
    reasons = {row["id"]: row["reason"] for row in report.open_report(project=finished.project).rows}
    assert reasons["toy-003"] == "its notebook has not run (toy/third)"
    assert reasons["toy-004"] == "its notebook is not in this profile (toy/later)"
    assert reasons["toy-006"] == "its notebook failed (toy/bad)"
    # a result from before the notebook declared the claim
    finished.finish("toy/third", {})
    assert row(finished, "toy-003")["reason"] == "its notebook has not run since this was added (toy/third)"
    finished.catalogue.write_text(finished.catalogue.read_text().replace('tests = ["toy-003"]', ""))
    assert row(finished, "toy-003")["reason"] == "no notebook tests it"


def result(sidecar=None, failure=None, trouble="") -> results.Result:
    return results.Result(sidecar, failure, trouble)


RUN = {"run": {"seconds": 3.0, "machine": "here"}}


@pytest.mark.parametrize(("found", "status", "why"), [
    (result(), "not run", "its notebook has not run (toy/a)"),
    (result(RUN), "done", "its notebook has not run since this was added (toy/a)"),
    (result(RUN, {"error": "no"}), "failed", "its notebook failed (toy/a)"),
    (result(None, None, "toy/a.json is damaged"), "not finished", "the result of its notebook cannot be read (toy/a)"),
    (result(RUN, None, "a.ipynb is missing"), "not finished", "its notebook has not run since this was added (toy/a)"),
])  # fmt: skip
def test_what_became_of_a_notebook_says_why_it_tells_nothing_of_a_claim(found, status, why):
    book = SimpleNamespace(id="toy/a", title="made up", profiles={"quick": {}})
    rows = [{"notebook": name, "verdict": "tie"} for name in ("toy/a", "toy/a", "toy/b")]
    row = report._status(book, found, rows, {"quick"})
    about = {"status": status, "seconds": 3.0 if found.sidecar else None, "machine": "here" if found.sidecar else ""}
    assert row == {"notebook": "toy/a", "title": "made up"} | about | dict.fromkeys(report.VERDICTS, 0) | {"tie": 2}
    assert report._nothing(book, {"toy/a": found}, {"quick"}) == why
    # of a run of another profile, or of nobody's notebook
    elsewhere = {"not run": "not in this profile"}.get(status, status)
    assert report._status(book, found, rows, {"paper"})["status"] == elsewhere
    assert report._nothing(book, {"toy/a": found}, {"paper"}) == "its notebook is not in this profile (toy/a)"
    assert report._nothing(None, {}, {"quick"}) == "no notebook tests it"


def test_a_gallery_names_the_figures_of_each_notebook_that_has_some():
    files = ["figures/toy-a-one.png", "figures/toy-a-two-more.png"]
    shown = SimpleNamespace(figures={"toy/a": files, "toy/b": [], "toy/c": files[:1]}, troubles={"toy/c": "edited"})
    shown.books = [{"notebook": name, "machine": "here"} for name in shown.figures]
    named = "[one](up/figures/toy-a-one.png)"
    lines = [f"- [toy/a](down/toy/a.ipynb): {named}, [two-more](up/figures/toy-a-two-more.png)", f"- toy/c: {named}"]
    assert markdown.gallery(shown, Links("down/", "up/")) == "\n".join(lines)


def test_a_failure_is_told_with_its_cell_and_whether_an_earlier_result_stands():
    failure = {"error": "ValueError", "message": "no", "cell": 0}
    assert report._failure(failure, False) == "ValueError: no (cell 0)"
    assert report._failure(failure | {"cell": None}, True) == "ValueError: no; the earlier result is shown"


def test_earlier_result_of_a_notebook_that_has_failed_since_says_so(finished):
    finished.fail("toy/good")
    assert row(finished, "toy-001")["reason"].endswith("; the notebook has failed since")


def test_report_names_missing_figures_and_shows_the_rest(finished):
    (finished.folder() / "figures/toy-good-a.png").unlink()
    found = report.open_report(project=finished.project)
    *_, page = scoreboard.write_scoreboard(found)
    line = "NOT FINISHED toy/good: figures/toy-good-a.png is missing; run it again"
    assert line in scoreboard.summary(found)
    assert line in page.read_text()
    assert list(found.judged()["id"]) == ["toy-001"]


def test_report_changes_no_result(finished):
    before = read_json(finished.folder() / "toy/good.json")
    scoreboard.write_scoreboard(report.open_report(project=finished.project))
    assert read_json(finished.folder() / "toy/good.json") == before


def test_value_of_another_form_than_the_claim_asks_for_now_does_not_count(finished):
    finished.claims.write_text(FILE.replace("physics,within,0.0015", "mechanism,order,").replace("0.5543", "a > b"))
    found = row(finished, "toy-001")
    assert found["verdict"] == "not measured"
    assert found["reason"].startswith("its result does not fit the claim any more: toy-001")


@pytest.mark.parametrize(
    ("facts", "was", "rule"),
    [
        ({"tolerance": "0.2"}, "tolerance = 0.1 | case = Re=100", "case: Re=100; rule: within 10 m (tolerance 0.1)"),
        ({"tolerance": "", "rule": "at least"}, "value = 8", "rule: at least 8 m"),
        # an order is a rule by itself
        ({"value": "a > b", "unit": "", "rule": "order"}, "value = b > a", "rule: b > a"),
    ],
)
def test_a_rule_that_changed_is_shown_with_its_own_verdict_and_the_reason(facts, was, rule):
    old = Judgement(Verdict.NOT_REPRODUCED, "12 is too much")
    made = claim(**{"unit": "m", "case": "Re=400"} | facts, was=f"{was} | reason = a finer grid")
    assert report._was(made, old) == f"{rule}. By it: 12 is too much. Changed: a finer grid"
    assert report._was(made, None) == ""


@pytest.mark.parametrize(
    ("stated", "measured", "published", "ratio"),
    [
        ("8", 10.0, 8, 1.25),
        (">8", 4.0, 8, 0.5),
        # of a range the nearer end, and within it our own number
        ("4-5", 3.0, 4, 0.75),
        ("4-5", 6.0, 5, 1.2),
        ("4-5", 4.4, 4.4, 1),
        ("4-5", None, 4, None),
        ("0", 3.0, 0, None),
    ],
)
def test_a_number_is_held_against_the_published_one_and_a_range_by_its_nearer_end(stated, measured, published, ratio):
    found = report._against(claim(stated), Evidence(measured, not_measured="" if measured else "not run"))
    assert found == {"published": pytest.approx(published), "ratio": ratio and pytest.approx(ratio)}


def test_an_order_is_held_against_no_number():
    nothing = {"published": None, "ratio": None}
    assert report._against(claim("a > b", "order"), Evidence(not_measured="not run")) == nothing
    assert report._against(claim("a > b", "order"), Evidence({"a": [2, 2, 2], "b": [1, 1, 1]})) == nothing
