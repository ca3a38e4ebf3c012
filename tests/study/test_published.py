"""What this project judges is well-formed, and what it has published is what runs made."""

import pytest

from repro.study import catalogue, claims, published
from repro.study.paths import Project

PROJECT = Project.default()
FILES = [f for f in sorted((PROJECT.data / "published").glob("*.csv")) if not f.stem.endswith("_figures")]
BEFORE = pytest.mark.xfail(strict=True, reason="published before results were sealed")


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_every_claim_is_well_formed_and_every_tolerance_has_its_reason(file):
    found = claims.read(file)
    assert found
    assert all(claim.paper == file.stem for claim in found)
    assert all(claim.why for claim in found if claim.kind != "setup")


@BEFORE
def test_nothing_published_was_edited():
    assert published.edited(catalogue.load(PROJECT), PROJECT) == []


@BEFORE
def test_every_published_file_belongs_to_a_result():
    places = (PROJECT.data / "measured", PROJECT.root / "figures", PROJECT.notebooks / "rendered")
    there = {file for place in places for file in place.rglob("*") if file.is_file()}
    assert there
    books = catalogue.load(PROJECT).notebooks
    assert there == {file for book in books for file in published.files(book, PROJECT)}
