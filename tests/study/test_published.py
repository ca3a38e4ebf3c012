"""The claims that this project judges are well-formed."""

import pytest

from repro.study import claims
from repro.study.paths import Project

FILES = [f for f in sorted((Project.default().data / "published").glob("*.csv")) if not f.stem.endswith("_figures")]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_ids_are_unique_and_every_tolerance_has_its_reason(file):
    found = claims.read(file)
    assert len({claim.id for claim in found}) == len(found)
    assert all(claim.paper == file.stem for claim in found)
    assert all(claim.why for claim in found if claim.kind != "setup")
