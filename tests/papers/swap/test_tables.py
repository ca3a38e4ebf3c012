"""The derived tables against the rule they come from, and the types as the paper's errata state them."""

import pytest

from repro.lbm.lattice import D3Q19
from repro.lbm.strategies import SWAPS
from repro.lbm.strategies.swap.rule import pairs_of
from repro.papers.swap import iteration
from repro.papers.swap.tables import grids_that_agree, ray_sources, regions, regions_hold, types_found


@pytest.mark.parametrize("count", [2, 3, 7])
def test_on_a_long_ray_the_sources_are_those_of_types_a_to_d(count):
    rows = ray_sources(count).set_index("node")
    assert list(rows.loc[0]) == ["A", "f_i(1)", "f_j(0)"]
    assert list(rows.loc[1])[1:] == [f"f_i({2})", "f_i(0)"]
    for k in range(2, count):
        assert list(rows.loc[k]) == ["C", f"f_i({k + 1})", f"f_j({k - 1})"]
    assert list(rows.loc[count]) == ["D", f"f_j({count})", f"f_j({count - 1})"]


def test_a_ray_of_one_node_has_the_fifth_type():
    assert ray_sources(1).to_numpy().tolist() == [[0, "A", "f_i(1)", "f_j(0)"], [1, "E", "f_j(1)", "f_i(0)"]]
    assert types_found() == set("ABCDE")


@pytest.mark.parametrize("interior", [1, 2, 3, 4])
def test_the_regions_give_every_node_its_type_in_all_nine_directions(interior):
    assert len(regions()) == len(pairs_of(D3Q19)) == 9
    assert regions_hold(interior) == 9 * (interior + 2) ** 3


def test_taking_by_types_agrees_with_the_sweep_on_all_small_grids():
    grids, populations = grids_that_agree(2)
    assert grids == 8
    assert populations == 19 * sum((a + 2) * (b + 2) * (c + 2) for a in (1, 2) for b in (1, 2) for c in (1, 2))


def test_links_take_less_code_than_types():
    lines = {name: iteration.lines_of_code(name) for name in SWAPS}
    assert 20 < lines["swap links"] < lines["swap rays"]
    assert lines["swap links"] < lines["swap types"]


def test_memory_of_a_node_follows_from_arrays_and_precision():
    assert iteration.bytes_a_node("swap links", "double") == 19 * 8
    assert iteration.bytes_a_node("swap types", "single") == 2 * 19 * 4
