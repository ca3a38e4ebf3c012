"""Sums over neighbours against the printed equations, summed over all pairs."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import sph_by_hand
from helpers.plain import PlainDevice
from helpers.sph_systems import shaken

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


@pytest.fixture(scope="module", params=["support 2 h, compiled", "support 3 h, plain Python"])
def water(request, shaken_water, own_kernel):
    """A system and the device for it."""
    if request.param == "support 2 h, compiled":
        return shaken_water, select("serial")
    return shaken(2, tank=(3, 3, 4), water=(2, 2, 3), kernel=own_kernel), PlainDevice()


@pytest.fixture(scope="module")
def summed(water):
    system, device = water
    system = replace(system, fluid=replace(system.fluid, xsph=0.07))
    return Simulation(system, device, density="summation", precision="double")


@pytest.fixture(scope="module")
def moved(water):
    return Simulation(*water, density="continuity", precision="double")


def used_air(simulation):
    return places(simulation.air, simulation.system)[simulation.air.kind == 8]


def test_density_by_summation_is_equation_3_over_fluid_walls_and_air(summed):
    system = summed.system
    summed.start()
    ghosts = np.concatenate([places(summed.walls, system), used_air(summed)])
    expected = sph_by_hand.density(system.position, ghosts, system)
    np.testing.assert_allclose(system.fluid.density * (1 + summed.particles()["condensation"]), expected, rtol=1e-8)


def test_density_by_continuity_is_equation_4_at_the_middle_of_a_step(moved):
    system, state = moved.system, moved.state
    moved.start()
    before = moved.particles()["condensation"]
    velocity = vectors_of(state.v).copy()[np.argsort(state.ids)]
    place = moved.particles()["position"]
    moved.parts["density"]()
    walls = places(moved.walls, system)
    # the pairs are taken half a step back, where the fluid was
    was = place - velocity * system.dt / 2
    expected = sph_by_hand.density_rate(was, velocity, walls, system) / system.fluid.density
    found = moved.particles()["condensation"] - before
    # what has come into the support within the half step adds next to nothing
    np.testing.assert_allclose(found, system.dt * expected, atol=1e-5 * abs(found).max())


def test_nothing_diffuses_before_the_first_step(moved):
    before = moved.particles()["condensation"]
    moved._find_forces()
    np.testing.assert_array_equal(moved.particles()["condensation"], before)
    moved.parts["forces"]()
    assert (moved.particles()["condensation"] != before).any()


def test_acceleration_is_equation_6_with_the_pressures_of_ghosts_where_density_is_equation_3(summed):
    system, walls, air = summed.system, summed.walls, summed.air
    summed._find_forces()
    found, order, used = summed.particles(), np.argsort(summed.state.ids), summed.air.kind == 8
    rho = system.fluid.density
    expected = sph_by_hand.acceleration_with_pressures(
        found["position"],
        vectors_of(summed.state.u)[order],
        rho * (1 + found["condensation"]),
        np.concatenate([places(walls, system), used_air(summed)]),
        np.concatenate([vectors_of(walls.u), vectors_of(air.u)[used]]),
        rho * (1 + np.concatenate([walls.s, air.s[used]])),
        system,
    )
    np.testing.assert_allclose(found["acceleration"], expected, atol=1e-7 * abs(expected).max())


def test_acceleration_is_equation_6_mirrored_in_walls_where_density_is_equation_4(moved):
    system, walls = moved.system, moved.walls
    moved._find_forces()
    found, order = moved.particles(), np.argsort(moved.state.ids)
    velocity, rho = vectors_of(moved.state.u)[order], system.fluid.density * (1 + found["condensation"])
    expected = sph_by_hand.acceleration(
        found["position"], velocity, rho, places(walls, system), vectors_of(walls.u), system
    )
    np.testing.assert_allclose(found["acceleration"], expected, atol=1e-7 * abs(expected).max())


def test_both_equations_in_one_sum_are_each_at_the_places_and_velocities_of_the_moment(water):
    system, device = water
    together, apart = (Simulation(system, device, density=d, precision="double") for d in ("rate", "continuity"))
    for simulation in (together, apart):
        simulation.start()
    now = apart.particles()
    np.testing.assert_array_equal(together.particles()["acceleration"], now["acceleration"])
    apart.parts["forces"]()
    diffused = apart.particles()["condensation"] - now["condensation"]
    walls = places(together.walls, system)
    expected = sph_by_hand.density_rate(now["position"], now["velocity"], walls, system) / system.fluid.density
    found = together.state.a[3 * system.count :][np.argsort(together.state.ids)]
    np.testing.assert_allclose(found - system.dt * expected, diffused, atol=0.01 * abs(diffused).max())


def test_ghosts_in_walls_have_the_fluids_mean_velocity_along_the_wall_and_its_pressure_at_their_depth(moved):
    system, walls, state = moved.system, moved.walls, moved.state
    moved.start()
    for launch in moved._after.values():
        launch()
    there = places(walls, system)
    fluid = Units(np.float64).coordinates(vectors_of(state.r).copy(), system.box) - system.margin
    apart, w, _ = sph_by_hand.pairs(there, fluid, system)
    near = w.sum(1) > 1e-6 * w.max()
    w = w[near] / w[near].sum(1, keepdims=True)
    mean = w @ vectors_of(state.u) * ~beyond_walls(there[near], system.tank)
    np.testing.assert_allclose(vectors_of(walls.u)[near], mean, atol=1e-8)
    deeper = -system.fluid.gravity / system.fluid.sound_speed**2 * apart[near][..., 2]
    np.testing.assert_allclose(walls.s[near], (w * (state.s + deeper)).sum(1), atol=1e-10)


def test_water_at_rest_begins_with_the_pressure_of_its_depth(moved):
    system = moved.system
    fresh = Simulation(system, select("serial"), precision="double")
    np.testing.assert_array_equal(fresh.particles()["condensation"], rest_condensation(system.depths, system.fluid))
