"""The paper's example, and the comparison of searches, as plain Python."""

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.errors import CheckError
from repro.papers.sph import neighbours
from repro.sph.cases import StillWater
from repro.sph.strategies import STRATEGIES

PLAIN = PlainDevice()


def test_what_the_paper_says_of_its_seven_particles_holds():
    found = neighbours.statements(neighbours.example(PLAIN))
    assert (found["paper"] == found["here"]).all()


def test_the_tables_of_the_example_are_the_papers_arrays():
    tables = neighbours.example_tables(neighbours.example(PLAIN))
    assert list(tables["after the sort"].loc["cell"]) == sorted(tables["before the sort"].loc["cell"])
    first = tables["first index"].loc["begins at"]
    # what is legible of figure 5: entries beside cells 2, 4 and 6
    assert (first["cell 2"], first["cell 4"], first["cell 6"], first["end"]) == (2, 6, 7, 7)


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
    table = neighbours.agreement(PLAIN, sets=2, side=2)
    assert (table[[*STRATEGIES, "one order"]] == 100).all(axis=None)


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
    table = neighbours.agreement(PLAIN, sets=1, side=2)
    assert (table["sorted cells"] < 100).all()
