"""The radix sort and the permutation into the order of cells."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from repro.particles.cell_permutation import CellPermutation
from repro.particles.cells import Cells
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
    run(permutation.update(r) | {"apply": permutation.apply(r, numbers)})
    expected = np.lexsort((ids, cells.of(position)))
    np.testing.assert_array_equal(device.to_host(on_device), ids[expected])
    np.testing.assert_array_equal(device.to_host(numbers), ids[expected])
    moved = flat(position, np.float32).reshape(3, count)[:, expected]
    np.testing.assert_array_equal(device.to_host(r).reshape(3, count), moved)
