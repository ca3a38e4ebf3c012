"""Which sources a notebook depends on: all that its imports run, and nothing else."""

import pytest

from repro.study.keep.sources import sources
from repro.study.notebooks import Project, catalogue

TABLE = '_HOMES = {"quick": "fast", "lame": "slow"}\ndef __getattr__(name): ...\n'


@pytest.fixture
def package(workshop):
    """A package with rooms of every kind."""
    files = {
        "lbm/__init__.py": "from .lattice import D2Q9",
        "lbm/lattice.py": "",
        "lbm/cases.py": "from ..parallel import select",
        "lbm/unused.py": "",
        "parallel/__init__.py": "def __getattr__(name): ...",
        "parallel/select.py": "",
        "parallel/other.py": "",
        "demand/__init__.py": TABLE,
        "demand/quick.py": "",
        "demand/lame.py": "from repro.lbm import lattice",
    }
    for name, text in files.items():
        workshop.source(name, text)
    return workshop


def found(workshop, code: str) -> set[str]:
    files = sources(workshop.write("toy/a", code), workshop.project)
    assert all(file.is_file() for file in files)
    return {file.relative_to(workshop.project.package).as_posix() for file in files} - {"__init__.py"}


LATTICE = {"lbm/__init__.py", "lbm/lattice.py"}
DEMAND = {"demand/__init__.py"}
PARALLEL = {"parallel/__init__.py", "parallel/select.py", "parallel/other.py"}


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("import numpy, reprobate", set()),
        ("import repro.lbm.lattice", LATTICE),
        ("from repro.lbm import lattice as other", LATTICE),
        ("from repro.lbm.lattice import D2Q9", LATTICE),
        ("%matplotlib inline\n!ls\nimport repro.lbm", LATTICE),
        ("def late():\n    import repro.lbm", LATTICE),
        # followed on
        ("from repro.lbm import cases", {*LATTICE, "lbm/cases.py"} | PARALLEL),
        # on demand without a table: nobody knows
        ("from repro.parallel import whatever", PARALLEL),
        # on demand with a table: only where the name comes from
        ("from repro.demand import fast", DEMAND | {"demand/quick.py"}),
        ("from repro.demand import slow", {*DEMAND, "demand/lame.py"} | LATTICE),
        ("from repro.demand import fast, slow", {*DEMAND, "demand/quick.py", "demand/lame.py"} | LATTICE),
        ("from repro.demand import nothing", DEMAND),
        # the package itself may be asked for anything
        ("from repro import demand", {*DEMAND, "demand/quick.py", "demand/lame.py"} | LATTICE),
        ("import repro.demand as d", {*DEMAND, "demand/quick.py", "demand/lame.py"} | LATTICE),
        # names of modules, and sources that are written and imported later
        ("module = 'repro.lbm.unused'", {*LATTICE, "lbm/unused.py"}),
        ("SOURCE = '''\nfrom repro.lbm.unused import z\n'''", {*LATTICE, "lbm/unused.py"}),
        ("SOURCE = '''\nfrom repro.lbm import other, unused\n'''", {*LATTICE, "lbm/unused.py"}),
        ("SOURCE = '''\nfrom repro.lbm import (\n    other,\n    unused,\n)\n'''", {*LATTICE, "lbm/unused.py"}),
        ("SOURCE = '''\n    import repro.lbm.unused\n'''", {*LATTICE, "lbm/unused.py"}),
        ("SOURCE = '''\nfrom repro.demand import fast\n'''", DEMAND | {"demand/quick.py"}),
        ("name = 'z'\nSOURCE = f'''\nfrom repro.lbm.unused import {name}\n'''", {*LATTICE, "lbm/unused.py"}),
        # what only speaks of a module does not import it
        ("'''\nfrom repro.lbm.unused import z\n'''\nx = 1", set()),
        ("# import repro.lbm", set()),
        ("text = 'what from repro.lbm import means'", set()),
    ],
)
def test_imports_of_every_kind_are_followed(package, code, files):
    assert found(package, code) == files


def test_relative_imports_are_followed_from_where_they_stand(package):
    package.source("deep/__init__.py")
    package.source("deep/er/__init__.py")
    package.source("deep/er/a.py", "from . import b\nfrom .. import c\nfrom ...lbm import unused")
    for name in ("er/b", "c", "d"):
        package.source(f"deep/{name}.py")
    own = {"deep/__init__.py", "deep/er/__init__.py", "deep/er/a.py", "deep/er/b.py", "deep/c.py"}
    assert found(package, "import repro.deep.er.a") == {*own, *LATTICE, "lbm/unused.py"}


def test_modules_that_import_each_other_are_found_once(package):
    package.source("lbm/one.py", "from . import two")
    package.source("lbm/two.py", "from . import one")
    assert found(package, "import repro.lbm.one") == {*LATTICE, "lbm/one.py", "lbm/two.py"}


def test_broken_source_is_a_dependency_all_the_same(package):
    package.source("lbm/lattice.py", "def (")
    assert found(package, "import repro.lbm") == LATTICE


PROJECT = Project.default()
BOOKS = {book.id: book for book in catalogue.load(PROJECT).notebooks}


@pytest.fixture(scope="module")
def real():
    """Sources of every notebook of this project."""
    return {
        i: {f.relative_to(PROJECT.package).as_posix() for f in sources(book.source(PROJECT), PROJECT)}
        for i, book in BOOKS.items()
    }


def test_module_that_only_generated_sources_import_is_a_dependency(real):
    assert "parallel/operations.py" in real["porous/cavity"]


@pytest.mark.parametrize(
    ("paper", "others"), [("porous", ("dpd", "sph", "pic")), ("dpd", ("lbm", "sph", "pic")), ("swap", ("dpd", "sph"))]
)
def test_no_notebook_depends_on_what_another_paper_is_about(real, paper, others):
    for identifier in (i for i, book in BOOKS.items() if book.paper == paper):
        for other in others:
            assert not {name for name in real[identifier] if name.startswith((f"{other}/", f"papers/{other}/"))}


def test_notebooks_depend_on_the_papers_own_module_and_on_the_judge(real):
    assert {"papers/porous/box/cavity.py", "study/judge/verdicts.py", "study/keep/record.py"} <= real["porous/cavity"]
