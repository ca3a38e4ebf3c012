"""Averages in bins and over all particles, against sums over a handful of particles, in plain Python."""

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.dpd.averages import Averages
from repro.dpd.fluid import Fluid
from repro.dpd.observables import temperature
from repro.dpd.simulation import Simulation
from repro.dpd.system import System
from repro.errors import InputError

BOX = (4.0, 3.0, 6.0)

#: x, z, and velocities of a particle in each row
PARTICLES = np.array(
    [
        # middle bin at the left
        [0.5, 2.2, 1.0, 0.1, -2.0],
        [1.9, 2.9, 3.0, 0.2, -1.0],
        [0.1, 2.1, 2.0, 0.3, 0.0],
        # upper bin at the left, upper bin at the right
        [1.5, 3.7, 5.0, 7.0, 9.0],
        [2.1, 3.1, -4.0, 0.5, 6.0],
        # below and above all bins
        [1.0, 0.9, 50.0, 50.0, 50.0],
        [1.0, 4.1, 50.0, 50.0, 50.0],
        # frozen, in the middle bin at the right
        [3.0, 2.5, 0.0, 0.0, 0.0],
    ]
)


@pytest.fixture
def averages():
    """Two columns, and three rows from z = 1 to z = 4; the device samples when it is asked to."""
    x, z, *velocity = PARTICLES.T
    position = np.column_stack([x, np.linspace(0.3, 2.7, len(x)), z])
    system = System(Fluid(), BOX, position, np.column_stack(velocity), len(x) - 1)
    simulation = Simulation(system, PlainDevice(), precision="double")
    return Averages(simulation, columns=2, rows=3, low=1.0, high=4.0)


@pytest.mark.parametrize("samples", [1, 3])
def test_averages_are_those_of_the_particles_in_a_bin(averages, samples):
    for _ in range(samples):
        averages.launch()
    field = averages.take()
    assert (list(field.x), list(field.z), field.samples) == ([1.0, 3.0], [1.5, 2.5, 3.5], samples)
    # a bin is 2 x 3 x 1: particles per volume do not depend on how often they were counted
    np.testing.assert_allclose(field.density, np.array([[0, 3, 1], [0, 0, 1]]) / 6)
    np.testing.assert_allclose(field.velocity_x, [[np.nan, 2.0, 5.0], [np.nan, np.nan, -4.0]])
    np.testing.assert_allclose(field.velocity_z, [[np.nan, -1.0, 9.0], [np.nan, np.nan, 6.0]])


def test_the_temperature_of_a_bin_is_relative_to_its_mean_velocity_in_the_plane_of_the_flow(averages):
    averages.launch()
    found = averages.take().temperature
    # along x and z three velocities of variance 2/3 each, along y the mean square of 0.1, 0.2 and 0.3
    assert found[0, 1] == pytest.approx((2 / 3 + 2 / 3 + 0.14 / 3) / 3)
    # a single particle has the mean velocity itself, but for the direction in which nothing flows
    assert found[0, 2] == pytest.approx(7.0**2 / 3)
    assert np.isnan(found[1, 1])


def test_averages_begin_anew_after_each_look(averages):
    averages.launch()
    first = averages.take()
    averages.launch()
    np.testing.assert_array_equal(averages.take().density, first.density)


def test_two_particles_at_rest_on_the_whole_have_three_degrees_of_freedom():
    velocity = np.array([[1.0, 2.0, -2.0], [-1.0, -2.0, 2.0]])
    system = System(Fluid(), BOX, np.array([[1.0, 1.0, 1.0], [3.0, 1.0, 4.0]]), velocity, 2)
    # twice nine, over the three that the conserved momentum leaves of six
    assert temperature(Simulation(system, PlainDevice(), precision="double")) == pytest.approx(18 / 3)


def _at(*heights):
    position = np.array([[1.0, 1.0, z] for z in heights])
    return Simulation(System(Fluid(), BOX, position, np.zeros_like(position), len(heights)), PlainDevice())


def test_a_bin_ends_below_its_upper_edge():
    averages = Averages(_at(1.5, 2.25, 3.0), rows=2, low=1.5, high=3.0)
    averages.launch()
    assert (averages.take().density * 9).tolist() == [[1.0 * 9 / (4 * 3 * 0.75), 1.0 * 9 / (4 * 3 * 0.75)]]


def test_bins_are_thirty_along_the_whole_box_unless_told_otherwise():
    averages = Averages(_at(0.05, 5.95))
    averages.launch()
    field = averages.take()
    assert (field.density.shape, field.z[0], field.z[-1]) == ((1, 30), pytest.approx(0.1), pytest.approx(5.9))
    assert np.flatnonzero(field.density[0]).tolist() == [0, 29]


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        ({"low": -0.1}, "1 x 30 bins from z = -0.1 to 6.0: the box has z from 0 to 6.0"),
        ({"high": 6.1}, "1 x 30 bins from z = 0.0 to 6.1"),
        ({"low": 2.0, "high": 2.0}, "from z = 2.0 to 2.0"),
        ({"rows": 0}, "1 x 0 bins"),
        ({"columns": 0}, "0 x 30 bins"),
    ],
)
def test_bins_that_are_not_in_the_box_are_refused(bins, words):
    with pytest.raises(InputError, match=words):
        Averages(_at(1.0), **bins)
