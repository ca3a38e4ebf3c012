"""Radius, pressure, shape and contact angle are those of drops that are known."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.observables import _angle_at_plate, bubble_state, contact_angle

INSIDE, OUTSIDE = (0.98, 0.03), (0.02, 0.97)


def flow_with(**parts) -> SimpleNamespace:
    """What is asked of a flow, which is on one rank."""
    return SimpleNamespace(require_alone=lambda what: None, **parts)


def resting(distance, velocity=0.0):
    """Two fluids with a smooth interface where `distance` is zero, and a velocity in one node, askew."""
    share = 0.5 * (1 - np.tanh(distance / 1.5))
    fields = [out + (inside - out) * share for inside, out in zip(INSIDE, OUTSIDE, strict=True)]
    flow = np.zeros((3, *distance.shape))
    for k, share in enumerate((2 / 7, -3 / 7, 6 / 7)):
        flow[k].flat[7] = share * velocity
    problem = TwoFluids(PoreSpace(np.zeros(distance.shape, bool)), 0.2)
    return flow_with(fields=lambda: (*fields, flow), problem=problem, steps=10)


def distances(shape, stretch=1.0):
    axes = np.ogrid[tuple(slice(n) for n in shape)]
    squares = [
        ((axis - (n - 1) / 2) * (stretch if k == 2 else 1)) ** 2
        for k, (axis, n) in enumerate(zip(axes, shape, strict=True))
    ]
    return np.sqrt(sum(squares))


@given(st.floats(11, 17))
def test_a_circle_has_its_radius_its_pressure_and_no_corners(radius):
    state = bubble_state(resting(distances((1, 48, 48)) - radius, velocity=-3e-3))
    assert state.radius == pytest.approx(radius, rel=0.02)
    (a, b), (c, d) = INSIDE, OUTSIDE
    assert state.pressure_difference == pytest.approx((a + b - c - d) / 3 + 1.2 * (a * b - c * d), rel=0.01)
    assert state.tension == pytest.approx(state.radius * state.pressure_difference)
    assert state.anisotropy < 0.01
    assert state.spurious_velocity == pytest.approx(3e-3)
    assert state.inside == pytest.approx(INSIDE, abs=1e-3)
    assert state.outside == pytest.approx(OUTSIDE, abs=1e-3)


def test_a_sphere_has_its_radius():
    state = bubble_state(resting(distances((40, 40, 40)) - 12.0))
    # a smeared sphere holds more than a sharp one: pi^2 w^2/(4 r^2) with w = 1.5 nodes
    assert state.radius == pytest.approx(12.0 * (1 + np.pi**2 * 1.5**2 / (12 * 12.0**2)), rel=2e-3)
    assert state.anisotropy < 0.01


def test_the_masses_of_both_fluids_count_alike():
    flow = resting(distances((1, 48, 48)) - 14.0)
    a, b, velocity = flow.fields()
    # both thin out in the interface: alone, a would give a smaller circle and b a larger one
    thin = 1 - 0.4 * np.exp(-((distances((1, 48, 48)) - 14.0) ** 2) / 2)
    thinned = bubble_state(flow_with(fields=lambda: (a * thin, b * thin, velocity), problem=flow.problem, steps=0))
    assert thinned.radius == pytest.approx(bubble_state(flow).radius, abs=0.02)


def test_a_stretched_bubble_is_not_round():
    assert bubble_state(resting(distances((1, 48, 48), stretch=0.8) - 12.0)).anisotropy > 0.1


@pytest.mark.parametrize(("depth", "nearest"), [(1, 1 / 2), (48, 1 / 3)])
def test_the_anisotropy_of_an_ellipse_is_the_spread_of_its_distances_over_its_radius(depth, nearest):
    # longest along x, and of all rays shortest along those with the least share of x
    found = bubble_state(resting(distances((depth, 48, 48), stretch=0.8) - 10.0))
    longest, shortest = 10 / 0.8, 10 / np.sqrt(1 - nearest * (1 - 0.8**2))
    assert found.anisotropy == pytest.approx((longest - shortest) / found.radius, abs=2e-3)


@pytest.mark.parametrize("stretch", [0.6, 1.7])
def test_a_bubble_may_be_much_longer_or_shorter_than_its_radius(stretch):
    found = bubble_state(resting(distances((1, 48, 48), stretch) - 10.0))
    along_x, askew = 10 / stretch, 10 / np.sqrt((1 + stretch**2) / 2)
    others = [10 / np.sqrt((stretch**2 + k**2) / (1 + k**2)) for k in (1 / 2, 1 / 3)]
    rays = [along_x, askew, *others]
    # between nodes densities are taken to be linear
    assert found.anisotropy == pytest.approx((max(rays) - min(rays)) / found.radius, abs=6e-3)


@pytest.mark.parametrize("stretch", [0.4, 5.0])
def test_a_bubble_whose_surface_a_ray_does_not_meet_has_no_anisotropy(stretch):
    """The surface lies outside the box, or too near to the middle."""
    assert np.isnan(bubble_state(resting(distances((1, 48, 48), stretch) - 10.0)).anisotropy)


RAYS = [(0, 0, 1), (0, 1, 1), (0, 1, 2), (0, 1, 3), (1, 1, 1), (1, 1, 2), (1, 2, 2)]


@pytest.mark.parametrize("ray", RAYS)
def test_a_bump_on_any_ray_is_noticed(ray):
    """By a node and a half on the ray, and by nothing far from it."""
    shape = (48 if ray[0] else 1, 48, 48)
    offsets = np.stack(np.meshgrid(*[np.arange(n) - (n - 1) / 2 for n in shape], indexing="ij"))
    length = np.sqrt((offsets**2).sum(0))
    cosine = np.tensordot(np.array(ray) / np.linalg.norm(ray), offsets, 1) / length
    found = bubble_state(resting(length - 14.0 - 1.5 * np.exp((cosine - 1) / 5e-3)))
    assert 0.6 < found.anisotropy * found.radius / 1.5 < 1.05


@pytest.mark.parametrize("shape", [(1, 40, 52), (36, 40, 44)])
def test_a_phase_is_averaged_over_three_nodes_from_the_middle_and_from_the_corner(shape):
    """Of fields that are nowhere alike."""
    flow = resting(distances(shape) - 12.0)
    noise = np.random.default_rng(8).uniform(0.9, 1.1, (2, *shape))
    a, b = (field * each for field, each in zip(flow.fields()[:2], noise, strict=True))
    state = bubble_state(flow_with(fields=lambda: (a, b, flow.fields()[2]), problem=flow.problem, steps=0))
    z = (slice(None),) * 2 if shape[0] == 1 else (slice(15, 21), slice(0, 3))
    middle, corner = (
        (z[0], slice(17, 23), slice(shape[2] // 2 - 3, shape[2] // 2 + 3)),
        (z[1], slice(0, 3), slice(0, 3)),
    )
    assert state.inside == pytest.approx((a[middle].mean(), b[middle].mean()), rel=1e-12)
    assert state.outside == pytest.approx((a[corner].mean(), b[corner].mean()), rel=1e-12)
    assert state.pressure_difference == pytest.approx(
        flow.problem.pressure(*state.inside) - flow.problem.pressure(*state.outside)
    )


@pytest.mark.parametrize("radius", [0.0, 60.0])
def test_a_bubble_that_is_gone_is_refused(radius):
    with pytest.raises(InputError, match="no bubble of fluid a in the middle after 10 steps"):
        bubble_state(resting(distances((1, 48, 48)) - radius))


def drop(angle: float, area: float, height=60, length=400):
    """Densities of a drop with a contact angle in degrees and an area in squared nodes."""
    theta = np.radians(angle)
    radius = np.sqrt(area / (theta - np.sin(theta) * np.cos(theta)))
    y, x = np.ogrid[: height + 2, :length]
    distance = np.hypot(x - (length - 1) / 2, y - 0.5 + radius * np.cos(theta)) - radius
    share = 0.5 * (1 - np.tanh(distance / 1.5))[None]
    return 0.02 + 0.96 * share, 0.98 - 0.96 * share, radius


@given(st.floats(25, 165))
def test_a_drop_has_its_contact_angle(angle):
    a, b, radius = drop(angle, 900.0)
    found = contact_angle(a, b)
    assert found.angle == pytest.approx(angle, abs=1.0)
    assert found.radius == pytest.approx(radius, rel=0.02)
    assert found.residual < 0.1


def test_a_drop_flatter_than_what_the_plate_bends_keeps_half_of_its_height():
    a, b, radius = drop(15.0, 100.0)
    found = contact_angle(a, b)
    heights = found.surface[:, 1]
    assert heights.max() == pytest.approx(radius * (1 - np.cos(np.radians(15.0))), abs=0.2)
    assert heights.max() < 4
    assert found.angle == pytest.approx(15.0, abs=1.0)
    np.testing.assert_array_equal(found.fitted, heights > heights.max() / 2)


def test_films_on_the_plates_are_no_part_of_a_drop():
    a, b, _ = drop(120.0, 900.0)
    a[:, -4:-1], b[:, -4:-1] = 0.98, 0.02
    a[:, 1:3, :100], b[:, 1:3, :100] = 0.98, 0.02
    found = contact_angle(a, b)
    assert found.angle == pytest.approx(120.0, abs=1.5)
    # four nodes from either plate
    np.testing.assert_array_equal(found.fitted, found.surface[:, 1] > 4)
    a[:, -5:-1], b[:, -5:-1] = 0.98, 0.02
    assert contact_angle(a, b).surface[:, 1].max() < 55
    a[:, -6:-1], b[:, -6:-1] = 0.98, 0.02
    assert contact_angle(a, b).surface[:, 1].max() == pytest.approx(55)


def test_a_residual_is_the_mean_distance_of_the_fitted_points_from_the_circle():
    """Of half an ellipse, which no circle fits; its middle is that of the plate."""
    y, x = np.ogrid[:62, :200]
    share = 0.5 * (1 - np.tanh(np.hypot((x - 99.5) / 1.2, y - 0.5) - 20.0))[None]
    found = contact_angle(0.02 + 0.96 * share, 0.98 - 0.96 * share)
    along, height = found.surface[found.fitted].T
    off = np.hypot(along - 99.5, height - found.height) - found.radius
    assert found.residual == pytest.approx(np.sqrt((off**2).mean()), rel=1e-6)
    assert found.residual > 0.1


@pytest.mark.parametrize(("nodes", "points"), [(1, 4), (2, 6)])
def test_a_drop_has_five_points_of_surface_at_least(nodes, points):
    """A node has four around it, and two have six."""
    a, b = np.full((2, 1, 30, 40), 0.5)
    a[0, 12, 20 : 20 + nodes] = 0.9
    b[0, 12, 20 : 20 + nodes] = 0.1
    a[a == 0.5], b[b == 0.5] = 0.1, 0.9
    if points < 5:
        with pytest.raises(InputError, match="no drop of fluid a on the lower plate"):
            contact_angle(a, b)
        return
    assert len(contact_angle(a, b).surface) == points


def test_no_drop_is_refused():
    a, b, _ = drop(90.0, 900.0)
    with pytest.raises(InputError, match="no drop of fluid a"):
        contact_angle(np.minimum(a, 0.02), b)


def test_a_drop_that_has_left_the_plate_has_no_contact_angle():
    y, x = np.ogrid[:62, :200]
    share = 0.5 * (1 - np.tanh((np.hypot(x - 99.5, y - 30.5) - 16.0) / 1.5))[None]
    found = contact_angle(0.02 + 0.96 * share, 0.98 - 0.96 * share)
    assert np.isnan(found.angle)
    assert (found.radius, found.height) == pytest.approx((16.0, 30.0), abs=0.1)
    # no point of its closed surface stands twice
    assert len(np.unique(found.surface, axis=0)) == len(found.surface)
    assert found.why == "the drop has left the plate"


@pytest.mark.parametrize(
    ("height", "angle"), [(-9.0, 25.84), (0.0, 90.0), (9.0, 154.16), (10.0, None), (12.5, None), (-10.0, None)]
)
def test_a_circle_that_meets_the_plate_along_no_line_has_no_angle(height, angle):
    found = _angle_at_plate(height, 10.0)
    assert np.isnan(found) if angle is None else found == pytest.approx(angle, abs=0.01)
