"""On one core each pair can be met once, and both of its particles take what it adds; all runs as plain Python."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.plain import PlainCore, PlainDevice
from helpers.sph_systems import shaken

from repro.errors import InputError
from repro.sph.fluid import Fluid
from repro.sph.simulation import DENSITIES, Simulation
from repro.sph.strategies import PAIRS_ONCE
from repro.sph.system import System, Walls

WATER = shaken(3, tank=(4, 3, 4), water=(2, 2, 3))


def after(system, strategy, **options):
    simulation = Simulation(system, PlainCore(), strategy=strategy, **options)
    simulation.step(2)
    return simulation.particles()


@pytest.mark.parametrize("density", DENSITIES)
def test_sums_over_pairs_met_once_are_those_over_pairs_met_from_both_sides(density):
    # with fewer layers of ghosts, of which plain Python would make a long test
    system = replace(WATER, walls=Walls(layers=1))
    expected = after(system, "linked list", density=density)
    for strategy in PAIRS_ONCE:
        found = after(system, strategy, density=density)
        for what, values in expected.items():
            np.testing.assert_allclose(found[what], values, rtol=0, atol=2e-6 * np.abs(values).max(), err_msg=what)


@pytest.mark.parametrize("strategy", PAIRS_ONCE)
def test_what_one_particle_of_a_pair_takes_the_other_one_gives(strategy):
    system = replace(WATER, fluid=replace(WATER.fluid, gravity=0.0))
    pushed = after(system, strategy, boundary="none")["acceleration"]
    assert np.abs(pushed).max() > 100
    np.testing.assert_allclose(pushed.sum(0), 0, atol=1e-6 * np.abs(pushed).sum())


@pytest.mark.parametrize("strategy", PAIRS_ONCE)
def test_a_second_step_begins_with_empty_sums(strategy):
    simulation = Simulation(WATER, PlainCore(), strategy=strategy, boundary="none")
    simulation.step(1)
    assert not simulation._bind._reactions.any()


def test_a_particle_alone_has_the_density_of_its_own_kernel():
    place = np.array([[0.05, 0.04, 0.03]])
    system = System(Fluid(), WATER.resolution, (0.1,) * 3, place, np.zeros((1, 3)))
    options = {"density": "summation", "boundary": "none"}
    alone, *others = (after(system, s, **options)["condensation"][0] for s in ("linked list", *PAIRS_ONCE))
    assert -1 < alone < -0.5
    assert others == [alone] * len(PAIRS_ONCE)


@pytest.mark.parametrize("strategy", PAIRS_ONCE)
def test_more_than_one_core_is_refused(strategy):
    with pytest.raises(InputError, match=f"'{strategy}' meets each pair once, on one core: not on plain"):
        Simulation(WATER, PlainDevice(), strategy=strategy)
