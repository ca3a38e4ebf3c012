"""Walls and obstacles: what they must do to fluid that comes, slips, falls, rests or swings between them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.parallel import select
from repro.particles.position import Units
from repro.sph.cases import StillWater
from repro.sph.fluid import Fluid, Resolution
from repro.sph.kernels import KERNELS
from repro.sph.observables import energy
from repro.sph.simulation import Simulation
from repro.sph.solid_boundary import kernel_corrected, make_wall_proximity
from repro.sph.system import System

#: nothing but pressure acts
WEIGHTLESS = Fluid(gravity=0.0, viscosity=0.0, diffusion=0.0)


@pytest.fixture(scope="module")
def one_core():
    return select("serial")


@pytest.mark.parametrize("ratio", [1.2, 1.3, 1.7, 2.0])
def test_fluid_that_dilates_uniformly_against_walls_has_one_rate_up_to_edges_and_corners(one_core, ratio):
    rate, system = 1.0, StillWater(column=(8, 8, 8), fluid=WEIGHTLESS, ratio=ratio).system()
    system = replace(system, velocity=rate * system.position)
    simulation = Simulation(system, one_core)
    simulation.start()
    simulation.parts["density"]()
    found = simulation.particles()["condensation"].reshape(8, 8, 8) / (-3 * rate * system.dt)
    # as far from the block's free faces as neighbours reach
    found = found[:4, :4, :4]
    # a ghost mirrors the particle that looks at it: layers take from each other, and their sum is exact
    assert found.mean() == pytest.approx(1, rel=1e-4)
    # where ghosts stand still, a face has a twelfth too little and a corner a quarter
    np.testing.assert_allclose(found, 1, atol=0.04 if ratio < 1.5 else 0.16)
    assert found[0, 2, 2] == pytest.approx(1, abs=0.01 if ratio < 1.5 else 0.06)


@pytest.mark.parametrize("ratio", [1.2, 1.3, 1.7, 2.0])
def test_water_at_rest_on_the_lattice_is_in_balance_up_to_edges_and_corners(one_core, ratio):
    system = StillWater(column=(5, 5, 10), ratio=ratio).system()
    simulation = Simulation(system, one_core)
    simulation.start()
    deep = system.depths > system.resolution.support
    # the weight of a support of water compresses it by a ten thousandth
    assert np.abs(simulation.particles()["acceleration"][deep]).max() < 1e-3 * system.fluid.gravity


@pytest.mark.parametrize("kernel", [*KERNELS, None])
def test_with_every_kernel_water_at_rest_is_in_balance(kernel, own_kernel):
    system = StillWater(column=(2, 2, 6), air=1, kernel=kernel or own_kernel).system()
    simulation = Simulation(system, PlainDevice())
    simulation.start()
    deep = system.depths > system.resolution.support
    assert np.abs(simulation.particles()["acceleration"][deep]).max() < 1e-3 * system.fluid.gravity


def test_water_falls_freely_between_walls(one_core):
    # diffusion takes the pressure of water at rest for what needs no evening out, which water that falls has not
    system = StillWater(column=(4, 4, 4), air=12, fluid=Fluid(diffusion=0.0)).system()
    system = replace(system, position=system.position + np.array([0, 0, 0.1]))
    simulation = Simulation(system, one_core)
    # nothing carries it
    simulation.state.s[:] = 0
    simulation.step(50)
    found, time = simulation.particles(), 50 * system.dt
    np.testing.assert_allclose(found["velocity"], [[0, 0, -9.81 * time]] * 64, atol=1e-5 * 9.81 * time)
    assert np.abs(found["condensation"]).max() < 1e-9


def test_a_wave_swings_in_a_closed_tank_as_fast_as_sound_runs(one_core):
    n = 40
    system = StillWater(column=(n, 2, 2), air=0, fluid=WEIGHTLESS).system()
    length, c = n * 0.01, WEIGHTLESS.sound_speed
    mode = np.sin(np.pi * system.position[:, 0] / length)
    system = replace(system, velocity=0.1 * np.outer(mode, [1, 0, 0]))
    simulation = Simulation(system, one_core)
    # at first all is speed, after a quarter of the period 2 L / c none, and then it comes back with the other sign
    swings = []
    for _ in range(20):
        simulation.step(8)
        swings.append(simulation.particles()["velocity"][:, 0] @ mode / (0.1 * mode @ mode))
    time = system.dt * 8 * np.arange(1, 21)
    k = int(np.argmax(np.array(swings) < 0))
    zero = time[k - 1] + (time[k] - time[k - 1]) * swings[k - 1] / (swings[k - 1] - swings[k])
    assert 1 / (4 * zero) == pytest.approx(c / (2 * length), rel=0.01)
    assert min(swings) == pytest.approx(-1, abs=0.01)


def thrown(position, velocity, tank, **options) -> System:
    # light enough a stiffness to see the rebound in few steps
    fluid = Fluid(stiffness=20e3, gravity=0.0, viscosity=0.0)
    return System(fluid, Resolution(0.01), tank, np.array([position]), np.array([velocity]), **options)


def test_a_particle_thrown_against_a_wall_comes_back_as_fast_and_slips_along_it(one_core):
    system = thrown((0.03, 0.03, 0.03), (-1.0, 0.5, 0.0), (0.12, 0.12, 0.06))
    simulation = Simulation(system, one_core)
    simulation.step(round(0.06 / system.dt))
    np.testing.assert_allclose(simulation.particles()["velocity"][0], (1.0, 0.5, 0.0), atol=0.01)
    assert simulation.excursions().max() == 0


def test_a_particle_thrown_against_an_obstacle_comes_back_as_fast():
    # a further kind of particles: solid ones in the middle of the tank
    block = (np.stack(np.meshgrid([1, 2, 3], [2, 3, 4], [2, 3, 4]), -1).reshape(-1, 3) + 0.5) * 0.01
    system = thrown((0.065, 0.035, 0.035), (-1.0, 0.0, 0.0), (0.08, 0.07, 0.07), obstacles=block)
    simulation = Simulation(system, PlainDevice(), boundary="none")
    assert list(simulation.neighbours) == ["fluid", "walls", "obstacles"]
    nearest = 1.0
    for _ in range(round(0.035 / system.dt) // 20):
        simulation.step(20)
        nearest = min(nearest, simulation.particles()["position"][0, 0])
    np.testing.assert_allclose(simulation.particles()["velocity"][0], (1.0, 0.0, 0.0), atol=0.01)
    # the block ends at 0.04
    assert 0.04 < nearest < 0.055


def test_obstacles_are_in_balance_with_water_at_rest():
    system = StillWater(column=(3, 3, 3), air=2).system()
    block = system.position[13]
    others = np.delete(system.position, 13, axis=0)
    with_block = replace(system, position=others, velocity=np.zeros_like(others), obstacles=block[None])
    simulation = Simulation(with_block, PlainDevice())
    simulation.start()
    whole = Simulation(system, PlainDevice())
    whole.start()
    left = np.delete(whole.particles()["acceleration"], 13, axis=0)
    # it presses as the water does whose place it has
    np.testing.assert_allclose(simulation.particles()["acceleration"], left, atol=0.01 * 9.81)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("end", [0, 1])
def test_a_wall_pushes_back_what_has_sunk_into_it_however_little_pressure_it_has(axis, end):
    system = thrown((0.03, 0.03, 0.03), (0.0, 0.0, 0.0), (0.30, 0.12, 0.06))
    simulation, depth = Simulation(system, PlainDevice(), precision="double"), 0.002
    simulation.start()
    place = np.full(3, 0.03)
    place[axis] = system.tank[axis] + depth if end else -depth
    simulation.state.r[:] = Units(np.float64).of(place[None] + system.margin, system.box).ravel()
    simulation._find_forces()
    expected = np.zeros(3)
    # a spring on which a particle swings as fast as sound runs over a spacing
    expected[axis] = (1 - 2 * end) * depth * (system.fluid.sound_speed / system.resolution.spacing) ** 2
    np.testing.assert_allclose(simulation.state.a, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("distance", [0.0, 0.03, 0.06, 0.12, 0.25])
def test_the_time_step_suits_particles_however_near_a_wall_they_are(one_core, distance):
    water = StillWater(column=(5, 5, 5), fluid=WEIGHTLESS)
    position, spacing = water.system().position.copy(), water.spacing
    position[position[:, 2] < spacing, 2] = distance * spacing
    velocity = np.random.default_rng(1).normal(0, 1e-3, position.shape)
    system = replace(water.system(), position=position, velocity=velocity)
    simulation = Simulation(system, one_core)
    simulation.step(100)
    # nothing drives it: waves keep what they were given, and a wall that is too stiff multiplies it in every step
    found = simulation.particles()
    assert energy(found, system).kinetic < 1.1 * system.mass * np.square(velocity).sum() / 2


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_wall_is_as_near_as_it_was_half_a_step_before_but_no_nearer_than_a_quarter_of_a_spacing(real):
    """Two from half a spacing on, four from a quarter of one on, below and above along three axes of unequal length."""
    box, ratio, half_step = (5.0, 6.0, 7.0), 1.3, 0.02
    units = Units(real)
    p = SimpleNamespace(
        half_step=real(half_step),
        spacings=real(ratio),
        **{f"unit_{axis}": real(unit) for axis, unit in zip("xyz", units.lengths(box), strict=True)},
    )
    walls = np.array([[1.0, 1.1, 1.2], [3.0, 3.5, 4.3]])
    faces, near = tuple(units.of(walls, box).ravel()), make_wall_proximity(real)
    for away in ([0.1, 0.3, 0.9], [0.19, 0.2, 0.35], [-0.2, 0.36, 0.0]):
        for velocity in ([0.0, 0.0, 0.0], [3.0, -2.0, 1.5]):
            for end in (0, 1):
                place = walls[end] + (1 - 2 * end) * np.array(away)
                found = near(tuple(units.of(place[None], box)[0]), tuple(map(real, velocity)), faces, p)
                before = place - half_step * np.array(velocity)
                spacings = ratio * np.concatenate([before - walls[0], walls[1] - before])
                np.testing.assert_allclose(found, 1 / np.clip(spacings, 0.25, 0.5), rtol=1e-5)


def test_a_sum_stands_for_what_is_missing_beside_it_down_to_an_eighth_of_a_neighbourhood():
    p = SimpleNamespace(inverse_slope=np.float64(0.4))
    assert kernel_corrected(3.0, 0.0, p) == 3
    assert kernel_corrected(3.0, -1.5, p) == pytest.approx(3 / 0.4)
    assert kernel_corrected(3.0, -2.2, p) == pytest.approx(24) == kernel_corrected(3.0, -2.4, p)
    assert kernel_corrected(3.0, -2.15, p) == pytest.approx(3 / 0.14)
