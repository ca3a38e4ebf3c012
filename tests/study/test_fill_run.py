"""A run of some notebooks is filled with what is published of the others, and can then be published as a whole."""

import importlib
import shutil
import sys

import pytest

from repro.files import read_json
from repro.study.notebooks import Project, catalogue
from repro.study.publish import published
from repro.study.publish.publish import publish

sys.path.insert(0, str(Project.default().root / "tools"))
tool = importlib.import_module("fill_run")

BOTH = "profiles = { quick = {}, paper = {} }"


@pytest.fixture
def part(workshop):
    """A checkout with published results of toy/a and toy/b, and a new run of toy/a alone."""
    for name in ("toy/a", "toy/b"):
        workshop.add(name, "pass", entry=BOTH)
        workshop.finish(name, profile="paper")
    workshop.commit()
    publish(project=workshop.project)
    shutil.rmtree(workshop.project.build)
    workshop.finish("toy/a", profile="paper", seconds=9.0)
    workshop.commit()
    return workshop


def test_what_did_not_run_is_taken_from_what_is_published_and_all_is_published_again(part):
    folder = part.folder("paper")
    new = (folder / "toy/a.json").read_bytes()
    assert tool.fill(folder, part.project) == ["toy/b"]
    assert (folder / "toy/a.json").read_bytes() == new
    names = read_json(folder / "toy/b.json")["files"]
    assert {(folder / name).is_file() for name in names} == {True}
    publish(folder, project=part.project)
    books = catalogue.load(part.project)
    assert published.states(books, part.project) == {"toy/a": "up to date", "toy/b": "up to date"}
    assert (part.project.data / "measured/machine/toy/a.json").read_bytes() == new
    assert tool.fill(folder, part.project) == []


def test_what_another_machine_has_published_is_taken(part, tmp_path):
    part.finish("toy/a", profile="paper", folder=tmp_path / "second", machine="faster")
    assert tool.fill(tmp_path / "second", part.project) == ["toy/b"]
    publish(tmp_path / "second", project=part.project)
    machines = {
        book.id: published.shown(book, part.project).parts[-3] for book in catalogue.load(part.project).notebooks
    }
    assert machines == {"toy/a": "faster", "toy/b": "machine"}


def test_what_was_edited_is_not_taken(part):
    with open(part.project.notebooks / "rendered/toy/b.ipynb", "a") as file:
        file.write(" ")
    assert tool.fill(part.folder("paper"), part.project) == []
