"""What this project judges is well-formed, and what it has published is what runs made."""

import importlib.util
import random
import re
import shutil
import sys
from dataclasses import replace

import pytest

from repro.files import read_json
from repro.study.judge import claims
from repro.study.judge.verdicts import Verdict
from repro.study.notebooks import Project, catalogue
from repro.study.publish import published
from repro.study.show.report import open_published

PROJECT = Project.default()
PAPERS = catalogue.load(PROJECT).papers()
FILES = [f for f in sorted((PROJECT.data / "published").glob("*.csv")) if not f.stem.endswith("_figures")]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_every_claim_is_well_formed_and_every_tolerance_has_its_reason(file):
    found = claims.read(file)
    assert found
    assert all(claim.paper == file.stem for claim in found)
    assert all(claim.why for claim in found if claim.kind != "setup")


def test_nothing_published_was_edited():
    assert published.edited(catalogue.load(PROJECT), PROJECT) == []


def test_gpus_of_one_generation_published_the_same_physics_to_the_last_digit(twice):
    compared = []
    for book in catalogue.load(PROJECT).notebooks:
        results = [read_json(file) for file in published.sidecars(book, PROJECT)]
        names = [(result["provenance"].get("gpu") or {}).get("name", "") for result in results]
        both = [result for result, name in zip(results, names, strict=True) if re.search(r"\bH[12]00\b", name)]
        if len(both) == 2 and not book.timing and book.id not in twice.OPEN:
            assert twice.differences(*both) == [], book.id
            compared.append(book.id)
    assert compared


def test_every_published_file_belongs_to_a_result():
    places = (PROJECT.data / "measured", PROJECT.root / "figures", PROJECT.notebooks / "rendered")
    there = {file for place in places for file in place.rglob("*") if file.is_file()}
    assert there
    books = catalogue.load(PROJECT).notebooks
    own = {file for book in books for file in published.files(book, PROJECT)}
    assert there == own | {published.list_file(PROJECT)}


def test_every_published_result_is_listed():
    folder = PROJECT.data / "measured"
    assert published.listed(PROJECT) == sorted(f.relative_to(folder).as_posix() for f in folder.glob("*/**/*.json"))


def _module(name: str):
    spec = importlib.util.spec_from_file_location(name, PROJECT.root / f"tools/{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tool():
    """tools/excerpt.py as a module."""
    return _module("excerpt")


@pytest.fixture(scope="module")
def twice():
    """tools/twice.py as a module."""
    return _module("twice")


@pytest.fixture(scope="module")
def pages(tool) -> dict:
    """The pages as they must be."""
    return tool.pages(PROJECT)


#: a paper that has just been added has no page yet
INTRODUCED = [name for name in (f"docs/papers/{paper}.md" for paper in PAPERS) if (PROJECT.root / name).is_file()]


@pytest.mark.parametrize("name", ["README.md", "notebooks/README.md", "docs/artifact.md", *INTRODUCED])
def test_pages_say_of_the_published_results_what_they_are(pages, name):
    page = PROJECT.root / name
    assert page.read_text(encoding="utf-8") == pages[page]


def cells_of(text: str) -> list[list[str]]:
    """The rows of the table in a text."""
    return [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("|")]


def test_the_readme_counts_every_claim_once(tool):
    made = tool.Publication(PROJECT)
    head, _, *rows = cells_of(made.counts())
    assert head[-2] == "GPU"
    verdicts = {*map(str, Verdict), *tool.HEADS.values()}
    *papers, whole = [sum(int(n) for name, n in zip(head, row, strict=True) if name in verdicts) for row in rows]
    # those that no published result states, too
    assert sum(papers) == whole == len(open_published(PROJECT).rows)


def test_the_readme_counts_the_rules_that_were_corrected(tool, monkeypatch):
    said, column = open_published(PROJECT), "rule changed"
    three = [row for row in said.corrected if row["id"].startswith("porous")][:3]
    monkeypatch.setattr(tool, "open_published", lambda project: replace(said, corrected=three))
    head, _, *rows = cells_of(tool.Publication(PROJECT).counts())
    assert [row[head.index(column)] for row in (rows[0], rows[-1])] == ["3", "3"]
    monkeypatch.setattr(tool, "open_published", lambda project: replace(said, corrected=[]))
    assert column not in tool.Publication(PROJECT).counts()


def test_the_readme_says_how_many_results_are_older_than_their_sources_and_nothing_if_none_is(tool, monkeypatch):
    said, ids = open_published(PROJECT), list(tool.Publication(PROJECT).shown)

    def counts(old: list[str]) -> str:
        found = replace(said, outdated=dict.fromkeys(old, "a file changed"))
        monkeypatch.setattr(tool, "open_published", lambda project: found)
        return tool.Publication(PROJECT).counts()

    assert f"|\n\n3 of the {len(ids)} published results are from before" in counts(ids[:3])
    assert f"|\n\nAll {len(ids)} published results are from before" in counts(ids)
    assert "published results" not in counts([])


def test_the_path_leads_through_every_notebook_in_the_order_of_the_catalogue(tool):
    ids = [book.id for book in catalogue.load(PROJECT).notebooks if book.paper != "all"]
    assert [i for some in tool.CHAPTERS.values() for i in some] == ids
    assert list(tool.TEACHES) == ids


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Project:
    """A copy of all that is published, to be edited."""
    root = tmp_path_factory.mktemp("published")
    for name in ("data", "figures", "notebooks"):
        shutil.copytree(PROJECT.root / name, root / name)
    return Project(root)


def test_any_edited_byte_of_anything_published_is_named(copied):
    books = catalogue.load(PROJECT)
    chance = random.Random(1)
    for book in books.notebooks:
        alone = catalogue.Catalogue((book,))
        files = sorted(published.files(book, copied))
        # the whole result is looked at for each, and one has twenty pictures
        some = [chance.choice([f for f in files if f.suffix == kind]) for kind in sorted({f.suffix for f in files})]
        for file in some:
            content = file.read_bytes()
            place = chance.randrange(len(content))
            file.write_bytes(
                content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]
            )
            (line,) = published.edited(alone, copied)
            assert line.startswith(f"{book.id}: ")
            assert file.name.removeprefix("00_") in line
            file.write_bytes(content)
    assert published.edited(books, copied) == []
