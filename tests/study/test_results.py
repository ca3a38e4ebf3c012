"""Whatever lies in a run folder: what is not a whole result counts as not finished, and its file is named."""

import copy
import json
import shutil

import nbformat
import pytest
from helpers.workshop import RUN

from repro.errors import InputError
from repro.study import report, results, scoreboard, text
from repro.study.plan import make_plan

RESULT = {
    "claims": {"toy-001": {"measured": 1.0, "verdict": "reproduced", "reason": "fits"}},
    "figures": {"a": {"files": ["figures/a.png"]}},
    "run": RUN,
}


@pytest.fixture
def folder(good):
    """A run folder with a whole result of toy/good."""
    place = good.project.run_folder("quick", "machine")
    for name in ("toy", "figures", "failed/toy"):
        (place / name).mkdir(parents=True)
    (place / ".lock").touch()
    (place / "toy/good.json").write_text(json.dumps(RESULT))
    nbformat.write(nbformat.v4.new_notebook(), place / "toy/good.ipynb")
    (place / "figures/a.png").write_bytes(b"a")
    return place


def changed(path: str, value) -> str:
    """The good result with one entry replaced, as text."""
    result = copy.deepcopy(RESULT)
    *above, last = path.split(".")
    place = result
    for name in above:
        place = place[name]
    place[last] = value
    return json.dumps(result)


def state(project, folder) -> str:
    plan = make_plan(["good"], profile="quick", device="serial", output=folder, project=project)
    assert not plan.is_current(plan.books[0])
    assert plan.expected(plan.books[0]) > 0
    return plan.state(plan.books[0])


def test_whole_result_is_without_trouble(folder):
    assert results.look(folder, "toy/good") == results.Result(RESULT, None, "")


@pytest.mark.parametrize("name", ["toy/good.ipynb", "figures/a.png"])
def test_deleted_file_makes_a_result_unfinished(good, folder, name):
    (folder / name).unlink()
    assert state(good.project, folder) == f"not finished: {name} is missing"


@pytest.mark.parametrize(
    "content",
    [
        "",
        '"x"',
        "null",
        "[]",
        json.dumps(RESULT)[:-9],
        changed("run", None),
        changed("run.started", "soon"),
        changed("run.seconds", float("nan")),
        changed("run.parameters", []),
        changed("run.changed", 1),
        changed("run.machine", "../../elsewhere"),
        changed("claims", []),
        changed("claims.toy-001", "good"),
        changed("claims.toy-001.verdict", ["reproduced"]),
        changed("figures", None),
        changed("figures.a", {"files": "figures/a.png"}),
        changed("figures.a", {"files": ["figures/../../toy.csv"]}),
        changed("figures.a", {"files": ["/etc/passwd"]}),
    ],
)
def test_damaged_sidecar_is_named_and_counts_as_not_finished(good, folder, content):
    (folder / "toy/good.json").write_text(content)
    assert results.look(folder, "toy/good").sidecar is None
    assert state(good.project, folder) == "not finished: toy/good.json is damaged"
    with pytest.raises(InputError, match=r"no finished run .*toy/good.json is damaged\): make one"):
        report.open_report(folder, good.project)
    shutil.copy(folder / "toy/good.json", folder / "toy/other.json")
    (folder / "toy/good.json").write_text(json.dumps(RESULT))
    good.add("toy/other", "pass")
    found = report.open_report(folder, good.project)
    assert "NOT FINISHED toy/other: toy/other.json is damaged" in text.summary(found)
    scoreboard.write(found)


@pytest.mark.parametrize("content", ['{"error": 1}', "{}", "null", '{"error": "E", "message'])
def test_damaged_failure_is_named_and_counts_as_not_finished(good, folder, content):
    (folder / "failed/toy/good.json").write_text(content)
    assert state(good.project, folder) == "not finished: failed/toy/good.json is damaged"
    scoreboard.write(report.open_report(folder, good.project))


def test_damaged_notebook_counts_as_not_finished(good, folder):
    (folder / "toy/good.ipynb").write_text('{"cells": [')
    assert state(good.project, folder) == "not finished: toy/good.ipynb is damaged"
    scoreboard.write(report.open_report(folder, good.project))


def test_failure_without_a_message_is_its_kind():
    assert results.reason({"error": "ValueError", "message": ""}) == "ValueError"
