"""Coalesced and uncoalesced access, and the constants of the force kernel in every memory space."""

import numpy as np
import pandas as pd
import pytest
from helpers.judging import by_statement
from helpers.timings import Kept
from helpers.toolkit import ptx_of

from repro.dpd.benchmark import check_forces, reference_forces
from repro.dpd.cases import Bulk
from repro.dpd.fluid import Fluid
from repro.dpd.simulation import Simulation
from repro.errors import CheckError, InputError
from repro.papers.dpd.memory_and_launch import access, constants
from repro.papers.dpd.memory_and_launch import memory as memory_benchmark
from repro.parallel import Speed, Timing, select
from repro.study.judge import claims
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict


def test_every_walk_takes_each_number_once_whatever_a_thread_takes(device):
    for items, block in ((1, 4), (4, 4)):
        launches, source, target = access.walks(device, 6, [1, 2, 8, 32, 0], items=items, block=block)
        assert len(set(device.to_host(source))) == 64
        for stride, launch in launches.items():
            assert access.check_walk(launch, source, target), stride
    with pytest.raises(CheckError, match="64 of 64"):
        access.check_walk(lambda: None, source, target)


class Places:
    """Notes which numbers were taken, in their order."""

    def __init__(self):
        self.taken = []

    def __setitem__(self, place, value):
        self.taken.append(int(place))

    def __getitem__(self, place):
        self.taken.append(int(place))
        return np.float32(0)


def _walked(number, count: int, factor: int, shift: int) -> np.ndarray:
    places, held = Places(), np.zeros((1, count), np.float32)
    walk = access.walk_body(number, 1, 4)
    walk(0, count, held, np.zeros(count, np.float32), places, *map(np.uint32, (count - 1, factor, shift)))
    return np.array(places.taken)


def test_neighbours_of_a_walk_lie_a_stride_apart_and_those_at_random_anywhere():
    bits, count = 12, 1 << 12
    for shift in (0, 3, 5):
        order = _walked(access.rotated, count, 1 << shift, bits - shift)
        assert np.array_equal(np.sort(order), np.arange(count))
        # but for the places where a walk begins again
        assert (np.diff(order) == 1 << shift).sum() == count - (1 << shift)
    with np.errstate(over="ignore"):
        order = _walked(access.at_random, count, access._SECOND, bits // 2)
    assert np.array_equal(np.sort(order), np.arange(count))
    # of 32 numbers at random among 512 sectors of 8, two now and then share one
    sectors = [len(set(warp // 8)) for warp in order.reshape(-1, 32)]
    expected = 512 * (1 - (1 - 1 / 512) ** 32)
    assert np.mean(sectors) == pytest.approx(expected, rel=0.05)


def test_the_threads_of_a_block_take_its_items_side_by_side_and_each_thread_loads_all_before_it_stores():
    block, items = 4, 2
    found = [[int(access.item(x, j, items, block)) for x in range(8)] for j in range(items)]
    assert found == [[0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]]
    both, held = Places(), np.zeros((items, 1), np.float32)
    access.walk_body(access.rotated, items, block)(1, 1, held, both, both, *map(np.uint32, (15, 1, 4)))
    assert both.taken == [1, 5, 1, 5]


def test_bytes_moved_grow_with_the_stride_up_to_a_sector_or_a_line_for_each_number(threads):
    strides, line = (1, 2, 4, 8, 16, 32, 1024), access.SECTOR[threads.name]
    assert [access.traffic_model(stride, access.SECTOR["cuda"]) for stride in strides] == [1, 2, 4, 8, 8, 8, 8]
    assert [access.traffic_model(stride, line) for stride in strides] == [1, 2, 4, 8, 16, 16, 16]


def test_the_roof_of_a_walk_is_a_plain_copy_and_moved_bytes_count_whole_transactions(threads, monkeypatch):
    monkeypatch.setattr(access, "copy_bandwidth", lambda device: 1e9)
    kept = Kept()
    table = access.strides_table(threads, [10], [1, 4, 0], kept, seconds=1e-6)
    assert kept.of("case") == [f"add one, {where}, 2^10 numbers" for where in ("stride 1", "stride 4", "at random")]
    assert [kept.of(name) for name in ("seconds", "spread")] == [list(table[name]) for name in ("seconds", "spread")]
    assert list(table["GB/s"] * table["seconds"]) == pytest.approx([8 * 2**10 / 1e9] * 3)
    assert list(table["of copy"]) == pytest.approx(list(table["GB/s"]))
    assert list(table["moved of copy"] / table["of copy"]) == pytest.approx([1, 4, 16])
    assert list(table["model"]) == [1, 4, 16]
    assert list(table["ratio"]) == pytest.approx(list(table["seconds"] / table["seconds"][0]))
    assert (list(table["bits"]), list(table["MiB"])) == ([10] * 3, [8 / 1024] * 3)
    assert access.SECTOR == {"cuda": 32, "serial": 64, "threads": 64}


def test_what_was_run_once_says_nothing_of_how_far_runs_lie_apart():
    rows = [("half", "read-only path", 1.1, 0.4, (3.0,)), ("half", "global memory", 1.0, 0.1, (3.0, 3.3, 3.0))]
    rows.append(("full", "read-only path", 1.4, 0.4, (3.0,)))
    table = pd.DataFrame(rows, columns=["stencil", "constants", "against global memory", "spread", "runs"])
    assert memory_benchmark.scatter(table) == 0.1
    # where nothing was run twice, the repetitions scatter
    assert memory_benchmark.scatter(table[table["spread"] > 0.1]) == 0.4


def _constants(times: dict) -> pd.DataFrame:
    """A table of constants with the seconds of each run by (stencil, place)."""
    rows = [(*key, float(np.median(runs)), runs) for key, runs in times.items()]
    return pd.DataFrame(rows, columns=["stencil", "constants", "seconds", "runs"])


def test_the_gain_of_a_texture_is_that_of_each_run_with_the_half_stencil():
    half = {("half", "global memory"): (3.0, 3.3, 3.0), ("half", "texture object"): (3.0, 3.0, 2.5)}
    full = {("full", "global memory"): (9.0,) * 3, ("full", "texture object"): (1.0,) * 3}
    found = memory_benchmark.texture_gain(_constants(half | full))
    assert (found["measured"], found["scatter"]) == (pytest.approx(1.1), pytest.approx(0.2))


def test_a_gain_within_the_scatter_of_the_runs_is_a_tie_and_a_loss_refutes_the_claim():
    claim, plain = claims.load("dpd")["dpd-063"], ("half", "global memory")
    for runs, verdict in (((2.9, 3.0, 3.1), Verdict.TIE), ((3.3, 3.31, 3.32), Verdict.NOT_REPRODUCED)):
        table = _constants({plain: (3.0,) * 3, ("half", "texture object"): runs})
        assert by_statement(claim, Evidence(**memory_benchmark.texture_gain(table))) is verdict


def test_each_place_is_compared_with_global_memory_of_the_same_stencil(monkeypatch, threads):
    seconds = {("half", "arguments"): 2.0, ("half", "literals"): 4.0, ("half", "global memory"): 6.0}
    seconds |= {("full", "arguments"): 5.0, ("full", "literals"): 1.0, ("full", "global memory"): 10.0}

    def speed(case, system, device, *, stencil, place, runs, **_):
        timings = [Timing(seconds[stencil, place], 0.0, 0.01, 5)] * runs
        more = {"strategy": "particle", "precision": "single", "size": "", "check": "", "work": {}}
        return Speed.of("", device, timings, **more, choices={"stencil": stencil, "constants": place})

    monkeypatch.setattr(memory_benchmark, "_kernel_speed", speed)
    monkeypatch.setattr(memory_benchmark, "reference_forces", lambda system, **_: None)
    table = memory_benchmark.constants_table(None, threads, seconds=0.1, runs=3)
    gain = table.set_index(["stencil", "constants"])["against global memory"]
    assert (gain["half", "arguments"], gain["half", "literals"]) == (3.0, 1.5)
    assert (gain["full", "arguments"], gain["full", "global memory"]) == (2.0, 1.0)
    # the half stencil with global memory is one of the two kernels that the claim compares
    assert [len(runs) for runs in table["runs"]] == [1, 1, 3, 1, 1, 1]


def test_cached_places_are_timed_with_the_registers_of_plain_loads(monkeypatch):
    asked = []

    def speed(case, system, device, *, stencil, place, registers, runs, **_):
        asked.append((stencil, place, registers, runs))
        timings = [Timing({"read-only path": 2.0, "texture object": 4.0}[place], 0.0, 0.01, 5)] * runs
        more = {"strategy": "particle", "precision": "single", "size": "", "check": "", "work": {}}
        choices = {"stencil": stencil, "constants": place, "registers": registers, "occupancy": 0.5}
        return Speed.of("", device, timings, **more, choices=choices)

    monkeypatch.setattr(memory_benchmark, "_kernel_speed", speed)
    monkeypatch.setattr(memory_benchmark, "reference_forces", lambda system, **_: None)
    times = _constants({("half", "global memory"): (3.0,) * 3, ("full", "global memory"): (9.0,) * 3})
    times["registers"] = [72, 90]
    found = memory_benchmark.with_equal_registers(times, None, select("serial"), seconds=0.1, runs=3)
    assert asked == [("half", "read-only path", 72, 3), ("half", "texture object", 72, 3)]
    assert dict(zip(found["constants"], found["against global memory"], strict=True)) == {
        "read-only path": 1.5,
        "texture object": 0.75,
    }


@pytest.mark.parametrize(
    ("bits", "strides", "message"),
    [
        (40, [1], "2\\^4 to 2\\^30"),
        (3, [1], "2\\^4 to 2\\^30"),
        (31, [1], "2\\^4 to 2\\^30"),
        (6, [1, 3], "power of two"),
        (6, [1, 64], "below 2\\^6"),
        (6, [2], "begin with 1"),
    ],
)
def test_arrays_and_strides_that_cannot_be_are_refused(threads, bits, strides, message):
    with pytest.raises(InputError, match=message):
        access.strides_table(threads, [bits], strides, seconds=0.1)


@pytest.mark.parametrize("name", ["serial", "threads", "cuda"])
def test_forces_do_not_depend_on_where_the_constants_lie(name):
    device = select(name)
    density = 0.4 if device.name == "cuda" and device.simulated else 4.0
    system = Bulk((3.0, 3.0, 3.0), Fluid(density=density)).system()
    expected, simulation = reference_forces(system), Simulation(system, device, strategy="particle")
    # a stencil on each kind of CPU: kernels compile slowly
    for stencil in {"serial": ("full",), "threads": ("half",)}.get(name, constants.STENCILS):
        for place in constants.places_on(device):
            assert check_forces(simulation, expected, constants.build(simulation.setup, place, stencil))


def test_places_that_a_device_does_not_have_are_refused(threads):
    setup = Simulation(Bulk((3.0, 3.0, 3.0)).system(), threads, strategy="particle").setup
    for place in ("constant memory", "read-only path", "texture object"):
        with pytest.raises(InputError, match="choose one of arguments, literals, global memory"):
            constants.build(setup, place)
    with pytest.raises(InputError, match="choose one of half, full"):
        constants.build(setup, stencil="third")


def test_each_place_is_read_by_its_own_instruction_and_only_global_memory_again_for_every_pair():
    kernels = {(k["stencil"], k["place"]): k for k in ptx_of("constants_ptx")}
    assert len(kernels) == len(constants.STENCILS) * len(constants.PLACES)
    for stencil in constants.STENCILS:
        of = {place: kernels[stencil, place] for place in constants.PLACES}
        plain = of["arguments"]
        # the six numbers of a pair: as arguments, or by the one kind of load that the place is named after
        six = {
            "literals": None,
            "constant memory": "ld.const",
            "read-only path": "ld.global.nc",
            "texture object": "tex.1d",
        }
        for place, kernel in of.items():
            assert kernel["literal"] == (place == "literals"), (stencil, place)
            for kind in ("ld.const", "ld.global.nc", "tex.1d"):
                assert kernel[kind] == (6 if six.get(place) == kind else 0), (stencil, place, kind)
        assert of["global memory"]["ld.global"] == plain["ld.global"] + 6
        assert of["read-only path"]["ld.global"] == plain["ld.global"] + 6
        assert of["texture object"]["ld.global"] == plain["ld.global"]
        again = {place: kernel["in the loop"] - plain["in the loop"] for place, kernel in of.items()}
        assert again == {place: 6 if place == "global memory" else 0 for place in constants.PLACES}
