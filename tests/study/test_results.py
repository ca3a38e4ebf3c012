"""Whatever lies in a run folder: what is not a whole result counts as not finished, and its file is named."""

import json
import os
import shutil

import pytest
from helpers.workshop import GOOD, forge, run

from repro.errors import InputError
from repro.files import read_json, write_json
from repro.study.keep import results
from repro.study.notebooks import catalogue
from repro.study.run.execute import CLOCK
from repro.study.run.runner import cells_at, running
from repro.study.show import report, scoreboard

CLAIMS = {"toy-001": {"measured": 0.5541}}


@pytest.fixture
def folder(good):
    """A run folder with a whole result of toy/good."""
    good.finish("toy/good", CLAIMS)
    return good.folder()


def state(workshop) -> str:
    plan = workshop.plan("toy/good")
    assert plan.state(plan.books[0]) != "up to date"
    assert plan.expected(plan.books[0]) > 0
    return plan.state(plan.books[0])


def test_whole_result_is_without_trouble_and_says_what_was_measured(folder):
    found = results.look(folder, "toy/good")
    assert (found.failure, found.trouble) == (None, "")
    assert {i: e.entry for i, e in results.evidence_of(found.sidecar).items()} == CLAIMS
    assert results.figure_files(found.sidecar) == ["figures/toy-good-a.png"]


def test_whole_result_is_up_to_date(good, folder):
    plan = good.plan("toy/good")
    assert plan.state(plan.books[0]) == "up to date"


@pytest.mark.parametrize("name", ["toy/good.ipynb", "figures/toy-good-a.png"])
def test_deleted_file_makes_a_result_unfinished(good, folder, name):
    (folder / name).unlink()
    assert state(good) == f"not finished: {name} is missing"


def test_edited_value_is_not_believed(good, folder):
    path = folder / "toy/good.json"
    path.write_text(path.read_text().replace("0.5541", "0.5543"))
    assert state(good) == "not finished: good.json was edited after the run"


def test_result_of_another_notebook_is_not_taken_for_its_own(good, folder):
    good.add("toy/other", "pass")
    for ending in (".json", ".ipynb"):
        shutil.copy((folder / "toy/good").with_suffix(ending), (folder / "toy/other").with_suffix(ending))
    assert results.look(folder, "toy/other").sidecar is None
    assert results.look(folder, "toy/other").trouble == "toy/other.json is damaged (it is the result of toy/good)"


@pytest.mark.parametrize("content", ["", '"x"', "null", "[]", "{}", "[" * 20, "\ufeff{}"])
def test_what_is_no_json_table_of_a_run_is_damaged(good, folder, content):
    (folder / "toy/good.json").write_text(content)
    assert state(good) == "not finished: toy/good.json is damaged"


def test_result_that_is_cut_off_is_damaged(good, folder):
    path = folder / "toy/good.json"
    path.write_bytes(path.read_bytes()[:-9])
    assert state(good) == "not finished: toy/good.json is damaged"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\x00"])
def test_result_that_is_no_text_is_damaged(good, folder, content):
    (folder / "toy/good.json").write_bytes(content)
    assert state(good) == "not finished: toy/good.json is damaged"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("run", None),
        ("run.finished", False),
        ("run.started", "soon"),
        ("run.seconds", 10**400),
        ("run.parameters", []),
        ("run.depends", "x"),
        ("run.depends.files", True),
        ("run.depends.settings", [[]]),
        ("run.depends.versions", -1),
        ("run.device", None),
        ("run.changed", 1),
        ("run.machine", "../../elsewhere"),
        ("claims", []),
        ("void", None),
        ("provenance", None),
        ("sentences", None),
        ("sentences", {"text": "Both agree.", "holds": True}),
        ("sentences", ["Both agree."]),
        ("sentences", [{"text": "Both agree."}]),
        ("sentences", [{"text": None, "holds": True}]),
        ("sentences", [{"text": "Both agree.", "holds": "yes"}]),
        ("figures", None),
        ("figures.a", {"files": "figures/toy-good-a.png"}),
        ("figures.a", {"files": ["figures/../../toy.csv"]}),
        ("figures.a", {"files": ["/etc/passwd"]}),
        ("figures.a", {"files": ["figures\\..\\..\\toy.csv"]}),
        ("figures.a", {"files": ["figures/C:toy.csv"]}),
        ("figures.a", {"files": ["figures/a/b.png"]}),
        ("figures.a", {"files": ["figures/../figures/a.png"]}),
        ("figures.a", {"files": ["figures/"]}),
    ],
)
def test_result_that_no_run_could_have_made_is_damaged_though_it_is_sealed(good, folder, path, value):
    content = read_json(folder / "toy/good.json")
    *above, last = path.split(".")
    place = content
    for name in above:
        place = place[name]
    place[last] = value
    forge(folder / "toy/good.json", **content)
    assert state(good) == "not finished: toy/good.json is damaged"


def test_sentences_that_do_not_hold_are_named_and_older_results_have_none(good, folder):
    assert results.untrue(results.look(folder, "toy/good").sidecar) == []
    said = [{"text": "Both agree.", "holds": True}, {"text": "Walls lie within 2.3 %.", "holds": False}]
    forge(folder / "toy/good.json", sentences=said)
    assert results.untrue(results.look(folder, "toy/good").sidecar) == ["Walls lie within 2.3 %."]


@pytest.mark.parametrize("missing", ["void", "provenance", "files", "id", "figures", "claims", "run"])
def test_result_without_a_part_is_damaged(good, folder, missing):
    content = read_json(folder / "toy/good.json")
    write_json(folder / "toy/good.json", {k: v for k, v in content.items() if k != missing})
    assert state(good).startswith("not finished: toy/good.json is damaged")


def test_result_that_leaves_a_figure_unsealed_is_damaged(good, folder):
    content = read_json(folder / "toy/good.json")
    del content["files"]["figures/toy-good-a.png"]
    forge(folder / "toy/good.json", **content)
    assert state(good) == "not finished: toy/good.json is damaged (it seals other files than its own)"


def test_result_that_seals_what_is_not_its_own_is_damaged(good, folder):
    content = read_json(folder / "toy/good.json")
    content["files"]["../../../repro/__init__.py"] = "0"
    forge(folder / "toy/good.json", **content)
    assert state(good) == "not finished: toy/good.json is damaged (it seals other files than its own)"


def test_notebook_that_is_none_makes_a_result_unfinished_though_it_is_sealed(good, folder):
    (folder / "toy/good.ipynb").write_text("{}")
    files = read_json(folder / "toy/good.json")["files"]
    forge(folder / "toy/good.json", files=files | {"toy/good.ipynb": results.digest(folder / "toy/good.ipynb")})
    assert state(good) == "not finished: toy/good.ipynb is damaged"


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("good", "its entry is no table"),
        ({"measured": 1.0, "verdict": "reproduced"}, "unknown key 'verdict', known: "),
        ({"measured": "nan"}, "the measured value is 'nan', not a number"),
        ({"measured": None}, "neither a value nor the reason why there is none"),
    ],
)
def test_evidence_that_is_none_is_named_with_its_claim(good, folder, entry, why):
    forge(folder / "toy/good.json", claims={"toy-001": entry})
    assert state(good).startswith(f"not finished: toy/good.json is damaged (toy-001: {why}")


def test_report_without_any_whole_result_names_what_is_damaged(good, folder):
    (folder / "toy/good.json").write_text("{")
    with pytest.raises(InputError, match=r"no finished run .*toy/good.json is damaged\): make one"):
        report.open_report(folder, good.project)


def test_report_names_a_damaged_result_and_shows_the_others(good, folder):
    good.add("toy/other", GOOD.replace("toy/good", "toy/other"))
    (folder / "toy/other.json").write_text(json.dumps({"claims": {}}))
    found = report.open_report(folder, good.project)
    assert "NOT FINISHED toy/other: toy/other.json is damaged" in scoreboard.summary(found)
    assert list(found.judged()["id"]) == ["toy-001"]
    scoreboard.write_scoreboard(found)


@pytest.mark.parametrize("content", ['{"error": 1}', "{}", "null", '{"error": "E", "message'])
def test_damaged_failure_is_named_and_counts_as_not_finished(good, folder, content):
    good.fail("toy/good").write_text(content)
    assert state(good) == "not finished: failed/toy/good.json is damaged"
    scoreboard.write_scoreboard(report.open_report(folder, good.project))


def test_result_is_not_current_after_a_later_failure(good, folder):
    good.fail("toy/good")
    assert state(good) == "failed: ZeroDivisionError: division by zero"


def test_failure_without_a_message_is_its_kind():
    assert results.reason({"error": "ValueError", "message": ""}) == "ValueError"


def test_new_result_takes_the_figures_of_the_old_one_away(good, folder):
    good.finish("toy/good", CLAIMS, figures=("b",))
    assert [f.name for f in (folder / "figures").iterdir()] == ["toy-good-b.png"]
    assert results.look(folder, "toy/good").trouble == ""


def test_old_result_is_none_once_a_new_one_has_begun_to_replace_its_files(good, folder, monkeypatch):
    replace = os.replace

    def breaks(source, target):
        if str(target).endswith(".ipynb"):
            raise OSError("disk full")
        replace(source, target)

    monkeypatch.setattr(os, "replace", breaks)
    with pytest.raises(OSError, match="disk full"):
        good.finish("toy/good", CLAIMS)
    assert (folder / "toy/good.ipynb").exists()
    assert results.look(folder, "toy/good").sidecar is None


@pytest.mark.parametrize("name", ["figures", "toy", "toy/good.json", "toy/good.ipynb", "figures/toy-good-a.png"])
def test_a_link_in_a_run_folder_is_not_followed(good, folder, tmp_path_factory, name):
    # as it comes from somebody else: sealed, with a file outside among its own
    place, outside = folder / name, tmp_path_factory.mktemp("outside") / "precious"
    place.rename(outside)
    place.symlink_to(outside)
    kept = [outside, *outside.rglob("*")]
    assert "a link" in results.look(folder, "toy/good").trouble
    assert good.plan("toy/good").state(good.plan("toy/good").books[0]) != "up to date"
    with pytest.raises(InputError, match=f"{place} is a link: results lie in their own folder"):
        results.look_at_all(folder, catalogue.load(good.project), good.project)
    with pytest.raises(InputError, match=f"{place} is a link"):
        run(project=good.project, output=folder)
    with pytest.raises(AssertionError, match=f"{place} is a link"):
        good.finish("toy/good", CLAIMS, figures=("b",))
    assert [outside, *outside.rglob("*")] == kept
    assert place.is_symlink()


@pytest.mark.parametrize("content", ["[1]", "{}", '{"id": 3}', "{"])
def test_what_is_no_job_of_a_run_is_none(tmp_path, content):
    place = tmp_path / ".jobs/toy-good-1"
    place.mkdir(parents=True)
    (place / "job.json").write_text(content)
    (place / CLOCK).write_text("3 of 12")
    assert cells_at(tmp_path) == {}
    (place / "job.json").write_text('{"id": "toy/good"}')
    assert cells_at(tmp_path) == {"toy/good": "3 of 12"}


@pytest.mark.parametrize("name", [".lock", "toy/zzz.json", "toy/good.json", "scoreboard.html"])
def test_nobody_waits_for_a_pipe_among_results_and_it_is_named(good, folder, name):
    good.add("score", "pass", entry='needs = ["*"]')
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    plan = good.plan("score")
    with pytest.raises(InputError, match=f"{folder / name} is a pipe, .*: remove it"):
        run(project=good.project, output=folder)
    with pytest.raises(InputError, match=f"{folder / name} is a pipe, .*: remove it"):
        results.look_at_all(folder, catalogue.load(good.project), good.project)
    if name == ".lock":
        with pytest.raises(InputError, match=f"{folder / name} is a pipe, .*: remove it"):
            running(folder)
    elif name.endswith(".json"):
        assert plan.depends(plan.books[0])["files"][f"results/{name}"] == ""
