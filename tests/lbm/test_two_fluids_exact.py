"""Exact solutions satisfy the equations that they solve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm.two_fluids import exact

POSITIVE = st.floats(0.1, 10)
FORCES = st.tuples(st.floats(-2, 2), st.floats(-2, 2))


def slope(function, y, step=1e-5):
    return (function(y + step) - function(y - step)) / (2 * step)


@given(st.floats(0.1, 0.9), FORCES, st.tuples(POSITIVE, POSITIVE))
def test_layers_obey_stokes_and_join_smoothly(inner, forces, viscosities):
    def u(y):
        return exact.layered_velocity(y, inner, 1.0, forces, viscosities)

    for k, y in enumerate((inner / 2, (1 + inner) / 2)):
        bend = (u(y + 1e-3) - 2 * u(y) + u(y - 1e-3)) / 1e-6
        assert viscosities[k] * bend == pytest.approx(-forces[k], abs=1e-6)
    assert u(1.0) == pytest.approx(0, abs=1e-12)
    assert u(inner) == pytest.approx(u(inner + 1e-12), abs=1e-9)
    stresses = [viscosities[k] * slope(u, y) for k, y in enumerate((inner - 2e-5, inner + 2e-5))]
    assert stresses[0] == pytest.approx(stresses[1], abs=1e-3)
    assert slope(u, 0.0) == pytest.approx(0, abs=1e-9)


@given(st.floats(0.1, 0.9), st.floats(-2, 2), st.tuples(POSITIVE, POSITIVE))
def test_the_printed_equation_holds_for_equal_forces_only(inner, force, viscosities):
    y = np.linspace(-1, 1, 9)
    right = exact.layered_velocity(y, inner, 1.0, (force, force), viscosities)
    np.testing.assert_allclose(exact.layered_velocity_as_printed(y, inner, 1.0, (force, force), viscosities), right)
    unequal = (force, force + 1)
    right = exact.layered_velocity(y, inner, 1.0, unequal, viscosities)
    assert not np.allclose(exact.layered_velocity_as_printed(y, inner, 1.0, unequal, viscosities), right)


@pytest.mark.parametrize(("wetting", "angle"), [((0, 0), 90), ((0.05, 0), 120), ((0, 0.05), 60), ((0.2, -0.2), 180)])
def test_contact_angles_of_known_wetting(wetting, angle):
    assert exact.contact_angle(wetting, 0.2, 1.0) == pytest.approx(angle)


@given(st.floats(0.1, 0.4), st.floats(1.05, 3))
def test_phases_in_equilibrium_have_one_pressure_and_one_chemical_potential(g, over_critical):
    # the fluids part where the mixture's second derivative vanishes: rho_a = rho_b = 1/(18 g)
    pressure = over_critical / (18 * g)
    high, low = exact.coexistence(g, pressure=pressure)
    assert exact.coexistence(g, density=high + low) == pytest.approx((high, low))
    assert high > low > 0
    assert (high + low) / 3 + 6 * g * high * low == pytest.approx(pressure)
    assert np.log(high) / 3 + 6 * g * low == pytest.approx(np.log(low) / 3 + 6 * g * high)


@pytest.mark.parametrize(("g", "pressure"), [(0.0, 0.35), (0.15, 0.99 / (18 * 0.15))])
def test_fluids_that_mix_have_no_phases(g, pressure):
    with pytest.raises(InputError, match="the fluids mix"):
        exact.coexistence(g, pressure=pressure)


@pytest.mark.parametrize("given", [{}, {"density": 1.0, "pressure": 0.4}])
def test_an_equilibrium_is_given_by_one_number(given):
    with pytest.raises(InputError, match="give either"):
        exact.coexistence(0.2, **given)
