"""VTK files read back: what ParaView is given is what was there."""

import numpy as np
import pytest
from helpers.vtk_file import read

from repro.errors import InputError
from repro.sph.cases import StillWater
from repro.sph.exact import rest_condensation, rest_pressure
from repro.sph.fluid import Fluid
from repro.sph.surface import Surface, reconstruct
from repro.sph.vtk import write_particles, write_surface


@pytest.fixture(scope="module")
def system():
    return StillWater(column=(4, 3, 5), air=3, fluid=Fluid(density=880.0)).system()


def test_particles_are_written_with_all_that_is_known_of_them(tmp_path, system):
    s = rest_condensation(system.depth - system.position[:, 2], system.fluid)
    # which single precision does not hold
    velocity = np.arange(180.0).reshape(60, 3) + 1 / 3
    particles = {"position": system.position, "velocity": velocity, "condensation": s}
    write_particles(tmp_path / "water.vtp", particles, system)
    piece, found = read(tmp_path / "water.vtp")
    assert (piece["NumberOfPoints"], piece["NumberOfVerts"]) == ("60", "60")
    np.testing.assert_array_equal(found["points"], system.position)
    np.testing.assert_array_equal(found["velocity"], velocity)
    np.testing.assert_allclose(
        found["pressure"], rest_pressure(system.depth - system.position[:, 2], system.fluid), 1e-12
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


def _with(values: np.ndarray, value) -> np.ndarray:
    changed = values.copy()
    changed[1] = value
    return changed


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("velocity", lambda values: values[:3]),
        ("velocity", lambda values: values[:, :2]),
        ("velocity", lambda values: None),
        ("position", lambda values: _with(values, np.nan)),
        ("position", lambda values: values.ravel()),
        ("condensation", lambda values: _with(values, np.inf)),
        ("pressure", lambda values: _with(values, -2.0)),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_no_particles_have_is_refused_and_no_file_written(tmp_path, system, name, spoil):
    particles = {"position": system.position, "velocity": np.zeros((60, 3)), "condensation": np.zeros(60)}
    key = "condensation" if name == "pressure" else name
    with pytest.raises(InputError, match=f"^{name} = .*: must be "):
        write_particles(tmp_path / "water.vtp", particles | {key: spoil(particles[key])}, system)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("corners", np.full((3, 3), np.nan)),
        ("normals", np.zeros((2, 3))),
        ("triangles", np.array([[0, 1, 3]])),
        ("triangles", np.array([[0, 1, -1]])),
        ("triangles", np.array([[0.0, 1.0, 2.0]])),
        ("triangles", np.array([[0, 1]])),
    ],
)
def test_what_is_no_surface_is_refused_and_no_file_written(tmp_path, name, values):
    surface = Surface(np.zeros((3, 3)), np.array([[0, 1, 2]]), np.ones((3, 3)))
    with pytest.raises(InputError, match=f"^{name.replace('normals', 'normal')} = .*: must be "):
        write_surface(tmp_path / "surface.vtp", surface._replace(**{name: values}))
    assert not list(tmp_path.iterdir())


def test_what_is_no_particles_system_or_surface_is_refused_by_name(tmp_path):
    system = StillWater().system()
    for call, name in (
        (lambda: write_particles(tmp_path / "a.vtp", None, system), "particles = None"),
        (lambda: write_particles(tmp_path / "a.vtp", {}, None), "system = None"),
        (lambda: write_surface(tmp_path / "a.vtp", None), "surface = None"),
    ):
        with pytest.raises(InputError, match=f"^{name}: must be of the kind"):
            call()
    assert list(tmp_path.iterdir()) == []
