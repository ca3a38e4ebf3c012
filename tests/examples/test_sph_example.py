"""The example of a dam break: its front obeys theory and experiment, and its files can be read."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.vtk_file import read

from repro.sph.observables import reduced_time

FILE = Path(__file__).resolve().parents[2] / "examples" / "dam_break_of_your_own_size.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location(FILE.stem, FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_front_of_a_dam_of_ones_own_size_is_between_experiment_and_theory(example, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "water"
    monkeypatch.setattr(sys, "argv", [FILE.name, "--width", "0.3", "--across", "6", "--folder", str(folder)])
    seen, run = [], example.run
    monkeypatch.setattr(example, "run", lambda *arguments: seen.append(run(*arguments)) or seen[0])
    example.main()
    time, front, fastest = seen[0].T
    assert (np.diff(front) > 0).all()
    assert (front < fastest).all()
    # Martin and Moyce's column was held by a gate at first, and rubs on the floor: ours is ahead, by little
    reduced, z = reduced_time(time, 0.3, 9.81), front / 0.3
    assert 0 < np.interp(1.997, reduced, z) - 2.292 < 0.5
    assert f"{front[-1]:.3f}" in capsys.readouterr().out
    piece, found = read(folder / f"particles_{example.LOOKS}.vtp")
    assert piece["NumberOfPoints"] == str(6 * 3 * 12)
    # the foremost particle ends half a spacing further
    assert found["points"][:, 0].max() + 0.3 / 12 == pytest.approx(front[-1])
    assert (found["density"] > 900).all()
    piece, found = read(folder / "surface.vtp")
    assert int(piece["NumberOfPolys"]) > 100
    assert found["points"][:, 0].max() == pytest.approx(front[-1], abs=0.05)
