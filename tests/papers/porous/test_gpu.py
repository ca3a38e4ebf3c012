"""The matrix sum of chapter 3 adds, whichever thread takes which entry; what is said of it follows from its tables."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.timings import Kept

from repro.errors import CheckError, InputError
from repro.papers.porous.box.sketches import exchanged, lb_exchange
from repro.papers.porous.gpu import figures, matrix_sum
from repro.parallel import Kernel
from repro.study.judge.claims import find
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import judge

SIDE = 24


@pytest.mark.parametrize("threads", [1, 7, 64, 2 * SIDE**2])
def test_every_entry_is_added_once_whichever_thread_takes_it(device, threads):
    arrays = matrix_sum.matrices(device, SIDE)
    in_turns = device.compile(Kernel(matrix_sum.add_in_turns, block=8))((threads,), *arrays, SIDE**2, threads)
    assert matrix_sum.check_sum(in_turns, *arrays) == "every entry is the sum"


def test_a_matrix_is_added_along_rows_and_along_columns_in_blocks_with_a_rest(device):
    arrays = matrix_sum.matrices(device, SIDE)
    for body in (matrix_sum.add_along_rows, matrix_sum.add_along_columns):
        for block in (8, 10):
            launch = device.compile(Kernel(body, ndim=2, block=block))((SIDE, SIDE), *arrays, SIDE)
            matrix_sum.check_sum(launch, *arrays)
    short = device.compile(Kernel(matrix_sum.add_along_rows, ndim=2, block=8))((SIDE - 1, SIDE), *arrays, SIDE)
    with pytest.raises(CheckError, match=f"{SIDE} of {SIDE**2} entries are not the sum"):
        matrix_sum.check_sum(short, *arrays)


def test_the_order_is_timed_on_a_cpu_and_judged_by_its_runs(threads):
    table = matrix_sum.order_table(64, threads, kept := Kept(), seconds=0.001, runs=3)
    assert (kept.of("case"), kept.of("seconds")) == (
        ["matrix sum, coalesced", "matrix sum, strided"],
        list(table["seconds"]),
    )
    assert list(table["seconds"]) == [sorted(runs)[1] for runs in table["runs"]]
    assert kept.of("size") == ["4096 entries"] * 2
    assert list(table["order"]) == ["coalesced", "strided"]
    assert [len(runs) for runs in table["runs"]] == [3, 3]
    # two numbers of four bytes are read, and one is written
    rate = 12 * 64**2 / table["seconds"]
    assert list(table["GB/s"]) == pytest.approx(list(rate / 1e9))


@pytest.fixture
def ticks(monkeypatch):
    """A clock by which every sum takes a second, on a GPU of two multiprocessors and a copy of a kilobyte a second."""
    monkeypatch.setattr(matrix_sum, "time_launches", lambda *_: SimpleNamespace(seconds=1.0, spread=0.0))
    monkeypatch.setattr(matrix_sum, "multiprocessors", lambda _: 2)
    monkeypatch.setattr(matrix_sum, "copy_bandwidth", lambda _: 1e3)


def test_every_block_and_every_number_of_warps_adds_all_entries(ticks, cuda_device):
    blocks = matrix_sum.block_table(8, [32], cuda_device, seconds=1.0, runs=3)
    assert blocks[["kind", "threads", "lanes busy (%)"]].to_numpy().tolist() == [
        ["whole warps", 32, 100.0],
        ["others", 40, 62.5],
    ]
    resident = matrix_sum.resident_table(8, [1, 2, 6], cuda_device, seconds=1.0, runs=1)
    # one warp cannot be two blocks
    assert resident[["blocks", "warps"]].to_numpy().tolist() == [[1, 1], [1, 2], [1, 6], [2, 2], [2, 6]]
    share = matrix_sum.MOVED * 64 / 1e3
    assert list(resident["of copy"]) == pytest.approx([share] * 5)
    assert list(resident["as one warp"]) == pytest.approx([min(1.0, share * warps) for warps in resident["warps"]])
    assert set(figures.resident(resident, 6.2)[1]) == {"blocks", "warps", "of copy", "as one warp"}


def rates(rows, names) -> pd.DataFrame:
    """A table of bandwidths with three runs that differ by a tenth of a per cent."""
    table = pd.DataFrame(rows, columns=[*names, "GB/s"]).assign(seconds=1.0)
    return table.assign(runs=[[1.0, 1.001, 0.999]] * len(table), **{"of copy": table["GB/s"] / 100})


def test_the_rules_of_the_thesis_are_judged_by_what_was_timed():
    orders = rates([("coalesced", 90.0), ("strided", 12.0)], ["order"])
    lanes = [(64, "whole warps", 100.0, 90.0), (64, "others", 75.0, 80.0)]
    blocks = rates(lanes, ["block", "kind", "lanes busy (%)"])
    resident = rates([(1, 1, 2.0), (2, 6, 12.0), (1, 32, 60.0), (2, 64, 80.0)], ["blocks", "warps"])
    found = matrix_sum.claims_of(orders, blocks, resident)
    assert set(found) == set(matrix_sum.JUDGED)
    assert found["porous-155"] == pytest.approx(0.15)
    stated = find(found)
    assert [np.mean(rates) for rates in found["porous-156"].values()] == pytest.approx([90, 12], rel=2e-3)
    # rules are tuned to a chip, and the thesis prints no run of its matrix
    for claim in matrix_sum.JUDGED:
        assert judge(stated[claim], Evidence(found[claim])).verdict == "not comparable"
    assert matrix_sum.rule_numbers(resident) == {"share": pytest.approx(15), "enough": 64, "holds": True}
    assert matrix_sum.lost_in_lanes(blocks) == {"least": pytest.approx(800 / 9), "lanes": 75.0, "holds": True}


def test_a_block_that_is_no_multiple_of_a_warp_is_no_whole_warps(threads):
    for block in (48, 1024):
        with pytest.raises(InputError, match=f"block {block}: take multiples of 32"):
            matrix_sum.block_table(32, [64, block], threads, seconds=0.001, runs=1)


def test_the_peaks_of_the_thesis_are_products_of_what_it_prints():
    stated = {claim: float(c.value) for claim, c in find(matrix_sum.SETUP_CLAIMS).items()}
    peaks = matrix_sum.printed_peaks(stated)
    printed = peaks.dropna()
    np.testing.assert_allclose(printed["computed"], printed["thesis"], rtol=5e-3)
    # the card's own memory
    assert peaks["computed"].iloc[-1] == pytest.approx(102.4)
    used = matrix_sum.used_bandwidth(924, 9, peaks)
    assert (used["rate"], round(used["printed"]), round(used["card"])) == (pytest.approx(66.528), 47, 65)


def test_what_is_under_way_is_bandwidth_times_latency():
    assert matrix_sum.warps_needed(256e9, 1e-6, 100) == pytest.approx(10)
    assert figures.warp_access()[1] == {"lines": [1, 8]}


@pytest.mark.parametrize(("blocks", "block"), [(1, 4), (3, 4), (5, 1), (2, 7)])
def test_the_second_kernel_completes_what_shared_memory_begins(blocks, block):
    row = np.arange(blocks * block)
    np.testing.assert_array_equal(lb_exchange(exchanged(row, block), block), np.roll(row, 1))


def test_the_headline_has_how_much_longer_the_strided_sum_takes():
    orders = pd.DataFrame({"order": ["coalesced", "strided"], "seconds": [2.0, 7.0]})
    found = matrix_sum.headline(orders, SimpleNamespace(description="a card"))
    assert "takes 3.5 times as long with strided as with coalesced access (a card)" in found
