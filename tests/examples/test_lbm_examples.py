"""The examples of lattice Boltzmann run as they stand, and what they return is physics."""

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str) -> dict:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_the_tiff_stack_has_the_permeability_of_its_channels(capsys):
    made = example("permeability_of_a_tiff_stack")
    # half-way walls of a channel twelve voxels wide
    assert made["main"]() == pytest.approx(made["expected"](1e-6), rel=0.01)
    assert "careful" not in capsys.readouterr().out


def test_a_file_of_your_own_has_the_permeability_of_its_voxel_size(tmp_path):
    made = example("permeability_of_a_tiff_stack")
    made["write_channels"](tmp_path / "rock.tif")
    assert made["main"](tmp_path / "rock.tif", 2e-6) == pytest.approx(made["expected"](2e-6), rel=0.01)


def test_the_fluid_that_the_solid_attracts_covers_it():
    made = example("two_fluids_in_your_own_geometry")
    covered = made["main"]()
    assert np.all(np.diff([covered[key] for key in sorted(covered)]) < 0)
    assert covered[-0.02] > 0.9
    assert covered[0.02] < 0.2
