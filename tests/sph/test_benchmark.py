"""A speed is that of a program whose trajectory was compared with another one's; everything runs as plain Python."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainCore
from helpers.sph_systems import shaken
from helpers.unremembered import unremembered

from repro.errors import CheckError
from repro.parallel import Kernel, device_function, part_times
from repro.sph import benchmark
from repro.sph.ghosts import wall_sites
from repro.sph.simulation import Simulation
from repro.sph.strategies import STRATEGIES
from repro.sph.system import Walls

SYSTEM = shaken(3, tank=(4, 3, 4), water=(2, 2, 3))
#: without ghosts, of which plain Python would make a long test
OPEN = {"boundary": "none"}


@pytest.fixture
def core(monkeypatch):
    """A core; a small system is checked over two steps, and no check is remembered."""
    with unremembered(benchmark, SYSTEM, monkeypatch) as core:
        yield core


@pytest.mark.parametrize(("strategy", "other"), [("linked list", "sorted cells"), ("sorted cells", "linked list")])
def test_a_strategy_is_compared_with_another_one_bit_for_bit(core, strategy, other):
    found = benchmark.check_strategy(core, strategy=strategy, **OPEN)
    assert found.startswith(f"the same bits as {other} on the CPU")
    assert found.endswith("after 2 steps of 12 particles")


def test_a_strategy_that_meets_its_neighbours_twice_is_not_timed(core, monkeypatch):
    right = STRATEGIES["linked list"]

    def walk(real, pair_term):
        once = right.walk(real, pair_term)

        @device_function
        def along(sums, target, cell, row, species, p, cells):
            sums = once(sums, target, cell, row, species, p, cells)
            return once(sums, target, cell, row, species, p, cells)

        return along

    monkeypatch.setitem(STRATEGIES, "wrong", right._replace(first_walk=walk))
    monkeypatch.setattr(PlainCore, "clock", None)
    with pytest.raises(CheckError, match="wrong on serial differs from linked list on the CPU by"):
        benchmark.measure_speed("case", SYSTEM, core, strategy="wrong", **OPEN)


def test_a_speed_is_fluid_particles_over_the_seconds_of_a_step(core):
    found = benchmark.measure_speed("case", SYSTEM, core, strategy="linked list", seconds=6e-3, runs=2, **OPEN)
    # drift and kick, the list in two launches, density and forces
    assert found.seconds == pytest.approx(6e-3)
    assert found.rates["updates"] == pytest.approx(12 / 6e-3)
    assert found.runs == pytest.approx([6e-3] * 2)
    assert found.choices["passes"] == 2
    assert found.choices["ghosts"] == 0


def test_each_part_of_a_step_is_timed_in_its_order(core):
    simulation = Simulation(SYSTEM, core, strategy="linked list", **OPEN)
    found = part_times(simulation, seconds=1e-3)
    assert list(found) == list(simulation.parts)
    assert list(found.values()) == pytest.approx([1e-3] * 6)


def test_neighbours_are_counted_with_the_ghosts_and_without_the_particle_itself(core):
    simulation = Simulation(SYSTEM, core)
    fluid, walls = simulation.particles()["position"], benchmark._ghost_places(simulation)[0]
    places = np.concatenate([fluid, walls])
    near = np.linalg.norm(fluid[:, None] - places, axis=2) < SYSTEM.resolution.support
    assert benchmark.mean_neighbours(simulation) == pytest.approx(near.sum(1).mean() - 1)
    # ghosts fill up what is missing of a sphere of 74
    assert 30 < near.sum(1).mean() < 90


def test_every_part_of_a_step_is_timed_in_every_sample(core):
    simulation = Simulation(SYSTEM, core, **OPEN)
    found = benchmark.part_samples(simulation, samples=3)
    assert list(found) == list(simulation.parts)
    assert {len(samples) for samples in found.values()} == {3}
    assert all(sample > 0 for samples in found.values() for sample in samples)


def test_a_part_of_a_gpu_is_what_its_sequence_takes_longer_than_the_one_before():
    # a launch of plain Python's core takes a millisecond by its clock
    core, one = PlainCore(), Kernel(device_function(lambda x, n, values: None))
    launch = core.compile(one)((1,), np.zeros(1))
    parts = {"one launch": launch, "three": lambda: [launch() for _ in range(3)], "none": lambda: None}
    found = benchmark._differences(parts, core, samples=4, seconds=0.02)
    for name, ms in (("one launch", 1), ("three", 3), ("none", 0)):
        np.testing.assert_allclose(found[name], [1e-3 * ms] * 4, atol=1e-12)
    # once, once by the clock, and in each sample five times all parts up to each one: that takes 0.02 s
    assert core.launches == 4 + 4 + 4 * 5 * (1 + 4 + 4)


def test_the_kernels_of_many_particles_are_checked_where_many_are_timed(core, monkeypatch):
    """On a GPU few particles, as those of the check, have kernels of their own."""
    asked = []
    monkeypatch.setattr(benchmark, "check_strategy", lambda device, **options: asked.append(options) or "checked")
    for few in (SYSTEM.count + 1, SYSTEM.count):
        monkeypatch.setattr(benchmark, "FEW", few)
        benchmark.measure_speed("case", SYSTEM, core, strategy="linked list", seconds=1e-3, **OPEN)
    assert asked == [{"strategy": "linked list", **OPEN}, {"strategy": "linked list", **OPEN, "few": 0}]


@pytest.mark.parametrize(
    ("strategy", "precision", "other", "tolerance"),
    [
        ("sorted cells", "single", "linked list", 0),
        ("linked list", "double", "sorted cells", 1e-9),
        ("linked list, pairs once", "single", "linked list", 1e-4),
        ("sorted cells, pairs once", "double", "linked list", 1e-9),
    ],
)
def test_a_check_allows_for_rounding_in_double_precision_and_where_pairs_are_met_once(
    core, monkeypatch, strategy, precision, other, tolerance
):
    asked, off = [], 0.0

    def run(device, strategy, precision, options):
        asked.append((device.name, strategy, precision, options))
        return {"a": np.array([1.0, 4.0]), "b": np.array([0.0, 2.0 + 2 * off * (device.name == "threads")])}

    def check():
        benchmark._checked.cache_clear()
        benchmark._expected.cache_clear()
        return benchmark.check_strategy(core, strategy=strategy, precision=precision, few=3, boundary="none")

    monkeypatch.setattr(benchmark, "_small_run", run)
    monkeypatch.setattr(benchmark, "select", lambda name: SimpleNamespace(name=name))
    off = 0.99 * tolerance
    assert check().startswith("within" if tolerance else "the same bits")
    options = (("boundary", "none"), ("few", 3))
    assert asked == [("serial", strategy, precision, options), ("threads", other, precision, options)]
    off = 1.01 * tolerance or 1e-12
    with pytest.raises(CheckError, match=f"^{strategy} on serial differs from {other} on the CPU by .* largest b$"):
        check()


def test_both_runs_of_a_check_take_so_many_steps_with_what_was_asked_for(core, monkeypatch):
    seen = []

    class Counted:
        def __init__(self, system, device, **options):
            seen.append((system, device.name, options))

        def step(self, count):
            seen.append(count)

        def particles(self):
            return {"a": np.ones(3)}

    monkeypatch.setattr(benchmark, "Simulation", Counted)
    monkeypatch.setattr(benchmark, "CHECK_STEPS", 7)
    found = benchmark.check_strategy(core, strategy="cell table", precision="double", few=5)
    assert found == "within 0.0e+00 of linked list on the CPU after 7 steps of 12 particles"
    options = {"precision": "double", "few": 5}
    searches = [(SYSTEM, "serial", {"strategy": name} | options) for name in ("cell table", "linked list")]
    assert seen == [searches[0], 7, searches[1], 7]
    # a check that was passed is not made again
    benchmark.check_strategy(core, strategy="cell table", few=5, precision="double")
    assert len(seen) == 4


def test_a_speed_is_told_with_all_that_it_hangs_on(core):
    system = replace(SYSTEM, walls=Walls(layers=1), resolution=replace(SYSTEM.resolution, ratio=1.4))
    options = {"strategy": "linked list", "precision": "double"}
    found = benchmark.measure_speed("pond", system, core, seconds=3e-3, **options, **OPEN)
    assert (found.case, found.strategy, found.precision) == ("pond", "linked list", "double")
    assert found.size == "4 x 3 x 4 spacings"
    assert found.check.startswith("within 0.0e+00 of sorted cells on the CPU")
    facts = benchmark.facts_of(Simulation(system, core))
    # a box of 6 x 5 x 6 but for the tank
    assert (facts["particles"], facts["ghosts"], facts["ratio"]) == (12, 6 * 5 * 6 - 4 * 3 * 4, 1.4)
    assert (facts["passes"], facts["passes of ghosts"]) == (2, 1)
    still = Simulation(replace(system, walls=Walls(layers=1, still=True)), core)
    assert benchmark.facts_of(still) == facts | {"passes of ghosts": 0}


def test_neighbours_are_those_of_a_random_sample_with_the_ghosts_of_air_where_it_acts(core):
    system = shaken(3, tank=(4, 4, 6), water=(3, 3, 4))
    simulation = Simulation(system, core, density="summation")
    simulation.start()
    fluid = simulation.particles()["position"]
    places = np.concatenate([fluid, wall_sites(system).position, simulation.air_samples])
    near = (np.linalg.norm(fluid[:, None] - places, axis=2) < system.resolution.support).sum(1)
    assert len(simulation.air_samples) > 5
    assert benchmark.facts_of(simulation)["ghosts"] == len(places) - len(fluid)
    assert benchmark.mean_neighbours(simulation) == pytest.approx(near.mean() - 1)
    for seed in (1, 5):
        chosen = np.random.default_rng(seed).permutation(36)[:7]
        assert benchmark.mean_neighbours(simulation, sample=7, seed=seed) == pytest.approx(near[chosen].mean() - 1)


def test_parts_of_a_gpu_are_timed_between_those_that_move_particles_away_from_their_lists(core):
    """By a clock on which every launch takes a millisecond."""

    class Gpu(PlainCore):
        name = "cuda"

    device = Gpu()
    simulation = Simulation(SYSTEM, device, strategy="linked list", density="summation", **OPEN)
    found = benchmark.part_samples(simulation, samples=2, seconds=4e-3)
    assert list(found) == list(simulation.parts)
    assert simulation.steps == 2
    launches = {}
    for name, launch in simulation.parts.items():
        before = device.launches
        launch()
        launches[name] = 1e-3 * (device.launches - before)
    for name, times in found.items():
        np.testing.assert_allclose(times, [launches[name]] * 2, atol=1e-12, err_msg=name)


def test_a_speed_is_timed_as_long_and_as_often_as_is_asked_for(core, monkeypatch):
    asked = []
    monkeypatch.setattr(benchmark, "time_steps", lambda *_, **options: asked.append(options))
    monkeypatch.setattr(
        benchmark, "measure_runs", lambda case, device, *, time, runs, **_: (case, device, time(None), runs)
    )
    assert benchmark.measure_speed("pond", SYSTEM, core, seconds=0.03, runs=4) == ("pond", core, None, 4)
    benchmark.measure_speed("pond", SYSTEM, core)
    # a GPU is warm after two hundred steps
    assert asked == [{"seconds": 0.03, "warm_up": 200}, {"seconds": 0.2, "warm_up": 200}]
