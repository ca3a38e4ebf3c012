"""What the porous notebooks say and judge follows from their tables, whatever the numbers are."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.lbm.cases import Duct
from repro.papers.porous.box import cavity, duct, speed
from repro.papers.porous.box import text as box_text
from repro.papers.porous.media import permeability, precision
from repro.papers.porous.media import speed as media_speed
from repro.papers.porous.media import text as media_text
from repro.papers.porous.published import drag_coefficients, figure_points, reference
from repro.papers.source import source
from repro.parallel import inline
from repro.study.claims import find
from repro.study.paths import Project

DATA = Project.default().data
CPU = pd.Series({"node by node": 2.0, "rows": 40.0, "rows, all cores": 400.0, "flag word, node by node": 1.0})


def speeds_of_blocks(speeds: dict) -> pd.DataFrame:
    """A table of speeds from {(side, block): MLUPS}."""
    rows = [(f"{side} x {side}", block, mlups) for (side, block), mlups in speeds.items()]
    return pd.DataFrame(rows, columns=["size", "block", "mlups"])


def test_one_block_size_wins_only_if_it_wins_on_every_grid():
    even = {(512, 64): 1.0, (512, 128): 2.0, (1024, 64): 1.5, (1024, 128): 3.0}
    claims = speed.block_claims(speeds_of_blocks(even))
    assert list(claims.values()) == [128, "512 < 1024", "128 > 64"]
    winner, *_ = speed.block_claims(speeds_of_blocks(even | {(512, 64): 2.5})).values()
    assert winner == "a different one on each grid"


def test_the_order_of_blocks_is_that_on_the_last_grid():
    # "1024" comes before "512" as a text
    speeds = {(512, 64): 9.0, (512, 128): 8.0, (1024, 64): 1.0, (1024, 128): 2.0}
    *_, blocks = speed.block_claims(speeds_of_blocks(speeds)).values()
    assert blocks == "128 > 64"


def test_a_duct_that_did_not_run_has_no_winner():
    table = pd.DataFrame({"NY": [64, 64, 128, 128], "block": [64, 128, 64, 128], "mlups": [3.0, 2.0, 4.0, 5.0]})
    order, *winners = speed.duct_claims(table).values()
    assert order == "64 < 128"
    assert winners == [64, 128]


def test_layouts_and_strategies_are_ranked_in_one_precision():
    rows = [
        ("pull", "soa", "single", 5.0),
        ("push", "soa", "single", 4.0),
        ("split", "soa", "single", 2.0),
        ("shared memory", "soa", "single", 3.0),
        ("pull", "aos", "single", 1.0),
        ("pull", "soa", "double", 99.0),
    ]
    table = pd.DataFrame(rows, columns=["strategy", "layout", "precision", "mlups"])
    assert list(speed.strategy_claims(table, "single").values()) == ["SoA > AoS", "fused > separate", "direct > shared"]


def test_variants_change_one_thing_each():
    options = [case[3] for case in speed.cavity_variants(16, SimpleNamespace(name="cuda"), precision="single")]
    assert [o["strategy"] for o in options] == ["pull", "push", "split", "shared memory", "pull", "pull"]
    assert options[4] == options[0] | {"layout": "aos"}
    assert options[5] == options[0] | {"precision": "double"}


def test_without_blocks_of_threads_each_grid_is_timed_once(threads):
    cases = speed.cavity_cases([16, 32], [64, 128], threads, seconds=0.1)
    assert [(case[0], case[1].shape, case[3]["block"]) for case in cases] == [
        ("pull", (16, 16, 1), 128),
        ("pull", (32, 32, 1), 128),
    ]


def test_the_length_of_a_timed_duct_is_its_block():
    gpu = SimpleNamespace(name="cuda")
    cases = speed.duct_cases([8], [16, 32], gpu)
    assert [(case[0], case[1].shape, case[3]["block"]) for case in cases] == [
        (name, (block, 8, 8), block) for name in ("shared memory", "pull") for block in (16, 32)
    ]


def test_the_claims_on_centres_are_those_of_their_coordinate():
    found = find(cavity.CENTRE_CLAIMS)
    for claim, (vortex, axis) in cavity.CENTRE_CLAIMS.items():
        name = {"primary": "primary", "BR1": "secondary", "BL1": "tertiary"}[vortex]
        assert found[claim].quantity.startswith(name)
        assert found[claim].quantity.endswith(axis)


def test_the_claims_on_winners_are_those_of_their_grid():
    for claim, stated in find(speed.WINNER_CLAIMS).items():
        assert stated.case == f"duct, NY={speed.WINNER_CLAIMS[claim]}"


def test_centres_stand_beside_the_tables_of_their_reynolds_number():
    centres = pd.DataFrame({"vortex": ["primary", "BR1"], "x": [0.55, 0.88], "y": [0.6, 0.12]})
    ghia, converged = reference(DATA, "ghia1982_vortices.csv"), reference(DATA, "cavity_converged.csv")
    table = cavity.centre_table(centres, ghia, converged, 400)
    theirs = converged.set_index(["Re", "vortex"]).loc[(400, "primary")]
    expected = np.hypot(0.55 - theirs["x"], 0.6 - theirs["y"])
    assert table.loc["primary", "distance to converged"] == pytest.approx(expected)
    values = {cavity.CENTRE_CLAIMS[claim]: value for claim, value in cavity.centre_claims(table).items()}
    assert values["primary", "x"] == 0.55
    assert np.isnan(values["BL1", "x"]), "the flow has no such vortex"
    assert cavity.centre_table(centres, ghia, converged, 123)["distance to converged"].isna().all()


def test_a_cavity_without_a_converged_solution_says_so():
    table = pd.DataFrame({"distance to converged": [np.nan]})
    flow = SimpleNamespace(case=SimpleNamespace(nodes=64, reynolds=123.0))
    said = box_text.cavity_text(table, pd.DataFrame({"ratio": [0.5, 2.0]}), flow)
    assert said.startswith("No converged solution is at hand for Re 123.")
    assert "0.50 to 2.00 times" in said


def test_speedups_are_given_against_each_baseline():
    assert box_text.speedup_note(800.0, CPU) == "against one core in rows; node by node 400, all cores 2"
    assert media_text.speedup_note(800.0, CPU) == "against rows on one core; node by node 400, all cores 2.0"
    assert "Rows on one core are 20.0 times node by node" in box_text.baselines_text(CPU)
    assert "2.00 times as fast as the flag word" in media_text.baselines_text(CPU, SimpleNamespace(porosity=0.5))


def test_equation_4_3_as_printed_vanishes_on_the_axis():
    at = np.linspace(-0.5, 0.5, 5)
    np.testing.assert_array_equal(duct.velocity_as_printed(Duct(nodes=8), at, 0.0), 0)


def test_no_crystal_is_run_twice():
    runs = permeability.crystal_runs(16, [0.6, 0.8], [0.8, 1.0], ["half-way", "modified"])
    assert len(set(runs)) == len(runs)
    # 2 collisions of 2 chi and 2 tau, 2 walls of 4 tau, less what both need: chi = 0.6 at half-way walls
    assert len(runs) == 2 * (2 * 2 + 2 * 4 - 2)


def test_k_in_the_paper_cell_grows_with_the_square_of_its_length():
    rows = [(64, 0.7, 0.8, "mrt", "half-way", 10.0), (64, 0.7, 0.8, "mrt", "modified", 9.0)]
    table = pd.DataFrame(rows, columns=["nodes", "chi", "tau", "collision", "walls", "k"]).assign(porosity=0.5)
    scaled = permeability.half_way_in_paper_cell(table)
    assert permeability.k_by_chi(scaled).to_dict() == {0.7: 40.0}


def test_the_paper_curve_is_told_to_the_nearest_formula():
    lengths = permeability.cell_lengths(drag_coefficients(DATA))
    drawn = pd.DataFrame({"x": [0.2, 0.8], "y": [1.0, lengths["k (balance of forces)"][1] + 0.01]})
    assert "the k (balance of forces) with L = 127" in media_text.cell_length_text(lengths, drawn)


def test_the_porosity_claims_follow_from_the_slowest_and_the_fastest():
    rows = [("sparse", 0.3, 10.0, 3.0), ("sparse", 0.6, 20.0, 12.0), ("flag word", 0.3, 5.0, 1.5)]
    rows.append(("flag word", 0.6, 25.0, 15.0))
    table = pd.DataFrame(rows, columns=["strategy", "porosity", "mlups", "mflups"])
    values = list(media_speed.porosity_claims(table).values())
    assert values == [12.0, 20.0, "algorithm two at 1 of 2 porosities", 0.25, 0.1]


def test_the_loss_is_relative_to_double_precision():
    double, single = SimpleNamespace(k=200.0), SimpleNamespace(k=199.0)
    assert precision.loss(single, double) == pytest.approx(0.5)


def test_points_of_a_figure_are_those_of_its_number_and_series():
    assert set(figure_points(DATA, "5.10a")["y_name"]) == {"MLUPS"}
    assert set(figure_points(DATA, "5.7", "analytical")["series"]) == {"analytical"}


def test_the_source_of_an_inner_function_is_shown_without_indentation():
    def factory():
        @inline
        def formula(x):
            return 2 * x

        return formula

    assert source(factory()) == "```python\n@inline\ndef formula(x):\n    return 2 * x\n```\n"
