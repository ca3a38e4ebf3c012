"""The equations as plain Python functions on NumPy arrays: nothing is compiled here."""

import inspect

import numpy as np
import pytest
from helpers.collisions import ROUNDING, collided, forces, random_populations, relaxation_times, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.lbm import plain
from repro.lbm.equilibrium import VELOCITY_SHARE, even, make_moments, odd, scratch_rows
from repro.lbm.lattice import LATTICES
from repro.lbm.layout import LAYOUTS, make_layout
from repro.parallel.unroll import each, unrolled

component = st.floats(-0.15, 0.15)
velocities = st.tuples(component, component, component)
densities = st.floats(0.5, 2.0)


@pytest.fixture(scope="module", params=LATTICES.values(), ids=LATTICES)
def lattice(request):
    return request.param


def arrays(lattice):
    """Velocities (q, dimensions) and weights (q,) of the dimensions that the lattice has."""
    return np.array(lattice.velocities, float)[:, : lattice.dimensions], np.array(lattice.weights)


def in_plane(lattice, vector):
    """The vector without the components that the lattice does not have."""
    return tuple(np.where(np.arange(3) < lattice.dimensions, vector, 0.0))


def test_weights_sum_to_one_and_are_positive(lattice):
    assert sum(lattice.weights) == pytest.approx(1, abs=1e-15)
    assert min(lattice.weights) > 0


def test_velocities_are_all_different_and_of_the_lattice_s_dimension(lattice):
    assert len(set(lattice.velocities)) == lattice.q == int(lattice.name.split("Q")[1])
    assert lattice.dimensions == int(lattice.name[1])
    assert all(velocity[lattice.dimensions :] == (0,) * (3 - lattice.dimensions) for velocity in lattice.velocities)
    assert lattice.velocities[0] == (0, 0, 0)


def test_opposite_velocities_are_neighbours_in_the_list_and_weigh_the_same(lattice):
    c, w = np.array(lattice.velocities), lattice.weights
    assert lattice.opposite[0] == 0
    for i in range(1, lattice.q, 2):
        assert lattice.opposite[i] == i + 1
        assert lattice.opposite[i + 1] == i
        np.testing.assert_array_equal(c[i], -c[i + 1])
        assert w[i] == w[i + 1]


def test_odd_moments_of_the_weights_vanish(lattice):
    c, w = arrays(lattice)
    for order in ("ia", "ia,ib,ic", "ia,ib,ic,id,ie"):
        factors = order.split(",")
        out = "".join(factor[1] for factor in factors)
        moment = np.einsum(f"i,{order}->{out}", w, *[c] * len(factors))
        np.testing.assert_allclose(moment, 0, atol=1e-16)


def test_second_moment_of_the_weights_is_isotropic(lattice):
    c, w = arrays(lattice)
    np.testing.assert_allclose(np.einsum("i,ia,ib->ab", w, c, c), np.eye(lattice.dimensions) / 3, atol=1e-16)


def test_fourth_moment_of_the_weights_is_isotropic(lattice):
    c, w = arrays(lattice)
    delta = np.eye(lattice.dimensions)
    pairs = sum(np.einsum(f"{a},{b}->abcd", delta, delta) for a, b in (("ab", "cd"), ("ac", "bd"), ("ad", "bc")))
    np.testing.assert_allclose(np.einsum("i,ia,ib,ic,id->abcd", w, c, c, c, c), pairs / 9, atol=1e-16)


def project_equilibrium(lattice, rho, u):
    """The project's equilibrium from its even and odd parts, with the weights added again."""
    speed = 1.5 * np.dot(u, u)
    f = [lattice.weights[0] + even(lattice.weights[0], rho - 1, 0.0, speed)]
    for i in range(1, lattice.q, 2):
        along = 3 * np.dot(lattice.velocities[i], u)
        symmetric, turned = even(lattice.weights[i], rho - 1, along, speed), odd(lattice.weights[i], rho - 1, along)
        f += [lattice.weights[i] + symmetric + turned, lattice.weights[i] + symmetric - turned]
    return np.array(f)


@given(rho=densities, u=velocities)
def test_moments_of_the_equilibrium_are_density_momentum_and_momentum_flux(lattice, rho, u):
    c, _ = arrays(lattice)
    f, u = project_equilibrium(lattice, rho, in_plane(lattice, u)), np.array(in_plane(lattice, u))
    u_d = u[: lattice.dimensions]
    assert f.sum() == pytest.approx(rho, abs=ROUNDING)
    np.testing.assert_allclose(f @ c, rho * u_d, atol=ROUNDING)
    flux = rho * np.outer(u_d, u_d) + rho / 3 * np.eye(lattice.dimensions)
    np.testing.assert_allclose(np.einsum("i,ia,ib->ab", f, c, c), flux, atol=ROUNDING)


@given(rho=densities, u=velocities)
def test_equilibrium_is_equation_2_8(lattice, rho, u):
    u = in_plane(lattice, u)
    expected = plain.equilibrium(lattice, rho, np.asarray(u))
    np.testing.assert_allclose(project_equilibrium(lattice, rho, u), expected, atol=ROUNDING)


@given(seed=seeds, force=forces, share=st.sampled_from([0.0, 0.5, -0.5]))
def test_density_and_velocity_are_the_moments_of_the_populations(lattice, seed, force, share):
    f, force = random_populations(lattice, seed), in_plane(lattice, force)
    scratch = np.zeros((scratch_rows(lattice), f.shape[1]))
    scratch[: lattice.q] = f - np.array(lattice.weights)[:, None]
    make_moments(lattice, np.float64, share)(scratch, f.shape[1], force)
    c = np.array(lattice.velocities, float)
    np.testing.assert_allclose(1 + scratch[lattice.q], f.sum(0), atol=ROUNDING)
    velocity = (c.T @ f + share * np.array(force)[:, None]) / f.sum(0)
    np.testing.assert_allclose(scratch[lattice.q + 1 : lattice.q + 4], velocity, atol=ROUNDING)


@settings(deadline=None)
@given(seed=seeds, tau=relaxation_times, tau_odd=relaxation_times, force=forces)
@pytest.mark.parametrize("forcing", [None, *VELOCITY_SHARE])
@pytest.mark.parametrize("collision", ["bgk", "trt"])
def test_collision_conserves_mass_and_adds_exactly_the_force_to_the_momentum(
    lattice, collision, forcing, seed, tau, tau_odd, force
):
    c, _ = arrays(lattice)
    before, force = random_populations(lattice, seed), in_plane(lattice, force)
    odd_rate = 1 / tau if collision == "bgk" else 1 / tau_odd
    after = collided(lattice, before, 1 / tau, odd_rate, force, forcing)
    np.testing.assert_allclose(after.sum(0), before.sum(0), atol=ROUNDING)
    gain = c.T @ (after - before)
    expected = np.zeros(3) if forcing is None else np.array(force)
    np.testing.assert_allclose(gain, expected[: lattice.dimensions, None] * np.ones(3), atol=ROUNDING)


@given(seed=seeds, tau=relaxation_times)
def test_collision_with_equal_rates_is_the_bgk_collision_of_the_textbooks(lattice, seed, tau):
    before = random_populations(lattice, seed)
    expected = plain.bgk_collision(lattice, before, tau)
    np.testing.assert_allclose(collided(lattice, before, 1 / tau, 1 / tau), expected, atol=ROUNDING)


@given(seed=seeds, tau=relaxation_times, tau_odd=relaxation_times)
def test_even_and_odd_parts_relax_at_rates_of_their_own(lattice, seed, tau, tau_odd):
    before = random_populations(lattice, seed, lanes=1)[:, 0]
    c, opposite = np.array(lattice.velocities, float), list(lattice.opposite)
    rho = before.sum()
    departure = before - plain.equilibrium(lattice, rho, before @ c / rho)
    even, odd = (departure + departure[opposite]) / 2, (departure - departure[opposite]) / 2
    expected = before - even / tau - odd / tau_odd
    after = collided(lattice, before[:, None], 1 / tau, 1 / tau_odd)[:, 0]
    np.testing.assert_allclose(after, expected, atol=ROUNDING)


@given(rho=densities, u=velocities, force=forces, tau=relaxation_times)
@pytest.mark.parametrize("forcing", VELOCITY_SHARE)
def test_second_moment_of_the_force_term_is_u_F_plus_F_u(lattice, forcing, rho, u, force, tau):
    """The force term is what a collision with force adds to one that sees the same velocity without force."""
    c, _ = arrays(lattice)
    u, force = np.array(in_plane(lattice, u)), np.array(in_plane(lattice, force))
    share = VELOCITY_SHARE[forcing]
    # populations whose velocity in the equilibrium is u: there the relaxation towards it does nothing but for the share
    f = plain.equilibrium(lattice, rho, u - share * force / rho)[:, None]
    relaxed = f[:, 0] - (f[:, 0] - plain.equilibrium(lattice, rho, np.asarray(u))) / tau
    term = (collided(lattice, f, 1 / tau, 1 / tau, force, forcing)[:, 0] - relaxed) / (1 - share / tau)
    expected = np.outer(u, force) + np.outer(force, u)
    d = lattice.dimensions
    # 1 - 1/(2 tau) may be as small as 1/500 and enlarges the rounding
    np.testing.assert_allclose(np.einsum("i,ia,ib->ab", term, c, c), expected[:d, :d], atol=1e3 * ROUNDING)


@settings(max_examples=20)
@given(seed=seeds, tau=relaxation_times, force=forces)
def test_collision_in_single_precision_stays_in_single_precision_and_close_to_double(lattice, seed, tau, force):
    before, force = random_populations(lattice, seed), in_plane(lattice, force)
    single = collided(lattice, before, 1 / tau, 1 / tau, force, "guo", np.float32)
    double = collided(lattice, before, 1 / tau, 1 / tau, force, "guo")
    np.testing.assert_allclose(single, double, atol=1e-6)


@settings(max_examples=20)
@given(seed=seeds, lanes=st.integers(1, 7))
def test_a_run_of_nodes_collides_as_its_nodes_alone(lattice, seed, lanes):
    before = random_populations(lattice, seed, lanes)
    together = collided(lattice, before, 0.9, 1.3, (1e-3, 2e-3, 0), "luo")
    alone = [collided(lattice, before[:, [lane]], 0.9, 1.3, (1e-3, 2e-3, 0), "luo") for lane in range(lanes)]
    np.testing.assert_array_equal(together, np.hstack(alone))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("nodes", [1, 6, 7])
def test_a_layout_gives_every_population_a_place_of_its_own(lattice, layout, nodes):
    at, stride = make_layout(lattice, layout)
    places = np.array([[at(i, node, nodes) for node in range(nodes)] for i in range(lattice.q)])
    assert sorted(places.ravel()) == list(range(lattice.q * nodes))
    np.testing.assert_array_equal(np.diff(places, axis=1), stride)
    fastest = places[0] if layout == "soa" else places[:, 0]
    np.testing.assert_array_equal(fastest, np.arange(len(fastest)))


def test_a_loop_that_is_written_out_does_what_it_says_for_each_entry():
    pairs, more = ((0, 2.0), (2, 3.0)), (0.5, 0.25)

    @unrolled
    def add(s, n):
        for k in range(n):
            for row, weight in each(pairs):
                s[row, k] += weight
                for share in each(more):
                    s[row + 1, k] -= share * weight

    s = np.zeros((4, 2))
    add(s, 2)
    np.testing.assert_array_equal(s, [[2.0] * 2, [-1.5] * 2, [3.0] * 2, [-2.25] * 2])
    text = inspect.getsource(add)
    assert (text.count("for "), text.count("share_")) == (1, 4)
