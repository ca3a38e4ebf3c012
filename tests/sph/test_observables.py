"""Theory and observables, against each other and against integrals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy.integrate import quad

from repro.sph.cases import DamBreak, StillWater
from repro.sph.equations import GAMMA
from repro.sph.exact import pressure, rest_condensation, rest_pressure, ritter_front
from repro.sph.fluid import Fluid
from repro.sph.observables import (
    advance,
    beyond_walls,
    density_deficit,
    energy,
    front,
    pressure_profile,
    reduced_time,
    wall_unevenness,
)


def at_rest(system):
    s = rest_condensation(system.depth - system.position[:, 2], system.fluid)
    return {"position": system.position, "velocity": system.velocity, "condensation": s}


@given(depth=some.floats(1e-3, 100))
def test_pressure_at_rest_carries_the_weight_above(depth):
    fluid, step = Fluid(), 1e-3 * depth
    # dp/dz = rho g, by a central difference
    slope = (rest_pressure(depth + step, fluid) - rest_pressure(depth - step, fluid)) / (2 * step)
    density = fluid.density * (1 + rest_condensation(depth, fluid))
    assert slope == pytest.approx(density * fluid.gravity, rel=1e-5)


def test_there_is_no_pressure_above_the_surface():
    assert rest_pressure(-1.0, Fluid()) == 0


def test_ritters_front_has_slope_two_in_martin_and_moyces_units():
    # t* = t sqrt(2 g / a) and Z = z / a for a column twice as high as wide
    a, g = 0.146, 9.81
    assert ritter_front(3 / np.sqrt(2 * g / a), 2 * a, g) / a == pytest.approx(2 * 3)


@given(s=some.floats(-0.05, 0.05))
def test_the_internal_energy_is_the_work_of_the_pressure(s):
    system = StillWater(column=(1, 1, 1), air=2).system()
    fluid = system.fluid
    particle = at_rest(system) | {"condensation": np.array([s])}
    # per mass p / rho^2 d rho, with rho = rho0 (1 + s)
    work, _ = quad(lambda x: pressure(x, fluid) / (fluid.density * (1 + x) ** 2), 0, s)
    assert energy(particle, system).internal == pytest.approx(system.mass * work, rel=1e-8, abs=1e-12)


def test_kinetic_and_potential_energy_are_those_of_the_whole_mass():
    system = DamBreak(column=(4, 2, 8)).system()
    found = energy(at_rest(system) | {"velocity": np.full((64, 3), 2.0)}, system)
    mass = 64 * system.mass
    assert found.kinetic == pytest.approx(mass * 12 / 2)
    assert found.potential == pytest.approx(mass * 9.81 * 0.146)
    assert found.total == found.kinetic + found.potential + found.internal


def test_the_front_begins_at_the_columns_width():
    system = DamBreak(column=(4, 2, 8)).system()
    assert front(at_rest(system), system) == pytest.approx(0.146)


def test_the_pressure_profile_of_water_at_rest_is_the_theorys():
    system = StillWater(column=(3, 4, 6)).system()
    profile = pressure_profile(at_rest(system), system)
    np.testing.assert_allclose(profile.height, (np.arange(6) + 0.5) * 0.01)
    np.testing.assert_array_equal(profile.count, 12)
    np.testing.assert_allclose(profile.pressure, rest_pressure(0.06 - profile.height, system.fluid))


def test_the_density_deficit_is_counted_where_it_is():
    system = StillWater(column=(9, 9, 9)).system()
    particles = at_rest(system)
    surface = system.position[:, 2] > 0.08
    index = np.floor(system.position / 0.01).astype(int)
    middle = (index[:, :2] == 4).all(1) & (index[:, 2] == 4)
    summed = np.where(surface, -0.3, np.where(middle, 0.2, -0.1))
    near_walls, near_surface, inside = density_deficit(summed, particles, system, surface)
    assert near_surface == pytest.approx(0.3)
    assert near_walls == pytest.approx(0.1)
    # what is too dense lacks nothing
    assert inside < 0.1


def test_an_even_front_has_its_slope_and_its_arrival():
    t = np.linspace(0, 4, 41)
    found = advance(t, 1 + 0.8 * t)
    assert found.slope == pytest.approx(0.8)
    assert found.arrival == pytest.approx(2 / 0.8)


def test_a_front_that_has_not_come_far_has_no_slope_and_no_arrival():
    assert np.isnan(advance(np.arange(3.0), np.array([1.0, 1.2, 1.9]))).all()


def test_times_are_reduced_by_the_columns_width_and_gravity():
    # in t* = 1 a body falls freely by a / 4
    time = np.sqrt(2 * (0.146 / 4) / 9.81)
    assert reduced_time(time, 0.146, 9.81) == pytest.approx(1)


def test_particles_beyond_walls_are_told_by_how_far():
    system = StillWater(column=(4, 4, 4), air=4).system()
    position = system.position.copy()
    position[5], position[9] = (-0.004, 0.02, 0.02), (0.02, 0.047, 0.02)
    found = beyond_walls({"position": position}, system)
    assert found[5] == pytest.approx(0.4)
    assert found[9] == pytest.approx(0.7)
    np.testing.assert_array_less(np.delete(found, (5, 9)), 0)


def test_a_lattice_lies_evenly_along_the_walls_and_a_shaken_one_does_not():
    system = StillWater(column=(6, 6, 6), air=4).system()
    assert wall_unevenness({"position": system.position}, system) == pytest.approx(0, abs=1e-12)
    shaken = system.position + np.random.default_rng(1).uniform(-0.002, 0.002, system.position.shape)
    # the standard deviation of an even distribution over 0.4 spacings, around half a spacing
    assert wall_unevenness({"position": shaken}, system) == pytest.approx(0.4 / np.sqrt(12), rel=0.1)


def test_a_front_is_fitted_while_it_runs_and_arrives_between_two_times():
    # slow up to Z = 2, then at 0.7, and stopped by a wall at 3.6
    t = np.array([0.0, 2, 3, 4, 5, 6, 7, 8])
    z = np.array([1.0, 1.8, 2.05, 2.75, 3.45, 3.6, 3.6, 3.6])
    found = advance(t, z)
    assert found.slope == pytest.approx(0.7)
    assert found.arrival == pytest.approx(4 + 0.25 / 0.7)
    # and one that ends before Z = 4, or begins beyond Z = 2
    assert advance(t[2:5], z[2:5]).arrival == pytest.approx(found.arrival)
    assert np.isnan(advance(t[:4], z[:4]).arrival)


def test_the_unevenness_of_a_wall_is_that_of_the_nearest_particle_over_each_of_its_squares():
    system = StillWater(column=(4, 3, 2), air=3).system()
    chance = np.random.default_rng(4)
    position = chance.uniform(0, 1, (90, 3)) * system.tank
    # on the far walls there is no further square
    position[:3] = np.array(system.tank) * (1 - np.eye(3) * 0.3)
    found, counts = [], (4, 3, 5)
    for axis in range(3):
        one, other = (k for k in range(3) if k != axis)
        for place in (position[:, axis], system.tank[axis] - position[:, axis]):
            for i, j in np.ndindex(counts[one], counts[other]):
                first, second = (np.minimum(position[:, k] // 0.01, counts[k] - 1) for k in (one, other))
                here = place[(first == i) & (second == j)]
                found += [here.min()] if len(here) and here.min() < 0.01 else []
    expected = np.sqrt(np.mean((np.array(found) / 0.01 - 0.5) ** 2))
    assert wall_unevenness({"position": position}, system) == pytest.approx(expected)


def test_particles_that_lie_on_a_wall_are_uneven_by_half_a_spacing_though_they_lie_alike():
    system = StillWater(column=(5, 5, 5), air=0).system()
    pressed = (system.position - 0.025) * 1.25 + 0.025
    assert wall_unevenness({"position": pressed}, system) == pytest.approx(0.5)


def test_energies_and_pressures_are_those_of_the_fluid_that_is_given():
    fluid = Fluid(density=880.0, stiffness=1.3e6, gravity=8.2)
    system = StillWater(column=(2, 3, 4), fluid=fluid).system()
    mass, s, c2 = system.mass, 0.003, 7 * 1.3e6 / 880
    state = at_rest(system) | {"condensation": np.full(24, s), "velocity": np.tile([0.5, -1.0, 2.0], (24, 1))}
    found = energy(state, system)
    assert found.kinetic == pytest.approx(24 * mass * 5.25 / 2)
    assert found.potential == pytest.approx(24 * mass * 8.2 * 0.02)
    # as of a spring to the lowest order in s, and what the next one adds
    assert found.internal == pytest.approx(24 * mass * c2 * s**2 / 2 * (1 + (GAMMA - 5) * s / 3), rel=1e-4)
    assert pressure_profile(state, system).pressure == pytest.approx(1.3e6 * ((1 + s) ** 7 - 1))
    assert rest_pressure(1e-3, fluid) == pytest.approx(880 * 8.2 * 1e-3, rel=1e-4)


def test_two_points_of_a_front_that_runs_are_a_slope_and_one_is_none():
    """Those at Z = 2 and 3.5 run, the ends of what is fitted; before and after them the front has another speed."""
    time, reached = np.array([0.0, 1.0, 3.0, 4.0]), np.array([1.9, 2.0, 3.5, 3.6])
    assert advance(time, reached) == pytest.approx((0.75, 1 + 2 / 1.5))
    assert np.isnan(advance(time[:2], reached[:2]).slope)


def test_deficits_are_root_mean_squares_of_what_is_missing_by_place():
    """Near one of six walls, unless a particle sees the air; scattered in a tank with sides of all lengths."""
    system, chance = StillWater(column=(9, 11, 13), air=4).system(), np.random.default_rng(6)
    position = chance.uniform(0, 1, (400, 3)) * system.tank
    summed, surface = chance.normal(0, 0.1, 400), chance.uniform(0, 1, 400) < 0.3
    # the support is 2.6 spacings of 0.01 m
    beside = ((position < 0.026) | (position > np.array(system.tank) - 0.026)).any(1)
    expected = []
    for chosen in (beside & ~surface, surface, ~beside & ~surface):
        lacks = [max(-s, 0) for s in summed[chosen]]
        expected.append(np.sqrt(sum(x * x for x in lacks) / len(lacks)))
    assert density_deficit(summed, {"position": position}, system, surface) == pytest.approx(expected)
    nowhere = density_deficit(summed, {"position": position}, system, np.ones(400, bool))
    assert nowhere == (0, pytest.approx(np.sqrt(np.mean(np.minimum(summed, 0) ** 2))), 0)


def test_a_front_is_half_a_spacing_before_the_foremost_particle_and_walls_are_told_by_axis():
    system = StillWater(column=(4, 5, 6), air=4).system()
    position = np.array([[0.01, 0.049, 0.02], [0.033, 0.01, 0.105], [0.02, 0.053, -0.001]])
    assert front({"position": position}, system) == pytest.approx(0.033 + 0.005)
    np.testing.assert_allclose(beyond_walls({"position": position}, system), [-0.1, 0.5, 0.3], atol=1e-9)


def test_layers_are_means_over_their_particles_with_what_lies_below_the_bottom_in_the_lowest():
    system = StillWater(column=(4, 4, 6), air=4).system()
    z, s = np.array([0.004, -0.013, 0.013, 0.031, 0.039]), np.array([1e-4, 3e-4, 2e-4, 5e-5, 1e-5])
    position = np.stack([z * 0 + 0.01, z * 0 + 0.02, z], 1)
    found = pressure_profile({"position": position, "condensation": s}, system)
    p = 1119e3 * ((1 + s) ** 7 - 1)
    np.testing.assert_array_equal(found.count, [2, 1, 2])
    np.testing.assert_allclose(found.height, [-0.0045, 0.013, 0.035])
    np.testing.assert_allclose(found.pressure, [p[:2].mean(), p[2], p[3:].mean()], rtol=1e-6)
