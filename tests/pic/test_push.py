"""The helix: its series, its momentum and its way against rotations and quadrature, and what it keeps."""

import numpy as np
import pytest
from helpers.helix import displaced, turned
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.pic.motion.push import LARGEST_TURN, make_rotation_factors, momentum, moved, orbit_of

REALS = pytest.mark.parametrize("real", [np.float32, np.float64])

COURANT = (0.5, 0.45, 0.55)


def vectors(largest):
    return st.tuples(*[st.floats(-largest, largest, width=32)] * 3)


def followed(real, u, magnetic, t):
    """Momentum and way on the solver's orbit."""
    u, magnetic, courant = (tuple(map(real, values)) for values in (u, magnetic, COURANT))
    orbit, t = orbit_of(u, magnetic), real(t)
    factors = make_rotation_factors(real)(orbit[0] * t * t, t)
    _, slow, u, g, h = orbit
    way = [moved(real(0), courant[k] * slow, u[k], g[k], h[k], t, factors) for k in range(3)]
    return np.array(momentum(orbit, factors), float), np.array(way, float)


@REALS
def test_the_series_hold_to_rounding_for_angles_up_to_2(real):
    nodes, weights = np.polynomial.legendre.leggauss(24)
    shares, weights = (nodes + 1) / 2, weights / 2
    for angle in np.concatenate([[0.0, 1e-9, 1e-4], np.linspace(0.01, 2 * LARGEST_TURN, 200)]):
        found = make_rotation_factors(real)(real(angle**2), real(1))
        # integrals from 0 to 1 of cos(a s), (1 - s) cos(a s) and (1 - s)^2 / 2 cos(a s): nothing cancels
        cosines = np.cos(angle * shares)
        expected = [weights @ (factor * cosines) for factor in (1, 1 - shares, (1 - shares) ** 2 / 2)]
        # the sums have a rounding of their own
        np.testing.assert_allclose(np.array(found, float), expected, rtol=8 * np.finfo(real).eps)


@REALS
@given(vectors(30.0), vectors(1.0), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_momentum_and_way_are_those_of_a_helix(real, u, magnetic, t):
    # the numbers as the solver has them
    u, magnetic, t = np.float32(u).astype(float), np.float32(magnetic).astype(float), float(np.float32(t))
    found, way = followed(real, u, magnetic, t)
    size, eps = np.linalg.norm(u), np.finfo(real).eps
    np.testing.assert_allclose(found, turned(u, magnetic, t), rtol=0, atol=12 * eps * size + 1e-40)
    np.testing.assert_allclose(way, displaced(u, magnetic, COURANT, t), rtol=0, atol=12 * eps * min(size, 1) + 1e-40)


@given(vectors(30.0), vectors(1.0))
@settings(max_examples=100, deadline=None)
def test_a_step_keeps_the_energy_and_the_momentum_along_the_field_and_can_be_undone(u, magnetic):
    u, magnetic = np.array(u), np.array(magnetic)
    after, way = followed(np.float64, u, magnetic, 1)
    size, field = np.linalg.norm(u), np.linalg.norm(magnetic)
    assert abs(np.linalg.norm(after) - size) <= 1e-14 * size
    assert abs(after @ magnetic - u @ magnetic) <= 1e-14 * size * field
    back, way_back = followed(np.float64, -after, -magnetic, 1)
    np.testing.assert_allclose(-back, u, rtol=0, atol=1e-14 * size)
    np.testing.assert_allclose(-way_back, way, rtol=0, atol=1e-14)


@REALS
def test_what_has_no_momentum_stays_and_what_meets_no_field_goes_straight(real):
    for u, magnetic in (((0, 0, 0), (1, 0.5, 0.2)), ((3, -4, 12), (0, 0, 0))):
        found, way = followed(real, u, magnetic, 0.75)
        np.testing.assert_array_equal(found, u)
        np.testing.assert_allclose(way, 0.75 * np.array(COURANT) * u / np.sqrt(170), rtol=4 * np.finfo(real).eps)


def test_an_electron_turns_to_the_left_of_its_field():
    # force -e v x B: with B along z and v along x it points along +y
    found, _ = followed(np.float64, (1e-3, 0, 0), (0, 0, 0.1), 1)
    assert found[1] == pytest.approx(1e-3 * np.sin(0.1 / np.sqrt(1 + 1e-6)), rel=1e-13)
