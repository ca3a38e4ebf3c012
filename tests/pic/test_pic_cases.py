"""The set-ups have the numbers they were asked for, found from their systems by other formulas."""

import warnings
from math import pi, sqrt

import numpy as np
import pytest
from scipy.constants import c, e, m_e

from repro.errors import InputError, MemoryLimitError
from repro.pic.cases import SPACING, Plasma, UniformSource
from repro.pic.maxwell.fields import courant_limit

CASE = {"cells": 4, "per_cell": 2.5}


@pytest.fixture(autouse=True)
def _nothing_unresolved():
    """The defaults resolve the gyration and the Debye length: nothing is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("case", [UniformSource, Plasma])
def test_particles_share_of_the_courant_limit_and_plasma_frequency_are_those_asked_for(case):
    system = case(**CASE, courant=0.5, plasma_step=0.03).system()
    assert system.count == 160
    assert system.dt == pytest.approx(0.5 * courant_limit(system.mesh))
    assert system.plasma_frequency * system.dt == pytest.approx(0.03)


def test_a_set_up_that_nothing_is_asked_of_is_the_one_that_speeds_are_quoted_for():
    system, count = UniformSource().system(), 30 * 16**3
    source = system.source
    assert (system.mesh.shape, system.mesh.spacing, system.mesh.boundaries) == (
        (16,) * 3,
        (1e-3,) * 3,
        ("periodic",) * 3,
    )
    assert (source.energy, source.start, source.per_step, source.seed) == (1e6, count, 12, 1)
    assert (system.count, system.room, system.self_field, system.name) == (
        count,
        count + 500 * 12,
        True,
        "uniform source",
    )
    assert system.dt == pytest.approx(0.95 * courant_limit(system.mesh))
    assert system.plasma_frequency * system.dt == pytest.approx(0.1)
    gyration = source.momentum * m_e * c / (e * system.magnetic[2])
    assert (system.magnetic[:2], gyration) == ((0, 0), pytest.approx(10e-3))
    plasma = Plasma().system()
    assert (plasma.mesh, plasma.count, plasma.room, plasma.name) == (system.mesh, count, count, "plasma")
    assert plasma.dt == pytest.approx(system.dt)
    assert plasma.plasma_frequency * plasma.dt == pytest.approx(0.05)
    assert plasma.electrons.momentum.std() == pytest.approx(0.05, rel=0.01)


def test_a_seed_and_no_field_of_their_own_are_passed_on():
    for case in (UniformSource, Plasma):
        assert not case(**CASE, self_field=False).system().self_field
    assert UniformSource(**CASE, seed=7).system().source.seed == 7
    one, same, other = (Plasma(**CASE, seed=seed).system().electrons for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.position, same.position)
    assert (one.position != other.position).all()
    assert (one.momentum != other.momentum).all()


def test_an_orbit_has_the_radius_in_cells():
    system = UniformSource(**CASE, energy=2e6, radius=7).system()
    # p c from the energy, r = p / (e B)
    rest = m_e * c**2 / e
    momentum = sqrt(2e6 * (2e6 + 2 * rest)) * e / c
    assert momentum / (e * np.linalg.norm(system.magnetic)) == pytest.approx(7 * SPACING, rel=1e-8)


def test_there_is_room_for_the_births_of_the_steps():
    system = UniformSource(cells=4, per_cell=10, births=0.05, steps=3).system()
    assert system.source.per_step == 32
    assert system.room == 640 + 3 * 32
    assert UniformSource(**CASE, births=0).system().room == 160


def test_a_plasma_is_as_hot_as_asked_and_fills_the_box():
    system = Plasma(cells=8, per_cell=20, heat=0.05).system()
    found, count = system.electrons, 8**3 * 20
    assert found.momentum.std() == pytest.approx(0.05, rel=5 / sqrt(2 * 3 * count))
    assert found.momentum.mean(0) == pytest.approx(0, abs=5 * 0.05 / sqrt(count))
    assert found.position.mean(0) == pytest.approx(4 * SPACING, abs=5 * 8 * SPACING / sqrt(12 * count))
    assert (found.weight == found.weight[0]).all()


def test_an_electron_of_1_mev_flies_half_a_cell_and_turns_by_its_share_of_the_circle():
    case = UniformSource(**CASE)
    gamma = 1 + 1e6 / (m_e * c**2 / e)
    flight = sqrt(1 - gamma**-2) * c * case.time_step / SPACING
    assert flight == pytest.approx(0.516, abs=1e-3)
    turn = e * case.magnetic * case.time_step / (gamma * m_e)
    assert turn / (2 * pi) == pytest.approx(flight / (2 * pi * case.radius), rel=1e-8)


@pytest.mark.parametrize(
    ("case", "wrong", "message"),
    [
        (UniformSource, {"cells": 0}, "cells = 0: must be a whole number from 1 to 4096$"),
        (UniformSource, {"per_cell": -1}, "per_cell = -1: must be a number of at least 1e-30"),
        (
            UniformSource,
            {"cells": 400, "per_cell": 1e9},
            r"per_cell = 1000000000\.0: 6\.4e\+16 particles in 400\^3 cells, from 1 to 2147483647",
        ),
        (UniformSource, {"births": "few"}, "births = 'few': must be a number"),
        (UniformSource, {"self_field": "off"}, "self_field = 'off': must be True or False"),
        (
            UniformSource,
            {"cells": 1, "per_cell": 0.3},
            r"per_cell = 0\.3: 0 particles in 1\^3 cells, from 1 to 2147483647",
        ),
        (UniformSource, {"courant": 1.5}, r"courant = 1\.5: must be a number from 1e-30 to 1$"),
        (UniformSource, {"energy": float("nan")}, "energy = nan"),
        (UniformSource, {"radius": 0}, "radius = 0"),
        (UniformSource, {"births": 2}, "births = 2: must be a number from 0 to 1$"),
        (UniformSource, {"steps": -1}, "steps = -1: must be a whole number from 0 to 1000000$"),
        (Plasma, {"heat": 0}, "heat = 0"),
        (Plasma, {"plasma_step": "fast"}, "plasma_step = 'fast': must be a number"),
    ],
)
def test_what_cannot_be_set_up_is_refused(case, wrong, message):
    with pytest.raises(InputError, match=message):
        case(**CASE | wrong).system()


def test_a_plasma_that_does_not_fit_into_memory_is_refused_before_it_is_drawn(monkeypatch):
    monkeypatch.setattr(np.random, "default_rng", None)
    with pytest.raises(MemoryLimitError, match="2147480000 particles needs 224 GiB"):
        Plasma(cells=100, per_cell=2147.48).system()
