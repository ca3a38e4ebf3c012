"""Surfaces from particles: volumes, areas, walls, drops; smoothing keeps them."""

from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from repro.errors import InputError
from repro.sph.cases import StillWater
from repro.sph.surface import colour, reconstruct, roughness, smoothed

SPACING = 0.01


@pytest.fixture(scope="module")
def tank():
    """A tank of 24 spacings; its own water is not looked at."""
    return StillWater(column=(24, 24, 2), air=22).system()


def lattice(tank):
    index = np.stack(np.meshgrid(*[np.arange(24)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return (index + 0.5) * SPACING


def volume(place, tank):
    """Reconstructed, over that of as many particles of the lattice; `place` in spacings."""
    return reconstruct(np.asarray(place, float) * SPACING, tank).volume / (len(place) * SPACING**3)


def uneven(tank, seed=1):
    """The tank filled with particles that repel each other, but not long enough to be in order: their nearest
    neighbours are 0.6 to 1 spacings away, as in water that has been stirred."""
    rng = np.random.default_rng(seed)
    place = rng.random((24**3, 3)) * 24
    for _ in range(3):
        pairs = cKDTree(place, boxsize=24).query_pairs(2, output_type="ndarray")
        apart = place[pairs[:, 0]] - place[pairs[:, 1]]
        apart -= 24 * np.rint(apart / 24)
        push = 0.8 * (1 - np.linalg.norm(apart, axis=1, keepdims=True) / 2) ** 3 * apart
        for axis in range(3):
            moves = [np.bincount(pairs[:, k], push[:, axis], len(place)) for k in range(2)]
            place[:, axis] += np.clip(moves[0] - moves[1], -0.2, 0.2)
        place %= 24
    return place


@pytest.fixture(scope="module", params=[5.0, 8.0])
def ball(request, tank):
    """Lattice particles within a radius of the middle, and their surface."""
    place, radius = lattice(tank), request.param * SPACING
    inside = place[np.linalg.norm(place - 0.12, axis=1) < radius]
    return inside, reconstruct(inside, tank)


def test_a_ball_has_the_volume_of_its_particles_but_for_its_curvature(ball):
    inside, surface = ball
    count = len(inside)
    # a step in a field that spreads with variance v along each axis moves inwards by v over the radius; here v is 4/15
    change = 3 * (4 / 15) / (3 * count / (4 * np.pi)) ** (2 / 3)
    assert surface.volume == pytest.approx((1 - change) * count * SPACING**3, rel=0.01)


@pytest.mark.parametrize("stretch", [0.7, 0.8, 1.0, 1.25, 1.5])
def test_water_that_is_stretched_keeps_its_volume(stretch, tank):
    # a lattice over the whole floor, at the lattice's density: its depth says where the surface is
    sides = np.array([24 / round(24 / stretch), 1, 0])
    sides[2] = 1 / sides[0]
    counts = np.rint([24 / sides[0], 24, 10 / sides[2]]).astype(int)
    place = (np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), -1).reshape(-1, 3) + 0.5) * sides
    deep = counts[2] * sides[2]
    assert (volume(place, tank) - 1) * deep == pytest.approx(0, abs=0.06)


def test_water_that_is_pressed_together_has_less_volume(tank):
    # where all is denser the colour is one half further out: the kernel's integral over a plane through it is 3/4
    counts, side = (25, 25, 10), 0.96
    place = (np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), -1).reshape(-1, 3) + 0.5) * side
    outwards = (volume(place, tank) / side**3 - 1) * counts[2] * side
    assert outwards == pytest.approx((1 - side**3) / 2 / 0.75, abs=0.02)


def test_water_without_order_keeps_its_volume_and_ends_at_its_face(tank):
    place = uneven(tank)
    assert volume(place, tank) == pytest.approx(1, abs=0.01)
    # layers cut out: what is in them is as many particles as they have room for, to a percent
    layers = [place[(place[:, 2] > low) & (place[:, 2] < low + 5)] for low in (2, 9, 16)]
    assert np.mean([volume(layer, tank) for layer in layers]) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("high", [False, True])
def test_a_wall_is_a_mirror(axis, high):
    """Particles beside a wall have the colour that they have in the open beside their images, lone ones too.

    Of each two over one another only the wider kernel that tells who is alone reaches from one to the other's image.
    """
    tanks = [SimpleNamespace(resolution=SimpleNamespace(spacing=1.0), tank=[10.0] * 3) for _ in range(2)]
    tanks[1].tank[axis] = 20.0
    place = np.repeat(np.random.default_rng(3).uniform(1.5, 8.5, (5, 3)), 2, axis=0)
    place[:, axis] = 4.0, 5.0, 0.05, 2.3, 0.1, 2.45, 0.3, 2.25, 0.5, 1.8
    image = place.copy()
    place[:, axis], image[:, axis] = 10 + place[:, axis], 10 - image[:, axis]
    alone = image if high else place - 10 * (np.arange(3) == axis)
    beside, free = colour(alone, tanks[0]), colour(np.concatenate([place, image]), tanks[1])
    half = free.take(range(21) if high else range(20, 41), axis)
    np.testing.assert_allclose(beside, half, rtol=0, atol=1e-6)
    assert half.max() > 0.5


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
def test_sheets_keep_their_volume_on_the_floor_and_in_the_air(layers, tank):
    place = lattice(tank) / SPACING
    assert volume(place[place[:, 2] < layers], tank) == pytest.approx(1, abs=0.01)
    free = place[(place[:, 2] > 10) & (place[:, 2] < 10 + layers)]
    # a single layer's colour is the kernel's integral over planes, which is one half 0.487 spacings away, between nodes
    assert volume(free, tank) == pytest.approx(0.974 if layers == 1 else 1, abs=0.02 if layers == 1 else 0.01)


def test_what_is_thinner_than_the_kernel_keeps_about_its_volume(tank):
    line = np.arange(24) + 0.5
    assert volume(np.stack([0 * line + 11.7, 0 * line + 12.3, line], 1), tank) == pytest.approx(1, abs=0.03)
    pair = [[11.7, 12.3, 10.1], [12.7, 12.3, 10.1]]
    assert volume(pair, tank) == pytest.approx(1, abs=0.05)
    assert volume(pair[:1], tank) == pytest.approx(1, abs=0.2)


def least(surface):
    """The area of a ball of the surface's volume: no body's surface is smaller."""
    return 4 * np.pi * (3 * surface.volume / (4 * np.pi)) ** (2 / 3)


def test_a_ball_is_as_smooth_as_its_lattice_allows(ball, tank):
    _, surface = ball
    smooth = smoothed(surface, tank, 20)
    assert smooth.area < surface.area < 1.08 * least(surface)
    assert least(smooth) < smooth.area < 1.04 * least(smooth)


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


def kernel(q):
    """Wendland's of the radius 2."""
    return 21 / (16 * np.pi) * np.maximum(1 - q / 2, 0) ** 4 * (2 * q + 1)


def test_the_colour_is_the_kernel_s_sum_over_all_particles_and_their_images_in_walls_lone_ones_counting_more():
    """In spacings of 0.02 m, over all pairs; some have left the tank, three so far that nothing is seen of them."""
    tank = SimpleNamespace(resolution=SimpleNamespace(spacing=0.02), tank=(0.12, 0.16, 0.10))
    sides, chance = np.array([6.0, 8, 5]), np.random.default_rng(3)
    place = np.concatenate(
        [
            chance.uniform(0, 1, (70, 3)) * [6, 8, 2],
            chance.uniform(0, 1, (5, 3)) * sides,
            [[-0.4, 3, 4], [5, 8.3, 5.2]],
        ]
    )
    images = [
        np.where(choice == 0, place, np.where(choice == 1, -place, 2 * sides - place))
        for choice in np.array(list(product(range(3), repeat=3)))
    ]
    seen = np.concatenate(images)
    wide = kernel(np.linalg.norm(place[:, None] - seen, axis=2) / 1.3).sum(1) / 1.3**3
    volume = np.maximum(1, 0.55 / wide)
    assert 3 < (volume > 1.001).sum() < 20
    nodes = np.stack(np.meshgrid(*(np.arange(2 * n + 1) / 2 for n in (6, 8, 5)), indexing="ij"), -1)
    expected = sum(
        (np.tile(volume, 27)[b] * kernel(np.linalg.norm(nodes - seen[b], axis=-1)) for b in range(len(seen))),
        np.zeros(nodes.shape[:3]),
    )
    # beyond 2.6 spacings from a wall a particle is away
    lost = np.array([[3, 3, 7.61], [3, 10.61, 3], [-2.61, 3, 3]])
    np.testing.assert_allclose(colour(0.02 * np.concatenate([lost, place]), tank), expected, atol=2e-6)


@pytest.fixture(scope="module")
def lump():
    """A tank with a heap in a corner and a drop, and their surface."""
    tank = SimpleNamespace(name="lump", resolution=SimpleNamespace(spacing=0.02), tank=(0.12, 0.16, 0.10))
    index = np.stack(np.meshgrid(range(4), range(3), range(3), indexing="ij"), -1).reshape(-1, 3)
    # against the upper wall of x and the lower ones of y and z
    place = index + np.array([2.5, 0.5, 0.5]) + np.random.default_rng(5).uniform(-0.2, 0.2, index.shape)
    return tank, reconstruct(0.02 * np.concatenate([place[:-3], [[1.6, 6.4, 3.9]]]), tank)


def smoothed_by_hand(surface, sides, rounds):
    """Taubin's smoothing: each corner goes 0.6307 of the way to the mean of those it shares an edge with, then 0.6388
    of that way off again; along no wall's normal, and two on one wall are no neighbours.
    """
    corners, sides = surface.corners.copy(), np.array(sides)
    walls = np.concatenate([corners <= 0, corners >= sides], axis=1)
    near = np.zeros((len(corners),) * 2)
    for triangle in surface.triangles:
        for a, b in permutations(triangle, 2):
            near[a, b] = not (walls[a] & walls[b]).any()
    number = near.sum(1)
    for _ in range(rounds):
        for share in (0.6307, -0.6388):
            way = near @ corners / np.maximum(number, 1)[:, None] - corners
            way[(walls[:, :3] | walls[:, 3:]) | (number == 0)[:, None]] = 0
            corners = corners + share * way
    return np.clip(corners, 0, sides)


@pytest.mark.parametrize("rounds", [0, 1, 7])
def test_smoothing_is_taubin_s_without_edges_along_walls(lump, rounds):
    tank, surface = lump
    found = smoothed(surface, tank, rounds)
    expected = smoothed_by_hand(surface, tank.tank, rounds)
    np.testing.assert_allclose(found.corners, expected, atol=1e-12)
    np.testing.assert_array_equal(found.triangles, surface.triangles)
    # the volume of cones over the triangles, and normals as of all triangles around weighted with their areas
    a, b, c = (found.corners[found.triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    assert found.volume == pytest.approx((a * across).sum() / 6)
    assert found.area == pytest.approx(np.linalg.norm(across, axis=1).sum() / 2)
    for corner in range(0, len(found.corners), 17):
        normal = across[(found.triangles == corner).any(1)].sum(0)
        np.testing.assert_allclose(found.normals[corner], normal / np.linalg.norm(normal), atol=1e-9)


def test_roughness_is_the_root_mean_square_of_what_fifty_rounds_take_off_along_the_normals_away_from_walls(lump):
    tank, surface = lump
    moved = ((smoothed_by_hand(surface, tank.tank, 50) - surface.corners) * surface.normals).sum(1)
    free = ((surface.corners > 0) & (surface.corners < tank.tank)).all(1)
    assert 0.1 < free.mean() < 0.9
    assert roughness(surface, tank) == pytest.approx(np.sqrt((moved[free] ** 2).mean()) / 0.02, rel=1e-9)


def test_a_tank_that_is_full_has_no_surface_that_could_be_rough():
    full = StillWater(column=(5, 4, 3), air=0).system()
    assert roughness(reconstruct(full.position, full), full) == 0
