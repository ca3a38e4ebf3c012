"""The cells of a rank: what is around them is what is around them on one rank, in the same order."""

from itertools import product

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from repro.errors import InputError
from repro.parallel.ranks.around import AROUND
from repro.parallel.ranks.blocks import blocks_for
from repro.particles.cells import Cells, cell_number
from repro.particles.local_cells import LocalCells, is_here, is_own, local_neighbours
from repro.particles.position import Units
from repro.particles.rooms import rooms_for
from repro.particles.sorted_cells import all_neighbours


@st.composite
def cuts(draw):
    """A box of 3 to 7 cells along each axis, and its blocks."""
    cells = Cells(tuple(draw(st.integers(3, 6)) + draw(st.sampled_from([0.0, 0.4])) for _ in "xyz"))
    try:
        return cells, blocks_for(cells.shape, (True,) * 3, draw(st.sampled_from([2, 3, 4, 6, 8])), (2,) * 3)
    except InputError:
        assume(False)


def around(neighbours, at, numbers, shape) -> list[int]:
    """The numbers of the cells around one, in the order in which their particles are met."""
    starts, found = np.arange(np.prod(shape) + 1), []
    for piece in range(neighbours.rows(at, numbers)):
        found += range(*map(int, neighbours.row(piece, at, starts, numbers)))
    return found


@settings(max_examples=12)
@given(cuts(), st.sampled_from([np.float32, np.float64]))
def test_own_cells_have_the_same_cells_around_them_in_the_same_order_on_any_rank(cut, real):
    (cells, blocks), owned = cut, []
    middles = [(np.array(at) + 0.5) / cells.shape * cells.box for at in product(*map(range, cells.shape))]
    points = Units(real).of(np.array(middles), cells.box)
    whole = all_neighbours(real)
    with np.errstate(over="ignore"):
        for rank in range(blocks.matrix.count):
            local = LocalCells(cells, blocks, rank)
            neighbours, numbers = local_neighbours(real), local.numbers
            here = [(neighbours.place(*point, numbers), whole.place(*point, cells.shape)) for point in points]
            here = [(at, there) for at, there in here if is_here(at, numbers)]
            # each cell of the box that is here is here once, and no two are the same
            of = {int(cell_number(at, local.shape)): int(cell_number(there, cells.shape)) for at, there in here}
            assert len(of) == len(here) == local.count
            for at, there in here:
                found = [of[k] for k in around(neighbours, at, numbers, local.shape)]
                assert found == (around(whole, there, cells.shape, cells.shape) if is_own(at, numbers) else [])
                owned += [there] if is_own(at, numbers) else []
    assert sorted(owned) == sorted(product(*map(range, cells.shape)))


@settings(max_examples=20)
@given(cuts(), st.integers(0, 9), st.sampled_from([1.0, 1.5]))
def test_there_is_room_for_all_that_is_there_at_first_and_for_what_an_even_fluid_has(cut, seed, room):
    cells, blocks = cut
    counts = np.random.default_rng(seed).poisson(3, cells.shape[::-1])
    own, rooms = rooms_for(counts, blocks, room)
    for rank in range(blocks.matrix.count):
        box = blocks.box(rank)
        held = counts[tuple(slice(*ends) for ends in box[::-1])]
        assert own > room * max(held.sum(), counts.mean() * held.size)
        for way, least in zip(AROUND, rooms, strict=True):
            sides = [(None, -1, 0)[there] for there in way[::-1]]
            edge = held[tuple(slice(None) if there is None else [there] for there in sides)]
            cut_there = all(n > 1 for n, there in zip(blocks.matrix.ranks, way, strict=True) if there)
            assert least > room * max(edge.sum(), counts.mean() * edge.size) if any(way) and cut_there else least == 0
    assert rooms == rooms[::-1]
