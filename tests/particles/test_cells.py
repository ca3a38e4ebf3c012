"""Cells, lists and the running sum."""

import re

import numpy as np
import pytest
from helpers.plain import PlainCore, PlainDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from repro.dpd.cases import Poiseuille
from repro.dpd.simulation import Simulation
from repro.dpd.state import make_state
from repro.errors import CapacityError, InputError
from repro.particles.cell_permutation import SortedParticles
from repro.particles.cell_table import CellTable, particles_in
from repro.particles.cells import ALL_CELLS, OWN_CELL, Cells, cell_of, neighbour, place_of
from repro.particles.linked_list import LinkedList
from repro.particles.position import Units
from repro.particles.random import require_ids
from repro.particles.scan import running_sum

sides = some.floats(3, 40).map(lambda side: round(side, 3))


@settings(max_examples=60, deadline=None)
@given(box=some.tuples(sides, sides, sides), fraction=some.tuples(*[some.floats(0, 1)] * 3))
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_particle_lies_in_its_cell_and_the_cell_is_a_cutoff_radius_wide(real, box, fraction):
    cells = Cells(box)
    assert all(side / n >= 1 for side, n in zip(box, cells.shape, strict=True))
    point = np.array(fraction) * box
    whole = Units(real).of(point[None], box)[0]
    at = Units(real).coordinates(whole[None], box)[0]
    number = cell_of(real)(*whole, cells.shape)
    nx, ny, _ = cells.shape
    index = np.array([number % nx, number // nx % ny, number // (nx * ny)])
    width = np.array(box) / cells.shape
    assert (index * width <= at + 1e-9).all()
    assert (at <= (index + 1) * width + 1e-9).all()
    # the edge of the box is its beginning
    unmoved = np.abs(at - point) < np.array(box) * 2.0**-31
    assert (unmoved | (point == box)).all()


@given(shape=some.tuples(*[some.integers(3, 6)] * 3), data=some.data())
@settings(max_examples=60, deadline=None)
def test_twenty_seven_different_cells_surround_a_cell_and_half_of_them_meet_each_pair_once(shape, data):
    cell = data.draw(some.integers(0, int(np.prod(shape)) - 1))
    around = [neighbour(place_of(cell, shape), k, shape) for k in range(ALL_CELLS)]
    assert len(set(around)) == ALL_CELLS
    assert around[OWN_CELL] == cell
    for k in range(OWN_CELL + 1, ALL_CELLS):
        assert neighbour(place_of(around[k], shape), ALL_CELLS - 1 - k, shape) == cell


@pytest.mark.parametrize("count", [1, 15, 16, 17, 300, 4100])
def test_the_running_sum_is_the_sum_of_what_comes_before(device, count):
    if device.simulated and count > 300:
        pytest.skip("too many threads for the simulator")
    values = np.random.default_rng(count).integers(0, 9, count).astype(np.int32)
    on_device, starts = device.to_device(values), device.zeros(count + 1, np.int32)
    for launch in running_sum(device, on_device, starts):
        launch()
    np.testing.assert_array_equal(device.to_host(starts), np.concatenate([[0], np.cumsum(values)]))


@pytest.mark.parametrize("real", [np.float32, np.float64])
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=some.integers(0, 2**31), count=some.integers(1, 60))
def test_both_lists_hold_every_particle_once_in_its_cell(device, real, seed, count):
    generator, cells = np.random.default_rng(seed), Cells((3.2, 4.0, 3.0))
    position = generator.uniform(0, cells.box, (count, 3))
    state = make_state(device, real, position, position, count, cells.box)
    expected = [cell_of(real)(*row, cells.shape) for row in Units(real).of(position, cells.box)]

    table = CellTable(device, cells, count, real)
    for launch in table.update(state.r, count).values():
        launch()
    rows = device.to_host(table.entries).reshape(count, cells.count)
    counts = device.to_host(table.counts)
    in_table = {(int(i), c) for c in range(cells.count) for i in rows[: counts[c], c]}
    assert in_table == set(enumerate(expected))

    lists = SortedParticles(device, state, cells, real)
    for launch in lists.update().values():
        launch()
    starts, ids = device.to_host(lists.starts), device.to_host(lists.ids)
    in_runs = [(int(i), c) for c in range(cells.count) for i in ids[starts[c] : starts[c + 1]]]
    # by cell, and within a cell by id: one order is the only one
    assert in_runs == sorted(enumerate(expected), key=lambda pair: (pair[1], pair[0]))


def test_a_full_cell_is_an_error_that_names_the_cell_the_count_and_the_capacity_it_takes(threads):
    system = Poiseuille(3, 3, 4).system()
    simulation = Simulation(system, threads, strategy="particle", capacity=3)
    with pytest.raises(CapacityError) as error:
        simulation.step(1)
    held = np.bincount(
        [cell_of(np.float32)(*row, system.cells.shape) for row in Units(np.float32).of(system.position, system.box)]
    )
    assert f"capacity of at least {held.max()}" in str(error.value)
    assert "room for 3" in str(error.value)


def table_of(held, capacity):
    """A table of 27 cells whose first cells hold so many particles, their places, and what fills it from them."""
    device, box = PlainDevice(), (3.0, 3.0, 3.0)
    position = np.array([[0.5 + cell, 0.5, 0.5] for cell, count in enumerate(held) for _ in range(count)])
    state = make_state(device, np.float32, position, position, len(position), box)
    table = CellTable(device, Cells(box), capacity, np.float32)
    launches = table.update(state.r, state.count).values()
    return table, state.r, lambda: [launch() for launch in launches]


def test_a_table_has_room_for_its_capacity():
    table, _, fill = table_of([4, 2], capacity=4)
    fill()
    table.check()
    assert [particles_in(table.table, c) for c in range(3)] == [4, 2, 0]


def test_a_particle_beyond_the_capacity_is_an_error_and_in_no_cell():
    table, _, fill = table_of([5, 2], capacity=4)
    fill()
    with pytest.raises(CapacityError, match=r"cell \(0, 0, 0\) held 5 particles and the table has room for 4"):
        table.check()
    assert particles_in(table.table, 0) == 4
    columns = table.entries.reshape(4, 27)
    assert (list(columns[:, 0]), list(columns[:2, 1])) == ([0, 1, 2, 3], [5, 6])
    assert not columns[2:, 1].any()
    assert not columns[:, 2:].any()


def test_the_last_cell_has_no_room_beyond_its_column():
    table, places, fill = table_of([3], capacity=2)
    places[:] = Units(np.float32).of(np.full((3, 3), 2.5), (3.0, 3.0, 3.0)).T.ravel()
    fill()
    assert list(table.entries.reshape(2, 27)[:, -1]) == [0, 1]


def test_a_cell_that_was_too_full_once_is_an_error_from_then_on():
    table, places, fill = table_of([5, 2], capacity=4)
    fill()
    # the first particle goes to its neighbours, along x
    places[0] = places[6]
    for _ in range(3):
        fill()
    with pytest.raises(CapacityError, match="held 5 particles"):
        table.check()


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_cells_are_numbered_with_x_fastest_on_the_host_and_in_kernels(real):
    box, counts = (3.5, 4.4, 5.9), (3, 4, 5)
    cells, units = Cells(box), Units(real)
    position = np.random.default_rng(8).uniform(0, 1, (60, 3)) * box
    x, y, z = (np.floor(position / box * counts).astype(int)).T
    np.testing.assert_array_equal(cells.of(position, real), x + 3 * (y + 4 * z))
    find = cell_of(real)
    assert [find(*place, counts) for place in units.of(position, box)] == (x + 3 * (y + 4 * z)).tolist()
    # and the neighbours of a cell in the same order, its own in the middle, over the edges of the box
    around = [(1 + i) % 3 + 3 * ((3 + j) % 4 + 4 * ((4 + k) % 5)) for k, j, i in np.ndindex(3, 3, 3)]
    assert [neighbour((2, 0, 0), k, counts) for k in range(27)] == around


def test_a_box_with_more_cells_than_their_numbers_have_room_for_is_refused():
    """Sides of 1290 cells are too many: their numbers have 31 bits."""
    assert Cells((1290.0, 1290.0, 1290.0)).count == 1290**3
    with pytest.raises(InputError, match="a box of 1300 x 1290.5 x 1290 cutoff radii has 2163330000 cells: at most"):
        Cells((1300.0, 1290.5, 1290.0))


def test_boxes_tables_and_ids_have_the_limits_that_are_told():
    """Cells are numbered from 0 to 2^31 - 3 at most, and a table of their first particles ends with one number more."""
    assert Cells((1386.0, 4681.0, 331.0)).count == 2**31 - 2
    with pytest.raises(InputError, match="a box of 1024 x 2048 x 1024 cutoff radii has 2147483648 cells: at most 2147"):
        Cells((1024.0, 2048.0, 1024.0))
    assert Cells((3.0, 4.999, 5.0)).shape == (3, 4, 5)
    for axis, name in enumerate("xyz"):
        for side in (2.999, np.inf, np.nan):
            sides = [4.0, 4.0, 4.0]
            sides[axis] = side
            with pytest.raises(InputError, match=f"box side {name} = .*: at least 3 cutoff radii"):
                Cells(tuple(sides))
    for capacity, right in ((1, True), (1024, True), (0, False), (1025, False)):
        if right:
            assert CellTable(PlainDevice(), Cells((3.0,) * 3), capacity, np.float32).capacity == capacity
            continue
        with pytest.raises(InputError, match=f"capacity {capacity} of a cell: choose 1 to 1024 particles"):
            CellTable(PlainDevice(), Cells((3.0,) * 3), capacity, np.float32)
    require_ids((2**32 - 1) // 3)
    with pytest.raises(InputError, match="1431655766 particles: .* have 32 bits, so at most 1431655765"):
        require_ids((2**32 - 1) // 3 + 1)


def test_a_full_cell_is_named_by_its_place_along_each_axis_with_the_most_that_it_ever_held():
    device, box = PlainDevice(), (3.0, 4.0, 5.0)
    position = np.array([[2.5, 1.5, 3.5]] * 5 + [[0.5, 2.5, 4.5]] * 4)
    state = make_state(device, np.float32, position, position, len(position), box)
    table = CellTable(device, Cells(box), 3, np.float32)
    for launch in table.update(state.r, state.count).values():
        launch()
    words = "cell (2, 1, 3) held 5 particles and the table has room for 3: start again with a capacity of at least 5"
    with pytest.raises(CapacityError, match=re.escape(words)):
        table.check()


def test_a_list_that_grows_particle_after_particle_is_for_one_core():
    with pytest.raises(InputError, match="one core: not on 'cuda'"):
        LinkedList(PlainDevice(), Cells((3.0,) * 3), 4, np.float32)
    lists = LinkedList(PlainCore(), Cells((3.0,) * 3), 4, np.float32)
    r = Units(np.float32).of(np.array([[0.5] * 3, [1.5] * 3, [0.6] * 3, [0.4] * 3]), (3.0,) * 3).T.ravel()
    for launch in lists.update(np.ascontiguousarray(r)).values():
        launch()
    # from the last one back
    assert (lists.last[0], lists.last[13]) == (3, 1)
    assert lists.before.tolist() == [-1, -1, 0, 2]
