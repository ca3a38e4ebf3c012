"""The cell lists: their contents, their memory, and that they are timed in a valid order."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.judging import by_statement
from helpers.timings import Kept

from repro.dpd.cases import Bulk
from repro.dpd.uneven import particles_in_cells
from repro.errors import CapacityError, CheckError, InputError
from repro.papers.dpd.cell_list import contents as lc
from repro.papers.dpd.cell_list import figures as lf
from repro.papers.dpd.cell_list import speed as lb
from repro.parallel import Speed, Timing, part_seconds, select, time_launches
from repro.particles.cells import Cells
from repro.particles.linked_list import LinkedList
from repro.study.judge import claims
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict, judge


def test_all_lists_put_every_particle_into_the_cell_that_the_host_finds(device):
    found = lc.compare_lists([(4, 3, 3.5)], device, 32)
    assert list(found["list"]) == list(lc.LISTS)
    assert (found["in the right cell"] == found["particles"]).all()
    assert set(found["particles"]) == {168}
    assert set(found["fullest cell"]) == {particles_in_cells(Bulk((4, 3, 3.5)).system()).max()}


def test_the_number_of_a_cell_counts_x_first():
    position = np.array([[0.5, 0.5, 0.5], [2.5, 0.5, 0.5], [0.5, 1.5, 0.5], [0.5, 0.5, 1.5]])
    assert Cells((3.0, 4.0, 5.0)).of(position).tolist() == [0, 2, 3, 12]


def test_a_particle_in_two_cells_is_noticed(threads):
    system = Bulk((3, 3, 3)).system()
    made, _ = lc.launched(lc.SORTED, system.position, system.cells, threads, 32)
    made.ids[1] = made.ids[0]
    with pytest.raises(InputError, match="1 particles are in no cell, 1 in two"):
        lc.cell_by_particle(lc.SORTED, made, threads, system.count)


def test_a_table_that_is_too_small_is_refused_with_the_room_it_needs():
    message, lost = lc.overflow((4, 4, 4), select("serial"), 4)
    assert "start again with a capacity of at least" in message
    assert lost == sum(max(count - 4, 0) for count in particles_in_cells(Bulk((4, 4, 4)).system()))


def test_a_table_with_room_for_all_is_told_to_have_it(monkeypatch):
    ran = []
    monkeypatch.setattr(
        lc, "Simulation", lambda system, device, **options: SimpleNamespace(step=lambda n: ran.append((options, n)))
    )
    assert lc.overflow((4, 4, 4), "here", 64) == ("no cell ever held more than 64 particles", 0)
    assert ran == [({"strategy": "particle", "capacity": 64}, 2)]


def test_overflow_is_expected_as_often_as_poisson_says():
    # P(more than 8 | mean 4) = 0.021363 (tables of the Poisson distribution)
    row = lc.capacity_table([8], 1000, density=4.0).iloc[0]
    assert row["cells that overflow, expected"] == pytest.approx(21.363, abs=1e-3)
    # eight entries, a count and a peak of four bytes each, for four particles
    assert row["bytes a particle"] == 4 * (8 + 2) / 4
    assert lc.capacity_table([8], 1000)["bytes a particle"].tolist() == [10.0]


def test_bytes_a_particle_follow_from_the_arrays(threads):
    found = lc.memory_table((4, 4, 4), threads, 16).set_index("list")
    # at density 4: a link each and a quarter of a last one; 16 rows, a count and a peak a cell
    assert found.loc[lc.LINKED, "bytes a particle"] == 4 + 1
    assert found.loc[lc.TABLE, "bytes a particle"] == 4 * (16 + 2) / 4
    # three vectors and an id
    assert found.loc[lc.SORTED, "and for its sorted copies"] == 4 * 10


def test_a_list_with_a_particle_in_the_wrong_cell_is_not_timed(wide_device):
    system = Bulk((3, 3, 3)).system()
    made, _ = lc.launched(lc.SORTED, system.position, system.cells, wide_device, 32)
    assert lb._checked(lc.SORTED, made, wide_device, system.position, system.cells).startswith("108 of 108")
    # the last particle of the first cell and the first one of the second change places
    border = int(made.starts[1])
    made.ids[border - 1], made.ids[border] = int(made.ids[border]), int(made.ids[border - 1])
    with pytest.raises(CheckError, match="only 106 of 108 particles are in their cell"):
        lb._checked(lc.SORTED, made, wide_device, system.position, system.cells)


def test_a_table_that_is_too_small_is_not_timed(wide_device):
    system = Bulk((3, 3, 3)).system()
    made, parts, _ = lc.make_list(lc.TABLE, system.position, system.cells, wide_device, 3)
    for launch in parts.values():
        launch()
    with pytest.raises(CapacityError):
        lb._checked(lc.TABLE, made, wide_device, system.position, system.cells)


class _Listener:
    """A device that only notes what is launched; its clock counts launches."""

    name = "serial"

    def __init__(self):
        self.heard = []

    def capture(self, run):
        return run

    def synchronise(self):
        pass

    def clock(self, run):
        before = len(self.heard)
        run()
        return (len(self.heard) - before) * 1e-3


def test_a_part_is_only_ever_timed_after_those_before_it():
    device = _Listener()
    parts = {name: (lambda name=name: device.heard.append(name)) for name in ("clear", "count", "scatter")}
    found = part_seconds(parts, device, 0.02)
    assert all(seconds == pytest.approx(1e-3) for seconds in found.values())
    before = {"count": "clear", "scatter": "count"}
    for earlier, later in zip(device.heard, device.heard[1:], strict=False):
        assert later == "clear" or earlier == before[later]


def test_clearing_alone_leaves_the_table_empty(device):
    system = Bulk((3, 3, 3)).system()
    made, parts, _ = lc.make_list(lc.TABLE, system.position, system.cells, device, 32)
    for launch in parts.values():
        launch()
    assert made.counts.sum() == system.count
    parts["clear the table"]()
    assert made.counts.sum() == 0


def test_every_list_is_timed_in_both_orders_as_a_whole_and_by_parts(threads):
    kept = Kept()
    parts = lb.measure_lists([(3, 3, 3)], threads, kept, capacity=32, seconds=1e-4)
    whole = parts.drop_duplicates(["list", "order"])
    assert kept.of("case") == [f"{row.list}, {row.order}, 108" for row in whole.itertuples()]
    assert len(kept) == 2 * len(lb.LISTS)
    assert kept.of("seconds") == list(whole["whole"])
    assert kept.of("updates") == pytest.approx(list(108 / whole["whole"]))
    assert list(parts["particles"].unique()) == [108]


def test_the_share_of_a_step_is_the_update_of_a_run_over_the_step_of_that_run(monkeypatch, threads):
    steps = [Timing(seconds, seconds, 0.0, 5) for seconds in (1e-3, 2e-3, 4e-3)]
    more = {"strategy": "particle", "precision": "single", "size": "all", "check": "checked", "work": {}}
    monkeypatch.setattr(lb, "measure_speed", lambda case, s, device, **o: Speed.of(case, device, steps, **more))
    updates = iter([1e-5, 4e-5, 4e-5])
    monkeypatch.setattr(lb, "_update", lambda *a: next(updates))
    row = lb.step_shares([(3, 3, 3)], threads, kept := Kept(), capacity=32, seconds=0.1, runs=3).iloc[0]
    assert (kept.of("case"), kept.of("seconds")) == (["whole step, 108"], [2e-3])
    assert row["runs"] == pytest.approx([1.0, 2.0, 1.0])
    assert tuple(row[["list (us)", "step (us)", "share (%)"]]) == pytest.approx((40.0, 2000.0, 1.0))


def test_bad_requests_are_refused(threads):
    with pytest.raises(InputError, match="on one core"):
        LinkedList(threads, None, 1, np.float32)
    with pytest.raises(InputError, match="must be a number above 0"):
        time_launches([], threads, 0.0)


def test_fourteen_cells_are_counted_and_the_half_stencil_meets_each_pair_of_them_once(monkeypatch):
    visited, counted = lc.cells_visited((4, 3, 5))
    assert visited == 14
    assert counted.startswith("840 pairs of cells")
    assert by_statement(claims.load("dpd")["dpd-010"], Evidence(visited)) is Verdict.REPRODUCED
    monkeypatch.setattr(lc, "OWN_CELL", 12)
    with pytest.raises(CheckError, match="meets 840 of 840 pairs of cells, 900 times"):
        lc.cells_visited((4, 3, 5))


def test_the_papers_tables_come_out_of_their_memberships_entry_by_entry():
    # table 1 read by hand: the last of each cell, and the one before it
    assert list(lc.memberships(lc.ARRAY_A, lc.ARRAY_B)) == [4, 6, 7, 1, 5, 7, 2, 0, 8, 3, 2, 0, 4, 6]
    position = lc.example()
    lists = lc.example_lists(position, select("serial"))
    assert lc.entries_as_printed(lists) == (23, 27)
    # columns are named by particles and cells, from 1
    cells, particles = [f"cell {k}" for k in range(1, 10)], [str(k) for k in range(1, 15)]
    columns = {"array A": particles, "array B": cells, "table 2": cells, "start of each cell": cells}
    columns["particles in the order of cells"] = particles
    assert {name: list(table.columns) for name, table in lists.items()} == columns
    # rows are named as the paper names its arrays
    assert [lists[name].index.tolist() for name in ("array A", "array B")] == [["before"], ["last"]]
    # a particle in another cell is noticed in both
    moved = position.copy()
    moved[13] += [0, 0, 1.0]
    assert max(lc.entries_as_printed(lc.example_lists(moved, select("serial")))) < 27


def test_arrows_lead_from_each_cell_to_its_last_particle_and_on_to_the_one_before(threads):
    figure = lf.reading(lc.example_lists(lc.example(), threads))
    arrows = [text for text in figure.axes[0].texts if getattr(text, "arrow_patch", None)]
    # one to each particle: it is the last of its cell, or before another
    assert sorted(int(arrow.xy[0]) for arrow in arrows) == list(range(14))


def _timed():
    """Tables of a run on a GPU: lists, clearing, shares of a step, and the list by one thread."""
    rows = [(lc.TABLE, lb.RANDOM, 65536, 20.0, 3.0e9), (lc.TABLE, lb.RANDOM, 524288, 200.0, 2.5e9)]
    speeds = pd.DataFrame(rows, columns=["list", "order", "particles", "microseconds", "rate"])
    rows = [(768, 32, [9.0] * 3), (65536, 32, [0.5] * 3), (524288, 32, [0.65, 0.7, 0.75])]
    rows += [(65536, 16, [1.5] * 3), (524288, 16, [1.2] * 3)]
    clearing = pd.DataFrame(rows, columns=["particles", "height", "runs"])
    clearing["fill / clear"] = [sorted(runs)[1] for runs in clearing["runs"]]
    shares = pd.DataFrame({"particles": [65536, 524288], "share (%)": [1.0, 2.0]})
    shares["runs"] = [[1.0, 1.1, 0.9], [2.0, 2.3, 1.9]]
    return speeds, clearing, shares, {"atomic": [3.0, 3.1, 3.2], "one thread": [0.1, 0.1, 0.2]}


def test_of_both_sizes_the_one_counts_that_is_worse_for_the_claim():
    values = lb.claim_values(*_timed())
    measured = {claim: value["measured"] for claim, value in values.items() if claim != "dpd-082"}
    assert measured == {"dpd-003": 20.0, "dpd-004": 200.0, "dpd-005": 2.0, "dpd-058": 0.7}
    assert values["dpd-005"]["scatter"] == pytest.approx(0.4)
    assert values["dpd-058"] == {
        "measured": 0.7,
        "scatter": pytest.approx(0.1),
        "note": "the larger of 65536 and 524288; with other columns 1.50 at 16",
    }


def test_what_hangs_on_the_height_of_a_column_is_not_comparable_and_one_thread_is_shown():
    stated, values = claims.load("dpd"), lb.claim_values(*_timed())
    assert judge(stated["dpd-058"], Evidence(**values["dpd-058"])).verdict is Verdict.NOT_COMPARABLE
    assert not stated["dpd-082"].judged
    assert values["dpd-082"]["measured"] == pytest.approx(30)


def test_claims_get_a_value_only_where_both_sizes_of_the_paper_were_timed():
    speeds, clearing, shares, alone = _timed()
    assert lb.claim_values(speeds, clearing, shares[:1], alone) == {}
    assert lb.claim_values(speeds[1:], clearing, shares, alone) == {}


def test_filling_is_compared_with_clearing_run_by_run_for_each_height(monkeypatch, threads):
    # microseconds to fill and to clear
    times, asked = iter([[2.0, 4.0], [4.0, 2.0], [9.0, 9.0], *[[1.0, 2.0]] * 3]), []
    monkeypatch.setattr(
        lb, "_clearing", lambda system, device, height, seconds: asked.append((height, seconds)) or next(times)
    )
    table = lb.clearing_table([(3, 3, 3)], [16, 32], threads, seconds=0.1, runs=3)
    assert list(table["height"]) == [16, 32]
    assert asked == [(height, 0.1) for height in (16, 32) for _ in range(3)]
    assert table["particles"].tolist() == [108, 108]
    assert table["runs"][0] == [0.5, 2.0, 1.0]
    assert tuple(table.loc[0, ["fill (us)", "clear (us)", "fill / clear"]]) == (4.0, 4.0, 1.0)


def test_all_of_the_table_is_cleared_counts_and_entries(monkeypatch):
    """A number takes a microsecond to clear; what the update itself clears is part of another time."""
    made = SimpleNamespace(counts=np.zeros(5), entries=np.zeros(40))
    parts, asked = {"clear the table": "own", "fill the table": "fill"}, []

    def make_list(*given):
        asked.append(given)
        return made, parts, None

    def part_times(given, device, seconds):
        assert (given, device, seconds) == (parts, "here", 0.1)
        return {"clear the table": 9e-6, "fill the table": 3e-6}

    monkeypatch.setattr(lb, "make_list", make_list)
    monkeypatch.setattr(lb, "part_seconds", part_times)
    monkeypatch.setattr(lb, "launch_of", lambda device, body, count, array: (body, count, array.size))
    monkeypatch.setattr(
        lb, "time_launches", lambda launches, *_: SimpleNamespace(seconds=1e-6 * sum(size for *_, size in launches))
    )
    system = SimpleNamespace(position="r", cells="cells")
    assert lb._clearing(system, "here", 16, 0.1) == pytest.approx([3, 45])
    assert asked == [(lc.TABLE, "r", "cells", "here", 16)]


def test_a_list_as_a_whole_is_told_once_in_microseconds_and_in_particles_a_second():
    rows = [("a", "cuda", lb.RANDOM, 100, part, 1e-6, 5e-6) for part in ("clear", "fill")]
    rows += [("a", "cuda", lb.ORDERED, 100, "fill", 1e-6, 2e-6), ("a", "cuda", lb.RANDOM, 900, "fill", 1e-6, 9e-6)]
    names = ["list", "device", "order", "particles", "part", "seconds", "whole"]
    found = lb.totals(pd.DataFrame(rows, columns=names))
    assert found[["order", "particles"]].to_numpy().tolist() == [[lb.RANDOM, 100], [lb.ORDERED, 100], [lb.RANDOM, 900]]
    assert found["microseconds"].tolist() == pytest.approx([5, 2, 9])
    assert found["rate"].tolist() == pytest.approx([2e7, 5e7, 1e8])


def test_the_update_of_a_step_is_that_of_the_whole_table(monkeypatch, threads):
    system, timed = Bulk((3, 3, 3)).system(), []

    def time_launches(launches, device, seconds):
        timed.append((len(list(launches)), device, seconds))
        return SimpleNamespace(seconds=7.0)

    monkeypatch.setattr(lb, "time_launches", time_launches)
    assert lb._update(system, threads, 32, 0.1) == 7.0
    assert timed == [(len(lc.make_list(lc.TABLE, system.position, system.cells, threads, 32)[1]), threads, 0.1)]


def test_atomic_additions_are_those_of_the_whole_update_and_one_thread_clears_before_it_fills(monkeypatch, threads):
    """By the clock all threads take two seconds and one takes eight; 108 particles."""
    seconds, launched = iter([2.0, 8.0] * 3), []

    def time_launches(launches, device, span):
        launched.append(list(launches))
        for launch in launched[-1]:
            launch()
        return SimpleNamespace(seconds=next(seconds))

    launch_of, alone = lb.launch_of, []
    monkeypatch.setattr(lb, "launch_of", lambda *given: alone.append(launch_of(*given)) or alone[-1])
    monkeypatch.setattr(lb, "time_launches", time_launches)
    assert lb.one_thread((3, 3, 3), threads, seconds=0.1) == {"atomic": [54.0] * 3, "one thread": [13.5] * 3}
    for together, (clear, fill), own in zip(launched[::2], launched[1::2], alone, strict=True):
        # the table is cleared by the same launch, and filled by another
        assert (clear, fill) == (together[0], own)
        assert own not in together


def test_one_thread_fills_the_table_as_all_do(monkeypatch, threads):
    # each is checked against the host before it counts
    rows = []
    make = lb.make_list
    monkeypatch.setattr(lb, "make_list", lambda *given: rows.append(given[-1]) or make(*given))
    found = lb.one_thread((3, 3, 3), threads, seconds=1e-4)
    assert rows == [32] * 3
    assert [len(rates) for rates in found.values()] == [3, 3]
    assert min(map(min, found.values())) > 0
