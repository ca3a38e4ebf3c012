"""The radix sort, the permutation into the order of cells, and the list of links."""

from itertools import chain

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from repro.particles.cell_permutation import CellPermutation
from repro.particles.cells import Cells
from repro.particles.linked_list import NO_PARTICLE, OrderedList, _sort, links_of
from repro.particles.position import Units
from repro.particles.radix_sort import CHUNK, RadixSort

BOX = (3.2, 4.0, 17.0)


@some.composite
def places(draw):
    """Positions: scattered, crowded into a corner, on the faces of cells, outside the box (it is periodic)."""
    generator = np.random.default_rng(draw(some.integers(0, 2**31)))
    count = draw(some.integers(1, 40))
    kind = draw(some.sampled_from(["scattered", "crowded", "on faces", "outside"]))
    position = generator.uniform(0, BOX, (count, 3))
    if kind == "crowded":
        return position * 0.1
    if kind == "on faces":
        width = np.array(BOX) / Cells(BOX).shape
        return np.round(position / width) * width
    return position * 3 - BOX if kind == "outside" else position


def flat(position, real):
    return np.ascontiguousarray(Units(real).of(position, BOX).T).ravel()


def run(launches):
    for launch in launches.values():
        launch()


few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@few
@given(position=places())
def test_the_radix_sort_lists_each_cell_in_the_order_of_the_particles_numbers(device, position):
    cells, count = Cells(BOX), len(position)
    sort = RadixSort(device, cells, count, np.float32)
    run(sort.update(device.to_device(flat(position, np.float32))))
    of = cells.of(position)
    np.testing.assert_array_equal(device.to_host(sort.members), np.argsort(of, kind="stable"))
    expected = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=cells.count))])
    np.testing.assert_array_equal(device.to_host(sort.starts), expected)


def test_the_radix_sort_sorts_more_than_one_thread_holds(device):
    cells, count = Cells(BOX), 5 * CHUNK + 3
    position = np.random.default_rng(1).uniform(0, BOX, (count, 3))
    sort = RadixSort(device, cells, count, np.float64)
    run(sort.update(device.to_device(flat(position, np.float64))))
    expected = np.argsort(cells.of(position, np.float64), kind="stable")
    np.testing.assert_array_equal(device.to_host(sort.members), expected)


@few
@given(position=places(), seed=some.integers(0, 2**31))
def test_a_permutation_sorts_by_cell_and_then_by_id_and_takes_all_arrays_along(device, position, seed):
    cells, count = Cells(BOX), len(position)
    ids = np.random.default_rng(seed).permutation(count).astype(np.int32)
    r, numbers, on_device = (device.to_device(a) for a in (flat(position, np.float32), ids.astype(np.float32), ids))
    permutation = CellPermutation(device, cells, on_device, np.float32)
    run(permutation.update(r, numbers))
    expected = np.lexsort((ids, cells.of(position)))
    np.testing.assert_array_equal(device.to_host(on_device), ids[expected])
    np.testing.assert_array_equal(device.to_host(numbers), ids[expected])
    moved = flat(position, np.float32).reshape(3, count)[:, expected]
    np.testing.assert_array_equal(device.to_host(r).reshape(3, count), moved)


def followed(first, after):
    """The particles of each cell, link after link."""
    lists = []
    for head in first:
        lists.append([])
        while head != NO_PARTICLE:
            lists[-1].append(int(head))
            head = after[head]
    return lists


@settings(few, max_examples=5)
@given(position=places())
def test_a_list_has_each_cells_particles_in_the_order_of_their_numbers_on_every_device(device, position):
    cells = Cells(BOX)
    links = OrderedList(device, cells, len(position), np.float32)
    run(links.update(device.to_device(flat(position, np.float32))))
    first, after = device.to_host(links.first), device.to_host(links.after)
    of = cells.of(position)
    assert followed(first, after) == [np.flatnonzero(of == c).tolist() for c in range(cells.count)]
    # what a first-index array becomes
    members, starts = np.argsort(of, kind="stable"), np.searchsorted(np.sort(of), np.arange(cells.count + 1))
    for found, expected in zip(links_of(starts, members), (first, after), strict=True):
        np.testing.assert_array_equal(found, expected)


@few
@given(order=some.permutations(range(12)))
def test_lists_in_whatever_order_workers_came_are_sorted(order):
    # two cells, taken in turn
    first, after = np.full(2, NO_PARTICLE), np.full(12, NO_PARTICLE)
    for i in order:
        after[i], first[i % 2] = first[i % 2], i
    _sort(0, 2, first, after)
    assert followed(first, after) == [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11]]


def test_workers_that_link_at_once_lose_no_particle(threads):
    # all in few cells, so that heads are fought for
    cells, count = Cells((3.0, 3.0, 3.0)), 20000
    r = Units(np.float32).of(np.random.default_rng(1).uniform(0, 3, (count, 3)), cells.box)
    links = OrderedList(threads, cells, count, np.float32)
    run(links.update(np.ascontiguousarray(r.T).ravel()))
    lists = followed(links.first, links.after)
    assert sorted(chain(*lists)) == list(range(count))
    assert all(each == sorted(each) for each in lists)
