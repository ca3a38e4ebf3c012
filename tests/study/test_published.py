"""What this project judges is well-formed, and what it has published is what runs made."""

import importlib.util
import random
import shutil

import pytest

from repro.study import catalogue, claims, published
from repro.study.paths import Project

PROJECT = Project.default()
FILES = [f for f in sorted((PROJECT.data / "published").glob("*.csv")) if not f.stem.endswith("_figures")]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_every_claim_is_well_formed_and_every_tolerance_has_its_reason(file):
    found = claims.read(file)
    assert found
    assert all(claim.paper == file.stem for claim in found)
    assert all(claim.why for claim in found if claim.kind != "setup")


def test_nothing_published_was_edited():
    assert published.edited(catalogue.load(PROJECT), PROJECT) == []


def test_every_published_file_belongs_to_a_result():
    places = (PROJECT.data / "measured", PROJECT.root / "figures", PROJECT.notebooks / "rendered")
    there = {file for place in places for file in place.rglob("*") if file.is_file()}
    assert there
    books = catalogue.load(PROJECT).notebooks
    assert there == {file for book in books for file in published.files(book, PROJECT)}


def test_the_excerpt_in_the_readme_is_that_of_the_published_results():
    spec = importlib.util.spec_from_file_location("excerpt", PROJECT.root / "tools/excerpt.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    readme = (PROJECT.root / "README.md").read_text(encoding="utf-8")
    assert f"{tool.START}{tool.excerpt(PROJECT)}{tool.END}" in readme


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
        for file in sorted(published.files(book, copied)):
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
