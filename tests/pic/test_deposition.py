"""Currents of segments: their sum is the way, charge is conserved cell by cell, and sums are whole numbers.

And the fields at a particle, which have the same weights.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.parallel.operations import add_alone
from repro.pic.deposition import EDGES, make_deposit, make_deposit_charge, make_to_whole, units_of_weight
from repro.pic.gather import electric_at, magnetic_at
from repro.pic.mesh import Mesh

REALS = pytest.mark.parametrize("real", [np.float32, np.float64])

PLACES = st.tuples(*[st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1, width=32))] * 3)

#: corner x + 2 y + 4 z of one cell
CORNERS = SimpleNamespace(row=2, plane=4)

#: corners that an edge of a cell leads from and to, in the order of the sums
EDGES_OF_A_CELL = [
    (low, low + step)
    for step, first, second in ((1, 2, 4), (2, 4, 1), (4, 1, 2))
    for low in (0, first, second, first + second)
]

#: units of one electron: a big number that float32 has exactly
AMOUNT = 2**60


def currents(real, start, end, amount=AMOUNT):
    found = np.zeros(EDGES, np.int64)
    make_deposit(real, add_alone)(found, 0, tuple(map(real, start)), tuple(map(real, end)), real(amount))
    return found


def charges(real, place, amount=AMOUNT):
    found = np.zeros(8, np.int64)
    make_deposit_charge(real, add_alone)(found, 0, tuple(map(real, place)), real(amount), CORNERS)
    return found


def rounding(real):
    """What a share may be wrong by, in units: a few roundings of the real numbers, and one of the whole ones."""
    return 8 * float(np.finfo(real).eps) * AMOUNT + 2


@REALS
@given(PLACES, PLACES)
@settings(max_examples=60, deadline=None)
def test_the_four_edges_along_an_axis_carry_the_way_along_it(real, start, end):
    sums = currents(real, start, end).reshape(3, 4).astype(float).sum(1)
    np.testing.assert_allclose(sums, AMOUNT * (np.array(end) - start), rtol=0, atol=rounding(real))


@REALS
@given(PLACES, PLACES)
@settings(max_examples=60, deadline=None)
def test_what_flows_to_a_corner_is_what_its_charge_has_grown_by(real, start, end):
    grown = charges(real, end) - charges(real, start)
    for (low, high), flow in zip(EDGES_OF_A_CELL, currents(real, start, end), strict=True):
        grown[low] += flow
        grown[high] -= flow
    assert np.abs(grown).max() <= rounding(real)


@REALS
def test_a_charge_is_shared_linearly_and_whole(real):
    place = (0.25, 0.5, 0.125)
    expected = [np.prod([p if corner >> axis & 1 else 1 - p for axis, p in enumerate(place)]) for corner in range(8)]
    np.testing.assert_array_equal(charges(real, place), AMOUNT * np.array(expected))
    at_a_corner = charges(real, (1, 0, 1))
    assert at_a_corner[0b101] == AMOUNT == at_a_corner.sum()


@pytest.mark.parametrize(("start", "end", "edge"), [((0, 0, 0), (1, 0, 0), 0), ((1, 1, 0), (1, 1, 1), 8 + 3)])
def test_along_an_edge_all_of_the_current_is_that_edges(start, end, edge):
    found = currents(np.float64, start, end)
    assert found[edge] == AMOUNT
    assert np.count_nonzero(found) == 1


def test_sums_do_not_depend_on_the_order_of_the_particles():
    generator = np.random.default_rng(3)
    ends = generator.random((200, 2, 3)).astype(np.float32)
    amounts = (generator.random(200) * units_of_weight(200)).astype(np.float32)

    def total(order):
        found, deposit = np.zeros(EDGES, np.int64), make_deposit(np.float32, add_alone)
        for i in order:
            deposit(found, 0, tuple(ends[i, 0]), tuple(ends[i, 1]), amounts[i])
        return found

    first = total(range(200))
    for _ in range(3):
        np.testing.assert_array_equal(total(generator.permutation(200)), first)
    # as floating-point numbers they would
    shares = np.array([currents(np.float32, *ends[i], amounts[i]) for i in range(200)]).astype(np.float32)
    orders = {tuple(np.add.reduce(shares[generator.permutation(200)], axis=0).tolist()) for _ in range(5)}
    assert len(orders) > 1


@pytest.mark.parametrize("weight", [1e-12, 0.3, 1.0, 3e7, 2.5e13, 1e25])
def test_no_sum_overflows_if_everybody_takes_the_same_edge_as_often_as_it_can(weight):
    unit = units_of_weight(weight)
    assert np.log2(unit) == round(np.log2(unit))
    # in a step none goes further than light, which is less than a cell; four edges may take the way of a cell each
    for whole in (weight * unit, 4 * weight * unit * (1 + 1 / 12)):
        assert whole < 2**63
    # and they are as fine as that allows
    assert 16 * weight * unit >= 2**63


@given(st.floats(-(2.0**52), 2.0**52))
def test_a_number_in_double_precision_becomes_the_nearest_whole_one(value):
    whole = make_to_whole(np.float64)(value)
    assert abs(whole - value) <= 0.5
    assert make_to_whole(np.float64)(float(whole)) == whole


def test_what_many_segments_lose_by_becoming_whole_does_not_add_up():
    values = np.random.default_rng(5).uniform(-1e3, 1e3, 10_000)
    lost = np.sum(make_to_whole(np.float64)(values) - values)
    # each is off by 1 / sqrt(12) at random
    assert abs(lost) < 4 * np.sqrt(len(values) / 12)


@REALS
def test_fields_at_a_particle_are_linear_across_an_edge_and_along_a_face_s_normal_and_constant_otherwise(real):
    layout, generator = Mesh((3, 4, 5), (1.0,) * 3).layout, np.random.default_rng(7)
    field = generator.normal(size=(3, layout.nodes)).astype(real)
    steps, cell = (1, layout.row, layout.plane), 1 + 2 * layout.row + 3 * layout.plane
    for place in [*generator.random((5, 3)), *np.ndindex(2, 2, 2)]:
        shares = [(1 - x, x) for x in place]
        electric, magnetic = np.zeros(3), np.zeros(3)
        for c, p, q in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            for a, b in np.ndindex(2, 2):
                electric[c] += shares[p][a] * shares[q][b] * field[c, cell + a * steps[p] + b * steps[q]]
            for a in (0, 1):
                magnetic[c] += shares[c][a] * field[c, cell + a * steps[c]]
        at = tuple(map(real, place))
        for found, expected in ((electric_at, electric), (magnetic_at, magnetic)):
            value = np.array(found(field.ravel(), cell, at, layout), float)
            np.testing.assert_allclose(value, expected, atol=10 * np.finfo(real).eps)


@REALS
def test_the_work_of_a_segment_s_current_is_what_the_field_gives_along_it(real):
    """So energy is conserved: the mean field along a straight segment, times its way, is its edges' current times E."""
    generator, layout = np.random.default_rng(8), Mesh((1, 1, 1), (1.0,) * 3).layout
    field, cell = generator.normal(size=(3, layout.nodes)), 1 + layout.row + layout.plane
    steps, nodes, weights = (1, layout.row, layout.plane), *np.polynomial.legendre.leggauss(4)
    for start, end in generator.random((20, 2, 3)):
        edges = currents(real, start, end).reshape(3, 4) / AMOUNT
        work = 0.0
        for c, p, q in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            for k, (b, a) in enumerate(np.ndindex(2, 2)):
                work += edges[c, k] * field[c, cell + a * steps[p] + b * steps[q]]
        given = 0.0
        for share, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            there = tuple(start + share * (end - start))
            given += weight * np.dot(electric_at(field.ravel(), cell, there, layout), end - start)
        assert work == pytest.approx(given, abs=20 * float(np.finfo(real).eps))
