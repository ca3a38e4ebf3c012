"""Boxes that need not be alike: they tile the grid, and the largest has the least to do with others."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.parallel.ranks.blocks import Blocks, blocks_for

shapes = st.tuples(*[st.integers(1, 13)] * 3)
flags = st.tuples(*[st.booleans()] * 3)
thin = st.tuples(*[st.integers(1, 3)] * 3)


def boxes(blocks: Blocks) -> list:
    return [blocks.box(rank) for rank in range(blocks.matrix.count)]


def exchanged(local, cut) -> int:
    """Cells on the sides of a box beyond which there are other ranks."""
    return sum(prod(local) // local[axis] for axis in range(3) if cut[axis] > 1)


@given(shapes, flags, st.integers(1, 12), thin)
def test_boxes_tile_the_grid_and_none_is_too_thin(shape, periodic, ranks, thinnest):
    try:
        blocks = blocks_for(shape, periodic, ranks, thinnest)
    except InputError as error:
        least = [max(1, n // least) for n, least in zip(shape, thinnest, strict=True)]
        assert not any(prod(cut) == ranks for cut in product(*(range(1, most + 1) for most in least)))
        works = int(str(error).split("so use ")[1])
        assert works < ranks
        assert blocks_for(shape, periodic, works, thinnest).matrix.count == works
        return
    owners = np.zeros(shape, int)
    for box in boxes(blocks):
        owners[tuple(slice(*ends) for ends in box)] += 1
    assert (owners == 1).all()
    assert (blocks.shape, blocks.matrix.periodic, blocks.matrix.count) == (shape, periodic, ranks)
    for axis, n in enumerate(shape):
        thickness = {end - first for first, end in (box[axis] for box in boxes(blocks))}
        # an axis that is not cut has no halo, and may be as thin as it is
        assert max(thickness) - min(thickness) <= 1
        assert min(thickness) >= min(thinnest[axis], n)


@given(shapes, st.integers(1, 12))
def test_the_largest_box_has_the_least_surface_to_others(shape, ranks):
    works = [cut for cut in product(*(range(1, n + 1) for n in shape)) if prod(cut) == ranks]
    if not works:
        return
    most = {cut: exchanged([-(-n // p) for n, p in zip(shape, cut, strict=True)], cut) for cut in works}
    chosen = blocks_for(shape, (True,) * 3, ranks).matrix.ranks
    assert most[chosen] == min(most.values())


def test_a_cube_is_cut_along_all_axes_and_rows_are_cut_last():
    assert blocks_for((64, 64, 64), (True,) * 3, 8).bounds == ((0, 32, 64),) * 3
    assert blocks_for((9, 9, 9), (True,) * 3, 2).bounds == ((0, 9), (0, 9), (0, 4, 9))
    assert blocks_for((100, 7, 1), (True,) * 3, 3).bounds == ((0, 33, 67, 100), (0, 7), (0, 1))


def test_too_many_ranks_are_refused_in_one_line():
    with pytest.raises(InputError, match=r"^7 ranks for 5 x 2 x 1 nodes: each needs 2 x 1 x 1 of its own, so use 4$"):
        blocks_for((5, 2, 1), (True,) * 3, 7, (2, 1, 1))
