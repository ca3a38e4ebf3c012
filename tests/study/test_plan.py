"""What a run will do is known before it does anything."""

import pytest
from helpers.workshop import forge

from repro.files import read_json, write_json
from repro.study.notebooks import Project
from repro.study.run.plan import make_plan


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


def test_scoreboard_does_not_depend_on_what_is_at_work(good):
    good.add("score", "pass", entry='needs = ["*"]')
    good.finish("toy/good", {})
    plan = good.plan("score")
    before = plan.depends(plan.books[-1])
    write_json(good.folder() / ".jobs/toy-good-1/job.json", {"id": "toy/good"})
    assert plan.depends(plan.books[-1]) == before


@pytest.mark.parametrize(("setting", "value"), [("profile", "paper"), ("device", "threads")])
def test_result_of_another_profile_or_device_is_out_of_date(workshop, setting, value):
    workshop.add("toy/a", "pass", entry="profiles = { quick = {}, paper = {} }")
    workshop.finish("toy/a")
    facts = {"profile": "quick", "device": "serial"}
    request = facts | {setting: value, "output": workshop.folder(), "project": workshop.project}
    plan = make_plan(None, **request)
    assert plan.state(plan.books[0]) == f"out of date: {setting} was {facts[setting]} and is {value}"


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


def test_duration_with_changed_parameters_is_expected_as_in_the_profile(workshop):
    workshop.add("toy/a", "pass", entry="seconds = { quick = 7 }")
    plan = workshop.plan("toy/a", changed=("value=2",), folder=workshop.folder("quick,value=2"))
    assert plan.expected(plan.books[0]) == 7
    usual = workshop.finish("toy/a", {}, folder=workshop.project.run_folder("quick", plan.machine))
    assert plan.expected(plan.books[0]) == 3.0
    # and as with the same parameters, once they have run
    forge(usual, run=read_json(usual)["run"] | {"seconds": 5.0})
    assert plan.expected(plan.books[0]) == 5.0
    workshop.finish("toy/a", {}, folder=plan.output)
    assert plan.expected(plan.books[0]) == 3.0


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("rock.npy", "{here}/rock.npy"),
        ("./rock.npy", "{here}/rock.npy"),
        ("../here/rock.npy", "{here}/rock.npy"),
        ("{here}/rock.npy", "{here}/rock.npy"),
        # no such file: the notebook will say where it looked
        ("typo.toml", "{here}/typo.toml"),
        # no ending, but there is such a file
        ("plain", "{here}/plain"),
        # named from the project, as in the catalogue
        ("data/a.toml", "data/a.toml"),
        ("{root}/data/a.toml", "data/a.toml"),
        # not names of files
        ("zou-he", "zou-he"),
        ("0.5", "0.5"),
        ("x" * 5000, "x" * 5000),
        ("a\0b.toml", "a\0b.toml"),
    ],
)
def test_file_that_the_user_names_stands_where_the_command_was_started(workshop, monkeypatch, given, found):
    root = workshop.project.root
    here = root.parent / f"{root.name}-elsewhere" / "here"
    here.mkdir(parents=True)
    (root / "data/a.toml").touch()
    for name in ("rock.npy", "plain"):
        (here / name).touch()
    workshop.add("toy/a", "pass", parameters='file = "data/b.toml"')
    monkeypatch.chdir(here)
    facts = {"here": here, "root": root}
    plan = workshop.plan("toy/a", changed=(f"file={given.format(**facts)}",))
    assert plan.parameters["toy/a"]["file"] == found.format(**facts)


def test_every_notebook_of_this_project_is_in_the_catalogue_with_known_parameters():
    project = Project.default()
    plan = make_plan(None, profile="smoke", device="serial", project=project)
    listed = {book.relative.as_posix() for book in [*plan.books, *plan.absent]}
    here = {f.relative_to(project.notebooks).as_posix() for f in project.notebooks.rglob("*.ipynb")}
    assert {name for name in here if not name.startswith("rendered/") and ".ipynb_checkpoints" not in name} <= listed
