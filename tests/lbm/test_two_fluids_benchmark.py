"""A speed of two fluids is that of a program compared with another one, and its bytes are those that it touches."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainCore, PlainDevice

from repro.errors import CheckError, InputError
from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids import benchmark
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.simulation import TwoFluidFlow
from repro.lbm.two_fluids.strategies import STRATEGIES, sparse, tiled

SHAPE = (3, 4, 5)
OPEN = TwoFluids(PoreSpace(np.zeros(SHAPE, bool)), 0.15)
ROCK = TwoFluids(PoreSpace(np.random.default_rng(1).random(SHAPE) < 0.3), 0.15)
OPTIONS = {"precision": "double", "block": 32, "steps": 2}


class Touching(PlainDevice):
    """Plain Python that knows which places of its arrays kernels read and write, and how often they read."""

    def __init__(self):
        super().__init__()
        self.forget()

    def forget(self):
        self.places, self.loads = set(), 0

    def zeros(self, shape, dtype):
        device = self

        class Array(np.ndarray):
            def __getitem__(self, place):
                if isinstance(place, int | np.integer):
                    device.places.add(("read", id(self), int(place), self.itemsize))
                    device.loads += 1
                return super().__getitem__(place)

            def __setitem__(self, place, value):
                if isinstance(place, int | np.integer):
                    device.places.add(("written", id(self), int(place), self.itemsize))
                super().__setitem__(place, value)

        return np.zeros(shape, dtype).view(Array)

    def to_device(self, array):
        target = self.zeros(np.shape(array), np.asarray(array).dtype)
        target[...] = array
        return target

    def bytes_of(self, launch) -> int:
        self.forget()
        launch()
        return sum(itemsize for *_, itemsize in self.places)


@pytest.fixture
def plain(monkeypatch) -> PlainCore:
    """What is checked, and what it is compared with, run as plain Python in a box of few nodes."""
    monkeypatch.setattr(benchmark, "CpuDevice", lambda name, workers: PlainCore())
    monkeypatch.setattr(benchmark, "_SIDE", 4)
    return PlainCore()


def unlike(module) -> SimpleNamespace:
    """A strategy that solves another problem than it was given."""

    def build(problem, *more):
        return module.build(replace(problem, relaxation_times=(0.801, 1.3)), *more)

    return SimpleNamespace(**{**vars(module), "build": build})


@pytest.mark.parametrize("problem", [OPEN, ROCK], ids=["open", "rock"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_is_compared_with_one_that_keeps_other_arrays(plain, monkeypatch, strategy, problem):
    ran = []

    def noted(small, device, *, strategy, **options):
        ran.append((strategy, bool(small.space.solid.any())))
        assert small.relaxation_times[0] != small.relaxation_times[1]
        return TwoFluidFlow(small, device, strategy=strategy, **options)

    monkeypatch.setattr(benchmark, "TwoFluidFlow", noted)
    found = benchmark.check_strategy(problem, plain, strategy=strategy, **OPTIONS)
    (tested, walls), (reference, _) = ran
    assert tested == strategy
    assert STRATEGIES[tested].COST.dense != STRATEGIES[reference].COST.dense
    # without solid, kernels over all nodes are others than with it
    assert walls == (problem is ROCK or strategy == "sparse")
    assert f"of {reference} on one core after 2 steps" in found


def test_a_strategy_that_computes_other_fluids_is_not_timed(plain, monkeypatch):
    monkeypatch.setitem(STRATEGIES, "wrong", unlike(sparse))
    with pytest.raises(CheckError, match="wrong on serial differs from sparse on one core by"):
        benchmark.check_strategy(ROCK, plain, strategy="wrong", **OPTIONS)
    monkeypatch.setattr(PlainCore, "clock", None)
    with pytest.raises(CheckError):
        benchmark.measure_speed("case", ROCK, plain, strategy="wrong", precision="double", seconds=1e-3)


@pytest.mark.parametrize(("strategy", "kernels", "moved"), [("dense", 2, 118 * 4), ("sparse", 2, 118 * 4 + 144)])
def test_rates_are_those_of_a_step_of_known_length(plain, monkeypatch, strategy, kernels, moved):
    monkeypatch.setattr(benchmark, "check_strategy", lambda *a, **k: "checked")
    problem = OPEN if strategy == "dense" else ROCK
    found = benchmark.measure_speed("case", problem, plain, strategy=strategy, seconds=0.01, runs=2)
    step, pores = 1e-3 * kernels, problem.space.pores
    assert found.runs == pytest.approx([step] * 2)
    assert found.rates["mlups"] == pytest.approx(60e-6 / step)
    assert found.rates["mflups"] == pytest.approx(1e-6 * pores / step)
    assert found.rates["bandwidth"] == pytest.approx(pores * moved / step)
    assert found.check == "checked"


@pytest.mark.parametrize(("change", "message"), [({"seconds": 0.0}, "seconds = 0.0"), ({"runs": 0}, "runs")])
def test_a_measurement_that_measures_nothing_is_refused(plain, change, message):
    with pytest.raises(InputError, match=message):
        benchmark.measure_speed("case", OPEN, plain, **change)


def test_each_kernel_of_a_step_has_its_time(plain):
    assert benchmark.part_times(OPEN, plain, seconds=0.002, strategy="dense") == pytest.approx(
        {"densities": 1e-3, "update": 1e-3}
    )
    assert list(benchmark.part_times(OPEN, plain, seconds=0.002, strategy="tiled", block=32)) == ["update"]


@pytest.mark.parametrize("problem", [OPEN, ROCK], ids=["open", "rock"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fluids_that_are_timed_move_and_are_nowhere_alike(strategy, problem):
    flow = benchmark.stirred(problem, PlainDevice(), strategy=strategy, precision="double", block=32)
    solid = problem.space.solid
    for _ in range(3):
        a, b, u = flow.fields()
        for density in (a[~solid], b[~solid]):
            assert density.min() > 0.25
            assert len(set(density.round(9))) == len(density)
        assert np.abs(u).max() > 1e-3
        flow.step(1)


@pytest.mark.parametrize(("strategy", "problem"), [("dense", OPEN), ("tiled", OPEN), ("sparse", ROCK)])
def test_a_step_touches_as_many_bytes_as_its_strategy_states(strategy, problem):
    device = Touching()
    flow = TwoFluidFlow(problem, device, strategy=strategy, block=32)
    # what a kernel finds twice it finds in a cache: each place counts once a kernel
    parts = {name: device.bytes_of(launch) for name, launch in flow.scheme.parts[0].items()}
    cost, space = STRATEGIES[strategy].COST, problem.space
    assert sum(parts.values()) == pytest.approx(space.pores * flow.bytes_per_update)
    assert parts.get("densities", 0) == pytest.approx(space.pores * cost.densities_bytes(4, space.porosity))


@pytest.mark.parametrize(("blocks", "depth"), [(1, 2), (256, 1)])
def test_tiles_compute_densities_as_often_as_they_state(monkeypatch, blocks, depth):
    monkeypatch.setattr(tiled, "DEPTH", 2)
    monkeypatch.setattr(tiled, "BLOCKS", blocks)
    device, space = Touching(), PoreSpace(np.zeros((4, 2, 32), bool))
    flow = TwoFluidFlow(TwoFluids(space, 0.1), device, strategy="tiled", block=64)
    device.bytes_of(flow.scheme.parts[0]["update"])
    # and once more where a node collides
    assert device.loads == pytest.approx(2 * 19 * space.pores * (tiled.repeats(64, depth) + 1))


def test_a_small_box_has_blocks_enough_and_a_large_one_walks_deep():
    for planes, tiles in itertools.product((1, 2, 30, 32, 100, 256), (1, 8, 100, 512)):
        depth = tiled.walk_depth(planes, tiles)
        blocks, fewer = (tiles * -(-planes // each) for each in (depth, 2 * depth))
        assert depth == 1 or blocks >= tiled.BLOCKS
        assert depth == tiled.DEPTH or fewer < tiled.BLOCKS


@pytest.mark.parametrize(
    ("strategy", "moved", "kept"),
    [
        # two lattices of 19 numbers are read twice and written once, and two densities each way; a mark of four bytes
        # a node is found twice, and half of the nodes are pores
        ("dense", 4 * (6 * 19 + 4) + 2 * 8, 4 + 4 * (4 * 19 + 7)),
        # or 18 places a pore are found twice, and solid nodes keep nothing
        ("sparse", 4 * (6 * 19 + 4) + 2 * 72, (4 * (4 * 19 + 7) + 72) / 2),
        # all is read once
        ("tiled", 4 * 4 * 19 + 8, 4 + 4 * (4 * 19 + 7)),
    ],
)
def test_a_strategy_moves_and_keeps_by_design_what_a_count_by_hand_gives(strategy, moved, kept):
    cost = STRATEGIES[strategy].COST
    assert (cost.bytes_per_update(4, 0.5), cost.bytes_per_node(4, 0.5)) == (moved, kept)
    # where all nodes are pores no mark is read
    assert cost.bytes_per_update(4) == {"dense": 472, "sparse": 616, "tiled": 304}[strategy]
