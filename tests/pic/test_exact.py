"""The theory of electrons in given fields and of a cold plasma obeys the equations that it solves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.constants import c, e, epsilon_0, m_e

from repro.errors import InputError
from repro.pic import exact
from repro.pic.constants import REST_ENERGY

DENSITY = 2.5e17
#: a momentum over m c with gamma = 1.25, and a field in T of the size 0.03 in no direction of an axis
SLOW, FIELD = 0.75, np.array([0.01, -0.02, 0.02])


def test_a_momentum_is_that_of_its_kinetic_energy():
    # gamma^2 = 1 + u^2
    assert exact.momentum_of(1.5 * REST_ENERGY) == pytest.approx(np.sqrt(2.5**2 - 1))
    assert exact.lorentz_factor(np.array([SLOW, 2.4])) == pytest.approx([1.25, 2.6])
    # a slow one has m v^2 / 2
    assert exact.momentum_of(1e-8 * REST_ENERGY) == pytest.approx(np.sqrt(2e-8))


def test_an_orbit_is_gone_round_at_the_speed_of_its_electron():
    assert exact.gyration_frequency(SLOW, 0.03) == pytest.approx(e * 0.03 / (1.25 * m_e))
    radius = exact.gyration_radius(SLOW, 0.03)
    assert radius * exact.gyration_frequency(SLOW, 0.03) == pytest.approx(c * SLOW / 1.25)


@given(st.floats(0, 1e-9))
def test_a_helix_obeys_lorentz_force_law(time):
    start, u, step = [[1e-3, 2e-3, -3e-3], [0, 0, 1e-3]], np.array([[0.3, -0.6, 0.2], [1.0, 0.5, 2.0]]), 1e-14

    def at(t):
        return exact.helix(start, u, FIELD, t)

    _, momentum = at(time)
    (before, slower), (after, faster) = at(time - step), at(time + step)
    gamma = np.sqrt(1 + (momentum**2).sum(1))[:, None]
    np.testing.assert_allclose((after - before) / (2 * step), c * momentum / gamma, atol=1e-4 * c)
    force = -e / (m_e * gamma) * np.cross(momentum, FIELD)
    np.testing.assert_allclose((faster - slower) / (2 * step), force, atol=1e-3 * np.abs(force).max())
    np.testing.assert_allclose(at(0)[0], start, atol=1e-15)
    np.testing.assert_allclose(at(0)[1], u)


def test_across_both_fields_there_is_a_drift_in_which_they_balance():
    electric = np.cross([3e3, -1e4, 2e3], FIELD)
    found = exact.drift(electric, FIELD)
    np.testing.assert_allclose(electric + np.cross(found, FIELD), 0, atol=1e-9 * np.abs(electric).max())
    assert found @ FIELD == pytest.approx(0, abs=1e-9)


def test_the_plasma_frequency_is_56_4_times_the_root_of_the_density():
    assert exact.plasma_frequency(DENSITY) == pytest.approx(56.4146 * np.sqrt(DENSITY), rel=1e-5)


@pytest.mark.parametrize("share", [0.3, 1.4, 2.0])
def test_a_leapfrog_swings_at_its_frequency(share):
    # x(n + 1) - 2 x(n) + x(n - 1) = -(omega dt)^2 x(n), stable up to omega dt = 2
    dt = 2e-12
    assert np.cos(exact.leapfrog_frequency(share / dt, dt) * dt) == pytest.approx(1 - share**2 / 2)


@pytest.mark.parametrize("each", [1, 2, 5])
def test_the_share_of_the_mesh_is_the_eigenvalue_of_the_linear_weights(each):
    places = (np.arange(each) + 0.5) / each
    neighbours = (places * (1 - places)).mean()
    assert exact.mesh_share(1.1, each) == pytest.approx(1 - 4 * neighbours * np.sin(0.55) ** 2)


@pytest.mark.parametrize("turn", [0.05, 0.7, 2.0])
def test_boris_rotation_has_the_tangent_of_half_the_turn(turn):
    found = exact.boris_phase_error(turn)
    assert np.tan((1 + found) * turn / 2) == pytest.approx(turn / 2)
    assert found == pytest.approx(-(turn**2) / 12, rel=turn**2)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_two_beams_grow_as_their_dispersion_relation_says_up_to_a_wave_number(share):
    speed, beam = c * SLOW / 1.25, DENSITY * e**2 / (m_e * epsilon_0) / (2 * 1.25**3)
    # stable from k v = sqrt(2) w on
    wave_number = share * np.sqrt(2 * beam) / speed
    omega = 1j * exact.two_stream_growth(wave_number, SLOW, DENSITY)
    relation = sum(beam / (omega + sign * wave_number * speed) ** 2 for sign in (1, -1))
    assert relation == pytest.approx(1)
    assert omega.imag > 0
    assert exact.two_stream_growth(1.01 / share * wave_number, SLOW, DENSITY) == 0


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("momentum_of", (-1.0,), "energy = -1 eV: must be 0 or more"),
        ("momentum_of", (np.array([1.0, -3.0, -2.0]),), "energy = -3 eV: must be 0 or more"),
        ("gyration_radius", (1.0, 0.0), "magnetic = 0 T: must not be 0"),
        ("helix", ([0, 0, 0], [1, 0, 0], [0, 0, 0], 1.0), "magnetic = 0 T: must not be 0"),
        (
            "helix",
            ([0, 0, 0], [1, 0, 0], [0, 1], 1.0),
            r"magnetic = .*: must be finite numbers of the shape \(3,\), in T",
        ),
        ("drift", ([1, 0], [0, 0, 1]), r"electric = .*: must be finite numbers of the shape \(3,\), in V/m"),
        ("drift", ([1, 0, 0], [0, 0, 0]), "magnetic = 0 T: must not be 0"),
        ("plasma_frequency", (-1.0,), "density = -1 1/m3: must be 0 or more"),
        (
            "leapfrog_frequency",
            (1.01, 2.0),
            "frequency = 1.01: must be a number from 0 to 1, in 1/s, above which it is u",
        ),
        ("leapfrog_frequency", (1.0, 0.0), "dt = 0.0: must be a number of at least 1e-30"),
        ("mesh_share", (1.0, 0), "particles of a cell along an axis = 0: must be a whole number from 1"),
        ("boris_phase_error", (0.0,), "turn = 0 radians: must not be 0"),
        ("slow_electrons", (1.0, -1.0, 1.0, 1.0), r"source = -1 1/\(m3 s\): must be 0 or more"),
        ("slow_electrons", (1.0, 1.0, -1.0, 1.0), "attachment = -1 1/s: must be 0 or more"),
        ("slow_electrons", (1.0, 1.0, 1.0, -1.0), "recombination = -1 m3/s: must be 0 or more"),
        (
            "slow_electrons",
            (1.0, 1.0, 0.0, 0.0),
            "attachment = 0 1/s, and recombination = 0 m3/s or no source: there is",
        ),
        ("slow_electrons", (1.0, 0.0, 0.0, 1.0), "there is no balance"),
    ],
)
def test_numbers_for_which_a_formula_has_no_value_are_refused(name, arguments, line):
    with pytest.raises(InputError, match=line):
        getattr(exact, name)(*arguments)


def test_formulas_hold_where_a_number_may_just_be():
    assert exact.momentum_of(0.0) == exact.plasma_frequency(0.0) == exact.leapfrog_frequency(0.0, 2.0) == 0
    assert exact.leapfrog_frequency(1.0, 2.0) == pytest.approx(np.pi / 2)
    # without one of its losses a balance is that of the other
    assert exact.slow_electrons(1e3, 6.0, 2.0, 0.0) == pytest.approx(3)
    assert exact.slow_electrons(1e3, 8.0, 0.0, 2.0) == pytest.approx(2)
    assert exact.slow_electrons(1e3, 0.0, 2.0, 1.0) == 0
