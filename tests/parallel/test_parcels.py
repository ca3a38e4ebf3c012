"""Parcels of varying length: what kernels have put into one lies in its place on the other rank, however it travels."""

import numpy as np
import pytest
from helpers.halos import StagedDevice
from helpers.nccl_group import Gpu, connected
from helpers.rank_threads import on_ranks

from repro.errors import DivergenceError
from repro.parallel import select
from repro.parallel.ranks.nccl import GpuMessages
from repro.parallel.ranks.parcels import Parcels, Route
from repro.parallel.ranks.together import gathered_by_id, together

#: records of a pair of words, most of them by who sends them, and fixed words before them
MOST, WIDTH, FIXED = (3, 40), 2, (1, 4)

#: how many records a rank sends in each step: none, as many as there is room for, and more than the step before
NUMBERS = ((0, 0), (1, 2), (3, 40), (2, 1))


def exchanged(rank, device) -> list:
    """What has arrived in each step, of all that was sent: whole numbers that tell rank, step and place."""
    own, other = rank.rank, 1 - rank.rank
    words = [1 + FIXED[k] + WIDTH * MOST[k] for k in (own, other)]
    parcels = Parcels(
        [Route(other, 5, 5, *words)], [(FIXED[own], FIXED[other])], WIDTH, rank, device, np.uint32, "both"
    )
    found = []
    for step, numbers in enumerate(NUMBERS):
        used = 1 + FIXED[own] + WIDTH * numbers[own]
        parcels.out[:] = 999
        parcels.out[:used] = 1000 * (own + 1) + 100 * step + np.arange(used)
        parcels.out[0] = numbers[own]
        parcels()
        arrived = 1 + FIXED[other] + WIDTH * int(parcels.arrived[0])
        found.append(np.array(parcels.arrived[:arrived]).tolist())
    return found


class Staged(StagedDevice):
    """A device of which all must be copied."""

    to_host = staticmethod(np.array)


def expected(rank: int) -> list:
    other = 1 - rank
    lengths = [1 + FIXED[other] + WIDTH * numbers[other] for numbers in NUMBERS]
    return [
        [numbers[other], *(1000 * (other + 1) + 100 * step + k for k in range(1, length))]
        for step, (numbers, length) in enumerate(zip(NUMBERS, lengths, strict=True))
    ]


@pytest.mark.parametrize("device", [select("serial"), Staged()], ids=["core", "over a bus"])
def test_as_many_records_arrive_as_were_sent(device):
    assert on_ranks(2, lambda rank: exchanged(rank, device)) == [expected(0), expected(1)]


def test_hosts_send_what_is_used_and_no_more():
    sent = []

    def run(rank):
        send = rank.send
        rank.send = lambda buffer, to, tag: sent.append((rank.rank, len(buffer))) or send(buffer, to, tag)
        exchanged(rank, Staged())

    on_ranks(2, run)
    for own in (0, 1):
        assert [size for rank, size in sent if rank == own] == [1 + FIXED[own] + WIDTH * n[own] for n in NUMBERS]


def test_connected_gpus_send_all_the_room_and_nothing_crosses_the_bus(monkeypatch):
    connected(monkeypatch)

    def run(rank):
        rank.gpus = GpuMessages(rank)
        return exchanged(rank, Gpu())

    assert on_ranks(2, run) == [expected(0), expected(1)]


def test_all_ranks_raise_what_the_first_one_has_found():
    def run(rank, wrong):
        def check():
            if rank.rank in wrong:
                raise DivergenceError(f"rank {rank.rank} is wet")

        with pytest.raises(DivergenceError) as raised, together(rank, DivergenceError):
            check()
        return str(raised.value)

    assert on_ranks(3, lambda rank: run(rank, (1, 2))) == ["rank 1 is wet"] * 3

    def nothing(rank):
        with together(rank, DivergenceError):
            pass

    assert on_ranks(3, nothing) == [None] * 3


def test_particles_are_gathered_by_id_from_ranks_with_none_too():
    def run(rank):
        ids = np.array([[4, 0], [], [2, 1, 3]][rank.rank], int)
        return gathered_by_id(rank, ids, np.stack([ids, 10 * ids], 1), [2, 0, 3])

    found, *others = on_ranks(3, run)
    assert found.tolist() == [[k, 10 * k] for k in range(5)]
    assert others == [None, None]
