"""Pictures of water show it where it is: outlines, thickness, what hides what, and colours of water."""

from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from skimage.measure import marching_cubes

from repro.papers.rasteriser import box_corners
from repro.papers.sph.dam_break import water
from repro.papers.sph.dam_break.camera import looking_at, see
from repro.papers.sph.dam_break.water import INDEX, _refracted, picture
from repro.sph.surface import Surface

TANK, WIDTH = (2.0, 1.0, 1.0), 240


def ball(radius: float, centre) -> Surface:
    """A ball of 20 triangles a diameter."""
    n = np.linspace(-1.2, 1.2, 25)
    x, y, z = np.meshgrid(n, n, n, indexing="ij")
    corners, triangles, _, _ = marching_cubes(1 - np.sqrt(x * x + y * y + z * z), 0.0, gradient_direction="ascent")
    corners = (corners - 12) * 0.1
    normals = corners / np.linalg.norm(corners, axis=1, keepdims=True)
    return Surface(radius * corners + centre, triangles, normals)


def test_the_tank_fills_the_picture_and_keeps_inside():
    camera = looking_at(TANK, WIDTH)
    x, y, far = camera.project(box_corners(TANK)).T
    assert (x > 0).all()
    assert (x < WIDTH).all()
    assert x.max() - x.min() > 0.95 * WIDTH
    assert ((y > 0) & (y < camera.shape[0])).all()
    assert (far > 0).all()


def test_a_ray_through_a_pixel_meets_what_is_projected_there():
    camera = looking_at(TANK, WIDTH)
    point = np.array([1.3, 0.4, 0.6])
    x, y, far = camera.project(point)
    ray = camera.rays()[int(y), int(x)]
    # half a pixel
    np.testing.assert_allclose(camera.eye + far * ray, point, atol=far / camera.scale)


def test_all_twelve_edges_of_the_tank_are_drawn():
    camera = looking_at(TANK, WIDTH)
    image, nothing = np.ones((*camera.shape, 3)), np.full(camera.shape, np.inf)
    water._draw_edges(image, nothing, camera, np.array(TANK))
    ends = [(a, b) for a, b in combinations(box_corners(TANK), 2) if ((a == b).sum()) == 2]
    assert len(ends) == 12
    for a, b in ends:
        x, y, _ = camera.project((a + b) / 2)
        assert (image[round(y), round(x)] == water.EDGE).all()


def test_the_sky_is_brightest_at_its_horizon_and_dark_a_third_below():
    heights = {1.0: water.ZENITH, 0.0: water.HORIZON, -1 / 6: (water.HORIZON + water.BELOW) / 2, -1 / 3: water.BELOW}
    found = water._sky(np.array([[0.0, 0.0, height] for height in heights]))
    np.testing.assert_allclose(found, np.array([np.broadcast_to(colour, 3) for colour in heights.values()]), atol=1e-9)


@pytest.mark.parametrize("radius", [0.2, 0.4])
def test_a_ball_is_seen_as_a_disc_as_thick_as_itself(radius):
    camera, centre = looking_at(TANK, WIDTH), np.array([1.0, 0.5, 0.5])
    seen = see(*ball(radius, centre), camera)
    wet = np.isfinite(seen.distance)
    far = np.linalg.norm(centre - camera.eye)
    # from a finite distance the outline is the tangent cone's
    outline = camera.scale * radius / np.sqrt(far**2 - radius**2)
    assert np.count_nonzero(wet) == pytest.approx(np.pi * outline**2, rel=0.03)
    x, y, _ = camera.project(centre)
    assert seen.thickness[int(y), int(x)] == pytest.approx(2 * radius, rel=0.02)
    assert seen.distance[int(y), int(x)] == pytest.approx(far - radius, rel=0.01)
    np.testing.assert_allclose(seen.normal[int(y), int(x)], (camera.eye - centre) / far, atol=0.1)
    # no seams, and no light from nowhere
    assert seen.thickness.min() > -1e-9
    assert (seen.thickness[~wet] < 1e-9).all()


def test_what_is_behind_adds_to_the_thickness_and_is_hidden():
    camera, centre = looking_at(TANK, WIDTH), np.array([1.0, 0.5, 0.5])
    away = (centre - camera.eye) / np.linalg.norm(centre - camera.eye)
    near, far = ball(0.1, centre - 0.2 * away), ball(0.1, centre + 0.2 * away)
    x, y, _ = camera.project(centre)
    for one, other in ((near, far), (far, near)):
        both = Surface(
            np.concatenate([one.corners, other.corners]),
            np.concatenate([one.triangles, other.triangles + len(one.corners)]),
            np.concatenate([one.normals, other.normals]),
        )
        seen = see(*both, camera)
        assert seen.thickness[int(y), int(x)] == pytest.approx(0.4, rel=0.03)
        assert seen.distance[int(y), int(x)] == pytest.approx(np.linalg.norm(centre - camera.eye) - 0.3, rel=0.01)


def test_light_is_refracted_by_snells_law():
    normal = np.array([[0.0, 0.0, 1.0]])
    for angle in (0.0, 0.5, 1.2):
        view = np.array([[np.sin(angle), 0, -np.cos(angle)]])
        inside = _refracted(view, normal, np.array([[np.cos(angle)]]))
        assert np.linalg.norm(inside) == pytest.approx(1)
        assert INDEX * inside[0, 0] == pytest.approx(np.sin(angle))


def test_water_is_blue_and_the_page_around_the_tank_is_white():
    image = picture(ball(0.4, (1.0, 0.5, 0.5)), TANK, WIDTH, 0.25)
    assert image.shape[1:] == (WIDTH, 3)
    height = image.shape[0]
    red, _, blue = image[height // 2, WIDTH // 2]
    assert blue > red + 0.2
    for row, column in product((0, -1), (0, -1)):
        np.testing.assert_array_equal(image[row, column], 1)


def test_a_joint_is_where_two_tiles_meet_and_nothing_else_is_one():
    """Tiles of half a metre: joints lie at 0, 0.5, 1, ... and are a hundredth of a tile to either side."""
    along = np.array([0.0, 0.5, 1.0, 0.004, 0.25, 0.03, 0.47])
    np.testing.assert_allclose(water._joint(along, 0.5), [1, 1, 1, 1, 0, 0, 0])
    # in between it fades
    assert 0 < water._joint(np.array([0.5 * 0.02]), 0.5)[0] < 1


def test_a_ray_sees_the_floor_or_a_wall_whichever_it_meets_first_and_the_outside_beyond_them():
    tank, start = np.array(TANK), np.array([1.1, 0.6, 0.55])
    ways = {"floor": [0.0, 0.0, -1.0], "back": [0.0, 1.0, 0.0], "left": [-1.0, 0.0, 0.0], "right": [1.0, 0.0, 0.0]}
    rays = np.array(list(ways.values()))
    found = dict(zip(ways, water._behind(np.broadcast_to(start, rays.shape), rays, tank, 0.4, 0.25), strict=True))
    for name, shade in (("floor", 1.0), ("back", 0.97), ("left", 0.92)):
        np.testing.assert_allclose(found[name], shade * water.TILE)
    np.testing.assert_allclose(found["right"], 0.25)
    # down and to the back: from afar it meets the floor first, from near the wall the wall
    ray = np.array([[0.0, 1.0, -1.0]])
    for y, shade in ((0.3, 1.0), (0.9, 0.97)):
        seen = water._behind(np.array([[1.1, y, 0.35]]), ray, tank, 0.4, 0.25)
        np.testing.assert_allclose(seen[0], shade * water.TILE, atol=1e-9)
    # what lies behind the start is not seen
    np.testing.assert_allclose(water._behind(start[None], -rays[:1], tank, 0.4, 0.25)[0], 0.25)


def test_a_mirror_of_water_shows_the_sky_above_it_and_shallow_water_the_tiles_below(monkeypatch):
    """Seen at a glancing angle all light is reflected, from as high as it comes down; straight down nearly none is."""
    glancing, normal = np.array([np.cos(0.01), 0.0, -np.sin(0.01)]), np.array([0.0, 0.0, 1.0])
    monkeypatch.setattr(water, "GLOSS", 0.0)
    tank = np.array(TANK)
    eye = np.array([0.9, 0.5, 0.9])

    def colour(ray, thickness):
        seen = SimpleNamespace(normal=normal[None, None], distance=np.array([[0.3]]), thickness=np.array([[thickness]]))
        rays = np.broadcast_to(ray, (1, 1, 3))
        return water._water(seen, np.array([[True]]), SimpleNamespace(eye=eye), rays, tank, 0.4)[0]

    # Schlick: of what comes in flat all but five times the angle goes back
    sky = water.HORIZON + (water.ZENITH - water.HORIZON) * np.sin(0.01) ** 0.6
    np.testing.assert_allclose(colour(glancing, 5.0), sky, atol=0.05)
    down = np.array([0.0, 0.0, -1.0])
    lit = 0.82 + 0.18 * 0.9 / np.linalg.norm(water.LIGHT)
    clear = (1 - water.REFLECTANCE) * lit * water.TILE + water.REFLECTANCE * water.ZENITH
    np.testing.assert_allclose(colour(down, 0.0), clear, atol=1e-6)
    # what is as thick as the tank is deep lets the shares of equation exp(-fading) through
    kept = np.exp(-water.FADING)
    deep = lit * (water.TILE * kept + water.DEEP * (1 - kept))
    expected = (1 - water.REFLECTANCE) * deep + water.REFLECTANCE * water.ZENITH
    np.testing.assert_allclose(colour(down, 1.0), expected, atol=1e-6)


def test_colours_are_those_of_grey_tiles_blue_water_and_a_clear_sky():
    names = ("TILE", "JOINT", "HORIZON", "ZENITH", "BELOW", "DEEP", "EDGE")
    shown = "#edeef0 #c7ccd1 #f7faff #9ec7ed #b2bdc7 #083361 #404752"
    assert " ".join(to_hex(getattr(water, name)) for name in names) == shown
    # through water as thick as the tank is deep a quarter of the red light comes, and five sixths of the blue
    np.testing.assert_allclose(np.exp(-water.FADING), [0.25, 0.61, 0.835], atol=0.005)


def test_water_shines_where_it_mirrors_the_light(monkeypatch):
    """A surface whose normal is half-way between the light and the eye, and one turned by a tenth."""
    light = np.array([-0.45, -0.55, 0.9]) / np.linalg.norm([-0.45, -0.55, 0.9])
    down, eye = np.array([0.0, 0.0, -1.0]), np.array([0.9, 0.5, 0.9])
    half = (light - down) / np.linalg.norm(light - down)
    side = np.cross(half, light) / np.linalg.norm(np.cross(half, light))

    def colour(normal):
        seen = SimpleNamespace(normal=normal[None, None], distance=np.array([[0.3]]), thickness=np.array([[1.0]]))
        rays = np.broadcast_to(down, (1, 1, 3))
        return water._water(seen, np.array([[True]]), SimpleNamespace(eye=eye), rays, np.array(TANK), 0.4)[0]

    turned = np.cos(0.1) * half + np.sin(0.1) * side
    for normal, gloss in ((half, 0.55), (turned, 0.55 * np.cos(0.1) ** 90)):
        shining = colour(normal)
        with monkeypatch.context() as patched:
            patched.setattr(water, "GLOSS", 0.0)
            dull = colour(normal)
        np.testing.assert_allclose(shining - dull, np.minimum(gloss, 1 - dull), atol=1e-9)


def test_an_edge_behind_water_is_faint_and_as_thick_as_a_seven_hundredth_of_the_picture():
    camera = looking_at(TANK, 1400)
    image, near = np.ones((*camera.shape, 3)), np.full(camera.shape, 0.1)
    water._draw_edges(image, near, camera, np.array(TANK))
    hidden = (image < 1).any(2)
    np.testing.assert_allclose(image[hidden], np.broadcast_to(1 + 0.15 * (water.EDGE - 1), image[hidden].shape))
    # of an edge that stands upright and alone the middle is two pixels wide
    x, y, _ = camera.project(np.array([2.0, 0.0, 0.5]))
    assert hidden[round(y), round(x) - 20 : round(x) + 20].sum() == 2
    clear = np.ones_like(image)
    water._draw_edges(clear, np.full(camera.shape, np.inf), camera, np.array(TANK))
    assert ((clear < 1).any(2) == hidden).all()


def test_a_picture_averages_two_by_two_samples(monkeypatch):
    asked = []

    def edges(image, distance, camera, tank):
        asked.append(camera.shape[1])
        image[:] = 0.0
        image[::2, ::2] = 1.0

    monkeypatch.setattr(water, "_draw_edges", edges)
    image = picture(ball(0.2, (1.0, 0.5, 0.5)), TANK, 60, 0.25)
    assert asked == [120]
    assert image.shape[1] == 60
    np.testing.assert_array_equal(image, 0.25)
