"""However host and device share an iteration, it is the same iteration, and its parts add up."""

import weakref
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.timings import Kept

from repro.errors import CheckError, InputError, MemoryLimitError
from repro.lbm.cases import CubicCavity
from repro.lbm.layout import row_length
from repro.papers.swap import claims, figures, hybrid, iteration
from repro.papers.swap.hybrid import Part
from repro.papers.swap.iteration import COLLIDE_ONLY, COMPARED, OUR_BUS, PALABOS, PAPER_WAY, RESIDENT, SERIAL
from repro.study.judge.claims import find
from repro.study.judge.evidence import Evidence, check_evidence

#: a paper of round numbers: a quarter of the serial time is neither collision nor streaming
STATED = claims.Paper(
    {PALABOS: 0.4, PAPER_WAY: 0.2},
    {PALABOS: 0.75, PAPER_WAY: 0.5},
    {PAPER_WAY: {128: 2.0, 512: 2.5}, COLLIDE_ONLY: {512: 2.0}},
)
SMALL = CubicCavity(reynolds=10, nodes=10).problem
#: places of a row of its arrays
ROW = row_length(SMALL.nodes)
NOWHERE = Path("no-such-library.so")


@pytest.mark.parametrize("way", [SERIAL, OUR_BUS, RESIDENT, "links, resident"])
def test_every_way_of_our_own_is_the_flow_of_plain_streaming(threads, way):
    ways = iteration.ways_on(threads, NOWHERE, gpu=True)
    assert "of the whole time step after" in hybrid.check_period(ways[way], SMALL, repeats=2)


def test_without_palabos_and_without_a_gpu_there_is_our_sweep(threads):
    assert list(iteration.ways_on(threads, NOWHERE, gpu=False)) == [SERIAL]
    assert list(iteration.ways_on(threads, NOWHERE, gpu=True)) == [SERIAL, OUR_BUS, RESIDENT, "links, resident"]


def test_palabos_has_a_way_for_each_program_of_the_paper_where_it_is_built(threads, tmp_path):
    (library := tmp_path / "library.so").touch()
    assert list(iteration.ways_on(threads, library, gpu=True))[:3] == [PALABOS, COLLIDE_ONLY, PAPER_WAY]
    assert list(iteration.ways_on(threads, library, gpu=False)) == [PALABOS, SERIAL]


def test_each_program_of_the_paper_takes_the_library_and_the_device_that_it_is_given(monkeypatch, tmp_path):
    (library := tmp_path / "library.so").touch()
    for name in ("palabos_period", "palabos_collide_only_period", "palabos_hybrid_period"):
        monkeypatch.setattr(iteration, name, lambda problem, name=name, **given: (name, problem, given))
    ways = iteration.ways_on("here", library, gpu=True)
    assert ways[PALABOS]("cavity") == ("palabos_period", "cavity", {"path": library})
    for way, name in ((COLLIDE_ONLY, "palabos_collide_only_period"), (PAPER_WAY, "palabos_hybrid_period")):
        assert ways[way]("cavity") == (name, "cavity", {"path": library, "device": "here"})


def test_what_crosses_the_bus_goes_from_home_to_the_device_and_from_its_own_end_back():
    """The device works in one array and ends in another."""
    home, there, back = np.full(3, 1.0), np.full(3, 2.0), np.full(3, 3.0)
    device = SimpleNamespace(upload=lambda a, b: np.copyto(b, a), download=lambda a, b: np.copyto(b, a))
    double = Part("double", lambda: np.multiply(there, 2, out=back), 0.0, "GPU memory")
    out, between, home_again = hybrid.there_and_back(device, home, there, back, [double])
    out.run()
    assert (home.tolist(), there.tolist()) == ([1.0] * 3, [1.0] * 3)
    between.run()
    home_again.run()
    assert (home.tolist(), back.tolist()) == ([2.0] * 3, [2.0] * 3)
    assert [(part.name, part.bytes, part.channel) for part in (out, home_again)] == [
        (name, 24, name) for name in ("to the GPU", "to the host")
    ]


def test_an_iteration_that_forgets_a_part_is_found_out(threads):
    def without_boundary(problem):
        period = hybrid.hybrid_period(problem, threads)
        return replace(period, parts=tuple(part for part in period.parts if part.name != "boundary"))

    with pytest.raises(CheckError, match="differs from the whole time step"):
        hybrid.check_period(without_boundary, SMALL, repeats=2)


@pytest.mark.parametrize(("off", "passes"), [(0.9e-12, True), (1.1e-12, False), (-1.1e-12, False), (np.nan, False)])
def test_a_way_is_compared_with_as_many_whole_steps(off, passes):
    steps, ran, velocity = [], [], np.linspace(-1, 0.5, 30).reshape(3, 10)
    parts = [Part(name, lambda name=name: ran.append(name), 1.0, "core") for name in "ab"]

    def expected(count):
        steps.append(count)
        return velocity

    device = SimpleNamespace(synchronise=lambda: None)
    period = hybrid.Period("made up", 3, parts, device, lambda: velocity + off, expected)
    if passes:
        assert "after 6 steps" in hybrid.check_period(lambda problem: period, SMALL, repeats=2)
        assert (steps, ran) == ([6], ["a", "b"] * 2)
        assert "after 36 steps on 10 x 10 x 10" in hybrid.check_period(lambda problem: period, SMALL)
    else:
        with pytest.raises(CheckError, match="made up differs from the whole time step by (1.10e-12|nan)"):
            hybrid.check_period(lambda problem: period, SMALL)


def test_the_populations_cross_the_bus_before_and_after_a_step(threads):
    period = hybrid.hybrid_period(SMALL, threads)
    assert [part.name for part in period.parts] == ["to the GPU", "collide", "stream", "boundary", "to the host"]
    crossing = [part.bytes for part in period.parts if part.channel.startswith("to the")]
    # an array as it stands, with what fills its rows up
    assert crossing == [19 * 8 * ROW] * 2
    # all is read and written, and of a node beside the walls what it swaps: nine of 19
    beside = 10**3 - 8**3
    assert [part.bytes for part in period.parts[1:-1]] == [2 * 19 * 8 * 10**3] * 2 + [2 * 9 * 8 * beside]


def test_parts_add_up_to_iterations_and_speedups(threads):
    ways = iteration.ways_on(threads, NOWHERE, gpu=True)
    kept = Kept()
    parts = iteration.iteration_parts([10, 12], {name: ways[name] for name in (SERIAL, OUR_BUS)}, kept)
    assert dict(zip(kept.of("case"), kept.of("seconds"), strict=True)) == pytest.approx(
        {f"{way}, {n}^3": iteration.seconds_of(parts, way, n) for way in (SERIAL, OUR_BUS) for n in (10, 12)}
    )
    table = iteration.iterations(parts)
    assert len(table) == 4
    assert (parts["seconds"] > 0).all()
    np.testing.assert_allclose(table.loc[table["way"] == SERIAL, f"over {SERIAL}"], 1)
    assert table[f"over {PALABOS}"].isna().all()
    whole = iteration.seconds_of(parts, OUR_BUS, 12)
    names = ("collide", "stream", "boundary")
    each = iteration.seconds_of(parts, OUR_BUS, 12, names) + iteration.seconds_of(parts, OUR_BUS, 12, iteration.BUS)
    assert each == pytest.approx(whole)
    assert 0 < claims.moved_seconds(parts, OUR_BUS, 12) < whole


def test_a_size_that_does_not_fit_is_said_and_left_out(threads, monkeypatch, capsys):
    monkeypatch.setattr(type(threads), "free_memory", lambda self: 1_000_000)
    parts = iteration.iteration_parts([10, 40], {SERIAL: hybrid.serial_period})
    assert set(parts["nodes"]) == {10}
    assert "our sweep, 40^3: a 40 x 40 x 40 grid" in capsys.readouterr().out
    with pytest.raises(MemoryLimitError, match="free: use a smaller grid"):
        hybrid.serial_period(iteration.cavity_problem(40))


def test_sizes_that_were_not_timed_are_named():
    with pytest.raises(InputError, match="none was timed"):
        iteration.iteration_parts([], {SERIAL: hybrid.serial_period})
    iteration.require_timed(34, [26, 34])
    with pytest.raises(InputError, match="bars_nodes = 50: must be one of the sizes that are timed, 26, 34"):
        iteration.require_timed(50, [26, 34])


#: seconds of the parts of the paper's programs, which all differ
PARTS = {
    PALABOS: {"boundary collision": 1.0, "bulk": 14.0, "boundary stream": 2.0, "rest": 3.0},
    PAPER_WAY: {
        "boundary collision": 1.0, "pack": 0.25, "to the GPU": 0.5, "collide": 0.75, "stream": 0.125,
        "to the host": 0.5, "unpack": 0.375, "boundary stream": 2.0, "rest": 3.0,
    },
    COLLIDE_ONLY: {
        "boundary collision": 1.0, "pack": 0.25, "to the GPU": 0.5, "collide": 0.75, "to the host": 0.5,
        "unpack": 0.375, "bulk stream": 4.0, "boundary stream": 2.0, "rest": 3.0,
    },
}  # fmt: skip


#: how many times as long all but the rest takes on the larger grid
LARGER = {PALABOS: 4, PAPER_WAY: 2, COLLIDE_ONLY: 3}


def made_up(seconds=PARTS, runs=(1, 2, 4)) -> pd.DataFrame:
    """Parts on both grids, in runs of which each takes so many times as long."""
    rows = [(way, n, *part) for way, parts in seconds.items() for n in (128, 512) for part in parts.items()]
    table = pd.DataFrame(rows, columns=["way", "nodes", "part", "seconds"]).assign(channel="core", bytes=1.0)
    longer = (table["nodes"] == 512) & (table["part"] != "rest")
    table["seconds"] *= table["way"].map(LARGER).where(longer, 1).fillna(1)
    return table.assign(runs=[[value * run for run in runs] for value in table["seconds"]])


def test_bulk_copies_and_rest_each_count_where_they_belong():
    parts = made_up()
    assert claims.core_claims(parts) == pytest.approx({"swap-002": 20, "swap-007": 70, "swap-001": 70})
    # the bulk's 14 s are 2.5 s with the copies; 6 s stay on the core; on the larger grid of all but 3 s more
    assert claims.gpu_claims(parts) == pytest.approx(
        {"swap-003": 8.5, "swap-004": 20 / 8.5, "swap-008": 100 * 2.5 / 8.5, "swap-019": 14 / 2.5}
        | {"swap-009": 71 / 14, "swap-010": 100 * (31.125 / 14 - 1), "swap-011": 71 / 31.125}
    )
    assert claims.share(parts, PAPER_WAY, 512) == pytest.approx(100 * 5 / 14)
    assert claims.readings(parts)["share (%)"].tolist() == pytest.approx([70, 85])


def test_times_stand_beside_the_paper_s():
    table = claims.times_table(made_up(), STATED)
    assert table["program"].tolist() == [PALABOS, PALABOS, PAPER_WAY, PAPER_WAY]
    # 75 % of 0.4 s, and half of 0.2 s
    assert table["paper (ms)"].tolist() == pytest.approx([300, 100, 100, 100])
    assert table["here (ms)"].tolist() == pytest.approx([14e3, 6e3, 2.5e3, 6e3])
    assert table["here / paper"].tolist() == pytest.approx([14 / 0.3, 60, 25, 60])
    assert claims.times_table(made_up({SERIAL: {"collide": 1.0}}), STATED).empty


def test_the_paper_s_time_for_collision_and_streaming_is_a_speed_of_its_bus():
    parts = made_up({OUR_BUS: {"to the GPU": 0.25, "collide": 8.0, "to the host": 0.75}})
    theirs, ours = claims.bus_rates(parts.assign(bytes=3e9), STATED)
    # 19 populations of 8 bytes of each of 128^3 nodes, there and back in 0.1 s
    assert theirs == pytest.approx(2 * 19 * 8 * 128**3 / 0.1 / 1e9)
    assert ours == pytest.approx(6)


def test_no_speedup_passes_amdahls_limit_of_what_stays_on_the_core():
    at_once = {part: 1e-9 if part not in iteration.REST else t for part, t in PARTS[PAPER_WAY].items()}
    found = claims.gpu_claims(made_up(PARTS | {PAPER_WAY: at_once}))
    assert found["swap-004"] == pytest.approx(20 / 6)
    assert found["swap-008"] == pytest.approx(0, abs=1e-6)


def test_a_claim_scatters_by_how_far_three_runs_lie_apart():
    # two runs do not tell how far runs lie apart
    assert set(claims.scatter(made_up(runs=(1, 2)), claims.gpu_claims).values()) == {None}
    # a run that takes longer everywhere leaves speedups and shares as they are
    found = claims.scatter(made_up(), claims.gpu_claims)
    assert found == pytest.approx(dict.fromkeys(claims.ON_GPU, 0) | {"swap-003": 3 * 8.5}, abs=1e-12)
    parts = made_up(runs=(1, 1, 1))
    slow = (parts["way"] == COLLIDE_ONLY).to_numpy()
    parts["runs"] = [[v, v, (1.5 if late else 1) * v] for v, late in zip(parts["seconds"], slow, strict=True)]
    assert claims.scatter(parts, claims.gpu_claims)["swap-011"] == pytest.approx(71 / 31.125 / 3)
    spread = iteration.iterations(parts).set_index(["way", "nodes"])["spread"]
    assert spread[COLLIDE_ONLY, 512] == pytest.approx(0.5)
    assert iteration.iterations(made_up(runs=(1,)))["spread"].isna().all()
    # a way that has one run more is compared in those that all have
    parts["runs"] = [[*r, 99.0] if way == PALABOS else r for way, r in zip(parts["way"], parts["runs"], strict=True)]
    assert claims.scatter(parts, claims.gpu_claims)["swap-011"] == pytest.approx(71 / 31.125 / 3)
    # in the order in which they were timed
    assert iteration.iterations(made_up())["way"].tolist() == [way for way in PARTS for _ in range(2)]


def test_the_speedup_of_each_run_is_over_palabos_in_that_run():
    parts = made_up(runs=(1, 1, 1))
    slow = (parts["way"] == PALABOS).to_numpy()
    parts["runs"] = [[v, 1.2 * v, 1.1 * v] if s else [v] * 3 for v, s in zip(parts["seconds"], slow, strict=True)]
    found = claims.run_speedups(parts, PAPER_WAY)
    assert set(found) == {128, 512}
    np.testing.assert_allclose(found[128], np.array([20, 24, 22]) / 8.5)
    np.testing.assert_allclose(found[512], 71 * np.array([1, 1.2, 1.1]) / 14)
    assert claims.run_speedups(made_up({PALABOS: PARTS[PALABOS]}), PAPER_WAY) == {}


def judging() -> tuple[SimpleNamespace, dict, dict, dict]:
    """A record that keeps values, notes and reasons, and refuses what a record refuses."""
    values, notes, reasons = {}, {}, {}

    def measure(claim, value, scatter=None, note=""):
        check_evidence(claim, Evidence(value, scatter, note=note))
        values[claim], notes[claim], scatters[claim] = value, note, scatter

    scatters = {}
    record = SimpleNamespace(measure=measure, not_measured=reasons.__setitem__, scatters=scatters)
    return record, values, notes, reasons


#: seconds of steps, run by run
RUNS = {("swap types", "double"): [2.2, 2.2, 2.4], ("split", "double"): [2.0, 2.0, 2.0]}
RUNS |= {("swap types", "single"): [2.8, 3.0, 4.0], ("split", "single"): [2.0, 2.0, 2.0]}
SPEEDS = pd.DataFrame([(*key, runs) for key, runs in RUNS.items()], columns=["strategy", "precision", "runs"])


def test_every_claim_of_a_whole_run_has_its_value_and_its_grid():
    record, values, notes, reasons = judging()
    claims.record_claims(record, made_up(), SPEEDS, True)
    assert set(values) == set(claims.JUDGED)
    assert not reasons
    assert values["swap-007"] == pytest.approx(70)
    # a run that takes three times as long more, and types that differ by a tenth; an order has its runs
    expected = {"swap-002": 60, "swap-003": 25.5, "swap-007": 0, "swap-009": 0, "swap-023": 0.1}
    assert {claim: record.scatters[claim] for claim in expected} == pytest.approx(expected, abs=1e-12)
    assert record.scatters["swap-018"] is None
    assert values["swap-018"] == {"128": [pytest.approx(20 / 8.5)] * 3, "512": [pytest.approx(71 / 14)] * 3}
    assert notes["swap-018"] == "128^3: 2.4 to 2.4, 512^3: 5.1 to 5.1"
    assert notes["swap-002"] == "on 128^3 nodes"
    assert notes["swap-001"] == notes["swap-007"] == "the bulk; with boundary nodes 85.0 %"
    assert (notes["swap-008"], notes["swap-009"]) == ("on 128^3 nodes", "on 512^3 nodes")
    # the grid of this one is not stated: both are shown
    assert notes["swap-011"] == "1.62 on 128^3, 2.28 on 512^3"
    assert values["swap-023"] == pytest.approx(1.1)
    assert notes["swap-023"].endswith("1.50 in single")


def test_notes_reach_from_the_least_run_to_the_largest_and_have_the_median_of_a_way_without_a_claim():
    """Of speedups of which the second run has half, and the third four fifths."""
    parts = made_up(runs=(1, 1, 1))
    slow = parts["way"].isin([COLLIDE_ONLY, PAPER_WAY]).to_numpy()
    parts["runs"] = [[v, 2 * v, 1.25 * v] if s else [v] * 3 for v, s in zip(parts["seconds"], slow, strict=True)]
    record, _, notes, _ = judging()
    claims.record_claims(record, parts, SPEEDS, True)
    assert notes["swap-018"] == "128^3: 1.2 to 2.4, 512^3: 2.5 to 5.1"
    assert notes["swap-011"] == "1.29 on 128^3, 1.82 on 512^3"


def test_a_claim_is_measured_on_the_grid_that_it_names_and_on_the_largest_where_it_names_none():
    cases = {name: claim.case for name, claim in find(claims.ON_GPU).items()}
    for name, nodes in claims.ON_GPU.items():
        assert f"{nodes}^3" in cases[name] or ("^3" not in cases[name] and nodes == claims.LARGEST), name


def test_one_run_of_a_grid_gives_no_order_and_no_error():
    record, values, _, reasons = judging()
    claims.record_claims(record, made_up(runs=(1,)), SPEEDS, True)
    assert set(reasons) == {"swap-018"}
    assert "needs 3 runs of each grid" in reasons["swap-018"]
    assert values["swap-009"] == pytest.approx(71 / 14)


def test_without_palabos_its_claims_are_not_measured_and_say_how_to_build_it():
    record, values, _, reasons = judging()
    claims.record_claims(record, made_up({SERIAL: {"collide": 1.0}}), SPEEDS, False)
    assert not values
    assert set(reasons) == set(claims.JUDGED)
    assert "tools/peers/build_palabos.sh" in reasons["swap-007"]


def test_without_a_gpu_the_share_of_palabos_is_still_measured():
    record, values, _, reasons = judging()
    claims.record_claims(record, made_up({PALABOS: PARTS[PALABOS]}), SPEEDS, False)
    assert set(values) == {"swap-001", "swap-002", "swap-007"}
    assert reasons["swap-023"] == "needs a GPU"


def test_claims_need_every_way_on_both_grids():
    parts = made_up()
    assert claims.compared(parts)
    for way in COMPARED:
        for nodes in (128, 512):
            assert not claims.compared(parts[(parts["way"] != way) | (parts["nodes"] != nodes)])


def test_the_paper_s_numbers_come_from_its_claims():
    paper = claims.paper(find(claims.JUDGED))
    assert paper.speedups[PAPER_WAY] == {128: 1.7, 512: 1.94}
    # 30 % less than with streaming on the GPU as well
    assert paper.speedups[COLLIDE_ONLY][512] == pytest.approx(1.94 / 1.3)
    # the time of collision and streaming by which the claim on their speedup is worked out
    moved = [paper.seconds[way] * paper.shares[way] for way in (PALABOS, PAPER_WAY)]
    assert moved[0] / moved[1] == pytest.approx(find(["swap-019"])["swap-019"].bounds()[0], abs=0.005)


def test_shares_of_an_iteration_fill_its_bar_and_the_paper_s_stand_on_them():
    figure, shown = figures.iteration_shares(made_up(), 128, STATED)
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_xlim()) == ("linear", (0, 100))
    assert shown[PALABOS]["collision and streaming in one"] == pytest.approx(70)
    assert shown[PALABOS]["boundary nodes"] == pytest.approx(15)
    assert shown[PAPER_WAY]["cells to arrays and back"] == pytest.approx(100 * 0.625 / 8.5)
    assert shown["paper"] == pytest.approx([75, 50])
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    assert max(ends) == pytest.approx(100)
    plt.close(figure)


def test_the_paper_s_share_stands_on_its_own_grid_only():
    parts = made_up({PALABOS: PARTS[PALABOS]}).replace({"nodes": {128: 64}})
    figure, shown = figures.iteration_shares(parts, 64, STATED)
    assert shown["paper"] == []
    plt.close(figure)


def clocked(monkeypatch, seconds) -> hybrid.Period:
    """A period of two parts that take these seconds, one after the other."""
    times = iter(seconds)
    monkeypatch.setattr(iteration, "host_clock", lambda run, device: next(times))
    return hybrid.Period("made up", 1, [Part(name, None, 1.0, "core") for name in "ab"], None, None, None)


def test_the_median_of_the_periods_counts_and_the_first_does_not(monkeypatch):
    # the first would change both medians; the least, the largest and the last are others
    period = clocked(monkeypatch, [0.01, 0.9, 0.03, 0.2, 0.02, 0.5, 0.06, 0.3, 0.09, 0.1, 0.01, 0.4])
    assert iteration.time_parts(period).tolist() == [0.03, 0.3]


@pytest.mark.parametrize(("last", "counts"), [(0.625, [0.5, 0.625]), (0.5, [0.25, 0.125])])
def test_a_period_of_more_than_a_second_runs_once(monkeypatch, last, counts):
    period = clocked(monkeypatch, [0.5, last, 0.25, 0.125])
    assert iteration.time_parts(period, repeats=1).tolist() == counts


def test_an_iteration_is_one_step_of_its_period(threads, monkeypatch):
    monkeypatch.setattr(iteration, "time_parts", lambda period: np.ones(len(period.parts)))
    ways = {"resident": lambda problem: hybrid.resident_period(problem, threads)}
    parts = iteration.iteration_parts([10], ways).set_index("part")
    # two steps of a second a part
    assert parts["seconds"].to_dict() == pytest.approx({"collide": 1, "stream": 1})
    assert parts["bytes"].to_dict() == pytest.approx(dict.fromkeys(("collide", "stream"), 2 * 19 * 8 * SMALL.nodes))


@pytest.mark.parametrize("median", range(3))
def test_every_run_of_an_iteration_is_kept_and_the_median_counts(monkeypatch, median):
    # seconds of each part, run by run: of no part are those of the median run the median
    middle, others = [3.0, 1.0, 3.5], [[1.0, 2.0, 3.0], [2.0, 5.0, 2.0]]
    clock = [*others[:median], middle, *others[median:]]
    # an aside's own
    times = iter([*clock, [4.0, 4.0, 4.0]])
    monkeypatch.setattr(iteration, "time_parts", lambda period: np.array(next(times)))
    ways = {PALABOS: hybrid.serial_period, "as an aside": hybrid.serial_period}
    # a way that claims compare runs on its own sizes, and three times
    kept = Kept()
    parts = iteration.iteration_parts([10], ways, kept, only=[12])
    assert parts.groupby("way")["nodes"].unique().map(list).to_dict() == {PALABOS: [12], "as an aside": [10]}
    assert parts["runs"].map(len).groupby(parts["way"]).unique().map(list).to_dict() == {
        PALABOS: [3],
        "as an aside": [1],
    }
    timed = parts[parts["way"] == PALABOS]
    assert timed["runs"].tolist() == np.transpose(clock).tolist()
    assert timed["seconds"].tolist() == middle
    each = [float(np.sum(run)) for run in clock]
    assert kept.of("case") == [f"{PALABOS}, 12^3", "as an aside, 10^3"]
    assert kept.of("size") == ["12 x 12 x 12", "10 x 10 x 10"]
    assert (kept.of("seconds"), kept.of("spread")) == ([7.5, 12.0], [0.4, None])
    assert (kept.of("runs"), kept.of("mlups")) == ([each, [12.0]], pytest.approx([12**3 / 7.5e6, 10**3 / 12e6]))


def test_arrays_of_a_run_are_gone_before_the_next_is_allocated(monkeypatch):
    alive = weakref.WeakSet()
    monkeypatch.setattr(iteration, "check_period", lambda build, small: "")

    def build(problem):
        assert not alive
        period = hybrid.serial_period(problem)
        # a part holds the arrays
        alive.add(period.parts[0])
        return period

    iteration.iteration_parts([10], {PALABOS: build})


def test_an_iteration_says_its_speed_and_its_parts_stand_in_their_order(threads, monkeypatch):
    monkeypatch.setattr(iteration, "time_parts", lambda period: np.full(len(period.parts), 0.5))
    ways = {OUR_BUS: lambda problem: hybrid.hybrid_period(problem, threads)}
    parts = iteration.iteration_parts([10], ways)
    assert parts["part"].tolist() == ["to the GPU", "collide", "stream", "boundary", "to the host"]
    assert iteration.iterations(parts)["mlups"].tolist() == pytest.approx([10**3 / 2.5 / 1e6])


@pytest.mark.parametrize(("free", "fits"), [(19 * 8 * ROW, True), (19 * 8 * ROW - 1, False)])
def test_the_host_has_room_for_the_populations_that_cross_the_bus(monkeypatch, threads, free, fits):
    """Of rows for a thousand nodes; what the simulation itself takes was asked for before."""
    asked = []

    def require_memory(device, size, what, *more):
        asked.append((device.name, size))
        if size > free:
            raise MemoryLimitError(what)

    monkeypatch.setattr(hybrid, "require_memory", require_memory)
    if fits:
        hybrid.hybrid_period(SMALL, threads)
    else:
        with pytest.raises(MemoryLimitError, match="the host's copy of the populations"):
            hybrid.hybrid_period(SMALL, threads)
    assert asked == [("serial", 19 * 8 * ROW)]


def test_the_headline_has_what_a_gpu_gains_with_and_without_the_bus_else_the_rate_of_a_core():
    table = pd.DataFrame({"way": [SERIAL, OUR_BUS, RESIDENT, SERIAL], "nodes": [34, 34, 34, 18]})
    table = table.assign(mlups=[12.34, 30.0, 900.0, 1.0], **{f"over {SERIAL}": [1.0, 2.5, 75.0, 1.0]})
    gains = "2.5 times one core if populations cross the bus, 75 times if not"
    found = iteration.headline(table, 34, STATED)
    assert found == f"Streaming on a GPU, 34^3 nodes: {gains}; the paper's hybrid, 128^3 nodes: 2 times"
    found = iteration.headline(table[:1], 34, STATED)
    ours = "Streaming by swaps on one core makes 12.3 MLUPS on 34^3 nodes"
    assert found == f"{ours}; the paper's serial program makes 5.2 on 128^3"
