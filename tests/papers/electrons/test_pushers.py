"""The exact solution against an integrator of its own kind, the others' steps against it, and theory's formulas."""

import numpy as np
import pytest
from helpers.helix import displaced, turned
from scipy.integrate import solve_ivp

from repro.errors import InputError
from repro.papers.electrons.gyration.pushers import PUSHERS, propagated
from repro.pic import exact
from repro.pic.constants import CHARGE, LIGHT, MASS

FIELDS = {
    "crossed, magnetic": ((0.1, 0.2, 0.0), (0.0, 0.0, 0.7)),
    "crossed, electric": ((0.5, 0.2, 0.0), (0.0, 0.0, 0.3)),
    "null": ((0.4, 0.0, 0.0), (0.0, 0.4, 0.0)),
    "parallel": ((0.2, 0.1, -0.3), (0.4, 0.2, -0.6)),
    "any": ((0.3, -0.2, 0.1), (0.2, 0.5, 0.4)),
    "magnetic": ((0.0, 0.0, 0.0), (0.2, 0.5, 0.4)),
    "electric": ((0.3, -0.2, 0.1), (0.0, 0.0, 0.0)),
    "none": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
}


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS.keys())
@pytest.mark.parametrize("u", [(0.0, 0.0, 0.0), (0.1, -0.2, 0.3), (20.0, 3.0, -5.0)], ids=["rest", "slow", "fast"])
@pytest.mark.parametrize("t", [0.3, 5.0, -2.0])
def test_the_exact_solution_is_that_of_a_precise_integrator(u, fields, t):
    electric, magnetic = map(np.array, fields)

    def rates(_, y):
        velocity = y[:3] / np.sqrt(1 + y[:3] @ y[:3])
        return np.concatenate([-electric - np.cross(velocity, magnetic), velocity])

    expected = solve_ivp(rates, (0, t), [*u, 0, 0, 0], method="DOP853", rtol=3e-14, atol=1e-14).y[:, -1]
    momentum, way = propagated(u, electric, magnetic, t)
    size = max(1.0, np.linalg.norm(u))
    np.testing.assert_allclose(momentum, expected[:3], rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(way, expected[3:], rtol=0, atol=1e-12 * max(1, abs(t)))


def test_without_an_electric_field_the_exact_solution_is_the_helix():
    for u in ((0.3, 0.2, -0.1), (30.0, -20.0, 10.0)):
        momentum, way = propagated(u, (0, 0, 0), (0.3, -0.4, 0.5), 1)
        np.testing.assert_allclose(momentum, turned(u, (0.3, -0.4, 0.5), 1), rtol=1e-14)
        np.testing.assert_allclose(way, displaced(u, (0.3, -0.4, 0.5), (1, 1, 1), 1), rtol=1e-13)


@pytest.mark.parametrize("name", PUSHERS)
@pytest.mark.parametrize("u", [(0.1, -0.2, 0.3), (5.0, 3.0, -2.0)], ids=["slow", "fast"])
def test_every_step_is_of_second_order(name, u):
    """Half the step, a quarter of the error, over the same time; leapfrogs start half a step early, exactly."""
    electric, magnetic, errors = np.array((0.3, -0.2, 0.1)), np.array((0.2, 0.5, 0.4)), []
    for steps in (16, 32):
        e, b, early = electric / steps, magnetic / steps, 0.0 if name == "splitting" else 0.5
        momentum = tuple(propagated(u, e, b, -early)[0])
        for _ in range(steps):
            momentum, _ = PUSHERS[name](momentum, tuple(e), tuple(b))
        errors.append(np.linalg.norm(momentum - propagated(u, e, b, steps - early)[0]))
    assert errors[0] < 2e-3 * np.linalg.norm(u)
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)


@pytest.mark.parametrize("name", ["Boris", "Higuera and Cary", "Vay", "splitting"])
def test_a_magnetic_field_alone_turns_and_by_how_much(name):
    u, magnetic = (3.0, 0.0, 4.0), (0.0, 0.0, 0.5 * np.sqrt(26))
    found, _ = PUSHERS[name](u, (0.0, 0.0, 0.0), magnetic)
    assert np.linalg.norm(found) == pytest.approx(5, rel=1e-13)
    angle = np.arctan2(found[1], found[0])
    if name == "Higuera and Cary":
        # with gamma of the mean momentum, which is shorter
        assert np.tan(angle / 2) * np.sqrt(1 + 16 + 9 * np.cos(angle / 2) ** 2) == pytest.approx(magnetic[2] / 2)
    else:
        assert angle == pytest.approx(0.5 if name == "splitting" else 2 * np.arctan(0.25), rel=1e-13)
    assert exact.boris_phase_error(0.5) == pytest.approx(2 * np.arctan(0.25) / 0.5 - 1)
    assert exact.boris_phase_error(0.01) == pytest.approx(-(0.01**2) / 12, rel=1e-4)


@pytest.mark.parametrize("name", PUSHERS)
def test_a_step_goes_the_way_of_the_momentum_after_it_and_the_splitting_that_of_the_helix(name):
    u, magnetic = (0.3, -2.0, 1.0), (0.2, -0.5, 0.3)
    found, way = PUSHERS[name](u, (0.0, 0.0, 0.0), magnetic)
    straight = np.array(found) / np.sqrt(1 + 0.09 + 4 + 1)
    helix = displaced(u, magnetic, (1, 1, 1), 1)
    assert np.linalg.norm(straight - helix) > 0.02
    np.testing.assert_allclose(way, helix if name == "splitting" else straight, rtol=1e-12)


@pytest.mark.parametrize("name", PUSHERS)
def test_without_force_vay_and_higuera_and_cary_go_straight_and_the_others_do_not(name):
    u = np.array([np.sqrt(20**2 - 1), 0, 0])
    magnetic = np.array([0, 0, 1.0])
    electric = -np.cross(u / 20, magnetic)
    found, _ = PUSHERS[name](tuple(u), tuple(electric), tuple(magnetic))
    off = np.linalg.norm(found - u)
    assert bool(off < 1e-13 * 20) is (name in ("Vay", "Higuera and Cary"))


def test_formulas_of_theory():
    # 1 MeV in 0.1 T: u = 2.7827, radius 4.743 cm; electrons in 1 T at rest turn with 1.7588e11 1/s
    assert exact.momentum_of(1e6) == pytest.approx(2.7827, rel=1e-4)
    assert exact.gyration_radius(exact.momentum_of(1e6), 0.1) == pytest.approx(0.04743, rel=2e-4)
    assert exact.gyration_frequency(0.0, 1.0) == pytest.approx(1.75882e11, rel=1e-5)
    # 56.415 1/s times the root of the density in m^3
    assert exact.plasma_frequency(1e18) == pytest.approx(5.6415e10, rel=1e-4)
    np.testing.assert_allclose(exact.drift((0, 1e3, 0), (0, 0, 0.5)), (2e3, 0, 0))
    assert exact.leapfrog_frequency(1.0, 0.1) == pytest.approx(1 + 0.01 / 24, rel=1e-5)


@pytest.mark.parametrize(
    ("formula", "arguments", "line"),
    [
        ("momentum_of", (-1e6,), r"energy = -1e\+06 eV: must be 0 or more"),
        ("helix", ((0, 0, 0), (1, 0, 0), (0, 0, 0), 1e-9), "magnetic = 0 T: must not be 0"),
        ("drift", ((1, 0, 0), (0, 0, 0)), "magnetic = 0 T: must not be 0"),
        ("gyration_radius", (1.0, 0.0), "magnetic = 0 T: must not be 0"),
        ("plasma_frequency", (-1.0,), "density = -1 1/m3: must be 0 or more"),
        ("two_stream_growth", (1.0, 1.0, "dense"), "density = 'dense': must be"),
        (
            "leapfrog_frequency",
            (3.0, 1.0),
            r"frequency = 3\.0: must be a number from 0 to 2, in 1/s, above which it is unstable",
        ),
        ("mesh_share", (0.1, 0), "particles of a cell along an axis = 0: must be a whole number"),
        ("boris_phase_error", (0.0,), "turn = 0 radians: must not be 0"),
        ("slow_electrons", (1.0, 0.0, 0.0, 0.0), "there is no balance"),
    ],
)
def test_a_formula_without_a_value_is_an_error_with_the_number_that_has_none(formula, arguments, line):
    with pytest.raises(InputError, match=line):
        getattr(exact, formula)(*arguments)


def test_a_field_that_is_no_number_is_refused():
    with pytest.raises(InputError, match=r"electric field = \(0, 0, nan\): must be finite numbers of the shape \(3,\)"):
        propagated((1, 0, 0), (0, 0, np.nan), (0, 0, 1), 1.0)


def test_the_helix_of_theory_is_the_one_in_units_of_steps():
    u, magnetic, dt = np.array([[0.3, -2.0, 1.0]]), np.array([0.02, -0.05, 0.03]), 1e-11
    position, momentum = exact.helix([[1.0, 2.0, 3.0]], u, magnetic, dt)
    turn = CHARGE * magnetic * dt / MASS
    np.testing.assert_allclose(momentum[0], turned(u[0], turn, 1), rtol=1e-13)
    np.testing.assert_allclose(position[0] - (1, 2, 3), displaced(u[0], turn, (LIGHT * dt,) * 3, 1), atol=1e-14)


def test_two_streams_grow_fastest_at_half_the_frequency_of_one():
    density, momentum = 1e16, 1e-3
    one = exact.plasma_frequency(density / 2)
    numbers = np.linspace(0.01, 2, 400) * one / (LIGHT * momentum)
    rates = np.array([exact.two_stream_growth(k, momentum, density) for k in numbers])
    assert rates.max() == pytest.approx(one / 2, rel=1e-4)
    assert numbers[rates.argmax()] * LIGHT * momentum / one == pytest.approx(np.sqrt(3) / 2, rel=0.01)
    assert rates[numbers * LIGHT * momentum > 1.001 * np.sqrt(2) * one].max() == 0
    # each rate solves the dispersion relation
    for k, rate in zip(numbers[:200:20], rates[:200:20], strict=True):
        v = k * LIGHT * momentum / np.sqrt(1 + momentum**2)
        assert sum((one / (1j * rate - s * v)) ** 2 for s in (1, -1)) == pytest.approx(1, rel=1e-5)
