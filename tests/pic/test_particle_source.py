"""Electrons of a source gain what the field gives them, from the moment of their birth."""

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.random_words import words

from repro.pic.constants import LIGHT
from repro.pic.maxwell.fields import field_units
from repro.pic.mesh import Mesh
from repro.pic.particle_source import make_direction
from repro.pic.simulation import Simulation
from repro.pic.system import Source, System

STEP = 1e-12


def particles(steps: int, gain: float, **source) -> dict[str, np.ndarray]:
    """Electrons of a source in a field along x that takes `gain` of their momentum over m c in each step."""
    mesh, field = Mesh((2, 2, 2), (1e-3,) * 3), gain * field_units(STEP)[0]
    source = Source(energy=1e5, weight=1.0, **source)
    system = System(mesh, STEP, source=source, electric=(field, 0, 0), self_field=False, capacity=20)
    simulation = Simulation(system, PlainDevice(), precision="double")
    simulation.step(steps)
    return simulation.particles()


def momenta(steps: int, **source) -> np.ndarray:
    """Momenta along x, over m c, in a field that takes 0.2 in each step."""
    return particles(steps, 0.2, **source)["momentum"][:, 0]


def test_electrons_of_the_start_gain_as_much_in_the_first_step_as_in_any_other():
    first, second, third = (momenta(steps, start=4) for steps in range(3))
    np.testing.assert_allclose(second - first, -0.2, rtol=1e-12)
    np.testing.assert_allclose(third - second, -0.2, rtol=1e-12)


def test_electrons_born_within_a_step_gain_the_share_that_is_left_of_it():
    # an electron's direction does not depend on the field, so the momentum without one is known
    gained = momenta(1, per_step=6) - momenta(0, start=6)
    assert len(set(gained)) == 6
    assert ((gained > -0.2) & (gained < 0)).all()
    assert gained.mean() == pytest.approx(-0.1, abs=4 * 0.2 / np.sqrt(12 * 6))
    # without a field they go straight on, as far as in that share, from where those of the start are
    free, start = particles(1, 0.0, per_step=6), particles(0, 0.0, start=6)
    way = (free["position"] - start["position"] + 1e-3) % 2e-3 - 1e-3
    speed = free["momentum"] / np.sqrt(1 + (free["momentum"] ** 2).sum(1, keepdims=True))
    np.testing.assert_allclose(way, speed * LIGHT * STEP * gained[:, None] / -0.2, atol=1e-15)
    np.testing.assert_allclose(momenta(2, per_step=6)[:6] - momenta(1, per_step=6), -0.2, rtol=1e-12)


def test_directions_are_unit_vectors_each_as_likely_as_another():
    found = np.array([make_direction(np.float64)(*pair) for pair in zip(*words(4000), strict=True)])
    np.testing.assert_allclose((found**2).sum(1), 1, rtol=1e-12)
    # even along each axis, from -1 to 1: of the mean 0 and the variance 1/3, and its square of the variance 4/45
    assert np.abs(found.mean(0)).max() < 4 / np.sqrt(3 * 4000)
    assert np.abs((found**2).mean(0) - 1 / 3).max() < 4 * np.sqrt(4 / 45 / 4000)
