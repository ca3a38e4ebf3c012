"""The experiment of still water without compiled code: errors, means over looks, and what is said of them."""

import numpy as np
import pandas as pd
import pytest

from repro.papers.sph.boundaries import NAMES
from repro.papers.sph.still_water import runs, text
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


def test_errors_beyond_the_limit_are_told():
    assert ", within 2 %" in text.boundary_text({"with ghosts": made(1.013)})
    assert "**not within** 2 %" in text.boundary_text({"with ghosts": made(0.97)})


def test_errors_that_do_not_fall_are_told():
    table = pd.DataFrame({"ratio": [1.3] * 3 + [1.5] * 3, "spacing": [0.1, 0.05, 0.02] * 2})
    found = text.convergence_text(table.assign(error=[0.05, 0.02, 0.01, 0.05, 0.04, 0.045]), 0.5)
    assert found.startswith("After 0.5 s: With")
    assert "$h$ = 1.3 spacings the error is 5 %, 2 %, 1 %: it falls" in found
    assert "it **does not fall**" in found


def test_the_verdict_follows_from_the_numbers():
    names = list(NAMES.values())
    good = text.verdict(dict(zip(names, (made(1.01), made(2.0, 0.1), made(1.5, 0.05)), strict=True)))
    assert "**not as it should be**" not in good
    assert "the error of the pressure is 100 times and the drift 10 times" in good
    bad = text.verdict(dict(zip(names, (made(1.1, 3.0, 0.7, 1.001, 2.0), made(2.0), made(1.5)), strict=True)))
    assert "With ghosts, as it should be: nothing." in bad
    assert "the energy, no more than 0.001 % above its start (0.1 %)" in bad
    # a current that nothing drives: the speed falls, and the drift goes on
    assert "rest (from 0.5 s to 1 s the speed goes from 2 to 1 mm/s, and the drift from 1.5 to 3 spacings)" in bad
