"""What the porous notebooks run and hand over: which runs they ask for, and what they make of them. None is solved."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.errors import DivergenceError, InputError
from repro.lbm.cases import Cavity
from repro.lbm.exact import bcc_permeability
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.porous.driven import gentle_force
from repro.lbm.porous.strategies import STRATEGIES
from repro.lbm.two_fluids.cases import Bubble, Drop
from repro.papers.porous.box import cavity, lids, speed
from repro.papers.porous.gpu import matrix_sum
from repro.papers.porous.media import memory as memory_of
from repro.papers.porous.media import permeability, precision, variants, viscosity
from repro.papers.porous.media import speed as media_speed
from repro.papers.porous.published import drag_coefficients, figure_points
from repro.papers.porous.two_fluids import contact, laplace, layered, media
from repro.papers.porous.two_fluids import speed as two_speed
from repro.study.judge.claims import find
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import judge, judge_by_first_rule
from repro.study.notebooks import Project, catalogue

DATA = Project.default().data
GPU = SimpleNamespace(name="cuda")


class Kept(dict):
    """A record that keeps what it is handed, claims by id and tables by name."""

    def measure(self, claim, measured, **more):
        assert claim not in self
        self[claim] = {"measured": measured, **more}

    def measure_all(self, values, **more):
        for claim, measured in values.items():
            self.measure(claim, measured, **more)

    def not_measured(self, claim, reason):
        assert claim not in self
        self[claim] = reason

    def table(self, name, frame):
        self[name] = frame
        return frame


def flow(k: float, **result):
    """A run of `flow_through` that gave k."""
    result = {"steps": 70, "converged": True, "mean_density": 1.5, "density_spread": 0.0, "mach": 0.01} | result
    return SimpleNamespace(k=k, reynolds=0.02, force=1e-6, result=SimpleNamespace(**result), velocity="v")


@pytest.fixture
def asked(monkeypatch):
    """The runs that `permeability` asks for; k is ten times the relaxation time, more with MRT, and the nodes."""
    seen = []

    def flow_through(space, device, **options):
        seen.append((space, device, options))
        return flow(10 * options["relaxation_time"] + 5 * options["collision"].startswith("mrt") + space.shape[0])

    monkeypatch.setattr(permeability, "flow_through", flow_through)
    return seen


def test_a_crystal_is_made_once_and_run_in_each_way_that_is_asked_for(asked):
    runs = [(8, 0.6, 0.8, "bgk", "half-way"), (8, 0.6, 1.0, "mrt", "modified"), (9, 0.7, 1.0, "bgk", "half-way")]
    table = permeability.crystal_table(runs, drag_coefficients(DATA), "here", tolerance=1e-3)
    names = ["nodes", "chi", "tau", "collision", "walls"]
    assert [tuple(row) for row in table[names].to_numpy()] == runs
    assert table["k"].tolist() == pytest.approx([16, 23, 19])
    for column, value in {"steps": 70, "converged": True, "reynolds": 0.02, "mean density": 1.5}.items():
        assert set(table[column]) == {value}
    (one, *_), (two, *_), (other, device, options) = asked
    assert one is two
    np.testing.assert_array_equal(other.solid, sphere_crystal(9, 0.7))
    assert table["porosity"].tolist() == [one.porosity, one.porosity, other.porosity]
    way = {"relaxation_time": 1.0, "collision": "bgk", "walls": "half-way"}
    assert (device, options) == ("here", way | {"tolerance": 1e-3})


def test_a_deviation_is_how_far_k_lies_above_the_series_in_per_cent(asked):
    coefficients = drag_coefficients(DATA)
    table = permeability.crystal_table([(16, 0.7, 1.0, "bgk", "half-way")], coefficients, "here")
    series = bcc_permeability(0.7, 16, coefficients)
    assert table["series"].tolist() == pytest.approx([series])
    # k is 10 and 16 nodes, see `asked`
    assert table["deviation (%)"].tolist() == pytest.approx([100 * (26 - series) / series])


def test_all_runs_of_both_figures_are_held_against_the_series(asked):
    coefficients = drag_coefficients(DATA)
    runs = permeability.crystal_runs(8, [0.7], [1.0], [])
    table = permeability.crystal_table(runs, coefficients, None, interval=9)
    assert [tuple(row) for row in table[["nodes", "chi", "tau", "collision", "walls"]].to_numpy()] == runs
    expected = 100 * (table["k"] / bcc_permeability(table["chi"], table["nodes"], coefficients) - 1)
    assert table["deviation (%)"].tolist() == pytest.approx(expected.tolist())
    assert all(options["interval"] == 9 for *_, options in asked)


def test_a_finer_grid_stands_below_the_run_against_the_series_of_the_same_chi(asked):
    rows = [(8, 0.6, 1.0, "mrt", "half-way", 3.0), (8, 0.7, 1.0, "mrt", "half-way", 2.0)]
    rows += [(8, 0.7, 1.0, "bgk", "half-way", 9.0), (7, 0.7, 1.0, "mrt", "half-way", 8.0)]
    table = pd.DataFrame(rows, columns=["nodes", "chi", "tau", "collision", "walls", "k"])
    found = permeability.resolution_table(table, 16, [0.7], drag_coefficients(DATA), "here", interval=9)
    assert found[["nodes", "k"]].to_numpy().tolist() == [[8, 2.0], [16, 31.0]]
    ((space, device, options),) = asked
    assert (space.shape, device, options["interval"], options["walls"]) == ((16,) * 3, "here", 9, "half-way")
    assert "deviation (%)" in found


def test_no_coordinate_of_the_papers_table_is_that_of_a_node_however_it_is_counted():
    paper = {claim: float(stated.value) for claim, stated in find(lids.CLAIMS[:6]).items()}
    found = lids.off_nodes(paper)
    assert found["holds"]
    # 0.1235 from the bottom to the lid, which lies on its nodes, is node 31.05, the first being 0
    assert found["off"] == pytest.approx(abs(0.1235 * 255.5 - 0.5 - 31) * 256 / 255.5)
    first = next(iter(paper))
    assert not lids.off_nodes(paper | {first: 100.5 / 256})["holds"]
    assert not lids.off_nodes(paper | {first: 100 / 255})["holds"]


def test_the_flow_of_figure_5_6_is_that_of_bgk_with_its_velocity(asked):
    velocity, solid = permeability.flow_of_figure_5_6(8, "here", interval=9)
    ((space, device, options),) = asked
    expected = {"relaxation_time": 0.8, "collision": "bgk", "keep_velocity": True, "interval": 9}
    assert (velocity, device, options) == ("v", "here", expected)
    np.testing.assert_array_equal(solid, sphere_crystal(8, 0.8))
    assert solid is space.solid


def test_whole_populations_run_as_the_figures_do_with_one_force_at_all_viscosities(asked):
    coefficients = drag_coefficients(DATA)
    runs = permeability.crystal_runs(8, [0.6, 0.7], [0.8, 1.0], ["modified"])
    table = permeability.crystal_table(runs, coefficients, "here", interval=9)
    asked.clear()
    whole = viscosity.whole_populations(table, coefficients, "here", interval=9)
    runs = [*product([8], [0.6, 0.7], permeability.COLLISIONS, [0.8, 1.0], ["half-way"])]
    assert [tuple(row) for row in whole[["nodes", "chi", "collision", "tau", "walls"]].to_numpy()] == runs
    for chi, options in zip(whole["chi"], (options for *_, options in asked), strict=True):
        force = viscosity.one_force(8, chi, 0.8, coefficients)
        assert (options["storage"], options["force"], options["interval"]) == ("plain", force, 9)
    # k force/viscosity, the velocity, by the side over the viscosity
    assert bcc_permeability(0.6, 8, coefficients) * viscosity.one_force(8, 0.6, 0.8, coefficients) / 0.1 * 8 / 0.1 == (
        pytest.approx(viscosity.REYNOLDS)
    )


def readings(changes: dict, *others) -> pd.DataFrame:
    """A table of k at three viscosities: at each chi of both cells it changes by `changes` with each collision.

    `changes` are by (nodes, chi, collision) or by the collision alone; `others` are further rows.
    """
    rows = []
    for nodes, chi, kind in product((128, 127), (0.6, 0.9), permeability.COLLISIONS):
        change = changes.get((nodes, chi, kind), changes[kind])
        rows += [(nodes, chi, tau, kind, "half-way", 100 * (1 + change * (tau - 0.8) / 0.4)) for tau in (0.8, 1.0, 1.2)]
    names = ["nodes", "chi", "tau", "collision", "walls", "k"]
    return pd.DataFrame([*rows, *others], columns=names).assign(converged=True)


@pytest.fixture
def same_with_whole(monkeypatch):
    """Whole populations give the k of deviations."""

    def whole(table, *given, **options):
        return table[(table["nodes"] == 128) & (table["tau"] < 1.3) & (table["walls"] == "half-way")]

    monkeypatch.setattr(viscosity, "whole_populations", whole)


CHANGES = {"bgk": 0.10, "mrt": 0.01, "mrt-dhumieres": 0.04}


def test_what_mrt_leaves_of_the_change_is_taken_at_each_chi_on_each_reading(same_with_whole):
    # beyond the viscosities of the figure, and with other walls
    others = (128, 0.6, 1.6, "bgk", "half-way", 900.0), (128, 0.6, 1.2, "mrt", "modified", 900.0)
    left = viscosity.left_by_mrt(readings(CHANGES, *others), None, None)
    assert len(left) == 2 * 3 * 2
    assert set(left["length"]) == {128, 127}
    assert left["BGK (%)"].tolist() == pytest.approx([10.0] * 12)
    said = viscosity.changes_less(left)
    assert said == {"thirty": pytest.approx(0.1), "other": pytest.approx(0.4), "holds": True}
    found = viscosity.claim_of(left, [0.6, 0.9])[viscosity.CLAIM]
    assert found["measured"] == pytest.approx(0.1)
    assert found["converged"]
    assert "reference 31, 127 voxels, deviations: 0.400" in found["note"]
    assert found["note"].count(": ") == 6
    assert not viscosity.claim_of(left.assign(converged=[False] + [True] * 11), [0.6])[viscosity.CLAIM]["converged"]
    # one run of all that did not become steady
    table = readings(CHANGES)
    table.loc[4, "converged"] = False
    assert left["converged"].all()
    assert not viscosity.left_by_mrt(table, None, None)["converged"].any()


def test_that_mrt_changes_less_is_judged_only_if_each_chi_of_the_figures_ran_on_each_reading(same_with_whole):
    left = viscosity.left_by_mrt(readings(CHANGES), None, None)
    assert viscosity.claim_of(left, [0.6, 0.7]) == {}
    assert viscosity.claim_of(left[left["populations"] == "deviations"], [0.6]) == {}
    assert viscosity.CLAIM in permeability.CLAIMS
    chis = variants.paper_changes(figure_points(DATA, "5.7"), figure_points(DATA, "5.8"))["chi"]
    (book,) = (book for book in catalogue.load(Project.default()).notebooks if book.id == "porous/bcc_permeability")
    assert set(chis) == set(book.profiles["paper"]["chis"])


@pytest.mark.parametrize("case", [(128, 0.6, "mrt"), (127, 0.9, "mrt-dhumieres")])
def test_that_mrt_changes_less_fails_by_one_chi_on_one_reading(same_with_whole, case):
    left = viscosity.left_by_mrt(readings(CHANGES | {case: 0.11}), None, None)
    assert not viscosity.changes_less(left)["holds"]


FIGURES = figure_points(DATA, "5.7"), figure_points(DATA, "5.8")


def test_what_hardly_means_is_the_largest_share_in_the_papers_own_points():
    (claim,) = find([viscosity.CLAIM]).values()
    share, reading = viscosity.paper_share(*FIGURES)
    assert (round(share, 3), round(reading, 3)) == (claim.bounds()[0], claim.margin())
    assert share == pytest.approx(0.32 / 9.17, rel=0.02)


@pytest.mark.parametrize("side", [1, -1])
def test_a_share_of_a_change_is_the_same_whether_k_rises_or_falls(monkeypatch, side):
    table = pd.DataFrame({"change with BGK (%)": [10.0, 20.0], "change with MRT (%)": [-1.0, 4.0], "reading (%)": 0.5})
    paper = table.assign(**{name: side * table[name] for name in table.columns[:2]})
    monkeypatch.setattr(viscosity, "paper_changes", lambda *figures: paper)
    assert viscosity.paper_share(None, None) == pytest.approx((0.2, 0.5 / 20))


@pytest.mark.parametrize(
    ("changes", "hardly", "holds"),
    [
        ({"mrt": 0.003, "mrt-dhumieres": 0.04}, (3, 0), True),
        # beyond the paper's share at one chi, in one cell: the two other readings remain
        ({"mrt": 0.003, "mrt-dhumieres": 0.04, (127, 0.9, "mrt"): 0.005}, (2, 0), True),
        ({"mrt": 0.003, "mrt-dhumieres": 0.003}, (3, 3), False),
        ({"mrt": 0.04, "mrt-dhumieres": 0.04}, (0, 0), False),
    ],
)
def test_whether_mrt_leaves_hardly_any_change_hangs_on_its_rates(same_with_whole, changes, hardly, holds):
    left = viscosity.left_by_mrt(readings({"bgk": 0.10} | changes), None, None)
    found = viscosity.open_rates(viscosity.against_paper(left, *FIGURES), *FIGURES)
    share, _ = viscosity.paper_share(*FIGURES)
    assert found == {"share": share, "thirty": hardly[0], "other": hardly[1], "holds": holds}
    # either way it is not comparable, for the paper does not name its rates
    (claim,) = find([viscosity.CLAIM]).values()
    measured = viscosity.claim_of(left, [0.6, 0.9])[viscosity.CLAIM]["measured"]
    assert judge(claim, Evidence(measured)).verdict == "not comparable"
    assert judge_by_first_rule(claim, Evidence(measured)).verdict == "reproduced"


def test_the_viscosity_is_looked_at_where_all_of_its_runs_were_made():
    taus = permeability.VISCOSITY_TAUS
    rows = [(8, 0.6, tau, "bgk", "half-way") for tau in taus] + [(8, 0.6, tau, "bgk", "modified") for tau in taus[1:]]
    rows += [(8, 0.7, tau, "mrt", "half-way") for tau in taus] + [(7, 0.6, tau, "mrt", "half-way") for tau in taus]
    table = pd.DataFrame(rows, columns=["nodes", "chi", "tau", "collision", "walls"])
    found = permeability.viscosity_runs(table, 8)
    assert [tuple(row) for row in found.to_numpy()] == rows[: len(taus)]


@pytest.mark.parametrize("converged", [True, False])
def test_claims_on_permeability_say_whether_all_runs_became_steady(monkeypatch, converged):
    parts = {"claims_of": {"a": {"measured": 1.0, "note": "one"}}, "change_over_porosity": {"b": {"measured": 2.0}}}
    for name, found in (parts | {"series_claims": {"c": {"measured": 3.0}}}).items():
        monkeypatch.setattr(permeability, name, lambda *given, found=found: found)
    record = Kept()
    table = pd.DataFrame({"converged": [True, converged], "nodes": [128, 127]})
    more = {"d": {"measured": 4.0, "converged": "its own"}}
    permeability.record_claims(record, None, {"bgk": 1, "mrt": 2}, table, more)
    assert {claim: (value["measured"], value["converged"]) for claim, value in record.items()} == {
        claim: (value, converged) for claim, value in zip("abc", (1.0, 2.0, 3.0), strict=True)
    } | {"d": (4.0, "its own")}
    assert record["a"]["note"] == "one"
    permeability.record_claims(coarse := Kept(), None, {}, table.assign(nodes=127), more)
    assert coarse == {}


def test_both_figures_are_handed_over_with_their_own_points(monkeypatch):
    seen = []
    monkeypatch.setattr(permeability, "claims_of", lambda *given: seen.append(given) or {})
    monkeypatch.setattr(permeability, "change_over_porosity", lambda table: {})
    monkeypatch.setattr(permeability, "series_claims", lambda table: {})
    table = pd.DataFrame({"converged": [True], "nodes": [128]})
    permeability.record_claims(Kept(), "summary", {"mrt": "5.8", "bgk": "5.7"}, table, {})
    assert seen == [("summary", "5.7", "5.8")]


@pytest.mark.parametrize(("axis", "index"), [("x", 2), ("y", 1), ("z", 0)])
def test_against_an_axis_is_along_it_in_the_mirror_image(monkeypatch, axis, index):
    """Made up: k is 2 in the image and 3 in its mirror image, and more by the force; so are the densities' spreads."""
    image, asked = np.random.default_rng(1).uniform(0, 1, (3, 4, 5)) < 0.4, []

    def flow_through(space, device, *, axis, force, **options):
        asked.append((device, axis, options))
        there = np.array_equal(space.solid, image)
        assert there or np.array_equal(space.solid, np.flip(image, index))
        return flow((2.0 if there else 3.0) + force, density_spread=(0.5 if there else 0.25) * force)

    monkeypatch.setattr(permeability, "flow_through", flow_through)
    table = permeability.reversal(image, "here", 4.0, axis=axis, precision="double")
    assert asked == [("here", axis, {"precision": "double"})] * 4
    assert table[["force", "k", "k back"]].to_numpy().tolist() == [[4.0, 6.0, 7.0], [1.0, 3.0, 4.0]]
    assert table["k back/k - 1"].tolist() == pytest.approx([1 / 6, 1 / 3])
    assert table["density spread"].tolist() == pytest.approx([2.0, 0.5])


def test_an_image_is_told_by_its_size_and_the_surface_of_a_metre():
    """A wall of one voxel across a box of four has two faces, half a face a voxel, of which two thirds count."""
    solid = np.zeros((2, 3, 4), bool)
    solid[:, :, 1] = True
    (row,) = permeability.image_table(PoreSpace(solid), 1e-3).to_dict("records")
    assert (row["voxels"], row["voxel (m)"], row["fluid nodes"]) == ("4 x 3 x 2", 1e-3, 18)
    assert row["specific surface (1/m)"] == pytest.approx(2 / 3 * 0.5 / 1e-3)


def test_the_same_flow_runs_in_double_precision_with_deviations_and_with_plain_populations(monkeypatch):
    monkeypatch.setattr(precision, "flow_through", lambda space, device, **options: (space, device, options))
    runs = precision.precision_runs("space", "here", interval=9)
    ways = [("double", "deviation"), ("single", "deviation"), ("single", "plain")]
    assert [(options.pop("precision"), options.pop("storage")) for *_, options in runs.values()] == ways
    assert list(runs.values()) == [("space", "here", {"interval": 9})] * 3
    assert list(runs) == list(precision.KINDS)


def test_the_steps_are_judged_on_the_reading_that_is_the_farthest_from_the_papers(monkeypatch):
    asked = []

    def flow_through(space, device, **options):
        asked.append((space.shape[0], options))
        return flow(1.0, steps={8: 21000, 6: 23000}[space.shape[0]], converged=space.shape[0] == 8)

    monkeypatch.setattr(precision, "flow_through", flow_through)
    readings = precision.steps_on_readings(8, 0.6, flow(1.0, steps=24000), "here", interval=9)
    more = precision.KINDS["double"] | {"interval": 9}
    rest = [(6, {"collision": "mrt"} | more), (6, {"collision": "mrt-dhumieres"} | more)]
    assert asked == [(8, {"collision": "mrt-dhumieres"} | more), *rest]
    found = precision.steps_claim(readings, 24000)
    note = "reference 30, 8 voxels: 24,000, reference 31, 8 voxels: 21,000"
    note += ", reference 30, 6 voxels: 23,000, reference 31, 6 voxels: 23,000"
    assert found == {"measured": 21000, "converged": False, "note": note}
    (claim,) = find(["porous-052"]).values()
    assert judge(claim, Evidence(found["measured"])).verdict == "not reproduced"
    assert judge(claim, Evidence(precision.steps_claim(readings.drop(1), 24000)["measured"])).verdict == "reproduced"


def test_changes_are_those_of_each_run_in_single_precision_against_double():
    """Double had 2, and 4 from step 20 on; deviations have 1 % more, and plain populations lose 10 % at the end."""
    double = flow(4.0, history=[(0, 1.0), (10, 2.0), (20, 4.0)])
    near = flow(4.0, history=[(0, 1.0), (10, 2.02), (20, 4.04)])
    plain = flow(3.6, history=[(0, 1.0), (10, 2.0), (30, 3.6)])
    found = precision.changes(dict(zip(precision.KINDS, (double, near, plain), strict=True)))
    assert found["single, deviations"].to_dict() == pytest.approx({10: 1, 20: 1})
    assert found["single, plain"].to_dict() == pytest.approx({10: 0, 30: -10})
    assert list(found) == list(precision.KINDS)[1:]


def test_each_variant_is_run_at_both_relaxation_times_with_one_thing_changed(monkeypatch):
    """k falls by a tenth from the first time to the second; without half the force by what that adds less.

    With one thing changed it is three times as large.
    """
    seen = []

    def flow_through(space, device, *, relaxation_time, force, interval, **more):
        assert (device, interval) == ("here", 10)
        assert more.pop("strategy") == "sparse"
        seen.append((relaxation_time, force / gentle_force(space, (relaxation_time - 0.5) / 3), more))
        if more.get("forcing"):
            raise DivergenceError("too fast")
        return flow((20.0 if relaxation_time == 0.8 else 18.0) * (1 if len(seen) <= 2 else 3))

    monkeypatch.setattr(variants, "flow_through", flow_through)
    rows = [(16, 0.6, tau, kind, "half-way", k) for kind, ks in (("bgk", (5.0, 6.0)), ("mrt", (1.0, 9.0)))
            for tau, k in zip((0.8, 1.0), ks, strict=True)]  # fmt: skip
    rows += [(8, 0.6, 0.8, "bgk", "half-way", 7.0), (16, 0.6, 0.8, "bgk", "modified", 8.0)]
    rows += [(16, 0.9, 0.8, "bgk", "half-way", 7.0)]
    table = pd.DataFrame(rows, columns=["nodes", "chi", "tau", "collision", "walls", "k"])
    published = pd.DataFrame({"chi": [0.6, 0.7], "change with BGK (%)": [-3.0, 4.0]})
    found = variants.changes(table, 10, "here", published)
    assert list(found.columns) == [0.6]
    assert found.loc[variants.PAPER_ROW, 0.6] == -3
    assert found.loc[f"{variants.BASE}, 16 nodes", 0.6] == pytest.approx(20)
    assert found.loc[f"{variants.BASE}, 10 nodes", 0.6] == pytest.approx(-10)
    assert np.isnan(found.loc["force of Guo and others, 10 nodes", 0.6])
    # the velocity of a first program lacks half the force: n (tau - 1/2) / 6 of k
    lacks = PoreSpace(sphere_crystal(10, 0.6)).porosity * np.array([0.3, 0.5]) / 6
    assert found.loc[f"{variants.HALF}, 10 nodes", 0.6] == pytest.approx(100 * ((18 - lacks[1]) / (20 - lacks[0]) - 1))
    usual = {"collision": "bgk", "walls": "half-way"}
    changed = [{}, {"storage": "plain"}, {"walls": "modified"}, {"forcing": "guo"}, {}, {"tolerance": 1e-2}, {}]
    assert [more for *_, more in seen] == [usual | more for more in changed for _ in range(2)]
    # tau = 2 in the place of 1, in the last; ten times the force in one
    assert [tau for tau, *_ in seen] == [0.8, 1.0] * 6 + [0.8, 2.0]
    assert [times for _, times, _ in seen] == pytest.approx([1] * 8 + [10] * 2 + [1] * 4)


def test_a_run_of_a_variant_is_looked_at_as_often_as_the_papers_in_its_own_time(monkeypatch):
    """On a sixty-fourth of the nodes every ten steps, on half of them every 250."""
    seen = []
    monkeypatch.setattr(variants, "flow_through", lambda *_, interval, **__: seen.append(interval) or flow(1.0))
    monkeypatch.setattr(variants, "gentle_force", lambda *_: 1e-6)
    for nodes in (2, 64):
        variants._pair(SimpleNamespace(shape=(nodes,) * 3), None)
    assert seen == [10, 10, 250, 250]


def test_one_cavity_is_run_at_each_reynolds_number_and_not_again_at_its_own(monkeypatch):
    monkeypatch.setattr(cavity, "solve_cavity", lambda case, device, precision: (case, device, precision))
    own = SimpleNamespace(case=Cavity(reynolds=400.0, nodes=40, lid_speed=0.05))
    assert cavity.changed(own, "here", precision="double", reynolds=400.0) is own
    found = cavity.changed(own, "here", precision="double", reynolds=100.0)
    assert found == (Cavity(reynolds=100.0, nodes=40, lid_speed=0.05), "here", "double")


def test_the_cavity_hands_over_its_vortices_and_their_coordinates(monkeypatch):
    monkeypatch.setattr(lids, "vortices_claim", lambda flow: {"measured": 3, "note": "all"})
    centres = pd.DataFrame({"x": [0.55], "y": [0.6]}, index=pd.Index(["primary"], name="vortex"))
    run = SimpleNamespace(case=Cavity(nodes=256), convergence=SimpleNamespace(converged=False))
    lids.record_claims(record := Kept(), run, centres)
    assert record.pop(lids.VORTICES_CLAIM) == {"measured": 3, "note": "all", "converged": False}
    # the thesis' own column and Ghia's
    assert {claim: value["measured"] for claim, value in record.items()} == {
        claim: {"x": 0.55, "y": 0.6}[axis]
        for claim, (vortex, axis) in cavity.CENTRE_CLAIMS.items()
        if vortex == "primary"
    }
    assert {value["converged"] for value in record.values()} == {False}
    coarse = SimpleNamespace(case=Cavity(nodes=255), convergence=run.convergence)
    lids.record_claims(record := Kept(), coarse, centres)
    assert not record


def test_ducts_are_listed_by_their_nodes_across_and_the_papers_way_is_through_shared_memory_on_a_gpu(monkeypatch):
    def measured(case, problem, device, **options):
        return SimpleNamespace(row={"case": case, "size": problem, **options})

    monkeypatch.setattr(speed, "measure_speed", measured)
    record = SimpleNamespace(timing=lambda **row: timed.append(row))
    timed = []
    table = speed.duct_table([("a", "128 x 64 x 32", None, {"mlups": 2.0})], record)
    assert table[["case", "NY", "mlups"]].to_numpy().tolist() == [["a", 32, 2.0]]
    assert timed == [{"case": "a", "size": "128 x 64 x 32", "mlups": 2.0, "includes": speed.INCLUDES}]
    assert [speed.paper_way(SimpleNamespace(name=name)) for name in ("cuda", "threads")] == ["shared memory", "pull"]


def test_the_multiprocessors_are_those_of_the_gpu_at_hand():
    cuda = SimpleNamespace(
        Device=lambda: SimpleNamespace(id=3),
        runtime=SimpleNamespace(getDeviceProperties={3: {"multiProcessorCount": 132}, 0: {}}.get),
    )
    assert matrix_sum.multiprocessors(SimpleNamespace(xp=SimpleNamespace(cuda=cuda))) == 132


def test_the_warps_that_are_needed_are_the_fewest_with_nine_tenths_of_the_fastest():
    rows = [(2, 2, 30.0), (2, 6, 80.0), (2, 8, 90.0), (2, 16, 100.0), (1, 4, 91.0)]
    table = pd.DataFrame(rows, columns=["blocks", "warps", "GB/s"])
    assert matrix_sum.rule_numbers(table) == {"share": pytest.approx(80), "enough": 4, "holds": True}
    assert not matrix_sum.rule_numbers(table.assign(**{"GB/s": 1.0}))["holds"]


def test_each_image_is_timed_with_each_block_and_the_tables_are_kept(monkeypatch):
    spaces = [SimpleNamespace(porosity=p) for p in (0.3, 0.9)]
    seen = []

    def over_porosity(spaces, strategies, device, record, **options):
        seen.append((tuple(strategies), device, options))
        return pd.DataFrame({"porosity": [0.3, 0.9], "block": options["block"], "mlups": 4.0})

    monkeypatch.setattr(media_speed, "over_porosity", over_porosity)
    monkeypatch.setattr(media_speed, "flag_word_variants", lambda *given, **more: pd.DataFrame({64: [len(given), 1]}))
    variants, by_block = media_speed.record_flag_word(record := Kept(), spaces, "here", [64, 128], seconds=0.1)
    assert by_block["block"].tolist() == [64, 64, 128, 128]
    assert seen == [(("flag word",), "here", {"seconds": 0.1, "block": block}) for block in (64, 128)]
    assert record["blocks of the flag word"] is by_block
    # a record keeps names of columns as text
    assert list(record["variants of the flag word (MLUPS)"].columns) == ["64"]
    assert list(variants.columns) == [64]


def test_strategies_are_compared_on_a_gpu_and_lists_elsewhere():
    assert media_speed.compared(GPU) == ["flag word", "sparse", "sparse in place", "branches"]
    assert media_speed.compared(SimpleNamespace(name="threads")) == ["sparse", "sparse in place"]


def test_every_strategy_runs_on_every_image_by_name(monkeypatch):
    monkeypatch.setattr(media_speed, "speed_table", lambda runs, record: runs)
    runs = media_speed.over_porosity([SimpleNamespace(porosity=0.25)], ["sparse", "branches"], "here", seconds=0.1)
    assert [(case, device, options) for case, _, device, options in runs] == [
        (f"{name}, porosity 0.250", "here", {"strategy": name, "seconds": 0.1}) for name in ("sparse", "branches")
    ]
    made = media_speed.crystals(8, [0.6, 0.9])
    for space, chi in zip(made, (0.6, 0.9), strict=True):
        np.testing.assert_array_equal(space.solid, sphere_crystal(8, chi))


@pytest.fixture
def made(monkeypatch):
    """Flows that are asked for; each says what it keeps and what its map moves."""
    seen = []

    def porous_flow(problem, device, **options):
        seen.append((problem, device, options))
        steps = [lambda name=name: seen.append(name) for name in ("even", "odd")]
        cost = STRATEGIES[options["strategy"]].COST
        return SimpleNamespace(
            cost=cost, kept_bytes=640, scheme=SimpleNamespace(steps=steps), step=lambda count: seen.append(count)
        )

    for module in (media_speed, memory_of):
        monkeypatch.setattr(module, "PorousFlow", porous_flow)
    return seen


def test_the_steps_in_place_are_timed_each_with_the_bytes_that_it_moves(monkeypatch, made):
    """Fifty of either take a second on a device that copies 10^4 bytes a second; eight pores of 27."""
    solid = np.ones((3, 3, 3), bool)
    solid[:2, :2, :2] = False
    monkeypatch.setattr(media_speed, "copy_bandwidth", lambda device: 1e4)
    monkeypatch.setattr(media_speed, "measure", lambda run, device: run() or SimpleNamespace(seconds=1.0))
    device = SimpleNamespace(capture=lambda run: run)
    table = media_speed.in_place_steps({"a cube": PoreSpace(solid)}, device)
    assert made[0][2] == {"strategy": "sparse in place", "block": 256}
    # two steps first, after which an even one follows
    assert (made[1], made[2:]) == (2, ["even"] * 50 + ["odd"] * 50)
    assert table[["medium", "step"]].to_numpy().tolist() == [["a cube", "even"], ["a cube", "odd"]]
    # 19 populations of four bytes in and out, and the places of 18 of them where they are read through the map
    assert table["bytes"].tolist() == [152, 152 + STRATEGIES["sparse in place"].COST.map]
    assert table["mflups"].tolist() == pytest.approx([400e-6] * 2)
    assert table["roof"].tolist() == pytest.approx((400 * table["bytes"] / 1e4).tolist())


def test_the_time_of_the_map_is_that_of_a_fluid_node_of_the_first_medium(monkeypatch):
    listed = []
    monkeypatch.setattr(media_speed, "list_neighbours", lambda problem, device: listed.append((problem, device)))
    open_box, other = PoreSpace(np.zeros((2, 2, 2), bool)), PoreSpace(np.zeros((3, 3, 3), bool))
    for seconds, ns, holds in ((8e-6, 1e3, True), (1e-4, 12.5e3, False)):
        monkeypatch.setattr(
            media_speed, "wall_clock", lambda run, device, s=seconds: run() or SimpleNamespace(seconds=s)
        )
        found = media_speed.mapping_time({"first": open_box, "second": other}, "here")
        assert found == {"ns": pytest.approx(ns), "holds": holds}
    problem, device = listed[0]
    assert (problem.space, device) == (open_box, "here")


def test_memory_is_that_of_each_strategy_in_both_precisions_and_lists_have_a_break_even(made):
    solid = np.zeros((2, 2, 2), bool)
    solid[0] = True
    record = Kept()
    memory, readings = memory_of.record_memory(record, {"first": PoreSpace(solid), "second": None}, "here")
    assert memory[["strategy", "precision"]].to_numpy().tolist() == [
        [name, kind] for kind in ("single", "double") for name in STRATEGIES
    ]
    assert [(options["strategy"], options["precision"]) for *_, options in made] == [
        tuple(row) for row in memory[["strategy", "precision"]].to_numpy()
    ]
    # 640 bytes of eight nodes
    assert set(memory["allocated"]) == {80}
    at = memory.set_index(["strategy", "precision"])
    # both arrays of 19 populations and a flag; a list has those of its pores, half of the nodes, and 18 places
    assert at.loc[("flag word", "double"), "bytes"] == 2 * 19 * 8 + 4
    assert at.loc[("sparse", "double"), "bytes"] == (2 * 19 * 8 + 18 * 4) / 2
    assert at.loc[("sparse", "single"), "bytes"] == (2 * 19 * 4 + 18 * 4) / 2
    limit = (2 * 19 * 8 + 4) / (2 * 19 * 8 + 18 * 4)
    assert at.loc[("sparse", "double"), "saves below porosity"] == pytest.approx(limit)
    assert np.isnan(at.loc[("branches", "double"), "saves below porosity"])
    assert record["porous-041"]["measured"] == pytest.approx(limit)
    assert record["memory"] is memory
    assert record["readings of section 5.3"] is readings


def test_a_flow_is_one_row_of_its_table(monkeypatch):
    monkeypatch.setattr(layered, "row_of", lambda flow: {"nodes": flow})
    assert layered.table([8, 16]).to_dict("records") == [{"nodes": 8}, {"nodes": 16}]


class Stepped:
    """Two fluids whose first density is the step, by which it is looked at."""

    def __init__(self):
        self.steps = 0

    def step(self, count):
        self.steps += count

    def fields(self):
        return tuple(np.full((1, 2, 2), self.steps * factor) for factor in (1.0, 2.0, 3.0))


def test_drops_are_looked_at_after_four_fifths_of_the_steps_and_at_the_end(monkeypatch):
    monkeypatch.setattr(Drop, "start", lambda case, device, precision: Stepped())
    monkeypatch.setattr(
        contact, "contact_angle", lambda a, b: SimpleNamespace(angle=90.0 - a[0, 0, 0] + 0 * b[0, 0, 0], seen=(a, b))
    )
    case = Drop(wetting=0.01)
    ((found, densities, angle, change),) = contact.drops([case], None, 50, precision="double")
    assert found is case
    assert densities.tolist() == [[[50.0] * 2] * 2, [[100.0] * 2] * 2]
    # 90 less 40, and less 50
    assert (angle.angle, change) == (40.0, 10.0)


def test_one_bubble_is_run_in_both_precisions_and_several_radii_differ_by_nothing_else(monkeypatch):
    def bubbles(cases, device, steps, *, precision):
        row = {"radius": 8.0, "pressure": 0.04, "tension": 0.3, "anisotropy": 1e-3, "spurious": 1e-4, "change": 1.0}
        assert (cases, device, steps) == (["case"], "here", 9)
        return pd.DataFrame([row if precision == "double" else row | {"pressure": 0.05}])

    monkeypatch.setattr(laplace, "bubbles", bubbles)
    table = laplace.precisions("case", "here", 9)
    assert table["pressure"].to_dict() == {"single": 0.05, "double": 0.04}
    assert list(table.columns) == ["radius", "pressure", "tension", "anisotropy", "spurious"]
    made = laplace.over_radii([9.0, 11.0], nodes=48, interaction=0.15)
    assert made == [Bubble(radius=radius, nodes=48, interaction=0.15) for radius in (9.0, 11.0)]


def test_the_fields_of_a_bubble_are_both_densities_of_its_plane_and_its_radius(monkeypatch):
    monkeypatch.setattr(Bubble, "start", lambda case, device, precision: Stepped())
    monkeypatch.setattr(laplace, "bubble_state", lambda flow: SimpleNamespace(radius=flow.steps / 2))
    a, b, radius = laplace.fields(Bubble(radius=9.0), None, 30, precision="single")
    assert (a.tolist(), b.tolist(), radius) == ([[30.0] * 2] * 2, [[60.0] * 2] * 2, 15.0)


def test_a_bubble_that_has_left_the_middle_is_not_at_rest_and_has_no_radius(monkeypatch):
    def gone(flow):
        raise laplace.InputError("it has left the middle")

    monkeypatch.setattr(Bubble, "start", lambda case, device, precision: Stepped())
    monkeypatch.setattr(laplace, "bubble_state", gone)
    table = laplace.bubbles([Bubble(radius=9.0)], None, 30, precision="single")
    assert (table["start"].item(), table["change"].item()) == (9.0, np.inf)
    assert "radius" not in table
    assert not laplace.settled(table)
    assert laplace.lines(table).empty


@pytest.mark.parametrize(("residual", "there"), [(0.4, True), (0.5, False), (None, False)])
def test_a_surface_that_no_circle_describes_has_neither_angle_nor_radius(monkeypatch, residual, there):
    def contact_angle(a, b):
        if residual is None:
            raise media.InputError("no drop")
        return SimpleNamespace(angle=70.0, radius=9.0, height=4.0, residual=residual)

    monkeypatch.setattr(media, "contact_angle", contact_angle)
    found = media._circle(None, None)
    assert found == (70.0, 9.0, 4.0, 0.4) if there else np.isnan(found).all() and len(found) == 4


def test_a_gpu_hands_over_the_speedup_of_the_fastest_cube_and_the_speeds_per_node(monkeypatch):
    claims = {"a": 1.0, "b": 2.0, "porous-140": {"no solid": [1.0]}}
    monkeypatch.setattr(two_speed, "gpu_claims", lambda *given: claims)
    cubes = pd.DataFrame({"strategy": ["sparse", "sparse", "dense"], "space": ["4³", "6³", "6³"]})
    cubes["mflups"] = [50.0, 80.0, 900.0]
    packed = pd.DataFrame({"strategy": "sparse", "space": ["no solid", "random blocks"], "mlups": [2000.0, 1500.0]})
    cpu = pd.Series({"node by node": 2.0, "rows": 40.0, "rows, all cores": 160.0})
    two_speed.record_gpu_claims(record := Kept(), None, cubes, packed, None, None, cpu)
    assert [record[claim]["measured"] for claim in "ab"] == [1.0, 2.0]
    assert record["porous-140"] == {"measured": {"no solid": [1.0]}, "note": "per node 2,000, 1,500 MLUPS"}
    assert record["porous-100"] == {
        "measured": 2.0,
        "baseline": "two fluids, dense, in rows, one core: 40 MFLUPS",
        "note": "against rows on one core; node by node 40, all cores 0.5",
    }


def test_a_run_on_a_gpu_measures_every_claim_of_its_notebook():
    """On the speed of two fluids, and on porous media: ids as they are handed over, whatever the numbers are."""
    media_of = [two_speed.NO_SOLID, two_speed.SPHERES, two_speed.BLOCKS]
    rows = {"strategy": "sparse", "space": media_of, "mlups": 1.0, "mflups": 1.0, "seconds": 1.0, "runs": [[1.0]] * 3}
    packed, cpu = pd.DataFrame(rows), pd.Series(1.0, ["node by node", "rows", "rows, all cores"])
    parted = pd.DataFrame({"strategy": ["sparse"], "densities (%)": 1.0})
    two_speed.record_gpu_claims(
        record := Kept(), packed, packed, packed, parted, pd.DataFrame({"loss (%)": [1.0]}), cpu
    )
    assert set(record) == set(two_speed.ON_GPU)
    rows = [(name, p, k) for name in ("flag word", "sparse", "branches") for p in (0.3, 0.9) for k in (64, 128)]
    table = pd.DataFrame(rows, columns=["strategy", "porosity", "block"])
    table = table.assign(mlups=1.0, mflups=1.0, seconds=1.0, runs=[[1.0]] * len(rows))
    names = [*cpu.index, *(f"{storage}, {how}" for storage in media_speed.FULL_STORAGE for how in cpu.index[:2])]
    cores = pd.DataFrame({"mflups": 1.0, "seconds": 1.0, "runs": [[1.0]] * len(names)}, names)
    variants = pd.DataFrame({"drop": [1.0], "share": [1.0]})
    once, blocks = table[table["block"] == 64], table[table["strategy"] == "flag word"]
    media_speed.record_gpu_claims(record := Kept(), once, once, variants, blocks, cores)
    media_speed.record_core_claims(record, cores)
    record.measure("porous-041", 1.0)
    assert set(record) == set(media_speed.CLAIMS)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_time_loop_is_checked_and_timed_in_the_precision_that_is_asked_for(monkeypatch, precision):
    seen = []
    monkeypatch.setattr(speed, "check_strategy", lambda *given, **more: seen.append(more) or "checked")
    monkeypatch.setattr(speed, "host_clock", lambda run, device: run() or 0.5)

    def simulation(problem, device, *, precision):
        seen.append({"precision": precision})
        return SimpleNamespace(set_populations=seen.append, step=lambda count: seen.append(count))

    monkeypatch.setattr(speed, "Simulation", simulation)
    problem = Cavity(reynolds=10, nodes=10).problem
    found = speed.time_loop_speed(problem, SimpleNamespace(name="here"), steps=20, precision=precision)
    assert seen[0] == {"strategy": "pull", "precision": precision, "layout": "soa", "block": 128}
    assert seen[1] == {"precision": precision}
    # what records a graph, and then the steps that count
    assert seen[3:] == [2 * speed.GRAPH_STEPS + 2, 20]
    assert (found["precision"], found["check"], found["device"]) == (precision, "checked", "here")


def test_three_matrices_take_twelve_bytes_an_entry(monkeypatch):
    asked = []
    monkeypatch.setattr(matrix_sum, "require_memory", lambda device, size, *more: asked.append((device, size)))
    device = SimpleNamespace(to_device=lambda array: array, zeros=np.zeros)
    a, b, c = matrix_sum.matrices(device, 50)
    assert asked == [(device, 12 * 50**2)]
    assert a.shape == b.shape == c.shape == (2500,)
    assert a.dtype == b.dtype == c.dtype == np.float32
    # whole numbers, whose sums are exact, and no sum is another entry's by chance
    assert all((array == np.rint(array)).all() for array in (a, b))
    assert len(set(a + b)) > 500


def test_the_lid_moves_with_its_own_speed_between_walls_at_rest(monkeypatch):
    """Made up: all nodes move with a tenth of the lid's speed along x and two tenths along y."""
    case = Cavity(reynolds=100, nodes=24, lid_speed=0.05)
    field = np.zeros((3, 1, 24, 24))
    field[0], field[1] = 0.005, 0.01

    def simulation(problem, device, *, precision, strategy):
        assert (precision, strategy) == ("double", "push")
        return SimpleNamespace(run_to_steady_state=lambda limit: limit, fields=lambda: (None, field))

    monkeypatch.setattr(cavity, "Simulation", simulation)
    found = cavity.solve_cavity(case, None, precision="double", limit=9)
    assert (found.case, found.convergence) == (case, 9)
    assert found.u[-1].tolist() == [0.0, *[1.0] * (len(found.x) - 2), 0.0]
    np.testing.assert_allclose(found.u[1:-1, 1:-1], 0.1)
    np.testing.assert_allclose(found.v[1:-1, 1:-1], 0.2)
    for rim in (found.u[0], found.u[:-1, 0], found.u[:-1, -1], found.v[0], found.v[-1], found.v[:, 0], found.v[:, -1]):
        assert not rim.any()


def test_the_second_half_of_a_run_begins_at_half_of_its_steps_and_the_force_is_the_nearest():
    points = [("single", x, y) for x, y in ((0, 1.0), (10, 90.0), (20, 99.0))]
    points += [("double", x, 100.0) for x in (0, 10, 20)]
    found = precision.settled(pd.DataFrame(points, columns=["series", "x", "y"]))
    assert found == {"mean": pytest.approx(-5.5), "moves": pytest.approx(9), "holds": False}
    # forces with one change lie a unit apart: the one that is asked for comes back
    for units in (3, 7, 30):
        near = units * precision.FORCE_UNIT
        assert precision.force_with(0.0, near) == pytest.approx(near)


def test_small_blocks_are_a_thirty_second_of_the_cube_and_two_nodes_at_least(monkeypatch):
    asked = []

    def blocks(shape, porosity, edge, seed):
        asked.append((shape, porosity, edge, seed))
        return np.zeros(shape, bool)

    monkeypatch.setattr(media_speed, "random_blocks", blocks)
    monkeypatch.setattr(media_speed, "PoreSpace", lambda solid: solid)
    for nodes in (40, 96):
        media_speed.packings(nodes, (), 6.0, 5)
    assert asked == [((40,) * 3, 0.7, 2, 5), ((96,) * 3, 0.7, 3, 5)]


def test_one_or_two_blocks_a_multiprocessor_have_up_to_a_thousand_threads_each(monkeypatch):
    """On a GPU of three multiprocessors; a kernel adds nothing here."""
    made = []

    def compile_(kernel):
        return lambda shape, *arguments: made.append((kernel.block, shape, arguments[-2:]))

    monkeypatch.setattr(matrix_sum, "multiprocessors", lambda device: 3)
    monkeypatch.setattr(matrix_sum, "matrices", lambda device, side: ())
    monkeypatch.setattr(matrix_sum, "timed", lambda name, *_, seconds, runs: {"of copy": 0.1, "name": name})
    device = SimpleNamespace(compile=compile_)
    table = matrix_sum.resident_table(10, [2, 32, 64, 96], device, seconds=1.0, runs=1)
    assert table[["blocks", "warps"]].to_numpy().tolist() == [[1, 2], [1, 32], [2, 2], [2, 32], [2, 64]]
    assert made == [(block, (3 * n * block,), (100, 3 * n * block)) for n, block in
                    ((1, 64), (1, 1024), (2, 32), (2, 512), (2, 1024))]  # fmt: skip
    assert table["name"][4] == "matrix sum, 2 blocks and 64 warps a multiprocessor"
    # the fewest warps bring a tenth of a copy
    assert table["as one warp"].tolist() == [0.1, 1.0, 0.1, 1.0, 1.0]


def test_an_angle_is_settled_that_changes_by_less_than_half_a_degree():
    frame = pd.DataFrame({"wetting": list(contact.CLAIMS), "angle": 90.0, "why": "", "change": 0.49, "base (%)": 1.0})
    frame["gap"] = -1.0
    frame.loc[frame["wetting"] == 0.01, "change"] = 0.51
    beside = pd.DataFrame({"read": 1.0, "corrected": 2.0, "rho_s = 1": 3.0, "rho_s = 2": [4.0] * 7 + [np.nan]},
                          list(contact.CLAIMS))  # fmt: skip
    frame.loc[frame["wetting"] == 0.02, "why"] = "the drop floats"
    frame.loc[frame["wetting"] == 0.03, ["why", "base (%)"]] = ["it hardly touches the plate", 7.0]
    contact.hand_over(record := Kept(), frame, beside)
    assert record.pop(contact.CLAIMS[0.02]) == "the drop floats: there is no angle"
    assert record.pop(contact.BASE) == {"measured": 7.0, "note": "it hardly touches the plate"}
    assert {claim for claim, found in record.items() if not found.get("converged", True)} == {contact.CLAIMS[0.01]}
    # beside the angle those of other densities of the solid but the first
    assert record[contact.CLAIMS[-0.03]]["note"] == "rho_s = 2: 4.0"


def test_near_neutral_wetting_is_up_to_a_hundredth():
    """The cosine falls by 0.2 over each hundredth up to there, and not beyond."""
    wetting = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
    cosines = np.array([0.2, 0.2, 0.0, -0.2, -0.2])
    table = pd.DataFrame({"wetting": wetting, "angle": np.degrees(np.arccos(cosines)), "paper": 90.0})
    found = contact.slopes(table.assign(formula=table["angle"]))
    assert found == pytest.approx({"this run": 20.0, "formula": 20.0})


def test_the_formula_takes_phases_in_equilibrium_of_the_density_of_the_solid():
    own, other = contact.exact.coexistence(0.15, density=1.0)
    (angle,) = contact.formula([0.01], 0.15)
    # cos theta = -2 G_fs rho_s / (g (rho_1 - rho_2) / 2)
    assert np.cos(np.radians(angle)) == pytest.approx(-0.02 / (0.15 * (own - other) / 2))


def test_the_list_runs_three_times_on_a_core_and_what_is_slow_once(monkeypatch):
    monkeypatch.setattr(
        media_speed, "measure_speed", lambda case, space, device, **more: SimpleNamespace(row={"case": case} | more)
    )
    table = media_speed.cpu_baselines(None, seconds=0.1)
    slow = [f"{name}, node by node" for name in media_speed.FULL_STORAGE]
    assert table["runs"].to_dict() == {name: 1 if name in slow else 3 for name in table.index}


@pytest.mark.parametrize(("side", "dimensions", "most"), [(3, 2, 262144), (3, 3, 4096), (4097, 3, 4096)])
def test_a_box_of_few_nodes_or_of_more_than_can_be_numbered_is_refused(side, dimensions, most):
    with pytest.raises(InputError, match=f"nodes along a side = {side}: must be a whole number from 4 to {most}"):
        two_speed.open_box(side, dimensions)


@pytest.mark.parametrize(("change", "settled"), [(0.9e-3, True), (1.1e-3, False)])
def test_a_layered_flow_is_steady_that_changes_by_less_than_a_thousandth(monkeypatch, change, settled):
    names = [(name, "bgk") for name in layered.READINGS]
    flow = SimpleNamespace(
        case=SimpleNamespace(nodes=256), change=1e-9, deviation=lambda: 0.01, exact=lambda inner: np.array([inner])
    )
    flows = dict.fromkeys(names, flow) | {names[-1]: SimpleNamespace(case=flow.case, change=change)}
    monkeypatch.setattr(layered, "farthest", lambda flow, points: 5.0)
    layered.hand_over(record := Kept(), flows, None)
    assert (record["porous-077"]["converged"], record["porous-160"]["converged"]) == (settled, settled)
    assert record["porous-076"]["measured"] == 63.5


def test_the_curve_of_figure_6_4_is_judged_by_bgk_and_other_collisions_are_noted(monkeypatch):
    """How far each is from the paper's points, and from its own exact solution."""
    off = {"bgk": (7.0, 5.0, 3.0), "mrt": (90.0, 91.0, 92.0)}
    flows = {}
    for kind, distances in off.items():
        for k, (name, distance) in enumerate(zip(layered.READINGS, distances, strict=True)):
            own = 0.02 * (1 + k) + 0.5 * (kind == "mrt")
            flows[name, kind] = SimpleNamespace(
                case=SimpleNamespace(nodes=256), change=0.0, distance=distance, deviation=lambda own=own: own,
                exact=lambda inner, k=k, kind=kind: np.array([0.5, inner + k + 10 * (kind == "mrt")]),
            )  # fmt: skip
    monkeypatch.setattr(layered, "farthest", lambda flow, points: {"points": flow.distance}[points])
    layered.hand_over(record := Kept(), flows, "points")
    note = "F_w = 0: 5.0 % at the printed ratio 10, 3.0 % at the ratio 6 of the slope"
    assert record["porous-077"] == {"measured": 7.0, "converged": True, "note": note}
    of_both = {"converged": True, "note": "bgk: 2.0 %, mrt: 52.0 %"}
    assert record["porous-160"] == {"measured": pytest.approx(2)} | of_both
    assert record["porous-076"] == {"measured": 63.5, "note": "equation 6.2 for the interface at 63.5"}
    # nothing is judged without BGK
    layered.hand_over(without := Kept(), {key: flow for key, flow in flows.items() if key[1] == "mrt"}, "points")
    assert without == dict.fromkeys(layered.CLAIMS, "256 nodes between the plates; the paper has 256, and BGK")


def test_an_outer_layer_is_looked_at_between_the_interface_and_the_plate_and_an_inner_one_within():
    """Of a gap of 200: beyond 95 and below 55 from the middle, and beyond 45, a profile may be what it likes."""
    y = np.arange(-99.5, 100)
    far, smooth = np.abs(y), np.where(np.abs(y) < 50, 1.0 - 1e-4 * y**2, 0.02 * (100 - np.abs(y)))
    found = layered.shear(y, smooth, 100)
    assert found == pytest.approx({"slope": 0.02, "bow (%)": 0.0, "curvature": 1e-4}, abs=1e-9)
    for low, high in ((0, 45), (55, 95)):
        for at, same in ((low + 1.0, False), (high - 1.0, False), (low - 1.0, True), (high + 1.0, True)):
            if at > 0:
                other = layered.shear(y, smooth - 0.3 * (np.abs(far - at) < 0.6), 100)
                assert (other == pytest.approx(found, abs=1e-6)) == same, at
