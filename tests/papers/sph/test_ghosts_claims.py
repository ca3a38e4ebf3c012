"""What the notebook on ghosts hands over and what decides its sentences, without compiled code."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainDevice

from repro.papers.sph.ghosts import air, claims, measures
from repro.papers.sph.ghosts.measures import NAMES, PLACES
from repro.sph.air import AirSampling
from repro.sph.cases import DamBreak
from repro.study.judge.claims import find

CASE = DamBreak(column=(4, 3, 8))
STATED = find(claims.SETUP)


def table(ours=0.1, others=0.3, rough=(0.1, 0.2), walls=(0.1, 0.2), pressed=0) -> pd.DataFrame:
    """Three seeds a boundary: deficits, and what is measured with ghosts and without."""
    rows = []
    for name in NAMES.values():
        deficit, n = (ours, 0) if name == NAMES["ghosts"] else (others, 1)
        for seed in range(3):
            parts = {f"{kind} {place}": deficit + 0.001 * seed for kind in ("counted", "excess") for place in PLACES}
            parts |= {f"not counted {place}": others for place in PLACES}
            made = {"surface": rough[n] + 0.001 * seed, "walls": walls[n], "front": 0.2}
            made |= {"on walls": n * pressed, "beyond": -0.4, "lost": 0}
            rows.append({"boundary": name, "seed": seed, **parts, **made})
    return pd.DataFrame(rows)


def apart(distance=0.0, time=0.15) -> pd.DataFrame:
    names = [NAMES["ghosts"], NAMES["none"]]
    return pd.DataFrame({"boundary": names, "time": time, "distance": distance, "same bits": distance == 0})


class Kept:
    """A record that keeps what it is handed."""

    def __init__(self):
        self.measured, self.reasons, self.more = {}, {}, {}

    def measure(self, claim, value, **more):
        self.measured[claim], self.more[claim] = value, more

    def not_measured(self, claim, reason):
        self.reasons[claim] = reason


def handed(*arguments, gpu) -> Kept:
    record = Kept()
    claims.record_claims(record, *arguments, gpu=gpu)
    return record


FULL, SMALL = claims.setup(STATED, DamBreak(), 0.15), claims.setup(STATED, CASE, 0.05)


def test_the_defaults_are_the_papers_ten_thousand_particles_at_its_time():
    assert claims.missing(FULL) == ""
    assert "96 fluid particles where the paper has 10000" in claims.missing(SMALL)
    assert "0.05 time shown where the paper has 0.15" in claims.missing(SMALL)


def test_another_water_than_the_papers_measures_no_claim():
    record = handed(SMALL, table(), apart(), gpu=True)
    assert not record.measured
    assert set(record.reasons) == set(claims.JUDGED)


def test_without_a_gpu_only_the_claim_on_both_devices_is_not_measured():
    record = handed(FULL, table(), apart(), gpu=False)
    assert set(record.measured) == {claims.SMOOTH, claims.MENDED}
    assert "no GPU" in record.reasons[claims.SAME]


def test_the_largest_distance_of_both_boundaries_is_handed_over():
    record = handed(FULL, table(), apart(np.array([0.0, 0.25])), gpu=True)
    assert record.measured[claims.SAME] == 0.25
    # of both, not of either
    assert "not the same bits" in record.more[claims.SAME]["note"]
    assert "the same bits" in handed(FULL, table(), apart(), gpu=True).more[claims.SAME]["note"]
    assert "not the same bits" in handed(FULL, table(), apart(0.1), gpu=True).more[claims.SAME]["note"]


def test_devices_must_be_compared_at_the_papers_time():
    # to the nearest step
    assert claims.SAME in handed(FULL, table(), apart(time=0.1509), gpu=True).measured
    assert claims.SAME in handed(FULL, table(), apart(time=0.1511), gpu=True).reasons
    for early in (0.05, [0.15, 0.05]):
        record = handed(FULL, table(), apart(time=early), gpu=True)
        assert "after 0.05 s and not after 0.15 s" in record.reasons[claims.SAME]


def test_smoothness_is_handed_over_by_place_and_seed():
    found = handed(FULL, table(), apart(), gpu=False).measured[claims.SMOOTH]
    assert found["surface"][NAMES["none"]] == pytest.approx([0.2, 0.201, 0.202])
    assert set(found) == {"surface", "walls"}
    lacks = handed(FULL, table(), apart(), gpu=False).measured[claims.MENDED]
    assert set(lacks) == {"near walls", "near the surface"}
    assert lacks["near walls"][NAMES["ghosts"]] == pytest.approx([0.1, 0.101, 0.102])


def test_a_deficit_is_halved_only_if_it_is_for_every_pair_of_seeds():
    assert measures.missing(table(0.1, 0.3), "near walls")["holds"]
    # half on average, but not the worst against the best
    assert not measures.missing(table(0.1, 0.2), "near walls")["holds"]
    assert measures.missing(table(0.1, 0.3), "near walls")["ours"] == pytest.approx(10.1)


def test_the_headline_is_what_is_missing_near_walls():
    said = "Near walls the sum over neighbours lacks 10 % of the water's density with ghosts there, and 30 % without."
    assert measures.headline(table(0.1, 0.3)) == said


def test_ghosts_fill_the_sums_if_most_is_missing_again_without_them():
    assert measures.without_counting(table(0.1, 0.3))["holds"]
    less = table(0.1, 0.3)
    less["not counted near the surface"] = 0.15
    assert not measures.without_counting(less)["holds"]


def test_what_is_smoother_follows_from_all_seeds():
    assert measures.smoother(*measures.pair_of(table(), "surface"))["holds"]
    assert not measures.smoother(*measures.pair_of(table(rough=(0.2, 0.2)), "surface"))["holds"]


def test_what_is_missing_and_smooth_is_told_in_per_cent_and_as_means_over_the_seeds():
    found = table(0.1, 0.31)
    assert measures.missing(found, "inside") == {
        "ours": pytest.approx(10.1),
        "others": pytest.approx(31.1),
        "holds": True,
    }
    # the worst seed with ghosts lacks half of what the best one without them does
    assert measures.missing(table(0.1, 0.2041), "inside")["holds"]
    assert not measures.missing(table(0.1, 0.2039), "inside")["holds"]
    found["not counted near walls"] = 0.25
    assert measures.without_counting(found) == {"walls": pytest.approx(25), "surface": pytest.approx(31), "holds": True}
    for share, holds in ((0.51, True), (0.49, False)):
        for place in PLACES[:2]:
            some = table(0.1, 0.31).assign(**{f"not counted {place}": 0.101 + share * 0.21})
            assert measures.without_counting(some)["holds"] is holds
    smooth = measures.smoother(*measures.pair_of(table(rough=(0.1, 0.2)), "surface"))
    assert smooth == {"ours": pytest.approx(0.101), "others": pytest.approx(0.201), "holds": True}


def tried(**changes) -> pd.DataFrame:
    """Equation 4, two variants with the paper's B that explode, and soft water that falls."""
    names = ["equation 4, air does not act", "paper's B", "paper's B, no XSPH", air.SOFT.name]
    values = {"fallen": [0.5, 0.5, 0.5, 0.7], "energy": [0.0, 0.5, -0.5, -0.05], "stopped": False}
    return air.with_failures(pd.DataFrame({"variant": names} | values | changes))


def test_a_variant_fails_that_is_stopped_explodes_is_damped_or_falls_as_water_does_not():
    assert tried()["fails"].tolist() == [False, True, True, False]
    assert tried(energy=0.0)["fails"].tolist() == [False] * 4
    # by a tenth of its energy
    assert tried(energy=[0.099, 0.101, -0.101, -0.099])["fails"].tolist() == [False, True, True, False]
    assert tried(energy=0.0, fallen=[0.5, 0.251, 0.999, 0.5])["fails"].tolist() == [False] * 4
    assert tried(energy=0.0, stopped=[False, True, False, False])["fails"].tolist() == [False, True, False, False]
    assert tried(energy=0.0, fallen=[0.5, 0.24, 1.01, 0.9])["fails"].tolist() == [False, True, True, False]
    # centres of mass that rise
    assert tried(energy=0.0, fallen=[0.5, -0.5, 0.5, 0.5])["fails"].tolist() == [False, True, False, False]


def test_the_papers_stiffness_fails_if_every_run_with_it_does_and_soft_water_falls_if_it_does_not():
    assert air.paper_stiffness_fails(tried()) == {"failed": 2, "count": 2, "holds": True}
    assert not air.paper_stiffness_fails(tried(energy=[0.0, 0.5, 0.0, 0.0]))["holds"]
    assert air.soft_falls(tried()) == {"ours": pytest.approx(70), "others": pytest.approx(50), "holds": True}
    assert not air.soft_falls(tried(energy=0.2))["holds"]


def test_long_runs_last_that_come_to_their_end():
    whole = pd.DataFrame({"time": [1.2, 2.4], "compression": [0.1, 0.15], "stopped": False})
    runs_by_name = {"equation 3, 24 particles": whole, "equation 3, 72 particles": whole.assign(compression=0.2)}
    runs_by_name |= {"equation 4, 72 particles": whole[:1].assign(compression=0.5)}
    assert air.lasts(runs_by_name, 2.4) == {"count": 2, "whole": 2, "time": 2.4, "holds": True}
    assert air.lasts(runs_by_name | {"equation 3, 9 particles": whole.assign(stopped=[False, True])}, 2.4)["whole"] == 2
    # one that was stopped before anybody looked
    early = air.lasts(runs_by_name | {"equation 3, 9 particles": whole[:0]}, 2.4)
    assert early == {"count": 3, "whole": 2, "time": 2.4, "holds": True}
    # one resolution tells nothing of another
    assert not air.lasts({"equation 3, 24 particles": whole}, 2.4)["holds"]
    # to within a hundredth
    assert air.lasts(runs_by_name, 2.4 / 0.991)["whole"] == 2
    assert air.lasts(runs_by_name, 2.4 / 0.989)["whole"] == 0


def test_water_that_is_compressed_by_more_than_a_percent_is_not_weakly_so():
    runs_by_name = {f"equation 3, {n} particles": pd.DataFrame({"compression": [0.1, n / 100]}) for n in (5, 20)}
    runs_by_name |= {"equation 4, 20 particles": pd.DataFrame({"compression": [0.5]})}
    runs_by_name |= {"equation 3, 9 particles": pd.DataFrame({"compression": []})}
    assert air.compressed(runs_by_name) == {"most": pytest.approx(20), "holds": True}
    assert not air.compressed({"equation 3, 24 particles": pd.DataFrame({"compression": [0.01]})})["holds"]


def test_soft_water_has_the_mach_number_that_is_asked_for_and_half_of_the_time_step():
    system = air.SOFT.system(CASE)
    assert system.speed / system.fluid.sound_speed == pytest.approx(0.25)
    usual = replace(system, time_step=None).dt
    assert system.dt == pytest.approx(usual / 2)
    assert {variant.system(CASE).fluid.xsph for variant in air.VARIANTS if variant.sampling is None} == {0.0}


def test_a_variant_is_followed_until_it_is_stopped():
    small = replace(CASE, column=(2, 2, 2))
    table = air.follow(air.SOFT, small, PlainDevice(), 3 * air.SOFT.system(small).dt, 2)
    assert len(table) == 2
    assert not table["stopped"].any()
    assert table["front"].iloc[-1] == pytest.approx(1, abs=0.1)


def test_samples_of_the_air_leave_densities_uncertain_by_percents_and_the_weight_needs_less():
    found = air.uncertainty([0.8, 0.95], [0])
    # the fewer samples, the less density
    assert found["mean"].is_monotonic_decreasing
    assert (found["scatter"] > 0.01).all()
    needs = air.needed(CASE, found)
    fluid = CASE.fluid
    # rho g H over rho c^2
    assert needs["weight"] == pytest.approx(100 * 9.81 * CASE.system().depth / fluid.sound_speed**2)
    assert needs["scatter"] == pytest.approx(100 * found["scatter"].min())
    assert needs["holds"]


def test_the_papers_number_of_ghosts_stands_beside_ours():
    rows = SMALL.set_index("id").loc[claims.SETUP[1]]
    layers = np.prod([22, 9, 22]) - np.prod([16, 3, 16])
    assert (rows["paper"], rows["here"]) == (5000, layers)


def test_a_way_to_let_air_act_differs_from_the_paper_s_by_what_its_name_says():
    plain, sown = air.Variant("paper's B"), AirSampling()
    # Schechter and Bridson's epsilon, and the dam break's ratio
    assert (plain.xsph, plain.ratio, plain.soft) == (0.05, CASE.ratio, False)
    assert air.SOFT.soft
    names = [variant.name for variant in air.VARIANTS]
    assert len(set(names)) == len(names)
    for variant in air.VARIANTS:
        name, sampling = variant.name, variant.sampling
        assert variant.soft == name.startswith("soft water")
        times = 0 if "no XSPH" in name else 10 if "ten times the XSPH" in name else 1
        assert variant.xsph == pytest.approx(times * plain.xsph)
        assert variant.ratio == (2.0 if "wider kernel" in name else plain.ratio)
        assert (sampling is None) == ("equation 4" in name) == (variant.density == "continuity")
        if sampling:
            every = re.search("sown each ([0-9]+) steps", name)
            assert sampling.every == (int(every[1]) if every else sown.every)
            assert sampling.carried == ("samples carried along" in name)
            assert sampling.rounds == (40 if "40 rounds" in name else sown.rounds)
            assert (sampling.radius > sown.radius) == ("samples farther apart" in name)


def test_the_density_at_the_surface_is_that_of_the_middle_of_the_last_layer_over_eight_samplings(monkeypatch):
    """Ten by ten by six on a lattice: four by four of them lie within 2.1 spacings of the middle."""
    asked = []

    def sample(position, system, sampling, seed):
        asked.append((sampling.radius, sampling.rounds, seed))
        return seed

    def surface(system, chosen, seed):
        place = system.position[chosen] / system.resolution.spacing
        assert len(place) == 16
        assert set(np.round(place[:, 2], 6)) == {5.5}
        assert set(np.round(place[:, 0], 6)) == set(np.round(place[:, 1], 6)) == {3.5, 4.5, 5.5, 6.5}
        assert system.tank[2] > 13 * system.resolution.spacing
        return np.array([seed / 10, seed / 10])

    monkeypatch.setattr(air, "sample", sample)
    monkeypatch.setattr(air, "_surface", surface)
    table = air.uncertainty([0.8], [3, 40])
    assert asked == [(0.8, rounds, seed) for rounds in (3, 40) for seed in range(8)]
    assert table[["radius", "rounds"]].to_numpy().tolist() == [[0.8, 3], [0.8, 40]]
    assert table["mean"].tolist() == pytest.approx([0.35] * 2)
    assert table["scatter"].tolist() == pytest.approx([np.arange(8).std() / 10] * 2)
