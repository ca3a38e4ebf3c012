"""Figures of the smoke profile are compared by the arrays behind them: a change of physics is seen, rounding is not."""

import copy
import importlib
import sys

import pytest
from helpers.workshop import Workshop

from repro.files import read_json, write_json
from repro.study.notebooks import Project, catalogue

ROOT = Project.default().root
sys.path.insert(0, str(ROOT / "tools"))
tool = importlib.import_module("figure_arrays")
LINE = [1.0, 2.0, 4.0]


@pytest.fixture
def workshop(tmp_path, monkeypatch) -> Workshop:
    """A made-up project, which the tool takes for the checkout."""
    monkeypatch.setenv("REPRO_ROOT", str(tmp_path))
    return Workshop(tmp_path)


def kept(values):
    return {"toy/a": {"figures": {"flow": {"u": tool._kept(tool.np.asarray(values))}}, "tables": {"speeds": {}}}}


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        (LINE, False),
        ([1.0, 2.001, 4.0], False),
        ([1.0, 2.02, 4.0], True),
        ([1.0, 2.0, 4.0, 4.0], False),
        ([1.0, 2.0, 4.0, 4.0, 4.0], True),
        ([1.0, 4.0, 2.0], True),
        (["1", "2", "4"], True),
        ([1.0, float("nan"), 4.0], True),
    ],
    ids=["same", "rounding", "physics", "a look more", "two looks more", "order", "texts", "not a number"],
)
def test_what_differs_by_more_than_rounding_is_named(values, seen):
    lines = list(tool.differences(kept(LINE), kept(values)))
    assert [line.partition(":")[0] for line in lines] == ["toy/a figures flow u"] * seen


@pytest.mark.parametrize("part", ["figures", "tables"])
def test_a_figure_or_table_that_is_gone_or_new_is_named(part):
    less = copy.deepcopy(kept(LINE))
    (name,) = less["toy/a"].pop(part)
    less["toy/a"][part] = {}
    assert list(tool.differences(kept(LINE), less)) == [f"toy/a {part} {name}: is not there"]
    assert list(tool.differences(less, kept(LINE))) == [f"toy/a {part} {name}: is new"]


def test_a_figure_that_is_nobodys_is_named(tmp_path):
    (tmp_path / "figures").mkdir()
    for name in ("ours", "old"):
        (tmp_path / f"figures/{name}.png").touch()
    write_json(tmp_path / "a.json", {"figures": {"a": {"files": ["figures/ours.png"]}}})
    assert tool.orphans(tmp_path) == ["figures/old.png: is nobody's"]


def test_what_has_run_is_written_and_of_the_others_stays_what_was_kept(workshop, monkeypatch, capsys):
    for name in ("toy/a", "toy/b", "toy/c"):
        workshop.add(name, "pass", entry="[notebook.profiles.smoke]")
    monkeypatch.setattr(tool, "REFERENCE", workshop.project.root / "figures.json")
    write_json(tool.REFERENCE, {"toy/gone": {}, "toy/c": kept(LINE)["toy/a"], "toy/b": {}})
    workshop.finish("toy/a", profile="smoke")
    workshop.finish("toy/c", profile="smoke")
    # what is of other sources is no reference
    workshop.write("toy/c", "pass", "value = 2.0")
    monkeypatch.setattr(sys, "argv", ["figure_arrays.py", str(workshop.folder("smoke")), "--write"])
    assert tool.main() == 0
    assert capsys.readouterr().out == "toy/a\n1 of 3 notebooks written\n"
    written = read_json(tool.REFERENCE)
    assert written == {
        "toy/a": {"tables": {}, "figures": {"toy-a-a": {}}},
        "toy/b": {},
        "toy/c": kept(LINE)["toy/a"],
    }
    assert list(written) == ["toy/a", "toy/b", "toy/c"]


def test_a_run_that_failed_is_not_written(workshop):
    workshop.add("toy/a", "pass", entry="[notebook.profiles.smoke]")
    workshop.fail("toy/a", workshop.folder("smoke"))
    books, folder = tool.drawing(workshop.project), workshop.folder("smoke")
    with pytest.raises(SystemExit, match="toy/a has no whole result"):
        tool.contents(tool.finished(books, folder, workshop.project), folder)


def test_folders_above_a_run_do_not_hide_its_results(tmp_path):
    folder = tmp_path / "failed/.jobs"
    (folder / "figures").mkdir(parents=True)
    (folder / "figures/ours.png").touch()
    write_json(folder / "a.json", {"figures": {"a": {"files": ["figures/ours.png"]}}})
    assert tool.orphans(folder) == []


def test_every_notebook_of_the_smoke_profile_has_its_reference():
    books = [b.id for b in catalogue.load(Project.default()).notebooks if "smoke" in b.profiles]
    assert list(read_json(tool.REFERENCE)) == [i for i in books if i != "scoreboard"]
