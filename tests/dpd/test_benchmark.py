"""A speed is that of a program whose forces were compared with another one's; everything runs as plain Python."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainCore

from repro.dpd import benchmark
from repro.dpd.cases import Bulk, Poiseuille
from repro.dpd.fluid import Fluid
from repro.dpd.strategies import STRATEGIES, linked, runs_on
from repro.errors import CapacityError, CheckError, InputError

SYSTEM = Bulk((3.0, 3.0, 3.0), Fluid(density=2.0)).system()


@pytest.fixture
def core(monkeypatch):
    """A core; forces are checked on few particles, and no check is remembered."""
    monkeypatch.setattr(benchmark, "select", lambda name: PlainCore())
    small = lambda fluid: Poiseuille(3, 3, 3, fluid=replace(fluid, density=2.0)).system()  # noqa: E731
    monkeypatch.setattr(benchmark, "_small", small)
    for check in (benchmark._checked, benchmark._expected):
        check.cache_clear()
    with np.errstate(over="ignore"):
        yield PlainCore()
    for check in (benchmark._checked, benchmark._expected):
        check.cache_clear()


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if runs_on(name, PlainCore())])
def test_a_strategy_is_compared_with_another_one(core, monkeypatch, strategy):
    ran, reference = [], benchmark.reference_forces
    monkeypatch.setattr(
        benchmark, "reference_forces", lambda system, **o: ran.append(o["strategy"]) or reference(system, **o)
    )
    found = benchmark.check_strategy(core, strategy=strategy, precision="double")
    (other,) = ran
    assert other != strategy
    assert f"of {other} on one core, on the same 54 particles" in found


def wrong(**changed) -> SimpleNamespace:
    """A strategy for another fluid than it was given."""

    def build(setup):
        return linked.build(replace(setup, fluid=replace(setup.fluid, **changed)))

    return SimpleNamespace(TRAITS=linked.TRAITS, build=build)


def test_a_strategy_with_other_forces_is_not_timed(core, monkeypatch):
    monkeypatch.setitem(STRATEGIES, "wrong", wrong(repulsion=18.7))
    monkeypatch.setattr(PlainCore, "clock", None)
    with pytest.raises(CheckError, match="differs from linked on one core"):
        benchmark.measure_speed("case", SYSTEM, core, strategy="wrong", precision="double")


def test_a_strategy_whose_table_is_too_small_is_not_timed(core, monkeypatch):
    monkeypatch.setattr(PlainCore, "clock", None)
    with pytest.raises(CapacityError):
        benchmark.measure_speed("case", SYSTEM, core, strategy="cell", capacity=1)


def test_a_speed_is_particles_over_the_seconds_of_a_step(core, monkeypatch):
    monkeypatch.setattr(benchmark, "WARM_UP", 0)
    found = benchmark.measure_speed("case", SYSTEM, core, strategy="linked", seconds=7e-3, runs=2)
    # drift and kick, the list in two launches, and the forces in three
    assert found.seconds == pytest.approx(7e-3)
    assert found.runs == pytest.approx([7e-3] * 2)
    assert found.rates["updates"] == pytest.approx(54 / 7e-3)
    assert found.choices["particles"] == 54


def test_a_speed_counts_frozen_particles_and_repeats_as_it_is_told(core, monkeypatch):
    monkeypatch.setattr(benchmark, "WARM_UP", 0)
    system = Poiseuille(3, 3, 3, fluid=Fluid(density=2.0)).system()
    found = benchmark.measure_speed("case", system, core, strategy="linked", seconds=7e-3, repeats=3, rounds=16)
    assert (found.repeats, len(found.runs)) == (3, 1)
    assert found.rates["updates"] == pytest.approx(system.count / found.seconds)
    assert (found.choices["particles"], found.choices["rounds"]) == (system.count, 16)
    assert system.count > system.moving
    for repeats in (1, 101):
        with pytest.raises(InputError, match=f"repeats = {repeats}: must be a whole number from 2 to 100$"):
            benchmark.measure_speed("case", system, core, repeats=repeats)


def test_a_fluid_is_checked_by_its_law_and_its_numbers(monkeypatch):
    """What is its own else, as its time step, would be checked anew each time."""
    asked, core = [], PlainCore()
    monkeypatch.setattr(benchmark, "_checked", lambda *arguments: asked.append(arguments) or "checked")
    law = Fluid().law._replace(name="mine", numbers=2)
    fluid = Fluid(density=3.0, repulsion=7.0, dt=0.01, law=law, parameters=(2.0,))
    benchmark.check_strategy(core, strategy="cell", precision="double", fluid=fluid, rounds=8, block=64)
    expected = Fluid(repulsion=7.0, law=law, parameters=(2.0,))
    assert asked == [(core, "cell", "double", expected, (("block", 64), ("rounds", 8)))]
