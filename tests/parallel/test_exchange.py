"""Numbers that other ranks need: each comes from its place there to its place here, over a bus or without."""

from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from helpers.halos import StagedDevice
from helpers.nccl_group import Gpu, connected
from helpers.rank_threads import on_ranks

from repro.parallel import select
from repro.parallel.ranks.exchange import Exchange, Link
from repro.parallel.ranks.nccl import GpuMessages
from repro.parallel.ranks.nonblocking import NonblockingExchange
from repro.parallel.ranks.pieces import Pieces


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


@pytest.fixture
def nccl(monkeypatch):
    """CuPy's place is taken: of its NCCL, and of its current stream."""
    connected(monkeypatch)


@pytest.mark.usefixtures("nccl")
def test_connected_gpus_send_each_other_the_same_and_nothing_crosses_the_bus():
    """Two ranks that are neighbours on both sides: what tags tell apart on hosts, the order does here."""

    def run(rank, device):
        if isinstance(device, Gpu):
            rank.gpus = GpuMessages(rank)
        array, other = np.arange(6.0) + 10 * rank.rank, 1 - rank.rank
        below, above = Link(other, 5, 6, np.array([1]), np.array([0])), Link(other, 6, 5, np.array([4]), np.array([5]))
        Exchange([below, above], rank, device, float, "numbers")(array)
        return array.tolist()

    over_hosts, direct = (on_ranks(2, partial(run, device=device)) for device in (select("serial"), Gpu()))
    assert direct == over_hosts == [[14, 1, 2, 3, 4, 11], [4, 11, 12, 13, 14, 1]]


class Streams:
    """A second stream that says who waits for whom, and when it is the current one."""

    def __init__(self):
        self.said = []

    def fork(self):
        self.said.append("fork")

    def join(self):
        self.said.append("join")

    @contextmanager
    def current(self):
        self.said.append("messages")
        yield


def in_rows(rank: int) -> list[Link]:
    """Three ranks in a ring, each with two rows of seven; one of them has nothing for the one before it."""
    before, behind, none = (rank - 1) % 3, (rank + 1) % 3, np.zeros(0, int)
    up, down = np.array([3, 4, 10, 11]), np.array([2, 9])
    from_behind, from_before = np.array([5, 12]), np.array([0, 1, 7, 8])
    return [
        Link(before, 5, 6, none if rank == 1 else down, from_before, 2),
        Link(behind, 6, 5, up, none if rank == 0 else from_behind, 2),
    ]


@pytest.mark.parametrize("kind", ["hosts", "over hosts", "connected"])
def test_in_two_halves_what_belongs_to_others_is_there_after_the_second(kind, nccl):
    def run(rank):
        device = {"hosts": select("serial"), "over hosts": StagedDevice(), "connected": Gpu()}[kind]
        device.second_stream = Streams()
        if kind == "connected":
            rank.gpus = GpuMessages(rank)
        arrays = [device.zeros(14, np.float32) + np.float32(100 * which + 10 * rank.rank) for which in (1, 2)]
        exchange = NonblockingExchange(in_rows(rank.rank), arrays, rank, device, "numbers")
        for _ in range(2):
            for array in arrays:
                array[[2, 3, 4, 9, 10, 11]] += np.float32([0.5, 1, 2, 3, 4, 5])
            exchange.begin()
            for array in arrays:
                # a kernel between the halves
                array[[6, 13]] += 1
            exchange.end()
        return arrays, device.second_stream.said

    for rank, (arrays, said) in enumerate(on_ranks(3, run)):
        assert said == ([] if kind == "hosts" else ["fork", "messages", "join"] * 2)
        before, behind = (10 * ((rank + step) % 3) for step in (-1, 1))
        for base, array in zip((100, 200), arrays, strict=True):
            own, low, high = (base + number for number in (10 * rank, before, behind))
            expected = np.array([low + 2, low + 4, own + 1, own + 2, own + 4, high + 1, own + 2], np.float32)
            second = np.array([low + 8, low + 10, own + 6, own + 8, own + 10, high + 6, own + 2], np.float32)
            if rank == 0:
                expected[5] = second[5] = own
            np.testing.assert_array_equal(array.reshape(2, 7), [expected, second])


def test_places_with_gaps_cannot_be_sent_as_they_are():
    link = Link(0, 5, 6, np.array([1, 3]), np.array([4, 5]))
    with pytest.raises(ValueError, match=r"^2 places from 1 to 3 have gaps$"):
        NonblockingExchange([link], [np.zeros(8)], None, select("serial"), "numbers")


@pytest.mark.usefixtures("nccl")
@pytest.mark.parametrize("device", [select("serial"), StagedDevice(), Gpu()])
def test_pieces_go_whole_to_those_that_other_ranks_have_for_them(device):
    """Two ranks that are neighbours on both sides: what leaves at one of them arrives at the other one."""

    def run(rank):
        if isinstance(device, Gpu):
            rank.gpus = GpuMessages(rank)
        out, into, other = device.zeros(6, np.int32), device.zeros(6, np.int32), 1 - rank.rank
        below = Link(other, 5, 6, slice(0, 2), slice(4, 6))
        above = Link(other, 6, 5, slice(3, 5), slice(0, 2))
        pieces = Pieces([below, above], out, into, rank, device, "pieces")
        for more in (10, 20):
            out[:] = np.arange(6) + more * (rank.rank + 1)
            pieces()
        return into[[0, 1, 4, 5]].tolist()

    assert on_ranks(2, run) == [[40, 41, 43, 44], [20, 21, 23, 24]]
