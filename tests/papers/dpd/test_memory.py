"""Coalesced and uncoalesced access, and the constants of the force kernel in every memory space."""

import numpy as np
import pandas as pd
import pytest
from helpers.judging import by_statement
from helpers.toolkit import ptx_of

from repro.dpd.benchmark import check_forces, reference_forces
from repro.dpd.cases import Bulk
from repro.dpd.fluid import Fluid
from repro.dpd.simulation import Simulation
from repro.errors import CheckError, InputError
from repro.papers.dpd.memory_and_launch import access, constants, text
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
    strides, line = (1, 2, 4, 8, 16, 32, 1024), access.sector(threads)
    assert [access.traffic_model(stride, access.SECTOR["cuda"]) for stride in strides] == [1, 2, 4, 8, 8, 8, 8]
    assert [access.traffic_model(stride, line) for stride in strides] == [1, 2, 4, 8, 16, 16, 16]


def test_the_slowest_stride_is_that_of_the_largest_array_and_access_at_random_is_reported_apart(threads):
    rows = [
        (6, 1, 9.0, 0.9, 1.0, 1),
        (6, 32, 1.0, 0.1, 50.0, 16),
        (8, 1, 8.0, 0.86, 1.0, 1),
        (8, 32, 2.0, 0.2, 4.0, 16),
        (8, 0, 1.0, 0.1, 8.0, 16),
    ]
    walks = pd.DataFrame(rows, columns=["bits", "stride", "GB/s", "of copy", "ratio", "model"])
    note = "stride 1 at 86 % of a copy; stride 32: 4.0, at random: 8.0; bytes of sectors explain 16"
    assert text.strides_note(walks) == note
    found = text.strides(walks, threads)
    assert (
        "arrays of 2^8 numbers: coalesced access reaches 8 GB/s, **86 %** of a plain copy: the memory limits" in found
    )
    assert "of 64 bytes for every number of 4 explain a factor of 16; lines of 128 bytes would explain 32" in found
    assert "at random: nan" in text.strides_note(walks[walks["stride"] > 0])


def test_ratios_over_a_walk_that_the_memory_does_not_limit_are_said_to_be_too_small(threads):
    rows = [(8, 1, 8.0, 0.4, 1.0, 1), (8, 32, 2.0, 0.1, 4.0, 16)]
    walks = pd.DataFrame(rows, columns=["bits", "stride", "GB/s", "of copy", "ratio", "model"])
    assert "**40 %** of a plain copy: something else limits it, so that the ratios are too small" in text.strides(
        walks, threads
    )


def test_the_roof_of_a_walk_is_a_plain_copy_and_moved_bytes_count_whole_transactions(threads, monkeypatch):
    monkeypatch.setattr(access, "copy_bandwidth", lambda device: 1e9)
    table = access.strides_table(threads, [10], [1, 4, 0], seconds=1e-6)
    assert list(table["of copy"]) == pytest.approx(list(table["GB/s"]))
    assert list(table["moved of copy"] / table["of copy"]) == pytest.approx([1, 4, 16])


def test_the_best_place_of_the_constants_is_named_for_each_stencil():
    rows = [(stencil, place, 1.0, 0.1) for stencil in ("half", "full") for place in ("arguments", "read-only path")]
    table = pd.DataFrame(rows, columns=["stencil", "constants", "against global memory", "spread"])
    table["against global memory"] = [1.2, 1.1, 1.05, 1.4]
    once = table[table["constants"] == "arguments"].assign(runs=[(3.0,)] * 2)
    # a gain of 0.2 is twice the scatter of one time
    found = text.constants(once.assign(**{"against global memory": [1.201, 1.199]}))
    assert "with the half stencil (arguments) and" in found
    assert "with the full stencil (arguments, which is not significant)." in found
    assert found.endswith(
        "repetitions of one measurement lie apart by up to 10.0%, and a gain is a ratio of two, so one of less than "
        "20.0% is not significant."
    )
    table = pd.concat([table, pd.DataFrame([("half", "global memory", 1.0, 0.1)], columns=table.columns)])
    found = text.constants(table.assign(runs=[(3.0, 3.3, 3.0)] * 5))
    assert "**1.200** times the speed with the half stencil (arguments, which is not significant)" in found
    assert "**1.400** times the speed with the full stencil (read-only path)" in found
    # what was run once says nothing of how far runs lie apart
    runs = [(3.0,), (3.0, 3.3, 3.0), (3.0,), (3.0,), (3.0,)]
    note = text.constants_note(table.assign(runs=runs, spread=[0.4, 0.1, 0.4, 0.4, 0.4]))
    assert note == "half stencil; full stencil 1.400; runs lie apart by up to 10.0%"


def test_a_launch_with_as_few_warps_is_named_beside_the_read_only_path():
    gained = [("half", "read-only path", 0.92, 0.375), ("half", "global memory", 1.0, 0.4375)]
    table = pd.DataFrame(gained, columns=["stencil", "constants", "against global memory", "occupancy"])
    rows = [("particle", 128, 0, 0.4375, 3.0), ("particle", 256, 0, 0.375, 3.2), ("particle", 128, 48, 0.375, 9.0)]
    launched = pd.DataFrame(rows, columns=["strategy", "block", "limit", "occupancy", "seconds"]).assign(registers=72)
    said = text.as_few_warps(table, launched, 128)
    assert "38%, is that of `particle` with blocks of 256" in said
    assert "**0.938** times the speed of these, where the read-only path has 0.920 times" in said
    assert text.as_few_warps(table, launched[launched["block"] == 128], 128) == ""
    # other registers are other code
    assert text.as_few_warps(table, launched.assign(registers=[72, 64, 48]), 128) == ""
    assert text.as_few_warps(table.assign(occupancy=0.4375), launched, 128) == ""


@pytest.mark.parametrize(
    ("read_only", "registers", "expected"),
    [
        ((3.3, 3.31, 3.32), (72, 80), "**slower**), and 1.000 times with the full one. It takes 80 registers with"),
        (
            (3.3, 3.31, 3.32),
            (72, 80),
            "Fewer resident warps are a likely cause of the loss, though the full stencil keeps its speed with fewer.",
        ),
        ((3.3, 3.31, 3.32), (72, 72), "The occupancy is no lower, so the cause of the loss is not known."),
        ((2.9, 3.0, 3.1), (72, 80), "(no difference beyond that), and 1.000 times with the full one."),
        ((2.5, 2.5, 2.5), (72, 72), "(faster), and 1.000 times with the full one."),
    ],
)
def test_the_judged_path_is_named_with_the_registers_that_it_takes(read_only, registers, expected):
    plain, cached = registers
    times = {("half", "global memory"): (3.0,) * 3, ("half", "read-only path"): read_only}
    times |= {("full", "global memory"): (4.0,) * 3, ("full", "read-only path"): (4.0,) * 3}
    table = _constants(times).assign(spread=0.01, registers=[plain, cached] * 2)
    table["occupancy"] = [0.4 if taken == 72 else 0.3 for taken in table["registers"]]
    gains = [1.0, 3.0 / np.median(read_only), 1.0, 1.0]
    found = text.constants(table.assign(**{"against global memory": gains}))
    assert expected in found
    assert ("cause of the loss" in found) == ("slower" in found)


def _constants(times: dict) -> pd.DataFrame:
    """A table of constants with the seconds of each run by (stencil, place)."""
    rows = [(*key, float(np.median(runs)), runs) for key, runs in times.items()]
    return pd.DataFrame(rows, columns=["stencil", "constants", "seconds", "runs"])


def test_the_gain_of_the_read_only_path_is_that_of_each_run_with_the_half_stencil():
    half = {("half", "global memory"): (3.0, 3.3, 3.0), ("half", "read-only path"): (3.0, 3.0, 2.5)}
    full = {("full", "global memory"): (9.0,) * 3, ("full", "read-only path"): (1.0,) * 3}
    found = memory_benchmark.read_only_gain(_constants(half | full))
    assert (found["measured"], found["scatter"]) == (pytest.approx(1.1), pytest.approx(0.2))


def test_a_gain_within_the_scatter_of_the_runs_is_a_tie_and_a_loss_refutes_the_claim():
    claim, plain = claims.load("dpd")["dpd-063"], ("half", "global memory")
    for runs, verdict in (((2.9, 3.0, 3.1), Verdict.TIE), ((3.3, 3.31, 3.32), Verdict.NOT_REPRODUCED)):
        table = _constants({plain: (3.0,) * 3, ("half", "read-only path"): runs})
        assert by_statement(claim, Evidence(**memory_benchmark.read_only_gain(table))) is verdict


def test_each_place_is_compared_with_global_memory_of_the_same_stencil(monkeypatch, threads):
    seconds = {("half", "arguments"): 2.0, ("half", "literals"): 4.0, ("half", "global memory"): 6.0}
    seconds |= {("full", "arguments"): 5.0, ("full", "literals"): 1.0, ("full", "global memory"): 10.0}

    def speed(system, device, stencil, place, expected, each, runs):
        timings = [Timing(seconds[stencil, place], 0.0, 0.01, 5)] * runs
        more = {"strategy": "particle", "precision": "single", "size": "", "check": "", "work": {}}
        return Speed.of("", device, timings, **more, choices={"stencil": stencil, "constants": place})

    monkeypatch.setattr(memory_benchmark, "_kernel_speed", speed)
    monkeypatch.setattr(memory_benchmark, "reference_forces", lambda system: None)
    table = memory_benchmark.constants_table(None, threads, runs=3)
    gain = memory_benchmark.gains(table)
    assert (gain["half", "arguments"], gain["half", "literals"]) == (3.0, 1.5)
    assert (gain["full", "arguments"], gain["full", "global memory"]) == (2.0, 1.0)
    # the half stencil with global memory is one of the two kernels that the claim compares
    assert [len(runs) for runs in table["runs"]] == [1, 1, 3, 1, 1, 1]


def test_times_are_shown_in_microseconds_as_the_last_column():
    shown = memory_benchmark.in_microseconds(pd.DataFrame({"seconds": [2.5e-6], "stride": [1]}))
    assert list(shown.columns) == ["stride", "microseconds"]
    assert shown["microseconds"][0] == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("bits", "strides", "message"),
    [(40, [1], "2\\^4 to 2\\^30"), (6, [1, 3], "power of two"), (6, [1, 64], "below 2\\^6"), (6, [2], "begin with 1")],
)
def test_arrays_and_strides_that_cannot_be_are_refused(threads, bits, strides, message):
    with pytest.raises(InputError, match=message):
        access.strides_table(threads, [bits], strides)


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
    for place in ("constant memory", "read-only path", "texture"):
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
        six = {"literals": None, "constant memory": "ld.const", "read-only path": "ld.global.nc"}
        for place, kernel in of.items():
            assert kernel["literal"] == (place == "literals"), (stencil, place)
            for kind in ("ld.const", "ld.global.nc"):
                assert kernel[kind] == (6 if six.get(place) == kind else 0), (stencil, place, kind)
        assert of["global memory"]["ld.global"] == plain["ld.global"] + 6
        assert of["read-only path"]["ld.global"] == plain["ld.global"] + 6
        again = {place: kernel["in the loop"] - plain["in the loop"] for place, kernel in of.items()}
        assert again == {place: 6 if place == "global memory" else 0 for place in constants.PLACES}
