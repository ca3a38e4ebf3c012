"""A speed is that of a program which was compared with another one, and its rates follow from the clock."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainCore, PlainDevice

from repro.errors import CheckError
from repro.lbm import benchmark
from repro.lbm.boundaries import PERIODIC_BOX, Boundaries
from repro.lbm.cases import CubicCavity
from repro.lbm.lattice import D2Q9
from repro.lbm.media import PoreSpace
from repro.lbm.model import Model, Problem
from repro.lbm.porous import benchmark as porous
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.porous.strategies import STRATEGIES as POROUS
from repro.lbm.porous.strategies import sparse
from repro.lbm.simulation import Simulation
from repro.lbm.strategies import ALL, STRATEGIES, push
from repro.lbm.strategies.box import Box
from repro.lbm.strategies.scheme import Cost
from repro.parallel import CpuDevice
from repro.parallel.timeloop import GRAPH_STEPS

P, H = "periodic", "half-way"
CHANNEL = Problem(Model(D2Q9, Boundaries((P, P, H, H, P, P)), "bgk", "luo"), (8, 6, 1), 0.8, force=(1e-4, 0.0, 0.0))
BOX = Problem(Model(D2Q9, PERIODIC_BOX), (4, 6, 1), relaxation_time=0.8)
OPTIONS = {"precision": "double", "layout": "soa", "block": 4, "steps": 3}
SOME_PORES = PoreSpace(np.random.default_rng(1).uniform(0, 1, (3, 4, 5)) > 0.6)


class Counting(PlainDevice):
    """Plain Python that counts the bytes which kernels read from the device's arrays and write to them."""

    bytes = 0

    def zeros(self, shape, dtype):
        device = self

        class Array(np.ndarray):
            def __getitem__(self, place):
                device.bytes += self.itemsize * isinstance(place, int | np.integer)
                return super().__getitem__(place)

            def __setitem__(self, place, value):
                device.bytes += self.itemsize * isinstance(place, int | np.integer)
                super().__setitem__(place, value)

        return np.zeros(shape, dtype).view(Array)


@pytest.fixture
def plain(monkeypatch) -> PlainCore:
    """What is checked, and what it is compared with, run as plain Python."""
    for module in (benchmark, porous):
        monkeypatch.setattr(module, "select", lambda name: PlainCore())
    return PlainCore()


def other_flow(module, relaxation_time: float) -> SimpleNamespace:
    """A strategy that solves another problem than it was given."""

    def build(given, *more):
        if isinstance(given, Box):
            problem, spec = replace(given.problem, relaxation_time=relaxation_time), given.spec
            return module.build(Box(problem, given.device, spec.dtype, spec.layout, spec.block))
        return module.build(replace(given, relaxation_time=relaxation_time), *more)

    return SimpleNamespace(**{**vars(module), "build": build})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_is_compared_with_another_one(plain, monkeypatch, strategy):
    ran = []

    def noted(problem, device, *, strategy, **options):
        ran.append(strategy)
        return Simulation(problem, device, strategy=strategy, **options)

    monkeypatch.setattr(benchmark, "Simulation", noted)
    found = benchmark.check_strategy(CHANNEL, plain, strategy=strategy, **OPTIONS)
    assert ran[0] == strategy != ran[1]
    assert f"of serial {ran[1]} after 3 steps" in found


@pytest.mark.parametrize(("block", "along"), [(2, 2 * benchmark.BLOCKS), (8, 8)])
def test_the_check_of_a_speed_spans_several_blocks_of_a_row(plain, block, along):
    found = benchmark.check_strategy(CHANNEL, plain, strategy="pull", **OPTIONS | {"block": block})
    # a grid of one block is checked as it is
    assert benchmark.BLOCKS > 1
    assert found.endswith(f"after 3 steps on {along} x 6 x 1")


def test_a_strategy_that_computes_another_flow_is_not_timed(plain, monkeypatch):
    monkeypatch.setitem(ALL, "wrong", other_flow(push, CHANNEL.relaxation_time + 1e-3))
    with pytest.raises(CheckError, match="wrong on serial differs from serial push"):
        benchmark.check_strategy(CHANNEL, plain, strategy="wrong", **OPTIONS)
    monkeypatch.setattr(PlainCore, "clock", None)
    with pytest.raises(CheckError):
        benchmark.measure_speed("case", CHANNEL, plain, strategy="wrong", precision="double", seconds=1e-3)


@pytest.mark.parametrize(("strategy", "launches", "passes"), [("pull", 1, 2), ("split", 2, 4)])
def test_speed_and_bandwidth_are_those_of_a_step_of_known_length(plain, monkeypatch, strategy, launches, passes):
    monkeypatch.setattr(benchmark, "check_strategy", lambda *a, **k: "checked")
    found = benchmark.measure_speed("case", BOX, plain, strategy=strategy, seconds=0.02, runs=2)
    assert found.seconds == pytest.approx(1e-3 * launches)
    assert found.runs == pytest.approx([1e-3 * launches] * 2)
    # 24 nodes of nine populations of four bytes
    assert found.rates["mlups"] == pytest.approx(24 / (1e3 * launches))
    assert found.rates["bandwidth"] == pytest.approx(24 * 9 * 4 * passes / (1e-3 * launches))
    assert found.check == "checked"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_step_moves_the_bytes_that_its_strategy_states(strategy):
    device = Counting()
    simulation = Simulation(BOX, device, strategy=strategy, block=4)
    simulation.step(1)
    before = device.bytes
    simulation.advance(2)
    assert device.bytes - before == 2 * BOX.nodes * simulation.bytes_per_update


def test_a_list_of_pores_moves_the_bytes_that_it_states_its_map_included():
    device = Counting()
    flow = PorousFlow(PorousProblem(SOME_PORES, 0.8, (1e-6, 0.0, 0.0)), device, strategy="sparse")
    flow.step(1)
    before = device.bytes
    flow.advance(2)
    assert device.bytes - before == 2 * SOME_PORES.pores * flow.bytes_per_update


def test_the_mark_of_each_node_in_the_box_is_read_for_the_fluid_nodes_alone():
    # two arrays of 19 numbers of four bytes, and a mark of four bytes for each of the 1 / 0.25 nodes a fluid node
    marked = Cost(arrays=2, mark=4)
    assert marked.bytes_per_update(4, porosity=0.25) == 2 * 19 * 4 + 4 / 0.25
    assert marked.bytes_per_update(4, porosity=1.0) == 2 * 19 * 4 + 4
    assert replace(marked, mark_open=False).bytes_per_update(4, porosity=1.0) == 2 * 19 * 4
    # both steps of a pair need it, or one alone
    assert replace(marked, finds=0.5).bytes_per_update(4, porosity=0.25) == 2 * 19 * 4 + 2 / 0.25


@pytest.fixture
def small_crystal(monkeypatch):
    """The check's crystal with fewer voxels, for plain Python."""
    crystal = porous.sphere_crystal
    monkeypatch.setattr(porous, "sphere_crystal", lambda nodes, chi: crystal(6, chi))


@pytest.mark.parametrize("strategy", POROUS)
def test_a_porous_strategy_is_compared_with_one_that_keeps_other_arrays(plain, monkeypatch, small_crystal, strategy):
    ran = []

    def noted(problem, device, *, strategy, **options):
        ran.append(strategy)
        return PorousFlow(problem, device, strategy=strategy, **options)

    monkeypatch.setattr(porous, "PorousFlow", noted)
    problem = PorousProblem(SOME_PORES, 0.8, (1e-6, 0.0, 0.0))
    porous.check_strategy(problem, plain, strategy=strategy, precision="double", block=4, steps=2)
    tested, reference = (POROUS[name].COST.dense for name in ran)
    assert ran[0] == strategy
    assert tested is not reference


def test_a_porous_strategy_that_computes_another_flow_is_not_timed(plain, monkeypatch, small_crystal):
    problem = PorousProblem(SOME_PORES, 0.8, (1e-6, 0.0, 0.0))
    monkeypatch.setitem(POROUS, "wrong", other_flow(sparse, 0.801))
    with pytest.raises(CheckError, match="wrong on serial differs from serial sparse"):
        porous.check_strategy(problem, plain, strategy="wrong", precision="double", block=4, steps=2)


def test_the_rates_of_a_porous_medium_count_the_box_and_its_pores(plain, monkeypatch):
    monkeypatch.setattr(porous, "check_strategy", lambda *a, **k: "checked")
    found = porous.measure_speed("case", SOME_PORES, plain, strategy="sparse", seconds=0.01)
    assert found.seconds == pytest.approx(1e-3)
    assert found.rates["mlups"] == pytest.approx(60 / 1e3)
    assert found.rates["mflups"] == pytest.approx(SOME_PORES.pores / 1e3)
    # nineteen populations in and out, and where eighteen of them come from, of four bytes each
    assert found.rates["bandwidth"] == pytest.approx(SOME_PORES.pores * 4 * (2 * 19 + 18) / 1e-3)


def test_a_box_in_which_nothing_drives_the_flow_is_checked_too(plain):
    assert "serial push" in benchmark.check_strategy(BOX, PlainDevice(), strategy="pull", **OPTIONS)


class Noting:
    """A simulation's device that notes how many launches it records; its clock is always one second."""

    xp, simulated = np, True

    def __init__(self, name: str):
        self.name, self.captured = name, 0

    def __getattr__(self, name):
        return getattr(PlainDevice(), name)

    def capture(self, run):
        self.captured += 1
        return lambda: None

    def clock(self, run):
        run()
        return 1.0

    def compile(self, kernel):
        return lambda shape, *arguments: lambda: None


@pytest.mark.parametrize("name", ["cuda", "threads"])
def test_the_launch_that_is_stated_is_the_one_that_ran(name):
    problem = CubicCavity(reynolds=10, nodes=10).problem
    device = Noting(name)
    build = partial(Simulation, problem, device, block=32)
    speed = benchmark.measure_flow("case", device, build=build, check=lambda: "none", seconds=2.0, runs=2)
    assert speed.row["launch"] == (
        f"CUDA graph of {GRAPH_STEPS} steps" if name == "cuda" else "from Python, one by one"
    )
    assert speed.row["block"] == 32
    assert speed.repeats == 5
    # on a CPU a recorded sequence is the sequence itself
    assert CpuDevice(name).capture(len) is len if name == "threads" else device.captured


def test_threads_a_block_are_those_of_the_strategy_unless_others_are_asked_for(plain):
    asked = {("pull", None): 256, ("swap links", None): 128, ("shared memory", 2): 2, ("pull", 2): 2}
    blocks = {key: Simulation(BOX, plain, strategy=key[0], block=key[1]).block for key in asked}
    assert blocks == asked
    precisions = {"single": 256, "half": 128}
    assert {name: Simulation.block_of("paired pull", name) for name in precisions} == precisions
