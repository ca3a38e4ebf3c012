"""A made-up project with tiny notebooks."""

import pytest
from helpers.workshop import GOOD, Workshop


@pytest.fixture
def workshop(tmp_path, monkeypatch) -> Workshop:
    monkeypatch.setenv("REPRO_ROOT", str(tmp_path))
    for name in ("REPRO_OUTPUT", "REPRO_RUN"):
        monkeypatch.delenv(name, raising=False)
    return Workshop(tmp_path)


@pytest.fixture
def good(workshop) -> Workshop:
    """A project with one notebook, toy/good, that measures a claim."""
    workshop.add("toy/good", GOOD)
    return workshop
