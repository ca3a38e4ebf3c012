"""The harness of all speeds: a check comes first, runs are built anew, and steps of a known length have that length."""

import re
from functools import partial
from math import inf, nan
from weakref import ref

import numpy as np
import pytest
from helpers.virtual import Virtual

from repro.errors import CheckError, InputError
from repro.parallel.benchmark import (
    REPEATS,
    Speed,
    agreement,
    how_launched,
    measure_runs,
    part_times,
    require_timeable,
    time_steps,
)
from repro.parallel.timeloop import GRAPH_STEPS
from repro.parallel.timing import Timing


class Steps:
    """A simulation whose steps take a known time, and a first step a compiler's; it notes what it was asked for."""

    def __init__(self, seconds: float, name: str = "cuda"):
        self.device, self.seconds, self.asked, self.looks = Virtual(), seconds, [], 0
        self.device.name = name
        self.parts = {"drift": 1e-3, "lists": 2e-3, "forces": 4e-3, "kick": 3e-3}
        self.parts = {part: partial(self.device.work, seconds) for part, seconds in self.parts.items()}

    def advance(self, count, *, every=1):
        self.device.work(count * self.seconds + (0 if self.asked else 100.0))
        self.asked.append((count, every))

    def step(self, count):
        self.looks += count


@pytest.mark.parametrize("name", ["cuda", "serial"])
def test_the_time_of_a_step_is_that_of_a_step_and_what_went_wrong_is_looked_at(name):
    simulation = Steps(1e-3, name)
    found = time_steps(simulation, 0.2)
    assert found.seconds == pytest.approx(1e-3)
    assert (found.repeats, simulation.looks) == (REPEATS, 1)
    # a repetition is about as long as asked for
    assert simulation.asked[-1][0] == 200


@pytest.mark.parametrize(("graph", "every"), [(True, GRAPH_STEPS), (False, 2**40)])
def test_a_gpu_makes_whole_graphs_of_steps_or_launches_them_one_by_one(graph, every):
    simulation = Steps(1e-2)
    time_steps(simulation, 0.05, graph=graph)
    assert {asked[1] for asked in simulation.asked} == {every}
    assert all(count % (GRAPH_STEPS if graph else 1) == 0 for count, _ in simulation.asked)
    assert how_launched(simulation.device, graph) == ("CUDA graph of 100 steps" if graph else "from Python, one by one")
    assert how_launched(Steps(1.0, "serial").device, graph) == "from Python, one by one"


def test_a_long_step_of_a_core_is_timed_twice_or_in_its_own_way():
    assert time_steps(Steps(0.3, "serial"), 0.2).repeats == 2
    # on a GPU, and where no step is too long
    assert time_steps(Steps(0.3), 0.2).repeats == time_steps(Steps(0.3, "serial"), 0.2, long=inf).repeats == REPEATS
    own = Timing(1.0, 1.0, 0.0, 3)
    assert time_steps(Steps(0.3, "serial"), 0.2, alone=lambda: own) is own


@pytest.mark.parametrize(
    ("name", "seconds", "warm_up"), [("cuda", 1e-4, 700), ("serial", 1e-3, 100), ("serial", 0.2, 5)]
)
def test_a_warm_up_comes_before_the_clock(name, seconds, warm_up):
    simulation = Steps(seconds, name)
    time_steps(simulation, 0.2, warm_up=1000)
    # a core makes a tenth, or what takes about five repetitions
    assert simulation.asked[2][0] == warm_up


def test_no_more_steps_are_made_than_there_is_room_for():
    simulation = Steps(1e-3, "serial")
    time_steps(simulation, 10.0, unit=2, room=lambda least: 3 * least + 1)
    assert simulation.asked[-1][0] == 6


@pytest.mark.parametrize(
    ("name", "options", "asked"),
    [
        # two graphs, one on the clock, five repetitions and their warm-up
        ("cuda", {}, [200, 100, *[200] * 6]),
        ("cuda", {"graph": False}, [2, 1, *[200] * 6]),
        ("cuda", {"unit": 30, "repeats": 3}, [60, 30, *[210] * 4]),
        ("cuda", {"warm_up": 400}, [200, 100, 100, *[200] * 6]),
        ("cuda", {"warm_up": 1050}, [200, 100, 700, *[200] * 6]),
        ("cuda", {"warm_up": 399}, [200, 100, *[200] * 6]),
        ("serial", {}, [1, 1, *[200] * 6]),
        ("serial", {"unit": 30}, [2, 2, *[210] * 6]),
        ("serial", {"unit": 30, "warm_up": 650}, [2, 2, 60, *[210] * 6]),
    ],
)
def test_steps_are_made_in_this_order(name, options, asked):
    simulation = Steps(1e-3, name)
    found = time_steps(simulation, 0.2, **options)
    assert [count for count, _ in simulation.asked] == asked
    assert (found.seconds, found.repeats) == (pytest.approx(1e-3), options.get("repeats", 5))


@pytest.mark.parametrize(("seconds", "long", "repeats"), [(0.24, {}, 5), (0.26, {}, 2), (0.26, {"long": 0.3}, 5)])
def test_a_step_of_a_core_is_long_from_a_quarter_of_a_second_on(seconds, long, repeats):
    simulation = Steps(seconds, "serial")
    assert time_steps(simulation, 0.2, **long).repeats == repeats
    # without another warm-up
    assert len(simulation.asked) == (4 if repeats == 2 else 8)


def test_a_repetition_is_one_unit_at_least_and_asks_for_room_for_all_and_the_warm_up():
    simulation, asked = Steps(1e-3), []
    time_steps(simulation, 1e-9)
    assert simulation.asked[-1][0] == GRAPH_STEPS
    time_steps(simulation, 10.0, unit=2, room=lambda least: asked.append(least) or 71)
    # six times two
    assert asked == [12]
    assert simulation.asked[-1][0] == 2 * (71 // 12)


def test_a_run_is_gone_before_the_next_is_built_and_the_facts_are_those_of_the_first():
    alive, facts = [], iter((3.0, 4.0, 5.0))

    def build():
        assert not [simulation for simulation in alive if simulation() is not None]
        simulation = Steps(1e-3)
        # it holds itself, as recorded steps do
        simulation.itself = simulation
        alive.append(ref(simulation))
        return simulation

    found = measure_runs(
        "case",
        Virtual(),
        build=build,
        check=lambda simulation: f"check {len(alive)}",
        time=lambda simulation: Timing(0.5, 0.5, 0.0, 6 - len(alive)),
        facts=lambda simulation: (
            {"strategy": "a", "precision": "single", "size": "8"}
            | {"work": {"updates": next(facts)}, "choices": {"block": 64}}
        ),
        runs=3,
    )
    assert (found.rates["updates"], found.check, found.repeats) == (6.0, "check 3", 3)
    assert (found.row["block"], found.row["updates"], found.row["case"]) == (64, 6.0, "case")
    assert "rates" not in found.row
    assert "choices" not in found.row


def test_every_run_is_built_anew_and_checked_before_it_is_timed():
    built, order = [], []

    def build():
        order.append("build")
        built.append(Steps(1e-3 * (1 + len(built))))
        return built[-1]

    names = {"strategy": "a", "precision": "single", "size": "8", "work": {"updates": 6.0}}
    found = measure_runs(
        "case",
        Virtual(),
        build=build,
        check=lambda simulation: order.append("check") or "checked",
        time=lambda simulation: order.append("time") or time_steps(simulation, 0.2),
        facts=lambda simulation: names,
        runs=3,
    )
    assert order == ["build", "check", "time"] * 3
    assert found.runs == pytest.approx((1e-3, 2e-3, 3e-3))
    assert found.rates["updates"] == pytest.approx(3000)
    assert found.check == "checked"


def test_what_fails_its_check_is_not_timed():
    def check(simulation):
        raise CheckError("it differs")

    with pytest.raises(CheckError, match="it differs"):
        measure_runs("case", Virtual(), build=lambda: Steps(1.0), check=check, time=None, facts=None, runs=1)


def test_runs_agree_where_no_array_differs_by_more_than_the_tolerance():
    expected = {"r": np.array([0.0, 2.0, -4.0]), "v": np.array([1.0])}
    assert agreement("a", expected, "b", expected, 0.0) == "the same bits as b"
    near = expected | {"r": np.array([0.004, 2.0, -4.0])}
    assert agreement("a", near, "b", expected, 1e-2) == "within 1.0e-03 of b"
    with pytest.raises(CheckError, match="a differs from b by 1.00e-03 of the largest r"):
        agreement("a", near, "b", expected, 1e-4)
    for wrong in (np.array([nan, 2, -4]), np.array([inf, 2, -4]), np.array([0.0, 2.0])):
        with pytest.raises(CheckError, match="differs from b by inf"):
            agreement("a", expected | {"r": wrong}, "b", expected, 1e6)


def test_a_difference_is_relative_to_the_largest_that_is_expected_or_absolute_where_that_is_nothing():
    for result, expected, difference in ((3.0, 1.0, "2.00e+00"), (0.5, 0.0, "5.00e-01"), (-3.0, -2.0, "5.00e-01")):
        with pytest.raises(CheckError, match=rf"differs from b by {re.escape(difference)} of the largest r"):
            agreement("a", {"r": [result]}, "b", {"r": [expected]}, 0.1)
    assert agreement("a", {"r": [3.0]}, "b", {"r": [2.0]}, 0.5) == "within 5.0e-01 of b"
    # the worst of all counts
    with pytest.raises(CheckError, match="largest v"):
        agreement("a", {"r": [1.0], "v": [2.0]}, "b", {"r": [1.0], "v": [1.0]}, 0.5)


def test_what_can_be_timed_has_two_ends():
    require_timeable(600, 100)
    require_timeable(1e-9, 1)
    with pytest.raises(InputError, match="seconds = 600.1: must be a number above 0 to 600, in s a repetition"):
        require_timeable(600.1, 1)
    with pytest.raises(InputError, match="runs = 101: must be a whole number from 1 to 100$"):
        require_timeable(1, 101)


@pytest.mark.parametrize(
    ("seconds", "runs", "line"),
    [
        (0, 1, "above 0 to 600"),
        (nan, 1, "above 0 to 600"),
        (inf, 1, "above 0 to 600"),
        (1, 0, "runs = 0: must be"),
        (1, 101, "runs = 101: must be"),
    ],
)
def test_what_cannot_be_timed_is_refused(seconds, runs, line):
    with pytest.raises(InputError, match=line):
        require_timeable(seconds, runs)


def test_the_parts_of_a_step_have_their_times_in_its_order():
    simulation, order = Steps(1e-3), []
    for name, work in simulation.parts.items():
        simulation.parts[name] = lambda name=name, work=work: (order.append(name), work())[1]
    found = part_times(simulation, seconds=0.05)
    assert [count for count, _ in simulation.asked] == [2]
    # the drift is the last, as it moves the particles away from their lists
    assert list(dict.fromkeys(order)) == ["lists", "forces", "kick", "drift"]
    assert found == pytest.approx({"drift": 1e-3, "lists": 2e-3, "forces": 4e-3, "kick": 3e-3})
    assert list(found) == ["drift", "lists", "forces", "kick"]


def test_a_rate_is_the_work_of_a_step_over_its_seconds():
    virtual = Virtual()
    runs = [Timing(seconds, seconds, 0.01, 5) for seconds in (0.5, 0.4, 0.2)]
    names = {"strategy": "pull", "precision": "single", "size": "8", "check": "made up"}
    speed = Speed.of("case", virtual, runs, work={"mlups": 8.0, "bandwidth": 4e9}, **names)
    assert speed.seconds == 0.4
    assert speed.rates == pytest.approx({"mlups": 20.0, "bandwidth": 1e10})
    assert speed.runs == (0.5, 0.4, 0.2)
    # runs lie further apart than the repetitions of one
    assert speed.spread == pytest.approx(0.75)
    row = speed.row
    assert (row["mlups"], row["device"], row["hardware"]) == (pytest.approx(20.0), "cuda", "made up")


def test_one_run_has_the_spread_of_its_repetitions():
    virtual = Virtual()
    names = {"strategy": "pull", "precision": "single", "size": "8", "check": "made up"}
    assert Speed.of("case", virtual, [Timing(1.0, 1.0, 0.07, 5)], work={}, **names).spread == 0.07
