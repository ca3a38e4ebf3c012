"""What a run will do is known before it does anything."""

from repro.files import read_json
from repro.study.paths import Project
from repro.study.plan import make_plan


def test_scoreboard_depends_on_the_other_results_and_on_failures(good):
    good.add("score", "pass", entry='needs = ["*"]')
    good.finish("toy/good", {})
    good.fail("toy/good")
    plan = good.plan("score")
    files = plan.depends(plan.books[-1])["files"]
    assert {"results/toy/good.json", "results/failed/toy/good.json"} <= files.keys()
    assert "results/score.json" not in files


def test_scoreboard_is_out_of_date_after_another_result(good):
    good.add("score", "pass", entry='needs = ["*"]')
    good.finish("toy/good", {})
    good.finish("score")
    plan = good.plan("score")
    assert plan.state(plan.books[-1]) == "up to date"
    good.finish("toy/good", {"toy-001": {"measured": 0.5}})
    assert plan.state(plan.books[-1]) == "out of date: results/toy/good.json changed"


def test_other_notebooks_do_not_depend_on_results(good):
    good.add("toy/other", "pass")
    good.finish("toy/other", {})
    plan = good.plan("toy/good")
    assert not [name for name in plan.depends(plan.books[0])["files"] if name.startswith("results/")]


def test_duration_is_expected_as_last_time_else_as_the_catalogue_says(workshop):
    workshop.add("toy/a", "pass", entry="seconds = { quick = 7 }")
    plan = workshop.plan("toy/a")
    assert plan.expected(plan.books[0]) == 7
    path = workshop.finish("toy/a", {})
    assert plan.expected(plan.books[0]) == read_json(path)["run"]["seconds"] == 3.0


def test_every_notebook_of_this_project_is_in_the_catalogue_with_known_parameters():
    project = Project.default()
    plan = make_plan(None, profile="smoke", device="serial", project=project)
    listed = {book.relative.as_posix() for book in [*plan.books, *plan.absent]}
    here = {f.relative_to(project.notebooks).as_posix() for f in project.notebooks.rglob("*.ipynb")}
    assert {name for name in here if not name.startswith("rendered/") and ".ipynb_checkpoints" not in name} <= listed
