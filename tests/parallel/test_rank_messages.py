"""Guard cells, particles that cross and what is counted of them, on ranks that are threads, and what MPI is asked."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import rank_program
from helpers.rank_threads import on_ranks

from repro.errors import CheckError
from repro.parallel.ranks import migration, nccl, rank_watchdog
from repro.parallel.ranks.domain import Domain
from repro.parallel.ranks.halo import Halo
from repro.parallel.ranks.migration import (
    ENTERED,
    MOVED,
    MOVES,
    PASSED,
    RECEIVED,
    RESUMED,
    SENT,
    Progress,
    run_until_all_done,
)
from repro.parallel.ranks.world import HALO_TAG, LEAVERS_TAG, Alone, Ranks

STEPS = 40

RECORD = np.dtype([("id", np.int64), ("place", np.float32)])


def records(*ids: int) -> np.ndarray:
    return np.array([(i, i / 2) for i in ids], RECORD)


def test_guard_cells_hold_what_they_stand_for():
    for found in on_ranks(2, rank_program.halos):
        assert not {case: wrong for case, wrong in found.items() if wrong}


def test_guard_cells_are_filled_again_with_what_the_cells_hold_then():
    """Two fields of two types along x and y, twice: two ranks, whose both neighbours are the other one."""
    domain = Domain((4, 3, 1), (True, True, False), (2, 1, 1))

    def run(rank):
        a, b = np.zeros((3, 5, 4), np.int8), np.zeros((2, 3, 5, 4))
        halos, found = [Halo(domain, rank, array) for array in (a, b)], []
        for time in (1, 2):
            a[...], b[...] = 0, 0
            a[1, 1:4, 1:3] = 50 * time + 10 * rank.rank + np.arange(6).reshape(3, 2)
            b[1, 1, 1:4, 1:3] = a[1, 1:4, 1:3] / 4
            for halo in halos:
                halo.fill()
            found.append((a[1].tolist(), np.array_equal(b[1] * 4, a), not b[0].any(), not a[[0, 2]].any()))
        return found

    for time, looks in enumerate(zip(*on_ranks(2, run), strict=True), start=1):
        for rank, (rows, *right) in enumerate(looks):
            own, other = (50 * time + 10 * who for who in (rank, 1 - rank))
            inner = [[other + 2 * y + 1, own + 2 * y, own + 2 * y + 1, other + 2 * y] for y in range(3)]
            assert rows == [inner[2], *inner, inner[0]]
            assert right == [True] * 3


@pytest.mark.parametrize(("cut", "along"), [((2, 1, 1), "x"), ((1, 2, 2), "yz"), ((2, 1, 2), "xz")])
def test_a_rank_says_along_which_axis_it_waits_for_guard_cells(cut, along):
    domain = Domain((4, 4, 4), (True, False, True), cut)

    def run(rank):
        said, wait = [], rank.wait
        rank.wait = lambda requests, what: said.append(what) or wait(requests, what)
        Halo(domain, rank, np.zeros([n + 2 for n in domain.local[::-1]])).fill()
        return said

    for said in on_ranks(domain.count, run):
        assert said == [f"the guard cells along {axis}" for axis in along]


def test_messages_of_guard_cells_are_no_records_of_particles():
    assert len({LEAVERS_TAG, HALO_TAG, HALO_TAG + 1}) == 3


def test_walkers_end_where_they_end_on_one_rank_and_none_is_lost_on_the_way():
    alone = rank_program.walk(Alone(), STEPS)
    walks = on_ranks(3, lambda rank: rank_program.walk(rank, STEPS))
    for what in ("ends", "absorbed"):
        assert sorted(walker for walk in walks for walker in walk[what]) == sorted(alone[what])
    before, created, absorbed, sent, received, after = np.sum([walk["counts"] for walk in walks], axis=0).T
    assert np.array_equal(sent, received)
    assert np.array_equal(after, before + created - absorbed)
    # fewer messages than walkers, as those with one way travel together
    assert 2 * STEPS < sum(walk["messages"] for walk in walks) < sent.sum()


def test_a_step_counts_what_happened_in_all_its_calls():
    """By hand: 7 at the start, 3 appear, 2 are absorbed, 4 leave in three messages, which all come back here."""
    calls = []

    def work(arrived):
        calls.append(arrived["id"].tolist())
        return [
            Progress({0: records(1, 2), 5: records()}, remaining=3, held=5, created=0, absorbed=0),
            Progress({0: records(3)}, remaining=1, held=7, created=1, absorbed=0),
            Progress({0: records(4)}, remaining=0, held=8, created=2, absorbed=1),
            Progress({}, remaining=0, held=8, created=0, absorbed=1),
        ][len(calls) - 1]

    told = []
    counts = run_until_all_done(work, Alone(), RECORD, 7, lambda *happened: told.append(happened))
    assert calls == [[], [1, 2], [3], [4]]
    moved = [(MOVES, 0), (MOVED, 5), (SENT, 2), (RECEIVED, 2), (MOVES, 2), (MOVED, 7), (SENT, 1), (RECEIVED, 1)]
    moved += [(MOVES, 1), (MOVED, 8), (SENT, 1), (RECEIVED, 1), (MOVES, 1), (MOVED, 8)]
    assert told == [*moved, (ENTERED, 0), (PASSED, 0)]
    assert (counts.before, counts.after, counts.created, counts.absorbed) == (7, 8, 3, 2)
    assert (counts.sent, counts.received, counts.messages, counts.rounds, counts.surplus) == (4, 4, 3, 1, 0)
    assert (counts.bytes, counts.waited >= 0) == (4 * RECORD.itemsize, True)


class Scripted:
    """Rank 1 of 3 whose messages are taken, whose barriers are passed and whose sums are as it is written.

    `looks` are for each look at the others: what has arrived, which messages are taken then, whether all have entered.
    """

    rank, count = 1, 3

    def __init__(self, looks, sums):
        self.looks, self.sums, self.now, self.log, self.own = iter(looks), iter(sums), 0.0, [], []
        self.arrives, self.taken, self.entered = [], set(), False

    def until(self, done, what):
        assert what == "the end of a step"
        ended = False
        while not ended:
            self.now += 1
            self.arrives, taken, self.entered = next(self.looks)
            self.taken |= taken
            ended = done()

    def arrived(self, record):
        return self.arrives

    def send_leavers(self, records, to):
        assert records.flags.c_contiguous
        self.log.append(("sent", to, records["id"].tolist()))
        number = sum(line[0] == "sent" for line in self.log)
        return SimpleNamespace(Test=lambda: number in self.taken, number=number)

    def barrier(self):
        self.log.append("entered")
        return SimpleNamespace(Test=lambda: self.entered)

    def progress(self):
        self.log.append("progress")

    def sum(self, values, what):
        self.own.append(values.tolist())
        return np.array(next(self.sums))

    def wait(self, requests, what):
        self.log.append(("waited", [request.number for request in requests]))


def test_a_step_ends_when_messages_are_taken_all_have_entered_and_nobody_has_anything_left(monkeypatch):
    """By hand: to work takes ten seconds, to look takes one."""
    nothing, wide = [], records(3, 9, 4)[::2]
    works = [
        Progress({0: records(1, 2), 2: wide}, remaining=1, held=4, absorbed=1),
        Progress({}, remaining=0, held=5, created=1),
        Progress({0: records(7)}, remaining=2, held=5, absorbed=1),
        Progress({}, remaining=0, held=7, created=2),
        Progress({2: records(8)}, remaining=0, held=7),
    ]
    ranks = Scripted(
        [
            # it works on; neither message is taken, then one, then both
            *[(nothing, set(), False)] * 2,
            (nothing, {1}, False),
            (nothing, {2}, False),
            # it is called back, and all have entered with two left here
            ([records(5, 6)], set(), True),
            *[(nothing, set(), True)] * 2,
            # what was sent then is taken; another rank has something left, and then something is on its way
            (nothing, {3}, True),
            (nothing, set(), True),
            (nothing, set(), False),
            # called back once more, and what it sends has been received by the time of the sum
            ([records(8)], set(), True),
        ],
        [(3, 2, 0), (0, 4, 0), (1, 0, 0), (0, 0, 0)],
    )

    def work(arrived):
        ranks.now += 10
        return works.pop(0)

    monkeypatch.setattr(migration, "perf_counter", lambda: ranks.now)
    counts = run_until_all_done(work, ranks, RECORD, 9)
    first = [("sent", 0, [1, 2]), ("sent", 2, [3, 4]), "progress", "entered", ("sent", 0, [7]), "progress", "progress"]
    rest = ["entered", "entered", "entered", ("sent", 2, [8]), "progress", ("waited", [4])]
    assert ranks.log == first + rest
    # sent less received, left here, lost or doubled
    assert ranks.own == [[3, 2, 0], [3, 0, 0], [3, 0, 0], [3, 0, 0]]
    assert (counts.before, counts.after, counts.created, counts.absorbed, counts.surplus) == (9, 7, 3, 2, 0)
    assert (counts.sent, counts.received, counts.messages, counts.rounds) == (6, 3, 4, 4)
    assert counts.bytes == 6 * RECORD.itemsize
    # from the first look without work to the call back, while the third message was not taken, and in the last barrier
    assert counts.waited == 3 + 1 + 1


@pytest.mark.parametrize(("after", "word"), [(3, "2 lost"), (6, "1 doubled")])
def test_a_refusal_says_the_numbers_of_the_ranks_that_are_wrong(after, word):
    """Rank 1 of three has 6, creates 2, absorbs 1, sends 3 to rank 2 and receives 1 from rank 0: 5 are due."""
    first = {
        0: Progress({1: records(8)}, remaining=0, held=9),
        1: Progress({2: records(1, 2, 3)}, remaining=0, held=after, created=2, absorbed=1),
        2: Progress({}, remaining=0, held=4),
    }
    later = {1: Progress({}, remaining=0, held=after), 2: Progress({}, remaining=0, held=7)}

    def run(rank):
        moves = iter((first[rank.rank], later.get(rank.rank)))
        with pytest.raises(CheckError) as raised:
            run_until_all_done(lambda arrived: next(moves), rank, RECORD, (10, 6, 4)[rank.rank])
        return str(raised.value)

    (said,) = set(on_ranks(3, run))
    line = f"rank 1: {word}, before 6, created 2, absorbed 1, sent 3, received 1, after {after}"
    assert said == f"particles lost or doubled within a step: {line}"


def test_one_that_a_rank_has_lost_is_not_made_up_for_by_one_that_another_has_doubled():
    held = {0: 4, 1: 6}

    def run(rank):
        with pytest.raises(CheckError) as raised:
            run_until_all_done(lambda arrived: Progress({}, remaining=0, held=held[rank.rank]), rank, RECORD, 5)
        return str(raised.value)

    (said,) = set(on_ranks(2, run))
    counted = [f"before 5, created 0, absorbed 0, sent 0, received 0, after {after}" for after in held.values()]
    assert said.endswith(f": rank 0: 1 lost, {counted[0]}; rank 1: 1 doubled, {counted[1]}")


def test_more_messages_than_were_sent_are_refused_with_the_numbers_of_all_ranks():
    class Doubling(Alone):
        """What is sent to nobody arrives."""

        def arrived(self, record):
            return [records(5, 6)] if not held[1:] else []

    held = []

    def work(arrived):
        held.append(3 + len(arrived))
        return Progress({}, remaining=0, held=held[-1])

    with pytest.raises(CheckError, match=r"step: rank 0: before 3, created 0, absorbed 0, sent 0, received 2, after 5"):
        run_until_all_done(work, Doubling(), RECORD, 3)


def test_what_arrives_after_the_barrier_was_entered_is_told_as_such():
    class Late(Alone):
        """Two arrive when it has entered the barrier, which is reached after that."""

        entered = False

        def barrier(self):
            self.entered, steps = True, iter((False, True))
            return SimpleNamespace(Test=lambda: next(steps))

        def arrived(self, record):
            mine, self.entered = [records(5, 6)] if self.entered else [], False
            return mine

    told, held = [], iter((3, 5))
    with pytest.raises(CheckError):
        run_until_all_done(
            lambda arrived: Progress({}, remaining=0, held=next(held)),
            Late(),
            RECORD,
            3,
            lambda *happened: told.append(happened),
        )
    late = [(RECEIVED, 2), (RESUMED, 2), (MOVES, 2), (MOVED, 5)]
    assert told == [(MOVES, 0), (MOVED, 3), (ENTERED, 0), *late, (PASSED, 0)]


def test_one_rank_needs_nobody(capsys):
    ranks, values, polls = Alone(), np.array([3, 4]), iter((False, False, True))
    ranks.until(lambda: next(polls), "")
    assert next(polls, None) is None
    total = ranks.sum(values)
    total += 1
    assert (values.tolist(), total.tolist()) == ([3, 4], [4, 5])
    assert ranks.gather(values).tolist() == [[3, 4]]
    assert ranks.barrier().Test() is True
    assert ranks.arrived(RECORD) == []
    with pytest.raises(SystemExit) as ended:
        ranks.end("no\n memory")
    assert (ended.value.code, capsys.readouterr().err) == (1, "rank 0 of 1: no memory\n")


class Network:
    """An MPI of two ranks that notes what it is asked; rank 1 of them asks, and messages are done at the third look."""

    BYTE, ANY_SOURCE = "byte", -7

    def __init__(self):
        self.asked, self.looks, self.waiting = [], 0, []
        self.Request, self.Status = SimpleNamespace(Testall=self._all), self._status

    rank, size = 1, 2

    def _all(self, requests) -> bool:
        self.looks += 1
        return self.looks % 3 == 0

    def _status(self):
        return SimpleNamespace(source=0, Get_count=lambda kind: self.waiting[0].nbytes)

    def Isend(self, what, to, tag):
        self.asked.append(("sent", *what[1:], to, tag))

    def Issend(self, what, to, tag):
        self.asked.append(("sent until taken", *what[1:], to, tag))

    def Irecv(self, what, source, tag):
        self.asked.append(("received", *what[1:], source, tag))

    def Iallreduce(self, own, total):
        # MPI knows one piece of memory
        assert own.flags.c_contiguous
        assert total.flags.c_contiguous
        total[...] = own + np.array([[10, 20], [30, 40]])

    def Iallgather(self, own, table):
        assert own.flags.c_contiguous
        table[0], table[1] = 7, own

    def Improbe(self, source, tag, status):
        assert (source, tag) == (self.ANY_SOURCE, LEAVERS_TAG)
        return SimpleNamespace(Irecv=self._arrive) if self.waiting else None

    def _arrive(self, what):
        buffer, size, _ = what
        assert size == self.waiting[0].nbytes
        buffer[...] = self.waiting.pop(0)


@pytest.fixture
def ranks():
    """Rank 1 of 2, without MPI and without the watchdog, of which it is noted what it sees."""
    made, network, seen = Ranks.__new__(Ranks), Network(), []
    made._mpi, made.comm, made.rank, made.count = network, network, 1, 2
    made._watchdog = SimpleNamespace(rest=seen.append, progress=lambda: seen.append("progress"), patience=3.0)
    made.seen = seen
    return made


def test_ranks_sum_and_gather_tables_and_are_watched_while_they_wait(ranks):
    values = np.arange(8).reshape(2, 4).T[1:3]
    assert ranks.sum(values, "a sum").tolist() == (values + np.array([[10, 20], [30, 40]])).tolist()
    assert ranks.seen == ["a sum", "a sum", "progress"]
    table = ranks.gather(values)
    assert table.tolist() == [[[7, 7], [7, 7]], values.tolist()]
    assert table.dtype == values.dtype


def test_ranks_send_and_receive_bytes(ranks):
    buffer = records(1, 2, 3)
    ranks.send(buffer, 0, 5)
    ranks.receive(buffer, 1, 6)
    ranks.send_leavers(buffer, 0)
    size = 3 * RECORD.itemsize
    # only of those that leave it is asked whether they have been taken
    rows = [("sent", size, "byte", 0, 5), ("received", size, "byte", 1, 6)]
    assert ranks.comm.asked == [*rows, ("sent until taken", size, "byte", 0, LEAVERS_TAG)]


def test_all_records_that_are_here_are_taken_as_they_were_sent(ranks):
    ranks.comm.waiting = [records(4), records(5, 6)]
    assert [found.tolist() for found in ranks.arrived(RECORD)] == [[(4, 2.0)], [(5, 2.5), (6, 3.0)]]
    assert ranks.seen[:2] == ["1 records from rank 0"] * 2
    assert ranks.seen[3:5] == ["2 records from rank 0"] * 2
    assert ranks.arrived(RECORD) == []


def test_messages_of_a_program_of_its_ranks_and_of_their_watch_are_not_mixed(monkeypatch):
    class Communicator:
        rank, size = 2, 5

        def Dup(self):
            return Communicator()

    mpi, ours = SimpleNamespace(), Communicator()
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=mpi))
    monkeypatch.setattr(rank_watchdog, "Watchdog", lambda communicator, mpi: SimpleNamespace(comm=communicator))
    made = Ranks(ours)
    assert (made.rank, made.count) == (2, 5)
    assert len({ours, made.comm, made._watchdog.comm}) == 3


def test_patience_may_be_endless_and_is_the_watchdogs(ranks):
    assert ranks.patience == 3
    for seconds in (0.5, float("inf")):
        ranks.patience = seconds
        assert ranks.patience == ranks._watchdog.patience == seconds


def test_a_rank_leaves_when_all_have_and_ends_all_with_its_reason(ranks):
    polls, said = iter((False, False, True)), []
    ranks._watchdog.leave = lambda: SimpleNamespace(Test=lambda: next(polls))
    ranks._watchdog.end = said.append
    ranks.finish()
    assert ranks.seen == ["the end of the program"] * 2 + ["progress"]
    ranks.end("no memory")
    ranks.progress()
    assert (said, ranks.seen[3:]) == (["no memory"], ["progress"])


def test_gpus_are_connected_when_that_is_asked_for(ranks, monkeypatch):
    monkeypatch.setattr(nccl, "GpuMessages", lambda of: ("the GPUs of", of))
    assert ranks.gpus is Alone().gpus is None
    ranks.connect_gpus()
    assert ranks.gpus == ("the GPUs of", ranks)


def test_nothing_is_waited_for_where_no_message_is(ranks):
    ranks.wait([], "nothing")
    assert ranks.seen == []
    assert Alone().barrier().Test() is True
