"""The experiment of still water without compiled code: errors, means over looks, and what is said of them."""

import numpy as np
import pandas as pd
import pytest

from repro.papers.sph.still_water import runs
from repro.sph.cases import StillWater
from repro.sph.exact import rest_pressure
from repro.sph.observables import Profile

CASE = StillWater(column=(4, 4, 10), spacing=0.05, air=2, ratio=1.5)


def made(factor=1.0, drift=0.01, beyond=-0.4, energy=0.99, later=1.0) -> runs.Run:
    """Water whose pressure is `factor` times theory's, and whose drift grows `later` times in the second half."""
    system = CASE.system()
    height = (np.arange(10) + 0.5) * CASE.spacing
    profile = Profile(height, np.full(10, 16), factor * rest_pressure(system.depth - height, system.fluid))
    table = pd.DataFrame({"time": [0.0, 0.5, 1.0], "speed": [0.0, 2e-3, 1e-3], "drift": [0.0, drift / later, drift]})
    table = table.assign(worst=2 * table["drift"], energy=[1.0, energy, energy], settled=0.001, beyond=beyond)
    return runs.Run(CASE, system, table, profile)


def test_the_error_is_that_of_the_pressure_below_two_smoothing_lengths():
    run = made(1.013)
    assert run.error == pytest.approx(0.013)
    # two smoothing lengths are three spacings: of ten layers the upper three are not judged
    assert np.isfinite(run.errors).sum() == 7


def test_layers_are_averaged_with_the_weight_of_their_particles():
    system = CASE.system()
    one = Profile(np.array([0.02, 0.07]), np.array([1, 2]), np.array([100.0, 50.0]))
    other = Profile(np.array([0.03]), np.array([3]), np.array([200.0]))
    found = runs._mean([one, other], system)
    np.testing.assert_array_equal(found.count, [4, 2])
    np.testing.assert_allclose(found.pressure, [(100 + 3 * 200) / 4, 50])
    np.testing.assert_allclose(found.height, [(0.02 + 3 * 0.03) / 4, 0.07])


def test_errors_that_do_not_fall_are_told():
    table = pd.DataFrame({"ratio": [1.3] * 3 + [1.5] * 3, "spacing": [0.1, 0.05, 0.02] * 2})
    assert runs.errors_fall(table.assign(error=[0.05, 0.02, 0.01, 0.05, 0.04, 0.03]))
    assert not runs.errors_fall(table.assign(error=[0.05, 0.02, 0.01, 0.05, 0.04, 0.045]))
    assert not runs.errors_fall(table[::3].assign(error=[0.05, 0.04]))


def test_a_gain_is_the_most_that_energy_was_ever_above_its_start():
    assert made(energy=1.001).gain == pytest.approx(0.001)
    assert made(energy=0.9).gain == 0


def test_water_is_at_rest_when_it_slows_down_and_no_particle_has_gone_far():
    assert not runs.unrest(made())["holds"]
    assert runs.stays(made())["holds"]
    assert not runs.stays(made(drift=0.6))["holds"]
    assert not runs.stays(made(beyond=0.6))["holds"]
