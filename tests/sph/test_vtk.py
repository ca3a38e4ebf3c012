"""VTK files read back: what ParaView is given is what was there."""

import numpy as np
import pytest
from helpers.vtk_file import read

from repro.sph.cases import StillWater
from repro.sph.exact import rest_condensation, rest_pressure
from repro.sph.fluid import Fluid
from repro.sph.surface import reconstruct
from repro.sph.vtk import write_particles, write_surface


@pytest.fixture(scope="module")
def system():
    return StillWater(column=(4, 3, 5), air=3, fluid=Fluid(density=880.0)).system()


def test_particles_are_written_with_all_that_is_known_of_them(tmp_path, system):
    s = rest_condensation(system.depth - system.position[:, 2], system.fluid)
    velocity = np.arange(180.0).reshape(60, 3)
    particles = {"position": system.position, "velocity": velocity, "condensation": s}
    write_particles(tmp_path / "water.vtp", particles, system)
    piece, found = read(tmp_path / "water.vtp")
    assert (piece["NumberOfPoints"], piece["NumberOfVerts"]) == ("60", "60")
    np.testing.assert_array_equal(found["points"], system.position)
    np.testing.assert_array_equal(found["velocity"], velocity)
    np.testing.assert_allclose(
        found["pressure"], rest_pressure(system.depth - system.position[:, 2], system.fluid), 1e-6
    )
    np.testing.assert_allclose(found["density"], 880 * (1 + s))
    np.testing.assert_array_equal(found["id"], np.arange(60))
    # one vertex a point
    np.testing.assert_array_equal(found["connectivity"], np.arange(60))
    np.testing.assert_array_equal(found["offsets"], np.arange(1, 61))


def test_a_surface_is_written_as_its_triangles(tmp_path, system):
    surface = reconstruct(system.position, system)
    write_surface(tmp_path / "surface.vtp", surface)
    piece, found = read(tmp_path / "surface.vtp")
    assert int(piece["NumberOfPolys"]) == len(surface.triangles)
    np.testing.assert_array_equal(found["points"], surface.corners)
    np.testing.assert_array_equal(found["connectivity"].reshape(-1, 3), surface.triangles)
    np.testing.assert_array_equal(found["offsets"], 3 * np.arange(1, len(surface.triangles) + 1))
    np.testing.assert_allclose(found["normal"], surface.normals, atol=1e-6)
