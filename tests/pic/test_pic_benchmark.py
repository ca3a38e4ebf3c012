"""A speed is that of a strategy whose trajectory was compared with another one's; everything runs as plain Python."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.plain import PlainCore
from helpers.unremembered import unremembered

from repro.errors import CheckError, InputError
from repro.parallel.benchmark import REPEATS
from repro.pic import benchmark
from repro.pic.air.collision_tables import Collisions
from repro.pic.cases import UniformSource
from repro.pic.maxwell.fields import courant_limit
from repro.pic.mesh import Mesh
from repro.pic.simulation import Simulation
from repro.pic.strategies import Strategy, baskets, global_sums
from repro.pic.system import Electrons, System

CASE = {"cells": 3, "per_cell": 0.5, "self_field": False, "births": 0.0}
SYSTEM = UniformSource(**CASE).system()


class PlainGpu(PlainCore):
    """As if it were a GPU: steps are launched as graphs of many."""

    name = "cuda"


@pytest.fixture
def core(monkeypatch):
    """A core; a small system is checked over two steps, and no check is remembered."""
    with unremembered(benchmark, SYSTEM, monkeypatch) as core:
        yield core


@pytest.mark.parametrize(("strategy", "other"), [("batches", "global sums"), ("global sums", "batches")])
def test_a_strategy_is_compared_with_another_one_bit_for_bit(core, strategy, other):
    found = benchmark.check_strategy(core, strategy=strategy)
    assert found == f"the same bits as {other} on the CPU after 2 steps of 14 particles"


def test_a_strategy_that_moves_its_particles_twice_is_not_timed(core, monkeypatch):
    def twice(setup):
        move = global_sums.build(setup)["particles"]
        return {"particles": lambda: (move(), move())}

    monkeypatch.setattr(PlainCore, "clock", None)
    with pytest.raises(
        CheckError, match="wrong on serial differs from batches on the CPU by .* of the largest position"
    ):
        benchmark.measure_speed("case", SYSTEM, core, strategy=Strategy("wrong", twice))


def test_a_speed_is_particles_over_the_seconds_of_a_step_with_its_share_of_a_sort(core):
    found = benchmark.measure_speed("case", SYSTEM, core, strategy="global sums", sort_every=2, seconds=4e-3, runs=2)
    sort = Simulation(SYSTEM, core, strategy="global sums", sort_every=2)._cell_sort
    core.launches = 0
    for launch in sort.parts.values():
        launch()
    # a millisecond a launch: two clear the sums and move the particles in each step, and each other one sorts
    assert found.seconds == pytest.approx(1e-3 * (2 + core.launches / 2))
    assert found.rates["updates"] == pytest.approx(14 / found.seconds)
    assert found.rates["segments"] == pytest.approx(found.rates["updates"] * found.choices["per step"])
    assert found.choices["launches"] == 1
    assert len(found.runs) == 2


def test_where_steps_are_long_the_sort_still_has_its_share(core, monkeypatch):
    options = {"strategy": "global sums", "sort_every": 3, "seconds": 1e-3}
    whole = benchmark.measure_speed("case", SYSTEM, core, **options)
    monkeypatch.setattr(benchmark, "LONG", 1e-3)
    long = benchmark.measure_speed("case", SYSTEM, core, **options)
    assert (whole.repeats, long.repeats) == (REPEATS, 2)
    assert long.seconds == pytest.approx(whole.seconds)
    # two launches a step, and nothing of a sort where there is none
    never = benchmark.measure_speed("case", SYSTEM, core, **options | {"sort_every": 0})
    assert (never.repeats, never.seconds) == (2, pytest.approx(2e-3))


def flat_box() -> System:
    """Fast electrons that cross the ends of a periodic box of unequal sides."""
    mesh, chance = Mesh((9, 3, 4), (1e-3,) * 3), np.random.default_rng(2)
    electrons = Electrons(chance.random((50, 3)) * mesh.length, chance.normal(0, 4, (50, 3)), np.ones(50))
    return System(mesh, 0.9 * courant_limit(mesh), electrons, self_field=False)


@pytest.mark.parametrize("make", [UniformSource(**CASE | {"cells": 5, "per_cell": 0.4}).system, flat_box])
def test_the_faces_between_cells_are_the_segments_that_the_host_counts(core, make):
    system = make()
    counted = Simulation(system, core, strategy=baskets(blocks=2, threads=4, basket=4, every=1))
    seen = Simulation(system, core, strategy="global sums")
    for simulation in (counted, seen):
        simulation.advance(1)
    # `seen` makes the second step itself
    found = benchmark.mean_segments(seen)
    counted.advance(1)
    assert benchmark.mean_segments(counted) == pytest.approx(found)
    assert 1.5 < found < 2.1


def test_a_box_of_unequal_sides_is_told_along_x_y_z_and_by_all_of_its_cells(core):
    found = benchmark.measure_speed("flat", flat_box(), core, strategy="global sums", seconds=1e-3)
    assert (found.size, found.choices["cells"]) == ("9 x 3 x 4 cells", 9 * 3 * 4)


def test_of_a_strategy_that_the_host_drives_launches_and_busy_threads_are_told(core):
    simulation = Simulation(SYSTEM, core, strategy=baskets(blocks=1, threads=4, basket=4, every=1))
    simulation.advance(1)
    facts = benchmark.facts_of(simulation)
    one = simulation.parts["particles"].last
    assert facts["launches"] == one.launches >= 14 / 4
    assert facts["busy"] == pytest.approx(one.segments / (4 * one.launches))
    assert facts["per step"] == pytest.approx(one.segments / 14)


def test_particles_are_counted_between_the_first_step_and_the_last(core):
    simulation = Simulation(UniformSource(**CASE | {"births": 0.3}).system(), core, strategy="global sums")
    simulation.advance(6)
    assert simulation.count == 14 + 6 * 4
    assert benchmark.facts_of(simulation)["particles"] == 14 + 3 * 4


def test_on_a_gpu_graphs_of_whole_sorts_are_timed(core, monkeypatch):
    monkeypatch.setattr(benchmark, "GRAPH", 4)
    seen, advance = [], Simulation.advance
    monkeypatch.setattr(
        Simulation, "advance", lambda *a, **k: seen.append((*a[1:], k.get("every"))) or advance(*a, **k)
    )
    found = benchmark.measure_speed("case", SYSTEM, PlainGpu(), strategy="global sums", sort_every=3, seconds=1e-6)
    # the multiple of three steps next to four: compiled, recorded, and one warm-up more than there are repetitions
    assert [call for call in seen if call[1] == 6] == [(12, 6)] + [(6, 6)] * (1 + 1 + REPEATS)
    assert found.choices["launch"] == "CUDA graph of at least 4 steps"


def test_what_the_host_drives_on_a_gpu_is_timed_by_its_clock(core, monkeypatch):
    monkeypatch.setattr(PlainGpu, "clock", None)
    strategy = baskets(blocks=1, threads=8, basket=4, every=1, fields="device")
    found = benchmark.measure_speed("case", SYSTEM, PlainGpu(), strategy=strategy, seconds=1e-6)
    assert found.choices["launch"] == "by the host, until all are done"
    assert found.repeats == REPEATS


def test_births_without_room_are_no_speed(core):
    system = UniformSource(**CASE | {"births": 0.1, "steps": 8}).system()
    with pytest.raises(InputError, match="room for the births of 3 more steps, and a timing makes 6"):
        benchmark.measure_speed("case", system, core, strategy="global sums")


def test_each_part_of_a_step_is_timed_and_a_sort_by_its_share(core):
    simulation = Simulation(SYSTEM, core, strategy="global sums", sort_every=4)
    found = benchmark.part_times(simulation, steps=1)
    assert list(found) == [*simulation.parts, "sorting"]
    assert found["particles"] == pytest.approx(1e-3)
    # one of four steps sorts
    assert found["sorting"] == pytest.approx(core.clock(simulation._cell_sort) / 4)


def test_a_part_of_a_step_takes_the_median_of_the_steps(core, monkeypatch):
    simulation = Simulation(SYSTEM, core, strategy="global sums")
    count = len(simulation.parts)
    # a step after the other: each part takes 1, then 5, then 2 seconds
    times = iter([1.0] * count + [5.0] * count + [2.0] * count)
    monkeypatch.setattr(core, "clock", lambda run: next(times))
    assert set(benchmark.part_times(simulation, steps=3).values()) == {2.0}


def test_the_stages_of_a_round_stand_for_the_particles(core, monkeypatch):
    monkeypatch.setattr(benchmark, "host_clock", lambda run, device: device.clock(run))
    strategy = baskets(blocks=1, threads=8, basket=4, every=1)
    simulation = Simulation(SYSTEM, core, strategy=strategy)
    found = benchmark.part_times(simulation, steps=1)
    assert list(found)[1:] == ["births and pointers", "launches and looks", "sum over blocks"]
    launches = simulation.parts["particles"].last.launches
    # after each of them two more find out which are in transit
    assert found["launches and looks"] == pytest.approx(3e-3 * launches)
    # a sum, and what clears
    assert found["sum over blocks"] == pytest.approx(2e-3)


def test_steps_with_a_source_end_where_its_room_does():
    system = UniformSource(cells=4, per_cell=10, births=0.05, steps=9).system()
    assert benchmark._require_steps(system, 2, 4) == 9 - 2 - 3
    with pytest.raises(InputError, match="room for the births of 4 more steps, and a timing makes 5"):
        benchmark._require_steps(system, 2, 5)
    assert benchmark._require_steps(SYSTEM, 2, 1) > 1e6


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"seconds": float("inf")}, "seconds = inf: must be a number above 0 to 600, in s a repetition"),
        ({"seconds": 1e9}, r"seconds = 1000000000\.0: must be a number above 0 to 600, in s a repetition"),
        ({"strategy": ["batches"]}, r"strategy = \['batches'\]: must be one of batches"),
        ({"precision": ["single"]}, r"precision = \['single'\]: must be one of single, double"),
        ({"system": None}, "system = None: must be of the kind System"),
        (
            {"system": replace(SYSTEM, air=Collisions())},
            "strategies are checked in vacuum, and it has air",
        ),
        ({"case": None}, "case = None: must be a line of text"),
        ({"system": UniformSource(**CASE | {"births": 0.1, "steps": 4}).system()}, "room for the births of 1 more"),
    ],
)
def test_what_cannot_be_timed_is_refused_before_anything_is_run(core, options, line):
    with pytest.raises(InputError, match=line):
        benchmark.measure_speed(**{"case": "case", "system": SYSTEM, "device": core} | options)
    assert core.launches == 0


@pytest.mark.parametrize("steps", [0, 1.5, "5"])
def test_parts_are_timed_over_a_whole_number_of_steps(core, steps):
    with pytest.raises(InputError, match=f"steps = {steps!r}: must be a whole number from 1 to 10000$"):
        benchmark.part_times(Simulation(SYSTEM, core), steps=steps)
