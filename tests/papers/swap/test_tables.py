"""The derived tables against the rule they come from, and the types as the paper's errata state them."""

import itertools

import pytest

from repro.errors import InputError
from repro.lbm.lattice import D3Q19
from repro.lbm.strategies import SWAPS
from repro.lbm.strategies.swap.rule import pairs_of
from repro.papers.swap import iteration, sketches
from repro.papers.swap.tables import (
    PAPER_DIRECTIONS,
    grids_that_agree,
    ray_sources,
    regions,
    regions_hold,
    regions_table,
    source_types,
    streaming_table,
    sweep_labels,
)
from repro.parallel import Kernel, device_function


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


def test_table_3_has_five_types_by_where_a_node_takes_its_populations():
    assert source_types().to_numpy().tolist() == [
        ["A", "f_i(k + 1)", "f_j(k)"],
        ["B", "f_i(k + 1)", "f_i(k - 1)"],
        ["C", "f_i(k + 1)", "f_j(k - 1)"],
        ["D", "f_j(k)", "f_j(k - 1)"],
        ["E", "f_j(k)", "f_i(k - 1)"],
    ]


@device_function
def _moves_nothing(x, n, y, z, f, grid):
    pass


@device_function
def _moves_one_direction(x, n, y, z, f, grid):
    if 0 < x < grid.nx - 1 and 0 < y < grid.ny - 1 and 0 < z < grid.nz - 1:
        size, here = grid.nx * grid.ny * grid.nz, x + grid.nx * (y + grid.ny * z)
        first, second = size + here, 2 * size + here
        f[first], f[second] = f[second], f[first]


def test_the_sweep_moves_populations_along_nine_rays_in_five_ways():
    swept = sweep_labels(3)
    assert (swept.rays, len(swept.types)) == (9, 5)
    # without a ray of one node its type is missing, without one of three the inner one
    assert len(sweep_labels(1).types) == 2
    assert len(sweep_labels(2).types) == 4


@pytest.mark.parametrize(("rule", "rays", "types"), [(_moves_nothing, 0, 0), (_moves_one_direction, 1, 1)])
def test_another_rule_is_seen_to_move_less(rule, rays, types):
    swept = sweep_labels(2, Kernel(rule, ndim=3, edges=True))
    assert (swept.rays, len(swept.types)) == (rays, types)


@pytest.mark.parametrize("interior", [1, 2, 3, 4])
def test_the_regions_give_every_node_its_type_in_all_nine_directions(interior):
    assert len(regions()) == len(pairs_of(D3Q19)) == 9
    assert regions_hold(interior) == 9 * (interior + 2) ** 3


def test_taking_by_types_agrees_with_the_sweep_on_all_small_grids():
    grids, populations = grids_that_agree(2)
    assert grids == 8
    assert populations == 19 * sum((a + 2) * (b + 2) * (c + 2) for a in (1, 2) for b in (1, 2) for c in (1, 2))


def test_all_ways_but_types_in_one_array_are_plain_streaming():
    table = streaming_table(3).set_index("way")
    assert set(table["grids"]) == {27}
    assert table["arrays"].to_dict() == {"sweep": 1, "rays": 1, "types": 2, "links": 1, "types in one array": 1}
    assert table["equal"].to_dict() == {"sweep": 27, "rays": 27, "types": 27, "links": 27, "types in one array": 0}


def test_regions_are_conditions_that_people_read():
    row = regions().set_index("i").loc[5]
    assert row["direction"] == "(-1, 1, 0)"
    assert (row["first"], row["last"]) == ("x = 1 or y = N", "x = N or y = 1")
    assert row["A"] == "0 ≤ x < N, 1 < y ≤ N + 1, 1 ≤ z ≤ N"


def test_links_take_less_code_than_types():
    lines = {name: iteration.lines_of_code(name) for name in SWAPS}
    assert 20 < lines["swap links"] < lines["swap rays"]
    assert lines["swap links"] < lines["swap types"]


def test_memory_of_a_node_follows_from_arrays_and_precision():
    assert iteration.bytes_a_node("swap links", "double") == 19 * 8
    assert iteration.bytes_a_node("swap types", "single") == 2 * 19 * 4


@pytest.mark.parametrize("largest", [0, -1, 2, 2.5, "4"])
def test_cubes_on_which_a_type_is_missing_or_nothing_is_checked_are_refused(largest):
    with pytest.raises(InputError, match="largest = .*: must be a whole number from 3 to 16"):
        regions_table(largest)
    if largest != 2:
        for check in (grids_that_agree, streaming_table, sweep_labels):
            with pytest.raises(InputError, match="largest = .*: must be a whole number from 1 to 16"):
                check(largest)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_ray_that_is_swept_visit_by_visit_ends_as_table_3_says(count):
    names = [f"f_{k}({node})" for node in range(count + 1) for k in "ij"]
    states = sketches.ray_states(count)
    assert states[0] == list(range(len(names)))
    assert all(sorted(state) == states[0] for state in states)
    ended = ray_sources(count)
    assert [names[label] for label in states[-1]] == ended[["f_i", "f_j"]].to_numpy().ravel().tolist()


def test_each_visit_of_a_ray_changes_three_places():
    states = sketches.ray_states(6)
    for before, after in itertools.pairwise(states):
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 3


def test_planes_share_the_three_directions_along_axes_and_have_two_diagonals_each():
    ways = [sketches.way_of(direction) for direction in PAPER_DIRECTIONS]
    assert sorted(ways) == [-1] * 3 + [0] * 3 + [1] * 3


def test_the_paper_s_directions_are_the_first_of_our_pairs_with_the_axes_reversed():
    ours = {D3Q19.velocities[i][::-1] for i, _ in pairs_of(D3Q19)}
    assert set(PAPER_DIRECTIONS) == ours
