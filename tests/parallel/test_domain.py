"""The matrix of processes: boxes that tile the grid, and who is beside whom."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.parallel.ranks.domain import SIDES, Domain, domain_for, split

shapes = st.tuples(*[st.integers(1, 24)] * 3)
flags = st.tuples(*[st.booleans()] * 3)


@st.composite
def domains(draw):
    """Small grids cut somehow."""
    ranks = draw(st.tuples(*[st.integers(1, 3)] * 3))
    local = draw(st.tuples(*[st.integers(1, 3)] * 3))
    return Domain(tuple(p * n for p, n in zip(ranks, local, strict=True)), draw(flags), ranks)


@given(domains())
def test_every_cell_lies_in_the_box_of_one_rank(domain):
    boxes = {rank: (domain.offset(rank), domain.local) for rank in range(domain.count)}
    cells = np.array(list(product(*map(range, domain.shape))))
    for cell, owner, place in zip(cells, *domain.owners(cells), strict=True):
        inside = [
            rank
            for rank, (offset, local) in boxes.items()
            if all(start <= at < start + n for at, start, n in zip(cell, offset, local, strict=True))
        ]
        assert inside == [owner]
        assert (place + boxes[owner][0]).tolist() == cell.tolist()


@given(domains())
def test_boxes_are_numbered_with_x_fastest(domain):
    places = [domain.place(rank)[::-1] for rank in range(domain.count)]
    assert places == sorted(places)
    assert [domain.rank_at(place[::-1]) for place in places] == list(range(domain.count))
    for rank in (-1, domain.count):
        with pytest.raises(InputError, match=f"rank = {rank}: must be a whole number from 0 to {domain.count - 1}$"):
            domain.place(rank)


@given(domains())
def test_a_neighbour_owns_the_cell_beyond_the_side(domain):
    for rank in range(domain.count):
        for (axis, direction), neighbour in zip(SIDES, domain.neighbours(rank), strict=True):
            beyond = list(domain.offset(rank))
            beyond[axis] += -1 if direction < 0 else domain.local[axis]
            outside = not 0 <= beyond[axis] < domain.shape[axis]
            if outside and not domain.periodic[axis]:
                assert neighbour is None
            else:
                assert [neighbour] == list(domain.owners(np.array([beyond]))[0])
                assert domain.neighbour(neighbour, axis, -direction) == rank


# here the cut with the least surface between boxes is not that with the least surface in all
@example((4, 6, 8), 4)
# and here are several, of which one has the least surface in all, or is cut the least along x
@example((1, 4, 4), 4)
@example((1, 2, 2), 2)
@example((2, 2, 1), 2)
@given(shapes, st.integers(1, 64))
def test_split_leaves_the_least_surface_between_boxes(shape, ranks):
    def exchanged(cut):
        local = [n // p for n, p in zip(shape, cut, strict=True)]
        return sum(prod(local) // local[axis] for axis in range(3) if cut[axis] > 1)

    every = product(*(range(1, n + 1) for n in shape))
    works = [c for c in every if prod(c) == ranks and not any(n % p for n, p in zip(shape, c, strict=True))]
    assume(works)
    chosen = split(shape, ranks)
    assert chosen in works
    assert exchanged(chosen) == min(map(exchanged, works))
    equal = [c for c in works if exchanged(c) == exchanged(chosen)]
    surface = {c: sum(n * m / p / q for n, p, m, q in sides(shape, c)) for c in equal}
    assert chosen == min(c for c in equal if surface[c] == pytest.approx(min(surface.values())))


def sides(shape, cut):
    """Nodes and ranks along the two edges of three sides of a box."""
    return [(shape[i], cut[i], shape[j], cut[j]) for i, j in ((0, 1), (0, 2), (1, 2))]


@given(shapes, st.integers(1, 64))
def test_a_number_of_ranks_is_refused_with_numbers_that_work(shape, ranks):
    try:
        cut = split(shape, ranks)
    except InputError as error:
        refusal = str(error)
    else:
        assert prod(cut) == ranks
        return
    assert "\n" not in refusal
    for number in refusal.split("use ")[1].replace(" or ", ", ").split(", "):
        assert prod(split(shape, int(number))) == int(number)


def test_a_grid_that_is_cut_for_a_number_of_ranks_keeps_its_axes():
    domain = domain_for((6, 1, 8), (True, False, True), 4)
    assert (domain.shape, domain.periodic, domain.ranks) == ((6, 1, 8), (True, False, True), (1, 1, 4))


def test_a_cube_is_cut_along_all_axes_and_a_long_box_along_its_length():
    assert split((64, 64, 64), 8) == (2, 2, 2)
    assert split((16, 16, 512), 8) == (1, 1, 8)
    assert split((16, 16, 1), 4) == (2, 2, 1)


def test_refusals_are_one_line():
    with pytest.raises(InputError, match=r"5 ranks do not divide a grid of 4 x 4 x 4 cells: use 1, 2, 4, 8, .*"):
        split((4, 4, 4), 5)
    with pytest.raises(InputError, match=r"3 ranks do not divide 8 cells along y: use 1, 2, 4 or 8"):
        Domain((8, 8, 8), (True, True, True), (1, 3, 1))
    with pytest.raises(InputError, match=r"shape = \(8, 8, 0\): must be 3 values, each a whole number from 1 to"):
        Domain((8, 8, 0), (True, True, True), (1, 1, 1))


def test_a_grid_of_primes_names_the_numbers_beyond_twice_the_ranks():
    with pytest.raises(InputError, match="3 ranks do not divide a grid of 7 x 7 x 1 cells: use 1, 7 or 49$"):
        split((7, 7, 1), 3)


def test_numbers_of_ranks_that_are_named_are_the_nearest_on_both_sides():
    with pytest.raises(InputError, match="20 ranks do not divide 96 cells along y: use 6, 8, 12, 16, 24 or 32$"):
        Domain((8, 96, 8), (True, True, True), (1, 20, 1))
    # 2 and 24 are as near, and the sixth
    with pytest.raises(InputError, match="13 ranks do not divide 24 cells along z: use 2, 3, 4, 6, 8 or 12$"):
        Domain((8, 8, 24), (True, True, True), (1, 1, 13))
    with pytest.raises(
        InputError, match="20 ranks do not divide a grid of 2 x 3 x 16 cells: use 6, 8, 12, 16, 24 or 32$"
    ):
        split((2, 3, 16), 20)
    for shape in ((96, 1, 1), (1, 1, 96)):
        # the numbers above have to come from one axis
        with pytest.raises(InputError, match="cells: use 6, 8, 12, 16, 24 or 32$"):
            split(shape, 20)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (((8, 8), (True,) * 2, (1, 1)), r"shape = \(8, 8\): must be 3 values"),
        (((8, 8, 8), (True,) * 2, (1, 1, 1)), r"periodic = \(True, True\): must be 3 values, each True or False"),
        (((8, 8, 8), "yes", (1, 1, 1)), "periodic = 'yes': must be 3 values, each True or False"),
        (
            ((8, 8, 8), ("yes", "no", "no"), (1, 1, 1)),
            "periodic = .*'yes', .*: must be 3 values, each True or False",
        ),
        (((8, 8, 8), (True,) * 3, 2), "ranks = 2: must be 3 values, each a whole number from 1 to"),
        # looked for up to the root of the number only
        (((2**31, 8, 8), (True,) * 3, (3, 1, 1)), "3 ranks do not divide 2147483648 cells along x: use 1, 2, 4, 8, 1"),
    ],
)
def test_a_matrix_of_boxes_has_three_axes(arguments, line):
    with pytest.raises(InputError, match=line):
        Domain(*arguments)


@pytest.mark.parametrize("shape", [None, "888", (8, 8), (-8, 8, 8), (0, 8, 8), (8.0, 8, 8)])
def test_a_grid_that_is_none_cannot_be_split(shape):
    with pytest.raises(InputError, match="shape = .*: must be 3 values, each a whole number from 1 to"):
        split(shape, 2)


def test_a_box_has_sides_along_three_axes():
    with pytest.raises(InputError, match="axis = 3: must be a whole number from 0 to 2"):
        Domain((8, 8, 8), (True,) * 3, (2, 1, 1)).neighbour(0, 3, 1)


def test_refusals_say_both_ends_of_what_is_allowed():
    with pytest.raises(InputError, match="ranks = 0: must be a whole number from 1 to 1048576$"):
        split((4, 4, 4), 0)
    with pytest.raises(InputError, match=r"shape = \(4, 0, 4\): .* from 1 to 2147483648"):
        split((4, 0, 4), 2)
