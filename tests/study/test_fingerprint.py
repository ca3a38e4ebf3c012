"""A result is out of date exactly if something changed that it was made from."""

import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from helpers.workshop import Workshop

from repro.study.keep import fingerprint, provenance, results
from repro.study.notebooks import catalogue

SOURCE = '''"""What it does."""

SIZE = 64  # nodes
TEXT = """
# a line of C

int x;
"""


def double(x):
    """Twice as much."""
    # no more
    return 2 * x
'''


@pytest.fixture
def book(workshop) -> Workshop:
    """A project whose notebook toy/a has a result."""
    workshop.source("toy/__init__.py")
    workshop.source("toy/case.py", SOURCE)
    workshop.source("toy/unused.py", "SIZE = 1")
    workshop.source("papers/__init__.py")
    workshop.source("papers/style.py", "BLUE = '#00f'")
    workshop.source("papers/other.py", "SIZE = 1")
    code = "from repro.papers.style import BLUE\nfrom repro.toy.case import double"
    workshop.add("toy/a", code, entry='data = ["published/*.csv"]', parameters="value = 1.0\nsample = 'data/rock.toml'")
    (workshop.project.data / "rock.toml").write_text('image = "rock.raw"\nother = \'rock.npy\'\nends = "periodic"\n')
    (workshop.project.data / "published/toy_figures.csv").write_text("x,y\n")
    for name in ("rock.raw", "rock.npy", "more.raw"):
        (workshop.project.data / name).write_bytes(b"0")
    workshop.finish("toy/a")
    return workshop


def state(workshop, **more) -> str:
    plan = workshop.plan("toy/a", **more)
    return plan.state(plan.books[0])


def edit(workshop, file: str, old: str, new: str) -> None:
    path = workshop.project.root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_dependencies_are_notebook_sources_data_and_files_of_parameters(book):
    toy = catalogue.load(book.project).notebooks[0]
    names = [f.relative_to(book.project.root).as_posix() for f in fingerprint.dependencies(toy, book.project)]
    assert sorted(names) == [
        "data/published/toy_figures.csv",
        "data/rock.npy",
        "data/rock.raw",
        "data/rock.toml",
        "notebooks/toy/a.ipynb",
        "repro/__init__.py",
        "repro/papers/__init__.py",
        "repro/toy/__init__.py",
        "repro/toy/case.py",
    ]


@pytest.mark.parametrize("seconds", [-1e6, 0, 1e6])
def test_date_of_a_file_changes_nothing(book, seconds):
    moment = time.time() + seconds
    for path in book.project.root.rglob("*.*"):
        os.utime(path, (moment, moment))
    assert state(book) == "up to date"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("What it does.", "Something else.\n\nOn several lines."),
        ("Twice as much.", "Two times as much."),
        ('"""What it does."""\n', ""),
        ("# no more", "# more"),
        ("    # no more\n", ""),
        ("  # nodes", "  # cells"),
        ("  # nodes", ""),
        ("\n\n\ndef", "\n\n\n\n# double\ndef"),
        ("return 2 * x\n", "return 2 * x\n\n# the end\n"),
    ],
)
def test_comments_docstrings_and_empty_lines_change_nothing(book, old, new):
    edit(book, "repro/toy/case.py", old, new)
    assert state(book) == "up to date"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SIZE = 64", "SIZE = 65"),
        ("2 * x", "3 * x"),
        ("return 2 * x", "return 2 * x + 1"),
        # in a text, such as a source in C, nothing is a comment and no line is empty
        ("# a line of C", "# another line of C"),
        ("C\n\nint", "C\nint"),
        ("int x;\n", "int x; \n"),
        # no docstring stands beside code
        ('"""What it does."""', '"""What it does."""; SIZE = 1'),
        ("    return 2", "return 2"),
    ],
)
def test_change_of_code_is_named(book, old, new):
    edit(book, "repro/toy/case.py", old, new)
    assert state(book) == "out of date: repro/toy/case.py changed"


def test_code_beside_a_docstring_counts(book):
    edit(book, "repro/toy/case.py", '"""What it does."""', '"""What it does."""; LIMIT = 1')
    book.finish("toy/a")
    edit(book, "repro/toy/case.py", "LIMIT = 1", "LIMIT = 2")
    assert state(book) == "out of date: repro/toy/case.py changed"


def test_text_with_values_that_stands_alone_computes_something(book):
    edit(book, "repro/toy/case.py", "    # no more", "    f'{print(x)}'")
    assert state(book) == "out of date: repro/toy/case.py changed"


def test_source_that_is_no_python_counts_as_it_is(book):
    book.source("toy/case.py", "def (\n# a")
    book.finish("toy/a")
    book.source("toy/case.py", "def (\n# b")
    assert state(book) == "out of date: repro/toy/case.py changed"


@pytest.mark.parametrize("file", ["papers/style.py", "papers/other.py", "toy/unused.py"])
def test_look_of_figures_and_what_is_not_imported_change_nothing(book, file):
    book.source(file, "SIZE = 2")
    assert state(book) == "up to date"


@pytest.mark.parametrize("file", ["data/published/toy_figures.csv", "data/rock.toml", "data/rock.raw", "data/rock.npy"])
def test_change_of_data_or_of_a_file_that_a_parameter_names_is_named(book, file):
    with open(book.project.root / file, "a") as content:
        content.write(" ")
    assert state(book) == f"out of date: {file} changed"


def test_file_that_no_parameter_names_changes_nothing(book):
    (book.project.data / "more.raw").write_bytes(b"1")
    assert state(book) == "up to date"


@pytest.mark.parametrize("outside", [False, True])
def test_file_that_a_changed_parameter_names_is_a_dependency(book, tmp_path_factory, outside):
    place = tmp_path_factory.mktemp("elsewhere") if outside else book.project.data
    sample, image = place / "mine.toml", place / "mine.raw"
    sample.write_text('image = "mine.raw"')
    image.write_bytes(b"0")
    request = {"folder": book.folder("mine"), "changed": (f"sample={sample}",)}
    book.finish("toy/a", **request)
    assert state(book, **request) == "up to date"
    image.write_bytes(b"1")
    assert state(book, **request).endswith("mine.raw changed")


@pytest.mark.parametrize("text", ["", "x" * 5000, "a\\0b", "data", ".", "~", "no/such/file.toml"])
def test_parameter_that_names_no_file_is_only_a_text(book, text):
    book.write("toy/a", "pass", parameters=f"sample = '{text}'")
    book.finish("toy/a")
    assert state(book) == "up to date"


def test_files_in_a_list_of_names_are_dependencies(book):
    book.write("toy/a", "pass", parameters="samples = ['data/rock.raw']")
    book.finish("toy/a")
    (book.project.data / "rock.raw").write_bytes(b"1")
    assert state(book) == "out of date: data/rock.raw changed"


def test_two_files_of_one_name_outside_are_two(book, tmp_path_factory):
    files = [tmp_path_factory.mktemp("elsewhere") / "rock.raw" for _ in range(2)]
    for number, file in enumerate(files):
        file.write_bytes(bytes(number))
    assert len(fingerprint.depends(files, book.project, {})["files"]) == 2


def test_long_text_in_a_description_names_no_file(book):
    (book.project.data / "rock.toml").write_text(f'what = "{"x" * 300}"')
    book.finish("toy/a")
    assert state(book) == "up to date"


def test_data_that_came_or_went_is_named(book):
    (book.project.data / "published/more_figures.csv").touch()
    assert state(book) == "out of date: data/published/more_figures.csv is new"
    (book.project.data / "published/more_figures.csv").unlink()
    (book.project.data / "rock.raw").unlink()
    assert state(book) == "out of date: data/rock.raw is gone"


def test_outputs_of_the_notebook_change_nothing_and_its_cells_do(book):
    path = book.project.notebooks / "toy/a.ipynb"
    path.write_text(path.read_text().replace('"execution_count": null', '"execution_count": 7'))
    assert state(book) == "up to date"
    path.write_text(path.read_text().replace("import double", "import double as twice"))
    assert state(book) == "out of date: notebooks/toy/a.ipynb changed"


def test_texts_between_the_cells_count_and_so_does_what_a_cell_is(book):
    path = book.project.notebooks / "toy/a.ipynb"
    content = json.loads(path.read_text())
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# The cavity"]}
    for cell in (text, text | {"source": ["# The duct"]}, text | {"cell_type": "raw", "source": ["# The duct"]}):
        path.write_text(json.dumps(content | {"cells": [cell, *content["cells"]]}))
        assert state(book) == "out of date: notebooks/toy/a.ipynb changed"
        book.finish("toy/a")
        assert state(book) == "up to date"


def test_parameter_that_is_a_sequence_changes_nothing_once_it_was_kept(book):
    book.write("toy/a", "pass", parameters="sizes = (1, 2)")
    request = {"folder": book.folder("mine"), "changed": ("sizes=(1, 3)",)}
    book.finish("toy/a", **request)
    assert state(book, **request) == "up to date"


def test_parameter_that_the_catalogue_changes_is_named(book):
    edit(book, "notebooks/catalogue.toml", "quick = {}", "quick = { value = 2.0 }")
    assert state(book) == "out of date: value is new"


def test_another_version_is_named(book, monkeypatch):
    versions = provenance.versions()
    monkeypatch.setattr(provenance, "versions", lambda: versions | {"numpy": "1.0"})
    assert state(book) == f"out of date: numpy was {versions['numpy']} and is 1.0"


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MKL_CBWR", "LD_PRELOAD", "PYTHONPATH"])
def test_variable_that_reaches_a_run_and_may_change_it_is_named(book, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert state(book) == f"out of date: {name} is new"


def test_what_python_runs_at_its_start_is_named(book, monkeypatch, tmp_path):
    started = ModuleType("usercustomize")
    started.__file__ = str(tmp_path / "usercustomize.py")
    Path(started.__file__).write_text("import numpy")
    monkeypatch.setitem(sys.modules, "usercustomize", started)
    assert state(book) == "out of date: usercustomize is new"


@pytest.mark.parametrize("name", ["NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_OPT", "OPT", "MPLBACKEND", "TZ"])
def test_variable_that_changes_no_result_is_none(book, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert state(book) == "up to date"


def test_driver_counts_on_the_gpu_only(book, monkeypatch):
    monkeypatch.setattr(provenance, "gpu", lambda: {"driver": "580"})
    for device, driver in {"cuda": "580", "threads": None, "serial": None}.items():
        made = fingerprint.depends([], book.project, {"device": device})
        assert made["versions"].get("driver") == driver


@pytest.mark.parametrize(("setting", "value"), [("profile", "paper"), ("device", "threads"), ("value", 2.0)])
def test_profile_device_and_parameters_count(book, setting, value):
    settings = {"profile": "quick", "device": "serial", "value": 1.0}
    before, now = (fingerprint.depends([], book.project, s) for s in (settings, settings | {setting: value}))
    assert fingerprint.differences(before, now) == [f"{setting} was {settings[setting]} and is {value}"]


def test_nothing_differs_from_itself(book):
    toy = catalogue.load(book.project).notebooks[0]
    files = fingerprint.dependencies(toy, book.project)
    made = [fingerprint.depends(files, book.project, {"device": "serial", "sizes": (1, 2)}) for _ in range(2)]
    assert fingerprint.differences(*made) == []


def test_differences_are_told_by_kind():
    old = {"files": {"a": "1", "b": "1"}, "settings": {"n": 1, "m": 2}, "versions": {"numpy": "1"}}
    new = {"files": {"a": "2", "c": "1"}, "settings": {"n": 2, "k": 2}, "versions": {"numpy": "2"}}
    files = ["a changed", "b is gone", "c is new"]
    settings = ["n was 1 and is 2", "m is gone", "k is new"]
    assert fingerprint.differences(old, new) == [*files, *settings, "numpy was 1 and is 2"]
    assert fingerprint.differences(old, new, fingerprint.ANYWHERE) == files + settings


@pytest.mark.parametrize("old", [{}, None, "x", {"files": None}])
def test_result_that_notes_nothing_fits_nothing(old):
    assert fingerprint.differences(old, {"files": {"a": "1"}, "settings": {}, "versions": {}}) == ["a is new"]


def test_first_change_is_told_and_how_many_more():
    assert fingerprint.in_words(["a changed"]) == "a changed"
    assert fingerprint.in_words(["a changed", "b is gone", "c is new"]) == "a changed, and 2 more"


def test_another_machine_can_tell_what_changed_but_for_its_versions(book, monkeypatch):
    monkeypatch.setattr(provenance, "versions", lambda: {"numpy": "1.0"})
    (toy,) = catalogue.load(book.project).notebooks
    plan = book.plan("toy/a")
    run = results.look(plan.output, toy.id).sidecar["run"]
    assert fingerprint.changes_since(toy, run, book.project) == []
    assert plan.state(toy).startswith("out of date")
    edit(book, "repro/toy/case.py", "64", "65")
    assert fingerprint.changes_since(toy, run, book.project) == ["repro/toy/case.py changed"]


@pytest.mark.parametrize("name", ["rock.txt", "rock.TOML", "rock", "rock.py", "rock.ipynb"])
@pytest.mark.parametrize("image", ['"rock\\u002eraw"', "'rock.raw'", '"""rock.raw"""', '[["rock.raw"]]'])
def test_what_a_description_names_counts_whatever_it_is_called_and_however_it_is_written(tmp_path, name, image):
    (tmp_path / "rock.raw").write_bytes(b"1")
    (tmp_path / name).write_text(f"image = {image}\n", encoding="utf-8-sig")
    assert {path.name for path in fingerprint._named(name, tmp_path)} == {name, "rock.raw"}


def test_every_letter_of_a_named_file_counts_whatever_it_is_called(book):
    for name, texts in {"rock.py": ("# 1", "# 2"), "rock.ipynb": ("a = 1", "a = 2")}.items():
        hashes = []
        for text in texts:
            (book.project.data / name).write_text(text)
            hashes.append(fingerprint.depends([book.project.data / name], book.project, {})["files"])
        assert hashes[0] != hashes[1]


def test_image_lies_beside_the_link_to_a_description_where_the_reader_looks(tmp_path):
    for folder in ("shared", "own"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rock.raw").write_bytes(b"1")
    (tmp_path / "shared/rock.toml").write_text('image = "rock.raw"')
    (tmp_path / "own/rock.toml").symlink_to("../shared/rock.toml")
    assert set(fingerprint._named("own/rock.toml", tmp_path)) == {tmp_path / "own/rock.toml", tmp_path / "own/rock.raw"}


def test_slices_that_change_places_are_another_image(book):
    stack = book.project.data / "stack"
    stack.mkdir()
    for number in (1, 2):
        (stack / f"S{number}.TIF").symlink_to(book.project.data / f"voxels{number}")
        (book.project.data / f"voxels{number}").write_bytes(bytes([number]))
    book.write("toy/a", "pass", parameters="sample = 'data/stack'")
    book.finish("toy/a")
    assert state(book) == "up to date"
    for number in (1, 2):
        (stack / f"S{number}.TIF").unlink()
        (stack / f"S{number}.TIF").symlink_to(book.project.data / f"voxels{3 - number}")
    assert state(book) == "out of date: data/stack/S1.TIF changed, and 1 more"


def test_a_pipe_is_no_file_to_hash_and_a_folder_of_slices_is_its_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.raw")
    (tmp_path / "stack").mkdir()
    (tmp_path / "stack/slice1.tif").write_bytes(b"1")
    (tmp_path / "rock.toml").write_text('image = "stack"\naxis = "pipe.raw"\n')
    named = list(fingerprint._named("rock.toml", tmp_path))
    assert named == [(tmp_path / name).resolve() for name in ("rock.toml", "stack/slice1.tif")]
    assert not list(fingerprint._named("pipe.raw", tmp_path))
