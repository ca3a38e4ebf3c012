"""What the notebooks on two fluids in pores measure and say follows from the runs."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainDevice

from repro.errors import CheckError, DivergenceError, InputError
from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids.cases import Drop, Mixture
from repro.lbm.two_fluids.simulation import TwoFluidFlow
from repro.lbm.two_fluids.wetting import wetting
from repro.papers.porous.two_fluids import media

CHANCE = np.random.default_rng(2)
ROCK = PoreSpace(CHANCE.random((3, 4, 5)) < 0.3)


@pytest.fixture(scope="module")
def run() -> media.Run:
    return media.follow(Mixture(ROCK), PlainDevice(), [1, 3, 4], precision="double")


@pytest.mark.parametrize(("last", "count", "also"), [(1000, 10, [7, 100]), (10, 3, []), (40000, 48, [1000, 40000])])
def test_looks_are_spread_evenly_by_factors_and_end_with_the_run(last, count, also):
    steps = media.looks(last, count, also)
    assert steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (min(20, last, *also), last)
    assert set(also) <= set(steps)
    rest = [step for step in steps if step not in also and step >= 100]
    if len(rest) > 2:
        factors = np.divide(rest[1:], rest[:-1])
        assert factors.max() < 1.2 * factors.min() ** (1 + bool(also))


def test_a_picture_after_the_run_and_no_look_at_all_are_refused():
    with pytest.raises(InputError, match="step of a picture = 500: must be a whole number from 1 to 300"):
        media.looks(300, 12, [100, 500])
    with pytest.raises(InputError, match="looks = 0: must be a whole number from 1 to 10000"):
        media.looks(300, 0)


def test_a_channel_is_as_wide_as_it_is():
    for width in (8, 16):
        solid = np.zeros((1, width + 4, 30), bool)
        solid[:, :4] = True
        assert media.pore_width(PoreSpace(solid)) == pytest.approx(width, rel=0.02)
        # behind the faces the channel goes on
        assert media.pore_width(PoreSpace(np.roll(solid, 7, axis=1))) == pytest.approx(width, rel=0.02)


def test_a_run_is_looked_at_when_it_was_asked_for(run):
    assert run.table["step"].tolist() == list(run.images) == [1, 3, 4]
    a, b, velocity = run.flow.fields()
    found = wetting(a, b, ROCK.solid)
    last = run.last
    assert (last["saturation"], last["covered"]) == (found.saturation, found.covered)
    assert last["interface"] == pytest.approx(found.interface / ROCK.solid.size)
    assert (last["pieces f"], last["pieces g"]) == found.clusters
    # what flows in both phases is all that flows
    assert last["flow f"] + last["flow g"] == pytest.approx(velocity[0].mean(), rel=1e-12)
    # and f flows where there is more of f
    own = velocity[0][(a > b) & ~ROCK.solid].sum() / ROCK.solid.size
    assert last["flow f"] == pytest.approx(own, rel=1e-12) != pytest.approx(last["flow g"], rel=1e-3)
    assert run.table[["drift f", "drift g"]].abs().to_numpy().max() < 1e-13


def test_the_controls_start_from_the_same_filling_and_differ_in_the_wetting_alone():
    runs = media.controls(ROCK, PlainDevice(), [1, 2], [2], precision="double")
    assert {name: list(one.images) for name, one in runs.items()} == {
        "as in the paper": [1, 2],
        "exchanged": [2],
        "neutral": [2],
    }
    problems = [one.case.problem for one in runs.values()]
    assert [problem.wetting for problem in problems] == [(0.03, -0.03), (-0.03, 0.03), (0.0, 0.0)]
    assert (
        len({problem.interaction for problem in problems}) == len({problem.accelerations for problem in problems}) == 1
    )
    table = media.summary(runs)
    assert table.loc["exchanged", "covered"] >= table.loc["as in the paper", "covered"]
    assert media.turned_round(table)["paper"] == 100 * table.loc["as in the paper", "covered"]


def test_masses_are_kept_but_for_rounding_in_both_precisions(run):
    table = media.conservation(run, ROCK, 4, ["single", "double"])
    assert table["precision"].tolist() == ["double", "single", "double"]
    assert (table[["drift f", "drift g"]].abs().max(axis=1) < table["allowed"]).all()
    assert table["allowed"].tolist() == [1e-12, 1e-5, 1e-12]
    assert table["size"].tolist() == ["5 x 4 x 3"] * 3
    assert table["steps"].tolist() == [4, 4, 4]


def test_a_mass_drifts_by_its_change_over_what_it_was():
    flow = SimpleNamespace(masses=lambda: (1.25, 1.5))
    assert media._drifts(flow, (1.0, 2.0)) == pytest.approx({"drift f": 0.25, "drift g": -0.25})


def test_a_drop_stands_in_a_row_with_its_circle_and_what_it_covers_of_its_first_base(monkeypatch):
    """Of two plates of 40 nodes the drop covers an eighth of both, 10 nodes, and began with 18."""
    flow = SimpleNamespace(step=lambda steps: None, problem=SimpleNamespace(space=SimpleNamespace(solid="solid")))
    flow.fields = lambda: ("a", "b", "velocity")
    monkeypatch.setattr(Drop, "start", lambda case, device, **options: flow)
    monkeypatch.setattr(media, "phases", lambda a, b, solid: (a, b, solid))
    monkeypatch.setattr(media, "covered", {("a", "b", "solid"): 10 / 80}.get)
    monkeypatch.setattr(media, "_circle", lambda a, b: (70.0, 9.5, 4.0, 0.25))
    table, images = media.drops([Drop(0.03, length=40, height=16, radius=9.0)], None, 7)
    circle = {"angle": 70.0, "radius": 9.5, "height": 4.0, "residual": 0.25}
    assert table.to_dict("records") == [{"wetting": 0.03} | circle | {"base (%)": pytest.approx(100 * 10 / 18)}]
    assert images == [("a", "b", "solid")]


def test_a_run_goes_on_from_what_was_kept(run, tmp_path, monkeypatch):
    flow = Mixture(ROCK).start(PlainDevice())
    flow.step(2)
    media.keep(flow, tmp_path / "run.vti", 2)
    assert flow.steps == 4
    assert (tmp_path / "run.vti").stat().st_size

    def changed(path, device, load=media.checkpoint.load):
        loaded = load(path, device)
        loaded.state[0][5] += np.float32(1e-6)
        return loaded

    monkeypatch.setattr(media.checkpoint, "load", changed)
    with pytest.raises(CheckError, match="from the checkpoint of step 4 differs after 1 steps"):
        media.keep(flow, tmp_path / "run.vti", 1)


def test_a_drop_at_its_start_is_half_a_circle(monkeypatch):
    taken = []
    monkeypatch.setattr(TwoFluidFlow, "step", lambda flow, steps: taken.append(steps))
    table, images = media.drops([Drop(0.03, length=40, height=16, radius=9.0, interaction=0.15)], PlainDevice(), 7)
    assert taken == [7]
    assert images[0].shape == (1, 18, 40)
    row = table.iloc[0]
    assert row["angle"] == pytest.approx(90, abs=6)
    assert row["base (%)"] == pytest.approx(100, abs=12)


def history(**columns) -> media.Run:
    """A run with a made-up table of five looks, whose interface shrinks until the last but one."""
    steps = np.array([20, 100, 400, 1000, 10000])
    table = {"step": steps, "saturation": [0.5, 0.5, 0.5, 0.48, 0.46], "covered": [0.4, 0.04, 0.04, 0.02, 0.03]}
    table |= {
        "interface": 0.5 / np.minimum(steps, 1500) ** 0.5,
        "pieces f": [9, 5, 4, 3, 2],
        "pieces g": [7, 4, 4, 2, 1],
    }
    table |= {"flow f": [0.0, 0.1, 0.1, 0.2, 0.46], "flow g": [0.0, 0.1, 0.1, 0.2, 0.27]}
    return media.Run(Mixture(ROCK), None, pd.DataFrame(table | columns), {})


def test_six_neighbours_have_a_share_where_the_fluids_do_not_diverge(monkeypatch):
    asked = []

    def follow(case, device, steps, **options):
        asked.append((case.stencil, device, steps, options))
        if len(asked) > 1:
            raise DivergenceError("made up")
        return history()

    monkeypatch.setattr(media, "follow", follow)
    share = partial(media.with_six_neighbours, ROCK, "here", [1000, 10000], precision="single")
    assert share() == pytest.approx(0.97 / 0.54)
    assert np.isnan(share())
    assert asked == [("central", "here", [1000, 10000], {"precision": "single", "negative": True})] * 2


@pytest.mark.parametrize(("density", "ends"), [(-0.01, ""), (np.nan, "not finite by step 20")])
def test_a_run_may_go_on_below_zero_and_not_beyond_numbers(monkeypatch, density, ends):
    class Flow:
        steps, problem = 0, SimpleNamespace(space=ROCK)

        def masses(self):
            return 1.0, 1.0

        def advance(self, count):
            self.steps += count

        def fields(self):
            both = np.where(ROCK.solid, 0.0, np.full((2, *ROCK.solid.shape), 0.5))
            both[0][~ROCK.solid] = [density, *both[0][~ROCK.solid][1:]]
            return *both, np.zeros((3, *ROCK.solid.shape))

    monkeypatch.setattr(Mixture, "start", lambda *_, **__: Flow())
    run = partial(media.follow, Mixture(ROCK), "here", [20, 80], negative=True)
    if ends:
        with pytest.raises(DivergenceError, match=ends):
            run()
    else:
        assert run().table["step"].tolist() == [20, 80]


def test_findings_are_those_of_the_tables():
    found = media.surrounds(history(), [1000, 10000])
    assert found == {"least": pytest.approx(97), "pores": pytest.approx(54), "holds": True}
    assert not media.surrounds(history(covered=0.3), [1000])["holds"]
    # 0.98 of the solid for 0.52 of the pores, then 0.97 for 0.54
    assert media.over_its_share(history(), [1000, 10000]) == pytest.approx(0.97 / 0.54)
    # 0.46 of f in 0.46 of the pores against 0.27 of g in 0.54
    assert media.faster(history()) == {"times": pytest.approx(2), "holds": True}
    # the plateau at the end does not count
    grown = media.coarsening(history())
    assert grown == {"power": pytest.approx(-0.5), "last": pytest.approx(0.0129, abs=1e-4), "holds": True}


def test_strengths_turn_the_picture_round_or_not():
    table = pd.DataFrame({"covered": [0.05, 0.95, 0.5], "saturation": 0.5}, ["as in the paper", "exchanged", "neutral"])
    assert media.turned_round(table)["holds"]
    assert not media.turned_round(table.assign(covered=0.5))["holds"]


def test_the_headline_has_what_the_wetting_fluid_covers_and_fills_at_the_end():
    table = pd.DataFrame({"step": [100, 5000], "covered": [0.5, 0.04], "saturation": [0.5, 0.48]})
    ours = "After 5,000 steps the wetting fluid covers 96 % of the solid and fills 52 % of the pores"
    assert media.headline(media.Run(None, None, table, {})) == f"{ours}; the paper says that it surrounds the solid"
