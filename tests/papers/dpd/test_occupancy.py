"""Theoretical occupancy of a multiprocessor."""

from types import SimpleNamespace

import pandas as pd
import pytest

from repro.dpd.strategies.runs import LIST
from repro.errors import DeviceError, InputError
from repro.papers.dpd.memory_and_launch import occupancy as launch
from repro.papers.dpd.memory_and_launch import text
from repro.papers.dpd.memory_and_launch.occupancy import HOPPER, KEPLER, occupancy
from repro.parallel import Speed, Timing
from repro.study import claims
from repro.study.evidence import Evidence
from repro.study.verdicts import Verdict, judge


def test_kepler_has_the_limits_that_the_paper_states():
    stated = [int(claims.load("dpd")[f"dpd-{number:03}"].value) for number in range(12, 18)]
    names = ("warps", "threads", "blocks", "registers", "registers_a_thread", "shared")
    assert [getattr(KEPLER, name) for name in names] == stated


@pytest.mark.parametrize("limits", [KEPLER, HOPPER])
@pytest.mark.parametrize(
    ("block", "registers", "blocks"),
    [
        # CUDA C++ Best Practices Guide, occupancy: 37 registers, 75 % with blocks of 128, 63 % with blocks of 320
        (128, 37, 12),
        (320, 37, 4),
        # and: full occupancy takes at most 32 registers a thread
        (256, 32, 8),
        # CUDA C++ Programming Guide, multiprocessor level: 512 threads with 64 registers fit twice, with 65 once
        (512, 64, 2),
        (512, 65, 1),
    ],
)
def test_registers_allow_what_nvidias_examples_say(limits, block, registers, blocks):
    found = occupancy(limits, block, registers)
    assert found.blocks == blocks
    assert found.share == pytest.approx(blocks * block / 2048)
    assert found.warps == blocks * block // 32


def test_small_blocks_are_stopped_by_the_number_of_blocks():
    # 16 and 32 blocks of one warp each, of 64 warps
    assert occupancy(KEPLER, 32, 16) == launch.Occupancy(16, 16, 0.25, "blocks")
    assert occupancy(HOPPER, 32, 16) == launch.Occupancy(32, 32, 0.5, "blocks")
    # a block of one thread takes a warp all the same
    assert occupancy(HOPPER, 1, 16).warps == 32


def test_shared_memory_allows_what_fits_with_what_the_system_keeps():
    # 48 KiB on a K20c; Hopper Tuning Guide: 228 KiB, at most 227 KiB a block, since each block keeps 1 KiB back
    assert occupancy(KEPLER, 128, 32, 16384).blocks == 3
    assert occupancy(HOPPER, 128, 32, 227 * 1024).blocks == 1
    assert occupancy(HOPPER, 128, 32, 113 * 1024).blocks == 2
    assert occupancy(HOPPER, 128, 32, 113 * 1024).stopped_by == "shared memory"
    with pytest.raises(InputError, match="does not fit"):
        occupancy(HOPPER, 128, 32, 228 * 1024)


@pytest.mark.parametrize(
    ("block", "registers", "message"),
    [(1024, 65, "does not fit"), (2048, 16, "1 to 1024"), (64, 256, "1 to 255"), (0, 16, "1 to 1024")],
)
def test_a_block_that_no_multiprocessor_can_hold_is_refused(block, registers, message):
    with pytest.raises(InputError, match=message):
        occupancy(HOPPER, block, registers)


def test_what_is_tried_fits_into_registers_and_shared_memory():
    sizes = [32, 128, 384, 512, 1024]
    assert launch.launches("particle", sizes, [32], 128) == [
        (32, None),
        (128, None),
        (384, 168),
        (512, 128),
        (1024, 64),
        (128, 32),
    ]
    # four bytes for each of the particles that a thread lists, and 48 KiB a block
    assert launch.shared_bytes("runs", 384) == 4 * LIST * 384 == 49152
    assert [block for block, _ in launch.launches("runs", sizes, [], 128)] == [32, 128, 384]
    for block, most in launch.launches("particle", sizes, [], 128):
        assert occupancy(HOPPER, block, most or 255).blocks >= 1
    with pytest.raises(InputError, match="choose one of 32, 128"):
        launch.launches("particle", sizes, [32], 512)


def _launched(rows) -> pd.DataFrame:
    """A table of launches (strategy, block, limit, seconds of each run)."""
    table = pd.DataFrame(rows, columns=["strategy", "block", "limit", "runs"])
    return table.assign(seconds=[sorted(runs)[1] for runs in table["runs"]])


def test_each_kernel_is_reported_with_its_fastest_and_its_fullest_launch():
    table = _launched([("runs", 128, 0, (4.0,) * 3), ("runs", 128, 40, (5.0,) * 3), ("runs", 256, 32, (6.0,) * 3)])
    table = table.assign(registers=[60, 40, 32], occupancy=[0.4, 0.6, 0.6])
    found = text.launches(table, launch.gain_by_limits(table, 128), 128)
    assert "`runs` is fastest with blocks of 128, 60 registers and an occupancy of 40%" in found
    # of two launches with the largest occupancy the faster one counts: 5 over 4
    assert "with the largest occupancy, 60%, it takes 1.25 times as long" in found
    assert "at blocks of 128 gains 0.800 times" in found


def test_the_gain_by_a_limit_compares_the_best_limit_with_none_at_one_size_of_the_block():
    free, best = (6.0, 6.6, 5.0), (5.0, 5.0, 5.0)
    rows = [
        ("runs", 128, 0, free),
        ("runs", 128, 32, (8.0,) * 3),
        ("runs", 128, 48, best),
        ("runs", 512, 128, (1.0,) * 3),
    ]
    assert launch.gain_by_limits(_launched(rows), 128)["runs"] == pytest.approx([1.2, 1.32, 1.0])


def test_the_kernel_that_gains_most_is_judged_and_the_claim_is_that_it_gains_nothing():
    claim = claims.load("dpd")["dpd-064"]
    some = {"particle": [1.0, 1.02, 1.01], "runs": [0.9, 0.95, 1.4]}
    assert launch.largest_gain(some) == {"measured": 1.01, "scatter": pytest.approx(0.02)}
    assert text.limits_note(some) == "particle 1.010, runs 0.950"
    verdicts = [
        (some, Verdict.REPRODUCED),
        ({"runs": [1.04, 1.05, 1.06]}, Verdict.TIE),
        ({"runs": [1.2, 1.21, 1.22]}, Verdict.NOT_REPRODUCED),
    ]
    for gains, verdict in verdicts:
        assert judge(claim, Evidence(**launch.largest_gain(gains))).verdict is verdict


def test_a_launch_is_listed_with_what_its_kernel_takes_and_the_seconds_of_each_run(monkeypatch):
    timings = [Timing(seconds, seconds, 0.01, 5) for seconds in (3.0, 2.0, 4.0)]
    more = {"strategy": "runs", "precision": "single", "size": "", "check": "", "work": {}}
    took, device = {"registers": 64, "local": 0, "shared": 0}, SimpleNamespace(name="cuda", description="")

    def speed(*arguments):
        return Speed.of("", device, timings[: arguments[-1]], **more), took

    monkeypatch.setattr(launch, "_launch_speed", speed)
    monkeypatch.setattr(launch, "reference_forces", lambda system: None)
    monkeypatch.setattr(launch, "limits_of", lambda device: HOPPER)
    kept = []
    record = SimpleNamespace(timing=lambda **row: kept.append(row))
    table = launch.launch_table(None, None, "runs", [(512, None), (256, 64)], record, runs=3, compared=512)
    row = table.iloc[0]
    assert (row["limit"], row["registers"], row["occupancy"], row["stopped by"]) == (0, 64, 0.5, "registers")
    # the block size that is compared is run three times, the other once
    assert list(table["runs"]) == [(3.0, 2.0, 4.0), (3.0,)]
    assert list(table["seconds"]) == [3.0, 3.0]
    assert [(timing["registers"], timing["occupancy"]) for timing in kept] == [(64, 0.5)] * 2


def test_the_simulator_has_no_registers_to_report(cuda_device):
    if not cuda_device.simulated:
        pytest.skip("for the simulator")
    with pytest.raises(DeviceError, match="no registers"):
        cuda_device.resources(None)
