"""Sums over neighbours against the printed equations, summed over all pairs."""

import numpy as np
import pytest
from helpers import sph_by_hand

from repro.parallel import select
from repro.particles.position import Units
from repro.sph.exact import rest_condensation
from repro.sph.simulation import Simulation


def places(species, system):
    whole = species.r.reshape(3, -1).T.copy()
    return Units(np.float64).coordinates(whole, system.box) - system.margin


def vectors_of(array):
    return array.reshape(3, -1).T


def beyond_walls(position, tank):
    return (position < 0) | (position > tank)


@pytest.fixture(scope="module")
def summed(shaken_water):
    return Simulation(shaken_water, select("serial"), density="summation", precision="double")


@pytest.fixture(scope="module")
def moved(shaken_water):
    return Simulation(shaken_water, select("serial"), density="continuity", precision="double")


def used_air(simulation):
    return places(simulation.air, simulation.system)[simulation.air.kind == 8]


def test_density_by_summation_is_equation_3_over_fluid_walls_and_air(summed):
    system = summed.system
    summed.start()
    ghosts = np.concatenate([places(summed.walls, system), used_air(summed)])
    expected = sph_by_hand.density(system.position, ghosts, system)
    np.testing.assert_allclose(system.fluid.density * (1 + summed.particles()["condensation"]), expected, rtol=1e-8)


def test_air_ghosts_keep_the_gap_from_the_fluid_and_lie_within_the_support(summed):
    summed.start()
    system = summed.system
    air = places(summed.air, system)
    nearest = np.linalg.norm(air[:, None] - system.position, axis=-1).min(1)
    gap, support = 0.85 * system.resolution.spacing, system.resolution.support
    np.testing.assert_array_equal(summed.air.kind == 8, (nearest >= gap) & (nearest < support))


def test_density_by_continuity_is_equation_4_at_the_middle_of_a_step(moved):
    system, state = moved.system, moved.state
    moved.start()
    before = moved.particles()["condensation"]
    velocity = vectors_of(state.v).copy()[np.argsort(state.ids)]
    place = moved.particles()["position"]
    moved._density()
    walls = places(moved.walls, system)
    # the pairs are taken half a step back, where the fluid was
    was = place - velocity * system.dt / 2
    expected = sph_by_hand.density_rate(was, velocity, walls, system) / system.fluid.density
    found = moved.particles()["condensation"] - before
    # who has come into the support within the half step adds next to nothing
    np.testing.assert_allclose(found, system.dt * expected, atol=1e-5 * abs(found).max())


@pytest.mark.parametrize("name", ["summed", "moved"])
def test_acceleration_is_equation_6_with_artificial_viscosity_and_gravity(request, name):
    simulation = request.getfixturevalue(name)
    system, walls, air = simulation.system, simulation.walls, simulation.air
    if name == "moved":
        # sampled on demand
        simulation.summed_condensation()
    for launch in simulation._force_parts(simulation._first_density).values():
        launch()
    found, order = simulation.particles(), np.argsort(simulation.state.ids)
    # air pushes only where it counts in the density
    chosen = simulation.air.kind == (8 if name == "summed" else -1)
    expected = sph_by_hand.acceleration(
        found["position"],
        vectors_of(simulation.state.u)[order],
        system.fluid.density * (1 + found["condensation"]),
        system,
        walls=places(walls, system),
        wall_velocity=vectors_of(walls.u),
        air=places(air, system)[chosen],
        air_velocity=vectors_of(air.u)[chosen],
    )
    np.testing.assert_allclose(found["acceleration"], expected, atol=1e-7 * abs(expected).max())


def test_ghosts_in_walls_have_the_fluids_mean_velocity_along_the_wall_and_none_across(moved):
    system, walls, state = moved.system, moved.walls, moved.state
    moved.start()
    for launch in moved._after.values():
        launch()
    there = places(walls, system)
    fluid = Units(np.float64).coordinates(vectors_of(state.r).copy(), system.box) - system.margin
    _, w, _ = sph_by_hand.pairs(there, fluid, system)
    near = w.sum(1) > 1e-6 * w.max()
    w = w[near] / w[near].sum(1, keepdims=True)
    mean = w @ vectors_of(state.u) * ~beyond_walls(there[near], system.tank)
    np.testing.assert_allclose(vectors_of(walls.u)[near], mean, atol=1e-8)


def test_water_at_rest_begins_with_the_pressure_of_its_depth(moved):
    system = moved.system
    fresh = Simulation(system, select("serial"), precision="double")
    np.testing.assert_array_equal(fresh.particles()["condensation"], rest_condensation(system.depths, system.fluid))
