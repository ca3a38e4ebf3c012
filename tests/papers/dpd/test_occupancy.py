"""Theoretical occupancy of a multiprocessor."""

import pandas as pd
import pytest

from repro.dpd.strategies.runs import LIST
from repro.errors import DeviceError, InputError
from repro.papers.dpd.memory_and_launch import occupancy as launch
from repro.papers.dpd.memory_and_launch import text
from repro.papers.dpd.memory_and_launch.occupancy import HOPPER, KEPLER, occupancy
from repro.study import claims


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


def test_each_kernel_is_reported_with_its_fastest_and_its_fullest_launch():
    rows = [("runs", 128, 0, 60, 0.4, 4.0), ("runs", 128, 40, 40, 0.6, 5.0), ("runs", 256, 32, 32, 0.6, 6.0)]
    table = pd.DataFrame(rows, columns=["strategy", "block", "limit", "registers", "occupancy", "seconds"])
    found = text.launches(table, launch.gain_by_limits(table, 128), 128)
    assert "`runs` is fastest with blocks of 128, 60 registers and an occupancy of 40%" in found
    # of two launches with the largest occupancy the faster one counts: 5 over 4
    assert "with the largest occupancy, 60%, it takes 1.25 times as long" in found
    assert "at blocks of 128 gains 0.800 times" in found


def test_the_gain_by_a_limit_compares_the_best_limit_with_none_at_one_size_of_the_block():
    rows = [("runs", 128, 0, 6.0), ("runs", 128, 32, 8.0), ("runs", 128, 48, 5.0), ("runs", 512, 128, 1.0)]
    table = pd.DataFrame(rows, columns=["strategy", "block", "limit", "seconds"])
    assert launch.gain_by_limits(table, 128)["runs"] == pytest.approx(1.2)


def test_the_simulator_has_no_registers_to_report(cuda_device):
    if not cuda_device.simulated:
        pytest.skip("for the simulator")
    with pytest.raises(DeviceError, match="no registers"):
        cuda_device.resources(None)
