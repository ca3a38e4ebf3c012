"""Every sort lists the particles of each cell in the order of their numbers, for any cells and any number of them."""

from functools import partial

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.toolkit import ptx_of
from hypothesis import given, settings
from hypothesis import strategies as some

from repro.particles.block_sort import ITEMS, SORTS, BlockSort
from repro.particles.cells import Cells
from repro.particles.position import Units

#: threads of a block that plain Python has the patience for, and how many pairs it holds
FEW = 4
HELD = FEW * ITEMS

#: with a block of few threads in place of a thousand
SMALL = SORTS | {"in shared memory": partial(BlockSort, threads=FEW)}

#: 27 cells, and more than the sixteen bits of two passes
BOXES = [(3.0, 3.0, 3.0), (41.0, 42.0, 43.0)]


def sorted_by(sort_of, device, box, position):
    cells = Cells(box)
    sort = sort_of(device, cells, len(position), np.float32)
    r = np.ascontiguousarray(Units(np.float32).of(position, box).T).ravel()
    for launch in sort.update(device.to_device(r)).values():
        launch()
    return sort, cells.of(position) if len(position) else np.zeros(0, int)


def require_sorted(sort, of):
    device = sort.device
    np.testing.assert_array_equal(device.to_host(sort.members), np.argsort(of, kind="stable"))
    expected = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=sort.cells.count))])
    np.testing.assert_array_equal(device.to_host(sort.starts), expected)


@some.composite
def crowds(draw):
    """A box, and particles anywhere in it or all in a part of it, down to one cell; also none and one."""
    box = draw(some.sampled_from(BOXES))
    count = draw(some.sampled_from([0, 1, 2, HELD - 1, HELD, HELD + 1, 2 * HELD, 3 * HELD + 5]))
    share = draw(some.sampled_from([1.0, 0.3, 0.01]))
    return box, np.random.default_rng(draw(some.integers(0, 2**31))).uniform(0, share, (count, 3)) * box


@pytest.mark.parametrize("sort_of", SMALL.values(), ids=SMALL)
@given(crowd=crowds())
@settings(max_examples=20, deadline=None)
def test_any_cells_of_any_number_of_particles_are_sorted_and_stay_in_order(sort_of, crowd):
    require_sorted(*sorted_by(sort_of, PlainDevice(), *crowd))


@pytest.mark.parametrize("count", [HELD, 2 * HELD + 3])
def test_a_block_and_several_blocks_sort_on_every_device(device, count):
    position = np.random.default_rng(7).uniform(0, BOXES[0], (count, 3))
    require_sorted(*sorted_by(SMALL["in shared memory"], device, BOXES[0], position))


def test_a_block_of_its_full_size_sorts_the_papers_ten_thousand():
    box = (26.0, 14.0, 16.0)
    position = np.random.default_rng(2).uniform(0, box, (10_000, 3))
    require_sorted(*sorted_by(BlockSort, PlainDevice(), box, position))


def test_the_papers_ten_thousand_particles_are_one_launch_and_more_than_a_block_holds_are_several():
    def names(count):
        sort = BlockSort(PlainDevice(), Cells((26.0, 14.0, 16.0)), count, np.float32)
        return [name for name in sort.update(np.zeros(3 * count, np.int32)) if "sort" in name]

    assert names(10_000) == ["sort in a block"]
    assert names(11_264) == ["sort in a block"]
    # of thirteen bits
    assert names(11_265) == ["sort by digit 0", "sort by digit 1"]


def test_a_block_s_pairs_stay_in_registers_and_its_memory_is_what_gpus_had_in_the_paper_s_year():
    kernels = ptx_of("sorts_ptx")
    assert {k["kernel"] for k in kernels} == {"alone", "tile", "scatter"}
    assert not [k for k in kernels if k["local"]]
    for kernel in kernels:
        assert kernel["shared"] == (kernel["kernel"] != "scatter")
    assert {k["shared bytes"] for k in kernels if k["shared"]} == {48 * 1024}


@pytest.mark.parametrize(("sides", "digits"), [((64.0, 64.0, 32.0), 1), ((64.0, 64.0, 33.0), 3), ((32.0, 8.0, 3.0), 1)])
def test_a_key_of_seventeen_bits_lies_beside_its_place_in_a_word_and_one_of_eighteen_has_three_digits(sides, digits):
    position = np.random.default_rng(4).uniform(0, sides, (40, 3))
    position[::3] = np.array(sides) - 0.5
    sort, of = sorted_by(BlockSort, PlainDevice(), sides, position)
    assert len([name for name in sort.update(np.zeros(120, np.int32)) if "sort" in name]) == digits
    require_sorted(sort, of)
