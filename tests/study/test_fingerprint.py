import os

import pytest

from repro.study import catalogue, fingerprint

CODE = "%matplotlib inline\nfrom repro.lbm import cases\nimport numpy"


@pytest.fixture
def book(workshop):
    workshop.source("__init__.py")
    workshop.source("lbm/__init__.py", "from .lattice import D2Q9")
    workshop.source("lbm/lattice.py", "from ..parallel import select")
    workshop.source("lbm/cases.py")
    workshop.source("lbm/unused.py")
    workshop.source("parallel/__init__.py", "def __getattr__(name):\n    pass")
    workshop.source("parallel/select.py")
    workshop.add("toy/a", CODE, entry='data = ["published/*.csv"]')
    return catalogue.load(workshop.project).notebooks[0]


def names(files, workshop) -> set[str]:
    return {str(f.relative_to(workshop.project.root)) for f in files}


def test_imports_are_followed_through_the_package(workshop, book):
    assert names(fingerprint.dependencies(book, workshop.project), workshop) == {
        "notebooks/toy/a.ipynb",
        "data/published/toy.csv",
        "repro/__init__.py",
        "repro/lbm/__init__.py",
        "repro/lbm/cases.py",
        "repro/lbm/lattice.py",
        "repro/parallel/__init__.py",
        "repro/parallel/select.py",
    }


@pytest.mark.parametrize("file", ["notebooks/toy/a.ipynb", "data/published/toy.csv", "repro/parallel/select.py"])
def test_any_change_of_content_changes_the_fingerprint(workshop, book, file):
    files = fingerprint.dependencies(book, workshop.project)
    before = fingerprint.fingerprint(files, workshop.project, device="serial")
    (workshop.project.root / file).write_text("changed")
    assert fingerprint.fingerprint(files, workshop.project, device="serial") != before
    assert fingerprint.fingerprint(files, workshop.project, device="cuda") != before


def test_result_is_current_until_a_file_is_touched(workshop, book):
    files = fingerprint.dependencies(book, workshop.project)
    now = max(f.stat().st_mtime for f in files)
    sidecar = {"run": {"finished": True, "fingerprint": "x", "started": now}}
    assert fingerprint.is_current(sidecar, "x", files)
    assert not fingerprint.is_current(sidecar, "y", files)
    assert not fingerprint.is_current(None, "x", files)
    os.utime(files[0], (now + 5, now + 5))
    assert not fingerprint.is_current(sidecar, "x", files)
