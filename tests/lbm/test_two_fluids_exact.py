"""Exact solutions satisfy the equations that they solve."""

import numpy as np
import pytest
from helpers import two_fluids_reference as reference
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids import exact
from repro.lbm.two_fluids.forces import STENCILS
from repro.lbm.two_fluids.model import TwoFluids

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
    assert not np.allclose(exact.layered_velocity_as_printed(y, inner, 1.0, unequal, viscosities), right, atol=0)


@pytest.mark.parametrize(("wetting", "angle"), [((0, 0), 90), ((0.05, 0), 120), ((0, 0.05), 60), ((0.2, -0.2), 180)])
def test_contact_angles_of_known_wetting(wetting, angle):
    assert exact.contact_angle(wetting, 0.2, 1.0) == pytest.approx(angle)
    # the cosine goes with the solid's density and against the difference of the phases
    assert exact.contact_angle(wetting, 0.2, 0.7, 0.7) == pytest.approx(angle)


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


@pytest.mark.parametrize(("g", "density"), [(0.13, 1.0), (0.2, 1.02), (0.27, 1.0)])
def test_an_interface_at_rest_stays_as_it_is(g, density):
    nodes, a = exact.lattice_interface(g, density)
    assert a[0] + a[-1] == pytest.approx(density)
    # the interface and its mirror image, in a periodic row
    row = np.concatenate([a[::-1], a])[None, None]
    problem = TwoFluids(PoreSpace(np.zeros(row.shape, bool)), g)
    after, _, velocity = reference.run(problem, row, np.concatenate([a, a[::-1]])[None, None], 100)
    # populations start without the part that a flow's gradients leave, which makes a little sound
    np.testing.assert_allclose(after, row, rtol=0, atol=2.5e-3)
    assert np.abs(velocity).max() < 2e-3
    assert len(nodes) == len(a)
    assert nodes[0] == -nodes[-1]


def test_phases_on_the_lattice_are_those_of_the_continuum_where_the_interface_is_wide():
    wide, narrow = 0.12, 0.2
    differences = [
        abs(exact.lattice_coexistence(g, density=1.0)[1] / exact.coexistence(g, density=1.0)[1] - 1)
        for g in (wide, narrow)
    ]
    assert differences[0] < 0.01 < 0.1 < differences[1]


@pytest.mark.parametrize(("g", "reason"), [(0.1, "the fluids mix"), (0.3, "one fluid vanishes from the other's phase")])
def test_interfaces_that_cannot_rest_are_refused(g, reason):
    with pytest.raises(InputError, match=reason):
        exact.lattice_interface(g, 1.0)


def test_the_tension_of_a_sharp_interface_is_that_of_its_bonds():
    a = np.repeat([1.0, 0.0], 8)
    # two interfaces; a pair of nodes along x has the weight 1/6, two along xz 1/12 each, and those along xy cancel
    assert exact.surface_tension(a, 1 - a, 0.2, "isotropic-4") == pytest.approx(2 * 6 * 0.2 * (1 / 6 + 2 / 12))
    assert exact.surface_tension(a, 1 - a, 0.2, "central") == pytest.approx(2 * 6 * 0.2 * 1 / 2)
    assert exact.surface_tension(np.full(9, 0.3), np.full(9, 0.7), 0.2, "isotropic-8") == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("density", [0.9958, 1.0, 1.0000162625])
def test_phases_at_rest_part_more_with_the_interaction_and_an_interface_only_falls(density):
    """Waves balance as well, and are no interface: the search must not end there."""
    minorities = []
    for g in (0.12, 0.125, 0.13, 0.145, 0.151125, 0.16, 0.2):
        _, a = exact.lattice_interface(g, density)
        assert (np.diff(a) < 1e-9).all()
        minorities.append(a[-1])
    assert (np.diff(minorities) < 0).all()


@pytest.mark.parametrize("stencil", ["central", "isotropic-4", "isotropic-8"])
def test_the_tension_of_any_profile_is_the_sum_over_the_neighbours_of_each_node(stencil):
    a, b = np.random.default_rng(6).uniform(0.1, 1, (2, 11))
    expected = 0.0
    for ex, ey, ez in np.ndindex(5, 5, 5):
        ex, ey, ez = ex - 2, ey - 2, ez - 2
        # g/2 of each of two fluids' pairs, along x less along y
        weight = 6 * 0.17 / 2 * STENCILS[stencil].get(ex**2 + ey**2 + ez**2, 0)
        expected += weight * (ex**2 - ey**2) * (a * np.roll(b, -ex) + b * np.roll(a, -ex)).sum()
    assert exact.surface_tension(a, b, 0.17, stencil) == pytest.approx(expected)


@pytest.mark.parametrize("g", [0.13, 0.2])
def test_an_interface_at_rest_balances_what_streams_in(g):
    nodes, a = exact.lattice_interface(g, 0.95 / g * 0.2)
    other = a[::-1]
    force = -3 * g * a[1:-1] * (other[2:] - other[:-2])
    np.testing.assert_allclose(np.diff(a[1:-1]), 1.5 * (force[1:] + force[:-1]), atol=1e-9)
    assert np.diff(nodes) == pytest.approx(1)
