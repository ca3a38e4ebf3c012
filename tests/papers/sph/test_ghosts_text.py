"""What the notebook on ghosts says: it follows from the numbers, and so do the verdicts on the paper's claims."""

import numpy as np
import pandas as pd
import pytest

from repro.papers.sph.boundaries import NAMES
from repro.papers.sph.ghosts import claims, text
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
    claims.hand_over(record, *arguments, gpu=gpu)
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
    assert text.halved(table(0.1, 0.3), "near walls")
    # half on average, but not the worst against the best
    assert not text.halved(table(0.1, 0.2), "near walls")
    assert "**at least halved**" in text.deficit_text(table(0.1, 0.3))
    assert "**not halved**" in text.deficit_text(table(0.1, 0.15))


def test_nothing_missing_is_told():
    nothing = table().assign(**{"counted inside": 0.0})
    assert "Inside: nothing is missing" in text.deficit_text(nothing)


def test_what_is_smoother_follows_from_all_seeds():
    assert text.roughness_text(table()).count("**smoother with ghosts**") == 2
    assert "**rougher with ghosts**" in text.roughness_text(table(walls=(0.3, 0.2)))
    assert "the seeds do not tell them apart" in text.roughness_text(table(rough=(0.2, 0.2)))


def test_particles_pressed_flat_are_told_where_walls_are_no_less_even_without_ghosts():
    more = text.roughness_text(table(walls=(0.3, 0.2), pressed=30))
    assert "30 % of all particles lie on a wall" in more
    assert "vary less than with ghosts" in more
    assert "vary about as much as with ghosts" in text.roughness_text(table(walls=(0.2, 0.2), pressed=30))
    assert "of all particles lie" not in text.roughness_text(table(pressed=30))


def fronts(ours: float, others: float) -> pd.DataFrame:
    made = table()
    return made.assign(front=np.where(made["boundary"] == NAMES["ghosts"], ours, others))


def test_a_front_that_lags_is_held_against_what_a_late_start_costs():
    def said(before, others=0.286):
        rows = pd.DataFrame({"seed": range(len(before)), "time": 0.1, "front": before})
        return text.front_text(fronts(0.325, others), DamBreak(), 0.15, rows)

    # half a spacing of 5.84 mm
    assert "fall freely for 24 ms" in said([0.28])
    assert "a start so late costs 45 mm, and the lag is 39 mm: the late start is **enough to account for it**" in said(
        [0.28]
    )
    assert "**most of it**" in said([0.295])
    assert "**it is not the late start alone**" in said([0.32])
    assert "ends before the front without ghosts can start" in said([])
    assert "fall freely" not in said([0.28], others=0.33)


def test_lost_particles_are_told():
    assert "none is lost" in text.roughness_text(table())
    lost = table()
    lost.loc[0, "lost"] = 2
    assert "**lost** are up to 2 with ghosts" in text.roughness_text(lost)


def test_devices_that_differ_are_told():
    assert text.devices_text(apart(), ["one core", "GPU"]).count("**same bits**") == 2
    assert "**not the same bits**; particles are up to 0.1 spacings" in text.devices_text(
        apart(0.1), ["one core", "GPU"]
    )


def both(gained=(0.3, 0.0), stopped=(False, False), time=0.05) -> pd.DataFrame:
    rows = [
        {"equation": e, "boundary": NAMES["ghosts"], "time": time, "front": 1.1, "gained": g, "fastest": 2.0}
        for e, g in zip(("3 (sum)", "4 (rate)"), gained, strict=True)
    ]
    return pd.DataFrame(rows).assign(stopped=stopped, fallen=0.7)


def test_an_equation_fails_that_gains_energy_or_stops_the_run():
    found = text.equation_text(both(), CASE)
    assert "Equation 3 (sum) fails with ghosts; Equation 4 (rate) holds" in found
    assert "**gained** 30 %" in found
    assert "Equation 3 (sum) holds" in text.equation_text(both((0.0, 0.0)), CASE)
    stopped = text.equation_text(both((0.0, 0.0), (True, False)), CASE)
    assert "Equation 3 (sum) fails" in stopped
    assert "was **stopped** soon after 0.05 s" in stopped


def test_why_fronts_differ_is_told_by_how_far_the_water_fell():
    names = (NAMES["ghosts"], NAMES["none"])
    rows = [{"equation": e, "boundary": b} for e in ("3 (sum)", "4 (rate)") for b in names]
    numbers = {"time": 0.05, "gained": 0.0, "fastest": 1.0, "stopped": [False, True, False, False]}
    both = pd.DataFrame(rows).assign(**numbers, front=[1.0, 1.0, 1.2, 1.1], fallen=[0.02, 0.0, 0.68, 0.95])
    said = text.equation_text(both, CASE)
    assert "which takes 61 ms, and this run 50: its centre falls 95 % of a free fall, not 68 %" in said
    assert "So its front starts late" in said
    assert "it falls only 2 % of a free fall: the ghosts in the air seem to lock the water" in said
    alike = text.equation_text(both.assign(fallen=0.7), CASE)
    assert "nothing holds" not in alike
    assert "lock" not in alike


def test_the_verdict_follows_from_the_numbers():
    assert "**Not found" not in text.verdict(table(), apart())
    bad = text.verdict(table(0.3, 0.3, (0.3, 0.2), (0.3, 0.2)).assign(lost=1), apart(0.1))
    assert "As the paper says: nothing." in bad


def test_the_papers_number_of_ghosts_stands_beside_ours():
    found = text.case_text(CASE, SMALL, 0.05, [1, 2, 3])
    assert "The paper has 5,000 ghosts" in found
    layers = np.prod([22, 9, 22]) - np.prod([16, 3, 16])
    assert f"**{layers:,} ghosts** in the walls" in found
