"""The example of electrons in a box: an orbit has theory's radius, and no energy of a source's electrons is missing."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "examples" / "electrons_in_a_box.py"


@pytest.fixture(scope="module")
def example():
    found = importlib.util.spec_from_file_location("electrons_in_a_box", PATH)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_an_orbit_has_the_radius_of_gyration_and_a_stronger_field_makes_it_smaller(example):
    radius, expected = example.orbit(2e5, 0.05)
    # the highest and the lowest of some hundred points of a circle
    assert radius == pytest.approx(expected, rel=1e-3)
    assert example.orbit(2e5, 0.05, rise=1.0)[0] < 0.7 * expected


def test_energy_of_a_sources_electrons_is_theirs_or_the_airs(example):
    found = example.cloud(2e5, 30)
    kept = sum(found[name] for name in ("flying", "lost", "radiated", "left over"))
    assert kept == pytest.approx(found["given"], rel=1e-6, abs=0)
    assert found["lost"] > 0.001 * found["given"]
    assert found["particles"] == 200 + 30 * 5 + found["ionisation"] - found["stops"]


def test_the_program_says_radius_and_energies_with_their_units(example, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["electrons_in_a_box.py", "--steps", "2"])
    example.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("radius of the orbit: ")
    assert "flying" in lines[2]
    assert lines[2].endswith(" J")
