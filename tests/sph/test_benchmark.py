"""A speed is that of a program whose trajectory was compared with another one's; everything runs as plain Python."""

import numpy as np
import pytest
from helpers.plain import PlainCore
from helpers.sph_systems import shaken
from helpers.unremembered import unremembered

from repro.errors import CheckError
from repro.parallel import Kernel, device_function, part_times
from repro.sph import benchmark
from repro.sph.simulation import Simulation
from repro.sph.strategies import STRATEGIES

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


def test_the_kernels_of_many_particles_are_checked_where_many_are_timed(core, monkeypatch):
    """On a GPU few particles, as those of the check, have kernels of their own."""
    asked = []
    monkeypatch.setattr(benchmark, "check_strategy", lambda device, **options: asked.append(options) or "checked")
    for few in (SYSTEM.count + 1, SYSTEM.count):
        monkeypatch.setattr(benchmark, "FEW", few)
        benchmark.measure_speed("case", SYSTEM, core, strategy="linked list", seconds=1e-3, **OPEN)
    assert asked == [{"strategy": "linked list", **OPEN}, {"strategy": "linked list", **OPEN, "few": 0}]
