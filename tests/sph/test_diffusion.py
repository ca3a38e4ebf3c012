"""Density diffusion in equation 4, against its formula and its laws, without compiled code."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import sph_by_hand
from helpers.plain import PlainDevice
from helpers.sph_systems import shaken

from repro.particles.position import Units
from repro.sph.cases import StillWater
from repro.sph.fluid import Fluid
from repro.sph.simulation import Simulation


def diffused(system, pressure):
    """By how much the condensation of each particle, by id, changes in a step; pressure(position) in Pa."""
    simulation = Simulation(system, PlainDevice(), precision="double")
    simulation.start()
    state, order = simulation.state, np.argsort(simulation.state.ids)
    place = Units(np.float64).coordinates(state.r.reshape(3, -1).T.copy(), system.box) - system.margin
    state.s[:], state.term[:] = 0, pressure(place)
    simulation.parts["forces"]()
    return state.s[order]


def noise(place):
    """Pressures without any order, the same for the same place."""
    return 1000 * np.sin(1e4 * place.sum(1))


@pytest.fixture(scope="module")
def crowd():
    return shaken(3, tank=(3, 3, 5), water=(3, 3, 4))


@pytest.fixture(scope="module")
def changed(crowd):
    return diffused(crowd, noise)


def test_diffusion_is_its_formula_over_all_pairs_of_fluid(crowd, changed):
    fluid, h, place = crowd.fluid, crowd.resolution.smoothing_length, crowd.position
    apart, _, gradient = sph_by_hand.pairs(place, place, crowd)
    square = (apart**2).sum(-1)
    slope = (apart * gradient).sum(-1) / np.where(square > 0, square, 1)
    # what water at rest has more of at the neighbour, apart[..., 2] deeper, is no difference
    difference = noise(place)[:, None] - noise(place) + fluid.density * fluid.gravity * apart[..., 2]
    volume = crowd.mass / fluid.density / sph_by_hand.exact_gradients(crowd)
    rate = 2 * fluid.diffusion * h * fluid.sound_speed * volume * (difference * slope).sum(1)
    expected = crowd.dt * rate / (fluid.density * fluid.sound_speed**2)
    np.testing.assert_allclose(changed, expected, atol=1e-9 * abs(expected).max())


def test_diffusion_keeps_the_sum_of_condensations(changed):
    assert abs(changed.sum()) < 1e-13 * np.abs(changed).sum()


def test_diffusion_without_gravity_takes_compression_energy(crowd):
    # the derivative of the internal energy by s is the pressure term
    weightless = replace(crowd, fluid=Fluid(gravity=0.0))
    assert (diffused(weightless, noise) * noise(crowd.position)).sum() < 0


def test_water_at_rest_does_not_diffuse(crowd):
    weight = crowd.fluid.density * crowd.fluid.gravity
    found = diffused(crowd, lambda place: 1000 - weight * place[:, 2])
    without = diffused(replace(crowd, fluid=Fluid(gravity=0.0)), lambda place: 1000 - weight * place[:, 2])
    assert np.abs(found).max() < 1e-6 * np.abs(without).max()


def test_a_chequerboard_decays_at_the_rate_of_the_lattice():
    # whole neighbourhoods of the particle in the middle: 2.6 spacings
    system = StillWater((5, 5, 5), air=1, fluid=Fluid(gravity=0.0)).system()
    index = np.rint(system.position / 0.01 - 0.5).astype(int) - 2
    sign = 1 - 2 * (index.sum(1) % 2)
    found = diffused(system, lambda p: 100.0 * (1 - 2 * (np.rint(p / 0.01 - 0.5).astype(int).sum(1) % 2)))
    middle, q = (index == 0).all(1), np.linalg.norm(index, axis=1) / 1.3
    # Wendland's w'/q, over the sum with which a parabola has its second derivative
    f = -5 * np.maximum(1 - q / 2, 0) ** 3
    per_second = (
        2 * 0.1 * system.fluid.sound_speed / 0.013 * (f * (1 - sign)).sum() / (f * (index[:, 0] / 1.3) ** 2).sum()
    )
    s = 100 / (1000 * system.fluid.sound_speed**2)
    assert found[middle][0] == pytest.approx(sign[middle][0] * -per_second * system.dt * s, rel=1e-6)


def test_without_diffusion_nothing_but_the_paper_s_equation_4_changes_condensations(crowd):
    np.testing.assert_array_equal(diffused(replace(crowd, fluid=Fluid(diffusion=0.0)), noise), 0)
