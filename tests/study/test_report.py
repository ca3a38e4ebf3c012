"""The scoreboard counts what the sidecars say; publishing copies finished runs only."""

import json
import shutil

import pytest
from helpers.workshop import RUN

from repro.errors import InputError
from repro.study import report, scoreboard, text
from repro.study.paths import Project
from repro.study.plan import make_plan
from repro.study.publish import publish

PIXEL = bytes.fromhex("89504e470d0a1a0a")


@pytest.fixture
def finished(good):
    """A run folder as a run leaves it: toy/good done, toy/bad failed, toy/later not in the profile."""
    good.add("toy/bad", "1 / 0")
    good.add("toy/later", "pass", entry="profiles = { paper = {} }")
    folder = good.project.run_folder("quick", "machine")
    entry = {"measured": 0.5541, "verdict": "reproduced", "reason": "fits", "note": ""}
    other = {"measured": None, "verdict": "not measured", "reason": "no GPU", "note": ""}
    sidecar = {
        "claims": {"toy-001": entry, "toy-002": other},
        "figures": {"a": {"files": ["figures/toy-good-a.png"]}},
        "run": RUN,
    }
    failure = {"error": "ZeroDivisionError", "message": "division by zero", "cell": 1}
    for name, content in {"toy/good.json": sidecar, "failed/toy/bad.json": failure}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    (folder / "figures").mkdir()
    (folder / "figures/toy-good-a.png").write_bytes(PIXEL)
    shutil.copy(good.project.notebooks / "toy/good.ipynb", folder / "toy/good.ipynb")
    (folder / ".lock").touch()
    return good


def test_counts_leave_out_setup_and_count_untested_claims_as_not_measured(finished):
    found = report.open_report(project=finished.project)
    assert found.papers().loc["toy"].to_dict() == {
        "reproduced": 1,
        "trend only": 0,
        "not reproduced": 0,
        "not comparable": 0,
        "not measured": 4,
    }
    assert list(found.judged()["id"]) == ["toy-001"]
    assert "toy-005" not in set(found.claims["id"])
    rows = found.notebooks.set_index("notebook")
    assert rows["status"].to_dict() == {
        "toy/good": "done",
        "toy/bad": "failed",
        "toy/later": "not in this profile",
    }
    assert rows.loc["toy/good", ["reproduced", "not measured"]].tolist() == [1, 1]


def test_pages_name_failures_claims_and_figures(finished):
    found = report.open_report(project=finished.project)
    csv, markdown, html = (file.read_text() for file in scoreboard.write(found))
    assert csv.count("\n") == 6
    for page in (markdown, html, text.summary(found)):
        assert "ZeroDivisionError: division by zero (cell 1)" in page
        assert "toy-001" in page
    assert 'src="data:image/png;base64,' in html
    assert '<a href="toy/good.html">toy/good</a>' in html


def test_report_without_a_run_says_how_to_start_one(good, tmp_path):
    with pytest.raises(InputError, match="python -m repro run --profile quick"):
        report.open_report(project=good.project, profile="quick")
    folder = good.project.run_folder("quick", "machine")
    with pytest.raises(InputError, match="no finished run .*python -m repro run --profile quick"):
        report.open_report(folder, good.project)
    with pytest.raises(InputError, match=f"no finished run .*python -m repro run --output {tmp_path}/nowhere"):
        report.open_report(tmp_path / "nowhere", good.project)
    with pytest.raises(InputError, match="unknown profile 'qick'"):
        report.open_report(project=good.project, profile="qick")
    assert not (tmp_path / "nowhere").exists()


def test_profile_and_machine_are_those_of_the_results(finished, tmp_path):
    folder = tmp_path / "elsewhere"
    shutil.move(finished.project.run_folder("quick", "machine"), folder)
    found = report.open_report(folder, finished.project)
    assert (found.profile, found.machine) == ("quick", "machine")
    assert found.notebooks.set_index("notebook").loc["toy/later", "status"] == "not in this profile"
    failure = json.loads((folder / "failed/toy/bad.json").read_text())
    (folder / "failed/toy/bad.json").write_text(json.dumps(failure | {"profile": "paper"}))
    assert report.open_report(folder, finished.project).profile == "paper, quick"


def test_changed_parameters_stand_in_the_title_and_their_folder_is_not_the_newest(finished):
    folder = finished.project.run_folder("quick,value=2", "machine")
    shutil.copytree(finished.project.run_folder("quick", "machine"), folder)
    sidecar = json.loads((folder / "toy/good.json").read_text())
    run = {"run": RUN | {"changed": {"value": 2.0}}}
    (folder / "toy/good.json").write_text(json.dumps(sidecar | run))
    title = "Scoreboard: profile quick on machine, toy/good with value=2"
    found = report.open_report(folder, finished.project)
    assert all(title in page.read_text() for page in scoreboard.write(found)[1:])
    assert text.summary(found).startswith(title + "\n")
    assert report.open_report(project=finished.project).changed == {}


def test_claim_without_a_value_says_what_became_of_its_notebook(finished):
    finished.add("toy/third", "claims = ['toy-003']")
    finished.write("toy/later", "claims = ['toy-004']")
    finished.write("toy/bad", "claims = ['toy-006']")
    found = report.open_report(project=finished.project)
    reasons = found.claims.set_index("id")["reason"]
    assert reasons["toy-003"] == "its notebook has not run (toy/third)"
    assert reasons["toy-004"] == "its notebook is not in this profile (toy/later)"
    assert reasons["toy-006"] == "its notebook failed (toy/bad)"
    finished.write("toy/third", "pass")
    found = report.open_report(project=finished.project)
    assert found.claims.set_index("id").loc["toy-003", "reason"] == "no notebook tests it yet"


def test_report_names_missing_figures_and_shows_the_rest(finished):
    folder = finished.project.run_folder("quick", "machine")
    (folder / "figures/toy-good-a.png").unlink()
    found = report.open_report(project=finished.project)
    *_, page = scoreboard.write(found)
    line = "NOT FINISHED toy/good: figures/toy-good-a.png is missing; run it again"
    assert line in text.summary(found)
    assert line in page.read_text()
    assert list(found.judged()["id"]) == ["toy-001"]


@pytest.fixture
def paper(good, tmp_path):
    """A finished run of the profile paper, made elsewhere, of a project with one notebook."""
    good.catalogue.write_text("")
    good.add("toy/good", "pass", entry="profiles = { quick = {}, paper = { value = 2.0 } }")
    folder = tmp_path / "elsewhere"
    (folder / "toy").mkdir(parents=True)
    (folder / "figures").mkdir()
    rewrite(folder, profile="paper", parameters={"value": 2.0})
    (folder / "figures/toy-good-a.png").write_bytes(PIXEL)
    shutil.copy(good.project.notebooks / "toy/good.ipynb", folder / "toy/good.ipynb")
    return folder


def rewrite(folder, **run):
    sidecar = {"claims": {}, "figures": {"a": {"files": ["figures/toy-good-a.png"]}}, "run": RUN | run}
    (folder / "toy/good.json").write_text(json.dumps(sidecar))


def test_publish_copies_notebooks_figures_and_measurements(good, paper):
    root = good.project.root
    published = {str(file.relative_to(root)) for file in publish(paper, project=good.project)}
    assert published == {
        "notebooks/rendered/toy/good.ipynb",
        "figures/toy-good-a.png",
        "data/measured/machine/toy/good.json",
    }
    assert all((root / name).is_file() for name in published)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"profile": "quick"}, "holds the profile quick: only runs of the profile paper or beyond"),
        ({"parameters": {"value": 3.0}}, "toy/good ran with value=3, not as its profile says"),
        ({"parameters": {"value": 2.0}, "changed": {"device": "serial"}}, "toy/good ran with device=serial"),
        ({"parameters": {}}, "toy/good ran with value=0.5541"),
    ],
)
def test_publish_refuses_other_profiles_and_changed_parameters(good, paper, run, message):
    rewrite(paper, **{"profile": "paper", "parameters": {"value": 2.0}} | run)
    with pytest.raises(InputError, match=message):
        publish(paper, project=good.project)
    assert not (good.project.root / "figures").exists()


def test_publish_refuses_failed_unfinished_and_mixed_runs(good, paper):
    refused = {"figures/toy-good-a.png": r"is not finished .*\(figures/toy-good-a.png is missing\)"}
    refused["toy/good.json"] = "no finished run"
    for name, message in refused.items():
        content = (paper / name).read_bytes()
        (paper / name).unlink()
        with pytest.raises(InputError, match=message):
            publish(paper, project=good.project)
        (paper / name).write_bytes(content)
    failure = {"error": "ZeroDivisionError", "message": "division by zero", "profile": "paper"}
    (paper / "failed/toy").mkdir(parents=True)
    (paper / "failed/toy/good.json").write_text(json.dumps(failure))
    with pytest.raises(InputError, match="toy/good failed"):
        publish(paper, project=good.project)
    (paper / "failed/toy/good.json").write_text(json.dumps(failure | {"profile": "quick"}))
    with pytest.raises(InputError, match="mixes the profiles paper, quick"):
        publish(paper, project=good.project)


def test_publish_refuses_a_small_profile_before_looking_for_a_run(good):
    with pytest.raises(InputError, match="profile quick: only runs of the profile paper or beyond"):
        publish(profile="quick", project=good.project)


def test_scoreboard_depends_on_the_other_results(finished):
    finished.add("score", "pass", entry='needs = ["*"]')
    folder = finished.project.run_folder("quick", "machine")
    plan = make_plan(None, profile="quick", device="serial", output=folder, project=finished.project)
    board = next(book for book in plan.books if book.id == "score")
    assert folder / "toy/good.json" in plan.dependencies(board)
    assert folder / "failed/toy/bad.json" in plan.dependencies(board)


def test_every_notebook_of_this_project_is_in_the_catalogue_with_known_parameters():
    project = Project.default()
    plan = make_plan(None, profile="smoke", device="serial", project=project)
    listed = {book.relative.as_posix() for book in [*plan.books, *plan.absent]}
    here = {f.relative_to(project.notebooks).as_posix() for f in project.notebooks.rglob("*.ipynb")}
    assert {name for name in here if not name.startswith("rendered/") and ".ipynb_checkpoints" not in name} <= listed
