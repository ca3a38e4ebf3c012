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


def resting(distance, velocity=0.0):
    """Two fluids with a smooth interface where `distance` is zero, and a velocity along y in one node."""
    share = 0.5 * (1 - np.tanh(distance / 1.5))
    fields = [out + (inside - out) * share for inside, out in zip(INSIDE, OUTSIDE, strict=True)]
    flow = np.zeros((3, *distance.shape))
    flow[1].flat[7] = velocity
    problem = TwoFluids(PoreSpace(np.zeros(distance.shape, bool)), 0.2)
    return SimpleNamespace(fields=lambda: (*fields, flow), problem=problem, steps=10)


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
    thinned = bubble_state(
        SimpleNamespace(fields=lambda: (a * thin, b * thin, velocity), problem=flow.problem, steps=0)
    )
    assert thinned.radius == pytest.approx(bubble_state(flow).radius, abs=0.02)


def test_a_stretched_bubble_is_not_round():
    assert bubble_state(resting(distances((1, 48, 48), stretch=0.8) - 12.0)).anisotropy > 0.1


@pytest.mark.parametrize(("depth", "nearest"), [(1, 1 / 2), (48, 1 / 3)])
def test_the_anisotropy_of_an_ellipse_is_the_spread_of_its_distances_over_its_radius(depth, nearest):
    # longest along x, and of all rays shortest along those with the least share of x
    found = bubble_state(resting(distances((depth, 48, 48), stretch=0.8) - 10.0))
    longest, shortest = 10 / 0.8, 10 / np.sqrt(1 - nearest * (1 - 0.8**2))
    assert found.anisotropy == pytest.approx((longest - shortest) / found.radius, abs=2e-3)


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


def test_films_on_the_plates_are_no_part_of_a_drop():
    a, b, _ = drop(120.0, 900.0)
    a[:, -3:-1], b[:, -3:-1] = 0.98, 0.02
    a[:, 1:3, :100], b[:, 1:3, :100] = 0.98, 0.02
    assert contact_angle(a, b).angle == pytest.approx(120.0, abs=1.5)


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


@pytest.mark.parametrize(
    ("height", "angle"), [(-9.0, 25.84), (0.0, 90.0), (9.0, 154.16), (10.0, None), (12.5, None), (-10.0, None)]
)
def test_a_circle_that_meets_the_plate_along_no_line_has_no_angle(height, angle):
    found = _angle_at_plate(height, 10.0)
    assert np.isnan(found) if angle is None else found == pytest.approx(angle, abs=0.01)
