"""Positions as whole numbers of the box."""

import numpy as np
import pytest

from repro.particles.position import Units, moved


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize(("units", "expected"), [(0.0, 0), (0.4, 0), (-0.4, 0), (0.6, 1), (-0.6, -1), (7.0, 7)])
def test_a_move_is_rounded_to_the_nearest_unit_and_none_leaves_a_particle_where_it_is(real, units, expected):
    start = Units(real).whole(1000)
    assert moved(real)(start, real(1), real(units)) - start == expected
