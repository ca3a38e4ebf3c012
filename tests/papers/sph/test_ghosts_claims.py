"""What the notebook on ghosts hands over and what decides its sentences, without compiled code."""

import numpy as np
import pandas as pd
import pytest

from repro.papers.sph.boundaries import NAMES
from repro.papers.sph.ghosts import claims, measures, runs
from repro.papers.sph.ghosts.measures import PLACES
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
            made = {"surface": rough[n] + 0.001 * seed, "walls": walls[n], "front": 0.2, "count": 100}
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


def test_without_a_gpu_only_the_claim_on_smoothness_is_measured():
    record = handed(FULL, table(), apart(), gpu=False)
    assert set(record.measured) == {claims.SMOOTH}
    assert "no GPU" in record.reasons[claims.SAME]


def test_the_largest_distance_of_both_boundaries_is_handed_over():
    record = handed(FULL, table(), apart().assign(distance=[0.0, 0.25]), gpu=True)
    assert record.measured[claims.SAME] == 0.25
    assert "the same bits" in handed(FULL, table(), apart(), gpu=True).more[claims.SAME]["note"]
    assert "not the same bits" in handed(FULL, table(), apart(0.1), gpu=True).more[claims.SAME]["note"]


def test_devices_must_be_compared_at_the_papers_time():
    # to the nearest step
    assert claims.SAME in handed(FULL, table(), apart(time=0.150004), gpu=True).measured
    assert "after 0.05 s and not after 0.15 s" in handed(FULL, table(), apart(time=0.05), gpu=True).reasons[claims.SAME]


def test_smoothness_is_handed_over_by_place_and_seed():
    found = handed(FULL, table(), apart(), gpu=False).measured[claims.SMOOTH]
    assert found["surface"][NAMES["none"]] == pytest.approx([0.2, 0.201, 0.202])
    assert set(found) == {"surface", "walls"}


def test_a_deficit_is_halved_only_if_it_is_for_every_pair_of_seeds():
    assert measures.missing(table(0.1, 0.3), "near walls")["holds"]
    # half on average, but not the worst against the best
    assert not measures.missing(table(0.1, 0.2), "near walls")["holds"]
    assert measures.missing(table(0.1, 0.3), "near walls")["ours"] == pytest.approx(10.1)


def test_ghosts_fill_the_sums_if_most_is_missing_again_without_them():
    assert measures.without_counting(table(0.1, 0.3))["holds"]
    less = table(0.1, 0.3)
    less["not counted near the surface"] = 0.15
    assert not measures.without_counting(less)["holds"]


def test_what_is_smoother_follows_from_all_seeds():
    assert measures.smoother(table(), "surface")["holds"]
    assert not measures.smoother(table(rough=(0.2, 0.2)), "surface")["holds"]
    assert measures.overlapping(table(rough=(0.2, 0.2)), "surface")["holds"]
    assert not measures.overlapping(table(walls=(0.3, 0.2)), "walls")["holds"]


def both(gained=(0.3, 0.0), stopped=(False, False)) -> pd.DataFrame:
    rows = {"equation": list(runs.EQUATIONS.values()), "boundary": NAMES["ghosts"], "gained": gained}
    return pd.DataFrame(rows).assign(stopped=stopped, fallen=[0.02, 0.7])


def test_an_equation_fails_that_gains_energy_or_stops_the_run():
    assert runs.broken(both(), "summation")
    assert not runs.broken(both(), "continuity")
    assert not runs.broken(both((0.0, 0.0)), "summation")
    assert runs.broken(both((0.0, 0.0), (True, False)), "summation")
    assert runs.falls(both()) == {"locked": 2, "held": 70, "holds": True}


def test_a_front_that_lags_is_held_against_what_a_late_start_costs():
    fronts = table()
    fronts["front"] = np.where(fronts["boundary"] == NAMES["ghosts"], 0.325, 0.286)
    found = runs.late_start(fronts, pd.DataFrame({"front": [0.28]}), DamBreak())
    # half a spacing of 5.84 mm
    assert found["late"] == pytest.approx(24, abs=0.5)
    assert (found["cost"], found["lag"], found["holds"]) == (pytest.approx(45), pytest.approx(39), True)
    assert not runs.late_start(fronts, pd.DataFrame({"front": [0.295]}), DamBreak())["holds"]


def test_the_papers_number_of_ghosts_stands_beside_ours():
    rows = SMALL.set_index("id").loc[claims.SETUP[1]]
    layers = np.prod([22, 9, 22]) - np.prod([16, 3, 16])
    assert (rows["paper"], rows["here"]) == (5000, layers)
