"""A made-up project with tiny notebooks."""

import pytest
from helpers.workshop import GOOD, Workshop

from repro.exclusive_timing import VARIABLE


@pytest.fixture
def workshop(tmp_path, monkeypatch) -> Workshop:
    monkeypatch.setenv("REPRO_ROOT", str(tmp_path))
    # neither the run nor the commit, during which these tests may run, is theirs
    for name in ("REPRO_OUTPUT", "REPRO_RUN", "REPRO_NOTEBOOK", VARIABLE, "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    return Workshop(tmp_path)


@pytest.fixture
def good(workshop) -> Workshop:
    """A project with one notebook, toy/good, that measures a claim."""
    workshop.add("toy/good", GOOD)
    return workshop
