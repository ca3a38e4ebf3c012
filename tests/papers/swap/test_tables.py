"""The derived tables against the rule they come from, and the types as the paper's errata state them."""

import itertools

import pytest

from repro.errors import InputError
from repro.lbm.lattice import D3Q19
from repro.lbm.strategies.swap.rule import pairs_of
from repro.papers.swap import sketches
from repro.papers.swap.tables import PAPER_DIRECTIONS, kind_at, ray_sources, regions_hold, streaming_table


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
    kinds = {kind for count in (1, 2, 5) for kind in ray_sources(count)["type"]}
    assert kinds == set("ABCDE")


def test_the_rule_of_table_4_gives_every_node_its_type_in_all_nine_directions():
    assert len(PAPER_DIRECTIONS) == len(pairs_of(D3Q19)) == 9
    places = sum(9 * (interior + 2) ** 3 for interior in (1, 2, 3, 4))
    assert regions_hold(4) == (places, places)


@pytest.mark.parametrize(
    ("node", "direction", "kind"),
    [
        ((1, 2, 3), (-1, 0, 0), "B"),
        ((4, 2, 3), (-1, 0, 0), "D"),
        ((2, 2, 3), (-1, 0, 0), "C"),
        ((0, 2, 3), (-1, 0, 0), "A"),
        ((5, 2, 3), (-1, 0, 0), "NONE"),
        # the corner of a plane has a ray of its own across the diagonal
        ((1, 1, 2), (-1, 1, 0), "E"),
    ],
)
def test_types_lie_where_a_neighbour_on_the_ray_is_a_boundary_node(node, direction, kind):
    assert kind_at(node, direction, 4) == kind


def test_all_ways_but_types_in_one_array_are_plain_streaming():
    table = streaming_table(3).set_index("way")
    assert set(table["grids"]) == {27}
    assert table["arrays"].to_dict() == {"sweep": 1, "rays": 1, "types": 2, "links": 1, "types in one array": 1}
    assert table["equal"].to_dict() == {"sweep": 27, "rays": 27, "types": 27, "links": 27, "types in one array": 0}


@pytest.mark.parametrize("largest", [0, -1, 2, 2.5, "4"])
def test_cubes_on_which_a_type_is_missing_or_nothing_is_checked_are_refused(largest):
    with pytest.raises(InputError, match="largest = .*: must be a whole number from 3 to 16"):
        regions_hold(largest)
    if largest != 2:
        with pytest.raises(InputError, match="largest = .*: must be a whole number from 1 to 16"):
            streaming_table(largest)


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
