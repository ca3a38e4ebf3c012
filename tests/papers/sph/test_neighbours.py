"""The paper's example, and the comparison of searches, as plain Python."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainDevice
from scipy.spatial import cKDTree

from repro.errors import CheckError
from repro.papers.sph import neighbours
from repro.parallel import select
from repro.parallel.launch_sequence import in_turn
from repro.particles.radix_sort import RadixSort
from repro.sph.cases import StillWater
from repro.sph.strategies import STRATEGIES

PLAIN = PlainDevice()


def test_the_seven_particles_lie_where_the_papers_text_has_them():
    found = neighbours.example(PLAIN)
    held = np.diff(found.starts)
    # particle 5 is in cell 3, cell 2 holds three and cell 4 none
    assert (found.cell[5], held[1], held[3]) == (3, 3, 0)
    assert len(found.starts) == neighbours.ROWS * neighbours.COLUMNS + 1


def test_the_tables_of_the_example_are_the_papers_arrays():
    tables = neighbours.example_tables(neighbours.example(PLAIN))
    assert list(tables["after the sort"].loc["cell"]) == sorted(tables["before the sort"].loc["cell"])
    first = tables["first index"].loc["begins at"]
    # what is legible of figure 5: entries beside cells 2, 4 and 6
    assert (first["cell 2"], first["cell 4"], first["cell 6"], first["end"]) == (2, 6, 7, 7)


def test_a_longer_tank_has_more_cells_for_the_same_water_and_they_are_empty():
    table = neighbours.empty_cells([2.0, 4.0], (4, 3, 4), select("serial"), 1e-4)
    assert list(table["particles"]) == [48, 48]
    assert list(np.diff(table["cells"]) > 0) == list(np.diff(table["empty (%)"]) > 0) == [True]
    # a number of four bytes for each cell, and the end
    assert list(table["bytes a particle"]) == pytest.approx(list(4 * (table["cells"] + 1) / 48))
    held = table["cells"] * (1 - table["empty (%)"] / 100)
    assert held[0] == pytest.approx(round(held[0])) == pytest.approx(held[1])
    # the first index is a difference of two times, and may be lost in their noise
    assert (table["sort (us)"] > 0).all()
    assert (table["first index (us)"] >= 0).all()


@pytest.mark.parametrize("shape", [(3, 3, 3), (5, 4, 6)])
def test_a_cell_has_26_neighbours(shape):
    assert neighbours.neighbour_cells(shape) == 26


def test_a_grid_too_small_for_27_cells_is_found_out():
    with pytest.raises(CheckError, match="visits a cell twice"):
        neighbours.neighbour_cells((2, 3, 3))


def test_random_sets_lie_as_they_are_called():
    system, generator = StillWater(column=(4, 4, 4)).system(), np.random.default_rng(2)
    sets = {kind: neighbours.random_set(kind, system, generator) for kind in neighbours.KINDS}
    support = system.resolution.support
    cells = {kind: system.cells.of((position + system.margin) / support) for kind, position in sets.items()}
    assert len(set(cells["in one cell"])) == 1
    assert len(set(cells["in a corner"])) < len(set(cells["scattered"]))
    in_widths = (sets["on faces of cells"] + system.margin) / np.array(system.box) * system.cells.shape
    assert (np.abs(in_widths - np.round(in_widths)) < 1e-9).mean() > 0.5
    for kind in ("scattered", "in a corner", "on faces of cells"):
        assert ((sets[kind] >= 0) & (sets[kind] <= system.tank)).all()


def test_all_searches_find_what_brute_force_finds():
    table = neighbours.agreement(PLAIN, sets=2, side=2, seed=1)
    assert (table[[*STRATEGIES, "one order"]] == 100).all(axis=None)


def test_a_share_of_particles_has_the_neighbours_of_brute_force_and_a_smaller_one_in_one_order():
    """Of four particles one has another neighbour in one search, and two have theirs in another order somewhere."""
    ids = np.array([[1, 2], [0, 2], [0, 1], [4, 5]])
    wrong, turned = ids.copy(), ids.copy()
    wrong[0], wrong[3, 1], turned[1] = ids[0, ::-1], 6, ids[1, ::-1]
    names = list(neighbours.STRATEGIES)
    found = dict.fromkeys([neighbours.BRUTE_FORCE, *names], ids) | {names[0]: turned, names[-1]: wrong}
    shares = neighbours._compared({name: SimpleNamespace(ids=each) for name, each in found.items()})
    assert shares == dict.fromkeys(names, 1.0) | {names[-1]: 0.75, "one order": 0.25}


def test_brute_force_finds_who_is_near():
    system, generator = StillWater(column=(3, 3, 3)).system(), np.random.default_rng(3)
    position = neighbours.random_set("in a corner", system, generator)
    found = neighbours.search(neighbours.BRUTE_FORCE, system, position, PLAIN, system.count)
    near = np.linalg.norm(position[:, None] - position, axis=2) < system.resolution.support
    np.testing.assert_array_equal(found.count, near.sum(1))
    assert [set(row[row >= 0]) for row in found.ids] == [set(np.flatnonzero(row)) for row in near]
    assert (found.candidates == system.count).all()


def test_a_search_that_misses_a_neighbour_is_told_by_name(monkeypatch):
    search = neighbours.search

    def blind(name, *arguments):
        found = search(name, *arguments)
        if name == "sorted cells":
            found.ids[0] = -1
        return found

    monkeypatch.setattr(neighbours, "search", blind)
    table = neighbours.agreement(PLAIN, sets=1, side=2, seed=1)
    assert (table["sorted cells"] < 100).all()


def test_the_neighbours_in_a_table_a_kind_are_those_in_one_table_and_those_of_a_tree(monkeypatch):
    monkeypatch.setattr(neighbours, "time_launches", lambda launches, device, seconds: SimpleNamespace(best=1e-6))
    table, same = neighbours.kinds_table(4, PLAIN, 0.001)
    system, kinds = neighbours.mixture(4)
    assert same == 100
    support = system.resolution.support
    for row in table.iloc[:-1].itertuples():
        near = cKDTree(kinds[row.kind]).query_ball_point(kinds["fluid"], support, return_length=True)
        assert row.particles == len(kinds[row.kind]) > 0
        assert row.neighbours == pytest.approx(near.mean())
    assert table[["build (us)", "search (us)"]].to_numpy() == pytest.approx(np.ones((5, 2)))
    assert table["neighbours"].iloc[-1] == pytest.approx(table["neighbours"].iloc[:-1].sum())


def test_kinds_that_share_their_particles_are_found_out(monkeypatch):
    monkeypatch.setattr(neighbours, "time_launches", lambda launches, device, seconds: SimpleNamespace(best=1e-6))
    species = neighbours._species

    def blind(device, system, position):
        found, build = species(device, system, position)
        # a table that holds the first particle in every place
        return found, build | {"spoil": lambda: found.members.fill(0)}

    monkeypatch.setattr(neighbours, "_species", blind)
    assert neighbours.kinds_table(4, PLAIN, 0.001)[1] < 100


def test_every_sort_is_timed_with_what_it_must_give(monkeypatch):
    def launch(launches, device, seconds):
        in_turn(*launches)
        return SimpleNamespace(best=1e-6 * len(launches))

    monkeypatch.setattr(neighbours, "time_launches", launch)
    monkeypatch.setattr(neighbours, "measure", lambda run, device, repeats: launch([run], device, 0))
    table = neighbours.sort_table([1, 30], PLAIN, 0.001, seed=1)
    assert list(table["particles"]) == [1, 30]
    # a microsecond a launch but for that which finds the cells: what is shorter than that is no negative time
    times = table.drop(columns=["particles", "cells"])
    assert (times >= 0).all(axis=None)
    assert times.to_numpy() == pytest.approx(np.rint(times.to_numpy()))
    assert 0 < times.to_numpy().max() < 100
    monkeypatch.setattr(RadixSort, "_passes", lambda sort: {})
    with pytest.raises(CheckError, match="in global memory does not sort 30 particles"):
        neighbours.sort_table([30], PLAIN, 0.001, seed=1)


def test_a_grid_that_is_sorted_has_as_many_particles_a_cell_as_water(monkeypatch):
    """A support of 2.6 spacings is the width of a cell; the smallest grid has three a side."""
    monkeypatch.setattr(neighbours, "SORTS", {})
    table = neighbours.sort_table([10, 300_000], PLAIN, 0.001, seed=1)
    assert table["particles"].tolist() == [10, 300_000]
    assert table["cells"].tolist() == [27, int((300_000 / 2.6**3) ** (1 / 3)) ** 3]


def test_some_particles_lie_in_a_corner_of_three_tenths_and_some_in_one_whole_cell():
    system, seed = StillWater(column=(8, 8, 8)).system(), 5
    everywhere, corner, one = (
        neighbours.random_set(kind, system, np.random.default_rng(seed))
        for kind in ("scattered", "in a corner", "in one cell")
    )
    np.testing.assert_allclose(corner, 0.3 * everywhere)
    width = np.array(system.box) / system.cells.shape
    place = (one + system.margin) / width
    assert len(np.unique(np.floor(place), axis=0)) == 1
    assert ((place - np.floor(place)).max(0) > 0.95).all()
