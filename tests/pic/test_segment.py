"""Segments: their ends lie on the helix and on the faces that they name, and together they are the whole way."""

from itertools import product
from math import pi, sqrt

import numpy as np
import pytest
from helpers.helix import displaced, turned
from hypothesis import example, given, settings
from hypothesis import strategies as st

from repro.pic.advance import cell_beyond, place_beyond
from repro.pic.motion.push import make_fly, orbit_of
from repro.pic.motion.segment import INSIDE, make_find_face, make_segment

REALS = pytest.mark.parametrize("real", [np.float32, np.float64])

#: the way of light in a step that is as long as the mesh allows
COURANT = (0.57, 0.55, 0.6)

#: places in a cell, often on faces, edges and corners
PLACES = st.tuples(*[st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0, 1, width=32))] * 3)


def vectors(largest):
    """Vectors that often have components of zero."""
    return st.tuples(*[st.one_of(st.just(0.0), st.floats(-largest, largest, width=32))] * 3)


class Space:
    """All cells of an endless mesh for `cell_beyond`: each is beyond its neighbours."""

    row, plane = 1000, 1_000_000
    #: far from the lowest cell
    first = 500 * (1 + row + plane)

    def __getitem__(self, cell):
        return int(cell)

    def corner(self, cell):
        """Cells from the first cell along the axes."""
        return np.array([cell % self.row, cell // self.row % self.row, cell // self.plane]) - 500


def way(real, position, u, magnetic, courant=COURANT, most=40):
    """One step's segments: list of (cell's corner, start, end, time, face), and the momentum after them."""
    segment, space = make_segment(real), Space()
    position, u, magnetic, courant = (tuple(map(real, values)) for values in (position, u, magnetic, courant))
    cell, left, found = space.first, real(1), []
    for _ in range(most):
        end, u, time, face = segment(position, u, magnetic, courant, left)
        found.append((space.corner(cell), position, end, time, face))
        left = left - time
        if face == INSIDE:
            return found, u
        cell, position = cell_beyond(cell, face, space, space), place_beyond(end, face)
    raise AssertionError(f"more than {most} segments from {found[0]}")


def require_whole(real, position, u, magnetic):
    """A step's segments must obey their laws and be the helix."""
    found, after = way(real, position, u, magnetic)
    eps = float(np.finfo(real).eps)
    for _, start, end, time, face in found:
        assert (np.array([start, end]) >= 0).all()
        assert (np.array([start, end]) <= 1).all()
        assert 0 <= time <= 1
        if face != INSIDE:
            assert end[face >> 1] == (face & 1)
    total = sum(float(time) for *_, time, _ in found)
    assert total == pytest.approx(1, abs=4 * eps)
    size = np.linalg.norm(u)
    np.testing.assert_allclose(np.array(after, float), turned(u, magnetic, 1), rtol=0, atol=40 * eps * size + 1e-40)
    elapsed = 0.0
    for corner, _, end, time, _ in found:
        elapsed += float(time)
        there = np.array(position) + displaced(u, magnetic, COURANT, elapsed)
        np.testing.assert_allclose(corner + np.array(end, float), there, rtol=0, atol=40 * eps)
    return found


@REALS
@given(PLACES, vectors(20.0), vectors(0.5))
# the orbit is beyond one face when it meets another one
@example((0.05, 0.9921875, 0.5), (-1.0, 1.0, 0.0), (0.0, 0.0, -0.75))
# through a corner, along an edge, across it on a face
@example((0.5, 0.5, 0.5), (20.0, 20.0, 20.0), (0.0, 0.0, 0.0))
@example((1.0, 1.0, 0.0), (0.0, 0.0, 3.0), (0.0, 0.0, 0.5))
@example((1.0, 0.5, 1.0), (1.0, 1.0, -1.0), (0.0, 0.0, 0.0))
@settings(max_examples=100, deadline=None)
def test_the_segments_of_a_step_are_the_whole_helix_and_each_stays_in_its_cell(real, position, u, magnetic):
    require_whole(real, position, u, magnetic)


def test_an_orbit_that_is_beyond_one_face_when_it_meets_another_has_met_the_first():
    """Without a second look the place was pushed back into the cell, by up to the height of the arc."""
    generator, arcs = np.random.default_rng(5), 0
    for _ in range(300):
        position = np.array([generator.uniform(0, 0.02), 1 - generator.uniform(0, 0.3), 0.5])
        u = 5 * np.array([-generator.uniform(0, 0.5), 1, 0])
        # turns clockwise: out at low x, up across y, and back in x
        found = require_whole(np.float64, position, u, (0, 0, -4.0))
        arcs += [face for *_, face in found][:3] == [0, 3, 1]
    assert arcs > 10


@pytest.mark.parametrize("gap", [1e-3, 1e-9, 1e-12, 0.0, -1e-12, -1e-9, -1e-3])
def test_a_grazing_orbit_touches_the_face_or_crosses_it_and_comes_back(gap):
    # the orbit's highest point, half way through the step, is `gap` below the face y = 1
    speed, turn = 0.6, 0.8
    gamma = 1 / sqrt(1 - speed**2)
    u = speed * gamma
    start = turned((u, 0, 0), (0, 0, turn * gamma), 0.5)
    rise = displaced(start, (0, 0, -turn * gamma), COURANT, 0.5)[1]
    for way_ in (1, -1):
        y = 1 - gap - rise if way_ > 0 else gap + rise
        found = require_whole(np.float64, (0.3, y, 0.5), start * (1, way_, 1), (0, 0, -way_ * turn * gamma))
        assert len(found) <= 3


def test_a_circle_touches_the_face_again_and_again_without_a_loss():
    # its lowest points lie on the face itself
    turn, speed = 2 * pi / 20, 0.3
    gamma = 1 / sqrt(1 - speed**2)
    magnetic, u = (0, 0, turn * gamma), np.array([speed * gamma, 0, 0])
    cells, place = np.zeros(3), (0.25, 0.0, 0.5)
    for _ in range(200):
        found, u = way(np.float64, place, u, magnetic)
        cells, place = cells + found[-1][0], found[-1][2]
    np.testing.assert_allclose(cells + place, (0.25, 0, 0.5), atol=1e-12)


@REALS
@pytest.mark.parametrize("corner", list(product((0, 1), repeat=3)))
def test_from_a_corner_every_direction_leads_somewhere(real, corner):
    for direction in product((-1, 0, 1), repeat=3):
        for magnetic in ((0, 0, 0), (0.5, 0, 0), (0.3, -0.3, 0.2)):
            require_whole(real, corner, 2.0 * np.array(direction), magnetic)


@REALS
def test_no_momentum_no_field_and_fast_electrons(real):
    for place in ((0, 0, 0), (0.25, 1, 0.5)):
        (found,) = require_whole(real, place, (0, 0, 0), (1, 1, 1))
        np.testing.assert_array_equal(found[2], place)
        require_whole(real, place, (1e6, -2e6, 3e6), (0.9, 0, 0))


@REALS
@given(PLACES, vectors(20.0), vectors(100.0))
@settings(max_examples=100, deadline=None)
def test_whatever_the_field_a_segment_ends_in_the_cell_and_in_time(real, position, u, magnetic):
    """Beyond the angles that a system may have nothing is right, but nothing hangs and no end is outside either."""
    position, u, magnetic, courant = (tuple(map(real, values)) for values in (position, u, magnetic, COURANT))
    with np.errstate(all="ignore"):
        end, _, time, face = make_segment(real)(position, u, magnetic, courant, real(1))
    assert all(0 <= value <= 1 for value in end)
    assert 0 <= time <= 1
    assert -1 <= face <= 5


@given(st.floats(0, 0.999), st.floats(-0.5, 3.0), st.floats(0.0, 1.0))
@settings(max_examples=100, deadline=None)
def test_the_time_of_a_crossing_is_found_to_rounding(x, angle, turn):
    # so wide along the other axes that no face but that at x = 1 is met
    u, magnetic, speed = 3 * np.array([np.cos(angle), np.sin(angle), 0]), (0, 0, turn * sqrt(10)), (2.0, 0.0, 0.0)
    end = x + displaced(u, magnetic, speed, 1)[0]
    if end <= 1:
        return
    orbit, place = orbit_of(tuple(u), magnetic), (x, 0.5, 0.5)
    beyond, _ = make_fly(np.float64)(place, orbit, speed, 1.0)
    _, _, time, face = make_find_face(np.float64)(place, beyond, orbit, speed, 1.0)
    assert face == 1
    assert 0 <= time <= 1
    assert x + displaced(u, magnetic, speed, time)[0] == pytest.approx(1, abs=1e-14)
