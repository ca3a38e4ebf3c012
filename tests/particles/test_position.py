"""Positions as whole numbers of the box."""

import numpy as np
import pytest

from repro.particles.position import Units, moved, periodic_difference


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize(("units", "expected"), [(0.0, 0), (0.4, 0), (-0.4, 0), (0.6, 1), (-0.6, -1), (7.0, 7)])
def test_a_move_is_rounded_to_the_nearest_unit_and_none_leaves_a_particle_where_it_is(real, units, expected):
    start = Units(real).whole(1000)
    assert moved(real)(start, real(1), real(units)) - start == expected


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_box_is_as_many_units_long_as_its_numbers_have_values(real):
    box, units = (3.0, 5.0, 7.5), Units(real)
    bits = 8 * np.dtype(real).itemsize
    np.testing.assert_allclose(np.multiply(units.lengths(box), 2.0**bits), box, rtol=1e-6)
    np.testing.assert_allclose(units.per_length(box), 2.0**bits / np.array(box), rtol=1e-6)
    # a coordinate goes there and back, to the nearer half of a unit
    place = np.array([[0.0, 1.25, 7.25], [2.9, 4.9, 0.1]])
    np.testing.assert_allclose(units.coordinates(units.of(place, box), box), place, atol=1e-8)
    assert (
        periodic_difference(real)(*units.of(np.array([[0.75, 0, 0], [0.25, 0, 0]]), (4.0, 1, 1))[:, 0]) == 2.0**bits / 8
    )
