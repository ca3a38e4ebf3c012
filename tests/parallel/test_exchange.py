"""Numbers that other ranks need: each comes from its place there to its place here, over a bus or without."""

from functools import partial

import numpy as np
import pytest
from helpers.halos import StagedDevice
from helpers.nccl_group import Gpu, connected
from helpers.rank_threads import on_ranks

from repro.parallel import select
from repro.parallel.ranks.exchange import Exchange, Link
from repro.parallel.ranks.nccl import GpuMessages


def links(rank: int) -> list[Link]:
    """Three ranks in a ring; to the one before goes one number, to the one behind two, and nothing on a third way."""
    before, behind, none = (rank - 1) % 3, (rank + 1) % 3, np.zeros(0, int)
    return [
        Link(before, 5, 6, np.array([3]), np.array([6, 4])),
        Link(behind, 6, 5, np.array([0, 2]), np.array([7])),
        Link(behind, 7, 7, none, none),
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("device", [select("serial"), StagedDevice()])
def test_numbers_go_to_their_places_and_nothing_else_is_touched(device, dtype):
    def run(rank):
        arrays = [np.arange(8, dtype=dtype) + 10 * rank.rank + 100 * which for which in (1, 2)]
        exchange = Exchange(links(rank.rank), rank, device, dtype, "numbers")
        for _ in range(2):
            for array in arrays:
                array[[0, 2, 3]] += 0.5
                exchange(array)
        return arrays

    for rank, found in enumerate(on_ranks(3, run)):
        before, behind = (10 * ((rank + step) % 3) for step in (-1, 1))
        for which, array in zip((100, 200), found, strict=True):
            base = which + 10 * rank
            assert (array[[0, 1, 2, 3, 5]] - base).tolist() == [1, 1, 3, 4, 5]
            assert array[[6, 4]].tolist() == [which + before + 1, which + before + 3]
            assert array[7] == which + behind + 4


def test_a_rank_says_what_it_waits_for():
    def run(rank):
        said, wait = [], rank.wait
        rank.wait = lambda requests, what: said.append(what) or wait(requests, what)
        Exchange(links(rank.rank), rank, select("serial"), np.float32, "numbers that cross")(np.zeros(8, np.float32))
        return said

    assert on_ranks(3, run) == [["numbers that cross"]] * 3


def test_connected_gpus_send_each_other_the_same_and_nothing_crosses_the_bus(monkeypatch):
    """Two ranks that are neighbours on both sides: what tags tell apart on hosts, the order does here."""
    connected(monkeypatch)

    def run(rank, device):
        if isinstance(device, Gpu):
            rank.gpus = GpuMessages(rank)
        array, other = np.arange(6.0) + 10 * rank.rank, 1 - rank.rank
        below, above = Link(other, 5, 6, np.array([1]), np.array([0])), Link(other, 6, 5, np.array([4]), np.array([5]))
        Exchange([below, above], rank, device, float, "numbers")(array)
        return array.tolist()

    over_hosts, direct = (on_ranks(2, partial(run, device=device)) for device in (select("serial"), Gpu()))
    assert direct == over_hosts == [[14, 1, 2, 3, 4, 11], [4, 11, 12, 13, 14, 1]]
