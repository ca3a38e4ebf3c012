"""Slow electrons are lost at the rates of the table, and balance a source as the exact solution does."""

import csv
from math import exp
from pathlib import Path

import numpy as np
import pytest
from helpers.random_words import units, words

from repro.errors import InputError
from repro.pic.air import electron_loss
from repro.pic.air.electron_loss import ATTACHMENT, FREE, RECOMBINATION
from repro.pic.air.medium import Air
from repro.pic.exact import slow_electrons

_FILE = Path(__file__).resolve().parents[2] / "data" / "reference" / "air_electron_kinetics.csv"


def listed(reaction: str, te: float, t: float) -> list[float]:
    """The rates that the table gives for a reaction."""
    with _FILE.open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    formulas = [row["rate"].replace("^", "**") for row in rows if row["reaction"] == reaction]
    return [eval(formula, {"exp": exp, "Te": te, "T": t, "Tg": t}) for formula in formulas]


@pytest.mark.parametrize(("te", "t"), [(300, 300), (5000, 300), (20000, 800)])
def test_rates_are_those_of_the_table(te, t):
    air = Air(temperature=t)
    oxygen, nitrogen = air.oxygen_molecules, air.nitrogen_molecules
    (with_oxygen,) = listed("e + O2 + O2 -> O2- + O2", te, t)
    (with_nitrogen,) = listed("e + O2 + N2 -> O2- + N2", te, t)
    expected = oxygen * (oxygen * with_oxygen + nitrogen * with_nitrogen)
    assert electron_loss.attachment(air, te) == pytest.approx(expected, rel=1e-12)
    assert electron_loss.recombination(te, "O4+") == pytest.approx(listed("e + O4+ -> O2 + O2", te, t)[0], rel=1e-12)
    assert electron_loss.recombination(te, "N4+") == pytest.approx(listed("e + N4+ -> N2 + N2", te, t)[0], rel=1e-12)
    assert electron_loss.recombination(te, "O2+") == pytest.approx(listed("e + O2+ -> O + O", te, t)[0], rel=1e-12)


def test_attachment_at_300_kelvin_and_an_atmosphere():
    # formulas.md: about 5.8e7 per second
    assert electron_loss.attachment(Air(1.1768, 300), 300) == pytest.approx(5.8e7, rel=0.01)


def test_slow_electrons_of_a_run_are_as_warm_as_the_air_and_meet_its_dominant_ion():
    air = Air(0.7, 450.0)
    found = electron_loss.slow_rates(air, np.float64)
    assert found.attachment == electron_loss.attachment(air, 450.0)
    assert found.recombination == electron_loss.recombination(450.0) == electron_loss.recombination(450.0, "O4+")
    assert type(electron_loss.slow_rates(air, np.float32).attachment) is np.float32


def test_wrong_ions_and_temperatures_are_refused():
    with pytest.raises(InputError, match=r"ion = 'He': must be one of O2\+, O4\+, N4\+"):
        electron_loss.recombination(300, "He")
    with pytest.raises(
        InputError, match="temperature of slow electrons = 0: must be a number from 100 to 300000, in K"
    ):
        electron_loss.attachment(Air(), 0)
    with pytest.raises(InputError, match="temperature = nan: must be a number from 100 to 3000, in K"):
        Air(temperature=float("nan"))
    with pytest.raises(InputError, match="density = 0: must be a number from 1e-30 to 875, in kg/m3"):
        Air(density=0)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_lifetimes_are_exponential_and_each_process_has_its_share(real):
    lose, rates = electron_loss.make_electron_loss(real), electron_loss.SlowRates(real(3e7), real(1e-12))
    ions, step, count = real(5e19), real(1e-9), 4000
    depth = -np.log(units(count, real)[0]).astype(real)
    lives, fates = np.zeros(count), np.zeros(count, int)
    for i, word in enumerate(words(count, seed=2)[0]):
        left = depth[i]
        while fates[i] == FREE:
            fates[i], left = lose(left, step, ions, rates, word)
            lives[i] += step
    # 8e7 losses a second, 3/8 of them by attachment; times are known to within a step of 1 ns
    assert abs(lives.mean() - step / 2 - 1 / 8e7) < 5 / 8e7 / np.sqrt(count)
    share = np.mean(fates == ATTACHMENT)
    assert abs(share - 3 / 8) < 5 * np.sqrt(15 / 64 / count)
    assert set(fates) == {ATTACHMENT, RECOMBINATION}


#: a source, attachment and recombination that all matter, and how long it takes to a balance
SOURCE, NU, BETA, DURATION = 2.5e27, 5e7, 2e-12, 4e-8


def test_balance_of_source_and_losses_is_the_exact_solution():
    lose, rates = electron_loss.make_electron_loss(np.float64), electron_loss.SlowRates(NU, BETA)
    weight, steps = 5e15, 100
    step = DURATION / steps
    generator = np.random.default_rng(5)
    births = np.sort(generator.random(round(SOURCE * DURATION / weight))) * steps
    depth, found, before = np.zeros(0), [], 0
    for k in range(steps):
        # an electron that is born in a step is exposed to what is left of it
        born = births[(births >= k) & (births < k + 1)]
        now, depth = len(depth), np.concatenate([depth, generator.exponential(size=len(born))])
        time = np.concatenate([np.full(now, step), (k + 1 - born) * step])
        # as many ions as in the middle of the step, continued from before
        ions = weight * (now + (now - before) / 2 if k else len(born) / 2)
        before = now
        drawn = [lose(left, span, ions, rates, np.uint32(0)) for left, span in zip(depth, time, strict=True)]
        depth = np.array([left for process, left in drawn if process == FREE])
        found.append(weight * len(depth))
    exact = slow_electrons(step * np.arange(1, steps + 1), SOURCE, NU, BETA)
    # births and losses are counted, each with the scatter of a Poisson process; 0.5 % is for the length of the step
    scatter = np.sqrt(weight * exact)
    assert (np.abs(np.array(found) - exact) < 5 * scatter + 0.005 * exact).all()
    # which is far from what either loss would leave alone
    assert exact[-1] < 0.6 * min(SOURCE / NU, np.sqrt(SOURCE / BETA) * 1.2)


def test_exact_solution_obeys_its_equation():
    time = np.linspace(0, DURATION, 20001)
    n = slow_electrons(time, SOURCE, NU, BETA)
    assert n[0] == 0
    rate = np.gradient(n, time, edge_order=2)
    assert rate == pytest.approx(SOURCE - NU * n - BETA * n**2, abs=1e-6 * SOURCE)
    balance = (-NU + np.sqrt(NU**2 + 4 * SOURCE * BETA)) / (2 * BETA)
    assert slow_electrons(1e-6, SOURCE, NU, BETA) == pytest.approx(balance, rel=1e-9)
