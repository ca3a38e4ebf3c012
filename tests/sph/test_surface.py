"""Surfaces from particles: volumes, areas, walls, drops; smoothing keeps them."""

import numpy as np
import pytest

from repro.errors import InputError
from repro.sph.cases import StillWater
from repro.sph.surface import level, reconstruct, roughness, smoothed

SPACING = 0.01


@pytest.fixture(scope="module")
def tank():
    """A tank of 24 spacings; its own water is not looked at."""
    return StillWater(column=(24, 24, 2), air=22).system()


def lattice(tank):
    index = np.stack(np.meshgrid(*[np.arange(24)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return (index + 0.5) * SPACING


@pytest.fixture(scope="module", params=[5.0, 8.0])
def ball(request, tank):
    """Lattice particles within a radius of the middle, and their surface."""
    place, radius = lattice(tank), request.param * SPACING
    inside = place[np.linalg.norm(place - 0.12, axis=1) < radius]
    return inside, reconstruct(inside, tank)


def test_a_ball_of_particles_has_the_volume_of_its_particles(ball):
    inside, surface = ball
    # the level is that of a flat face; a curved one is off by the square of spacing over radius
    assert surface.volume == pytest.approx(len(inside) * SPACING**3, rel=0.02)


def test_a_ball_is_as_smooth_as_its_lattice_allows(ball, tank):
    inside, surface = ball
    # no body of this volume has a smaller surface than a ball
    least = 4 * np.pi * (3 * len(inside) * SPACING**3 / (4 * np.pi)) ** (2 / 3)
    assert least < smoothed(surface, tank, 20).area < surface.area < 1.08 * least
    assert smoothed(surface, tank, 20).area < 1.04 * least


def test_smoothing_keeps_the_volume(ball, tank):
    _, surface = ball
    assert smoothed(surface, tank, 20).volume == pytest.approx(surface.volume, rel=0.01)


def test_normals_point_out_of_the_water(ball):
    _, surface = ball
    away = surface.corners - 0.12
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    assert (np.einsum("nk,nk->n", away, surface.normals) > 0.6).all()
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1)


def test_water_at_rest_fills_the_tank_to_its_walls_and_its_depth():
    system = StillWater(column=(6, 8, 5), air=4).system()
    surface = reconstruct(system.position, system)
    assert surface.volume == pytest.approx(240 * SPACING**3, rel=0.005)
    np.testing.assert_allclose(surface.corners.min(0), 0, atol=1e-12)
    np.testing.assert_allclose(surface.corners.max(0), (0.06, 0.08, 0.05), atol=0.02 * SPACING)
    sides = 2 * (6 * 8 + 6 * 5 + 8 * 5) * SPACING**2
    assert surface.area == pytest.approx(sides, rel=0.02)
    flat = smoothed(surface, system, 10)
    np.testing.assert_allclose(flat.corners[:, 2].max(), 0.05, atol=0.02 * SPACING)


def test_a_particle_that_flies_alone_is_a_drop(tank):
    surface = reconstruct(np.array([[0.123, 0.117, 0.131]]), tank)
    np.testing.assert_allclose(surface.corners.mean(0), (0.123, 0.117, 0.131), atol=0.15 * SPACING)
    # the level is set for flat faces, so a drop is somewhat too small
    assert 0.4 < surface.volume / SPACING**3 < 1


def test_the_level_is_about_a_half():
    # the colour of a half space is one half at its face, but for the larger volumes of the outermost particles
    assert 0.5 < level() < 0.6


def test_a_tank_without_water_is_refused(tank):
    with pytest.raises(InputError, match="there is no water in the tank"):
        reconstruct(np.full((1, 3), -1.0), tank)


def test_a_flat_surface_is_smooth_and_lumps_are_rough():
    system = StillWater(column=(12, 12, 4), air=4).system()
    flat = system.position
    lumps = np.where((flat[:, [2]] > 0.03) & (np.indices((12, 12, 4)).sum(0).reshape(-1, 1) % 2 > 0), 0.005, 0.0)
    smooth = roughness(reconstruct(flat, system), system)
    rough = roughness(reconstruct(flat + lumps * np.array([0, 0, 1.0]), system), system)
    assert smooth < 0.02
    # every other particle lies half a spacing higher: a quarter off the mean, of which the kernel shows a part
    assert 2 * smooth < rough < 0.25
