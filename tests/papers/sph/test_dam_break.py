"""The experiment of the dam break without compiled code: when one looks, what fronts, volumes and verdicts are."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.papers.sph import machines
from repro.papers.sph.dam_break import figures, runs, text
from repro.sph.cases import DamBreak
from repro.study.notebooks import Project


def made(front=(1.0, 2.0, 3.0), total=(10.0, 9.0, 8.0), beyond=(-0.5, 0.1, 0.2), lost=0, hanging=0) -> runs.Run:
    """A run of a small column that nobody computed."""
    case = DamBreak(column=(4, 3, 8))
    system, count = case.system(), len(front)
    table = pd.DataFrame({"time": 0.1 * np.arange(count), "reduced": 1.2 * np.arange(count), "front": front})
    table = table.assign(total=total, beyond=beyond, lost=lost, hanging=hanging)
    table = table.assign(kinetic=1.0, potential=7.0, internal=0.0, dissipated=table["total"].iloc[0] - table["total"])
    return runs.Run(case, system, table, [system.position] * count, SimpleNamespace())


def volumes(*shares):
    return pd.DataFrame({"time": 0.1 * np.arange(len(shares)), "volume": shares})


def advanced(slopes, arrivals) -> pd.DataFrame:
    """A table of `runs.advances` with ascending resolutions, and one experiment."""
    ours = pd.DataFrame({"front": "ours", "spacings": 10 * np.arange(1, len(slopes) + 1), "slope": slopes})
    rest = pd.DataFrame({"front": ["Martin and Moyce"], "spacings": [None], "slope": [1.3], "arrival": [2.55]})
    return pd.concat([ours.assign(arrival=arrivals), rest], ignore_index=True).astype({"spacings": "Int64"})


def test_one_looks_evenly_and_at_each_of_the_given_times_once():
    found = runs.looks([0.0, 1.2, 2.4], 0.5)
    assert {0.0, 1.2, 2.4} <= set(found)
    assert found == sorted(found)
    # no two looks nearer than half of what they should be apart
    assert np.diff(found).min() > 0.2
    assert np.diff(found).max() < 1.0


def test_the_experiments_fronts_are_advanced_by_the_same_rule():
    found = runs.advances({192: made()}, runs.experiments(Project.default().data)).set_index("front")
    assert found.loc["192 particles", "slope"] == pytest.approx(1 / 1.2)
    assert found.loc["192 particles", "arrival"] == pytest.approx(2.4)
    # between their neighbours at 1.997 and 2.547, where Z is 2.292 and 2.995, and just beyond
    assert 2.5 < found.loc["Martin and Moyce", "arrival"] < 2.6
    assert found.loc["Koshizuka and Oka", "arrival"] == pytest.approx(2.719, abs=0.01)


def test_fronts_that_part_on_two_devices_are_told(monkeypatch):
    shifts = iter([0.0, 0.1])

    def follow(case, device, times, **options):
        shift = next(shifts)
        run = made(front=(1.0, 2.0, 3.0 + shift))
        run.positions[2] = run.positions[2] + shift
        return run

    monkeypatch.setattr(runs, "follow", follow)
    found = runs.compared((4, 3, 8), machines.pair("threads", 1))
    assert found["same bits"].tolist() == [True, True, False]
    told = text.compared_text(found, (4, 3, 8))
    assert "not every position" in told
    assert "0.1 widths" in told
    assert "when its front was at $Z$ = 3.00" in told
    assert "**same bits**" in text.compared_text(found[:2], (4, 3, 8))


def test_the_column_has_its_own_volume_before_it_falls():
    run = made()
    found = runs.volumes(runs.surfaces(run), run)
    np.testing.assert_allclose(found["volume"], 1, rtol=0.01)


def test_energy_that_grows_is_told():
    assert runs.energy_gain(made(total=(10.0, 9.0, 9.5))) == pytest.approx(0.05)
    assert "**grows**" in text.kept_text(made(total=(10.0, 9.0, 9.5)), volumes(1, 1, 1))
    assert "never grows" in text.kept_text(made(), volumes(1, 1, 1))


def test_volume_and_particles_that_are_lost_are_told():
    assert "-4.0 %: **more than** 3 %" in text.kept_text(made(), volumes(1, 1.01, 0.96))
    assert "+1.0 %: within 3 %" in text.kept_text(made(), volumes(1, 1.01, 0.995))
    steps = text.kept_text(made(), pd.DataFrame({"time": range(5), "volume": [1, 1, 0.99, 0.98, 0.97]}))
    assert "over the second half of the run it changes by -1.00 % a second" in steps
    assert "**2** are lost" in text.kept_text(made(lost=2), volumes(1, 1, 1))
    assert "None is lost" in text.kept_text(made(), volumes(1, 1, 1))


def test_fronts_are_judged_at_the_finest_resolution_and_converge_or_not():
    good = text.front_text(advanced([1.0, 1.2, 1.31], [2.8, 2.5, 2.36]))
    assert "**1.310**, within 1.25 to 1.45" in good
    assert "0.06 after the 2.3 of simulations without a gate, within 0.15" in good
    assert "it converges" in good
    bad = text.front_text(advanced([1.0, 1.2, 1.10], [2.8, 2.7, 2.5]))
    assert "**outside of** 1.25 to 1.45" in bad
    assert "**more than** 0.15" in bad
    assert "**it does not converge**" in bad
    assert "two resolutions cannot tell" in text.front_text(advanced([1.0, 1.2], [2.8, 2.5]))
    assert text.front_text(advanced([np.nan], [np.nan])) == "No front came as far as $Z = 3$."


def test_the_verdict_follows_from_the_numbers():
    table = advanced([1.0, 1.2, 1.31], [2.8, 2.5, 2.36])
    assert "**Not as" not in text.verdict(table, made(), volumes(1, 1, 1))
    found = text.verdict(advanced([1.0], [2.8]), made(total=(1, 2, 3), lost=1, hanging=3), volumes(1, 0.9, 1))
    assert "As it should be: nothing." in found
    assert "3 particles hang from the lid" in found


def test_the_sound_speed_of_the_papers_stiffness_is_ten_times_a_fall_of_four_metres():
    # Becker and Teschner's rule with B = 1119 kPa: c^2 = 7 B / rho = 100 * 2 g H
    height = 7 * 1119e3 / 1000 / 100 / (2 * 9.81)
    assert height == pytest.approx(4.0, abs=0.05)
    assert "water 4.0 m deep" in text.size_text(DamBreak(column=(4, 3, 8)))


def test_a_film_shows_every_look_on_white():
    run = made()
    images, captions = figures.film(run, runs.surfaces(run), 80)
    assert images.dtype == np.uint8
    assert len(images) == len(captions) == 3
    assert captions[0] == "0.00 s"
    # the page around the tank
    assert (images[:, [0, -1], [0, -1]] == 255).all()
    assert images.min() < 200
