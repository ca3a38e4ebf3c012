"""However host and device share an iteration, it is the same iteration, and its parts add up."""

import weakref
from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from repro.errors import CheckError, InputError, MemoryLimitError
from repro.lbm.cases import CubicCavity
from repro.papers.swap import claims, figures, hybrid, iteration
from repro.papers.swap.hybrid import Part, Rates
from repro.study.judge.claims import find

RATES = Rates({}, {}, {"collide": 1e6, "stream": 1e6, "boundary": 1e6})
#: a paper of round numbers: a quarter of the serial time is neither collision nor streaming
STATED = claims.Paper(0.4, 0.2, 0.75, 0.5, {128: 2.0, 512: 2.5}, {512: 2.0})
SMALL = CubicCavity(reynolds=10, nodes=10).problem
WAYS = ["serial", "collision on the GPU", "types, host every step", "types, host every 3 steps"]
WAYS += ["types, resident", "links, resident"]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_is_the_flow_of_plain_streaming(threads, way):
    build = iteration.ways_on(threads, 3)[way]
    assert "of plain streaming" in hybrid.check_period(build, SMALL)


def test_an_iteration_that_forgets_a_part_is_found_out(threads):
    def without_boundary(problem):
        period = hybrid.hybrid_period(problem, threads)
        return replace(period, parts=tuple(part for part in period.parts if part.name != "boundary"))

    with pytest.raises(CheckError, match="differs from plain streaming"):
        hybrid.check_period(without_boundary, SMALL)


@pytest.mark.parametrize(("off", "passes"), [(1e-14, True), (1e-9, False)])
def test_a_way_is_compared_with_as_many_steps_of_plain_streaming(monkeypatch, off, passes):
    steps, ran, velocity = [], [], np.linspace(-1, 1, 30).reshape(3, 10)
    reference = SimpleNamespace(step=steps.append, fields=lambda: (None, velocity))
    monkeypatch.setattr(hybrid, "_simulation", lambda problem, device, strategy, precision: reference)
    parts = [Part(name, lambda name=name: ran.append(name), 1.0, "core") for name in "ab"]
    device = SimpleNamespace(synchronise=lambda: None)
    period = hybrid.Period("made up", 3, parts, device, lambda: (None, velocity + off))
    if passes:
        assert "after 6 steps" in hybrid.check_period(lambda problem: period, SMALL)
        assert (steps, ran) == ([6], ["a", "b"] * 2)
    else:
        with pytest.raises(CheckError, match="made up differs from plain streaming by 1.00e-09"):
            hybrid.check_period(lambda problem: period, SMALL)


@pytest.mark.parametrize("every", [1, 4])
def test_the_host_sees_the_populations_once_a_period(threads, every):
    period = hybrid.hybrid_period(SMALL, threads, every=every)
    names = [part.name for part in period.parts]
    assert names == ["to the GPU"] + ["collide", "stream", "boundary"] * every + ["to the host"]
    crossing = [part.bytes for part in period.parts if part.channel.startswith("to the")]
    assert crossing == [19 * 8 * SMALL.nodes] * 2


def test_a_part_takes_its_bytes_over_the_bandwidth_and_no_less_than_a_launch():
    rates = Rates({"GPU memory": 1e9}, {"GPU memory": 1e-4}, {"collide": 1e6})
    assert rates.seconds(Part("stream", None, 5e8, "GPU memory"), 10) == pytest.approx(0.5001)
    assert rates.seconds(Part("collide", None, 5e8, "core"), 10) == pytest.approx(1e-5)


def test_parts_add_up_to_iterations_and_speedups(threads):
    rates = hybrid.measure_rates(SMALL, threads)
    ways = {name: way for name, way in iteration.ways_on(threads, 2).items() if "resident" not in name}
    parts = iteration.iteration_parts([10, 12], ways, rates)
    table = iteration.iterations(parts)
    assert len(table) == 8
    assert (parts["seconds"] > 0).all()
    assert (parts["predicted"] > 0).all()
    np.testing.assert_allclose(table.loc[table["way"] == "serial", "speedup"], 1)
    shares = iteration.shares(parts, 12).set_index("way")
    assert list(shares.index) == list(ways)
    np.testing.assert_allclose(shares[["host (%)", "GPU kernels (%)", "bus (%)"]].sum(axis=1), 100)
    moved = shares["collision, streaming and bus (%)"]
    assert moved["serial"] == pytest.approx(claims.serial_share(parts, 12))
    assert ((moved > 0) & (moved < 100)).all()
    assert shares.loc["serial", "host (%)"] == pytest.approx(100)
    assert shares.loc[iteration.PAPER_WAY, "host (%)"] == 0
    assert (shares.loc[["collision on the GPU", iteration.PAPER_WAY], ["bus (%)", "GPU kernels (%)"]] > 0).all(
        axis=None
    )


def test_a_size_that_does_not_fit_is_said_and_left_out(threads, monkeypatch, capsys):
    rates = hybrid.measure_rates(SMALL, threads)
    monkeypatch.setattr(type(threads), "free_memory", lambda self: 1_000_000)
    parts = iteration.iteration_parts([10, 40], {"serial": hybrid.serial_period}, rates)
    assert set(parts["nodes"]) == {10}
    assert "serial, 40^3: a 40 x 40 x 40 grid" in capsys.readouterr().out
    with pytest.raises(MemoryLimitError, match="free: use a smaller grid"):
        hybrid.serial_period(iteration.cavity_problem(40))


def test_the_memory_is_stated_before_it_is_taken(threads, monkeypatch):
    monkeypatch.setattr(type(threads), "free_memory", lambda self: 50 << 30)
    table = iteration.memory_table([128, 512], threads).set_index("nodes")
    # 19 populations of 8 bytes
    assert table.loc[512, "one array"] == pytest.approx(19.0)
    assert table.loc[512, "two arrays"] == pytest.approx(38.0)
    assert list(table["device"]) == ["fits", "fits"]
    monkeypatch.setattr(type(threads), "free_memory", lambda self: 20 << 30)
    assert list(iteration.memory_table([128, 512], threads)["device"]) == ["fits", "too large"]


@pytest.mark.parametrize("every", [0, -1, 1.5, "2"])
def test_a_number_of_steps_between_visits_home_that_is_none_is_refused(threads, every):
    with pytest.raises(InputError, match="every = "):
        hybrid.hybrid_period(SMALL, threads, every=every)


def test_sizes_that_were_not_timed_are_named(threads):
    rates = Rates({}, {}, {"collide": 1e6, "stream": 1e6, "boundary": 1e6})
    with pytest.raises(InputError, match="none was timed"):
        iteration.iteration_parts([], {"serial": hybrid.serial_period}, rates)
    parts = iteration.iteration_parts([10], {"serial": hybrid.serial_period}, rates)
    with pytest.raises(InputError, match="bars_nodes = 12: must be one of the sizes that are timed, 10"):
        figures.iteration_shares(parts, 12, STATED)


def parts_of(seconds: dict) -> pd.DataFrame:
    """A table of parts from {(way, nodes): seconds of streaming}, beside as much collision."""
    rows = [
        (way, nodes, part, "core", value / 2)
        for (way, nodes), value in seconds.items()
        for part in ("collide", "stream")
    ]
    table = pd.DataFrame(rows, columns=["way", "nodes", "part", "channel", "seconds"])
    return table.assign(runs=[[value, 1.1 * value] for value in table["seconds"]], predicted=1.0)


def test_claims_of_speed_follow_from_the_seconds_of_an_iteration():
    ways = {("serial", 128): 0.36, ("serial", 512): 36.0, (iteration.PAPER_WAY, 128): 0.18}
    ways |= {(iteration.PAPER_WAY, 512): 12.0, (iteration.COLLIDE_ONLY, 512): 24.0}
    parts = parts_of(ways)
    assert claims.core_claims(parts) == pytest.approx({"swap-002": 0.36})
    assert claims.serial_share(parts) == pytest.approx(100)
    small = {"swap-003": 0.18, "swap-004": 2, "swap-008": 100, "swap-019": 2}
    large = {"swap-009": 3, "swap-010": 100, "swap-011": 1.5}
    assert claims.gpu_claims(parts) == pytest.approx(small | large)
    assert {claim: claims.ON_GPU[claim] for claim in (*small, *large)} == {
        claim: nodes for nodes, values in ((128, small), (512, large)) for claim in values
    }
    table = iteration.iterations(parts)
    assert claims.run_speedups(table) == {128: pytest.approx([2, 2]), 512: pytest.approx([3, 3])}
    assert claims.baseline(table, 128) == f"the serial sweep, one core: {128**3 / 0.36 / 1e6:.2f} MLUPS"


def test_collision_streaming_bus_and_boundary_each_count_where_they_belong():
    parts = unlike_parts()
    found = claims.gpu_claims(parts)
    # serial 10 + 6 + 4; hybrid 1 + 2 + 0.5 + 0.25 + 0.25; alone 1.5 + 6 + 0.4 + 0.1 + 4
    assert found == pytest.approx(
        {"swap-003": 4, "swap-004": 5, "swap-008": 93.75, "swap-019": 16 / 3.75}
        | {"swap-009": 5, "swap-010": 100 * (5 / (20 / 12) - 1), "swap-011": 20 / 12}
    )
    assert claims.serial_share(parts) == pytest.approx(80)
    (_, row) = claims.collision_table(parts).to_dict("records")
    expected = {"saved on the core": 10, "bus": 0.5, "kernel": 1.5, "stays on the core": 10, "the same in serial": 10}
    # the runs took 1, 2 and 4 times as long, alone in each case
    expected |= {"nodes": 512, "speedup": 20 / 12, "least": 20 / 12, "most": 20 / 12}
    assert row == pytest.approx(expected)
    # the boundary nodes' 0.25 s are 4 s on the host
    assert claims.boundary_on_host(parts) == pytest.approx([20 / 7.75] * 3)


def test_the_paper_s_rest_takes_the_place_of_ours():
    stated = claims.Paper(0.36, 0.08, 0.75, 0.4, {128: 4.5, 512: 11.0}, {512: 2.0})
    found = claims.with_the_rest(unlike_parts(), stated, 512)
    # 16 s are three quarters of it, so that the rest is 16/3 s
    rest = 16 / 3
    expected = {"hybrid": (16 + rest) / (3.75 + rest), "collision alone": (16 + rest) / (8 + rest)}
    assert found == pytest.approx(expected | {"share": 100 * 3.75 / (3.75 + rest)})
    table = claims.rest_table(unlike_parts(), stated).set_index("id")
    assert table["paper"].to_dict() == pytest.approx(
        {"swap-004": 4.5, "swap-008": 40, "swap-009": 11, "swap-010": 100 * (11 / 2 - 1)}
    )
    assert table.loc["swap-009", "here"] == pytest.approx(5)
    with_rest = table["here, with the paper's rest"]
    assert with_rest["swap-010"] == pytest.approx(100 * (expected["hybrid"] / expected["collision alone"] - 1))
    assert with_rest["swap-008"] == pytest.approx(found["share"])
    times = claims.times_table(unlike_parts(), stated).set_index("what")
    assert times["paper (ms)"].tolist() == pytest.approx([270, 90, 32, 48])
    assert times["here (ms)"].tolist() == pytest.approx([16e3, 4e3, 3.75e3, 250])
    assert times["here / paper"].tolist() == pytest.approx([16 / 0.27, 4 / 0.09, 3.75 / 0.032, 0.25 / 0.048])


def test_speeds_stand_over_our_sweep_and_over_the_paper_s():
    stated = claims.Paper(0.4, 0.08, 0.75, 0.4, {128: 5.0, 512: 11.0}, {512: 2.0})
    table = claims.over_both(iteration.iterations(unlike_parts()), stated, 128).set_index("way")
    mlups = 128**3 / 1e6
    way = table.loc[iteration.PAPER_WAY]
    assert way.tolist() == pytest.approx([4e3, mlups / 4, 5, 0.4 / 4])
    assert table.loc["paper: serial"].tolist() == pytest.approx([400, mlups / 0.4, 20 / 0.4, 1])
    assert table.loc[f"paper: {iteration.PAPER_WAY}"].tolist() == pytest.approx([80, mlups / 0.08, 20 / 0.08, 5])


def unlike_parts() -> pd.DataFrame:
    """Parts of three ways on both grids that all differ, in three runs of which each takes longer."""
    seconds = {
        "serial": {"collide": 10.0, "stream": 6.0, "boundary": 4.0},
        iteration.PAPER_WAY: {"to the GPU": 0.5, "collide": 1.0, "stream": 2.0, "boundary": 0.25, "to the host": 0.25},
        iteration.COLLIDE_ONLY: {"to the GPU": 0.4, "collide": 1.5, "stream": 6.0, "boundary": 4.0, "to the host": 0.1},
    }
    rows = [(way, n, *part) for way, parts in seconds.items() for n in (128, 512) for part in parts.items()]
    table = pd.DataFrame(rows, columns=["way", "nodes", "part", "seconds"]).assign(channel="core", predicted=1.0)
    return table.assign(runs=[[value, 2 * value, 4 * value] for value in table["seconds"]])


def test_a_claim_scatters_by_how_far_three_runs_lie_apart():
    ways = {("serial", 128): 0.36, ("serial", 512): 36.0, (iteration.PAPER_WAY, 128): 0.18}
    parts = parts_of(ways | {(iteration.PAPER_WAY, 512): 12.0, (iteration.COLLIDE_ONLY, 512): 24.0})
    # two runs do not tell how far runs lie apart
    assert set(claims.scatter(parts, claims.gpu_claims).values()) == {None}
    even = parts.assign(runs=[[0.9 * value, value, 1.1 * value] for value in parts["seconds"]])
    # a run that takes a tenth more everywhere leaves speedups and shares as they are
    assert claims.scatter(even, claims.gpu_claims) == pytest.approx(
        dict.fromkeys(claims.ON_GPU, 0) | {"swap-003": 0.2 * 0.18}, abs=1e-12
    )
    alone = (parts["way"] == iteration.COLLIDE_ONLY).to_numpy()
    late = [[v, v, 1.5 * v] if slow else [v] * 3 for v, slow in zip(parts["seconds"], alone, strict=True)]
    # collision alone is 1.5 times as fast as the serial sweep in two runs, and as fast as it in the third
    assert claims.scatter(parts.assign(runs=late), claims.gpu_claims)["swap-011"] == pytest.approx(0.5)
    one = parts.assign(runs=[values[:1] for values in parts["runs"]])
    spread = iteration.iterations(parts.assign(runs=late)).set_index(["way", "nodes"])["spread"]
    assert spread[iteration.COLLIDE_ONLY, 512] == pytest.approx(0.5)
    assert iteration.iterations(one)["spread"].isna().all()


def test_collision_alone_saves_on_the_core_and_pays_for_the_bus():
    seconds = {(iteration.SERIAL, 512): {"collide": 12.0, "stream": 6.0}}
    seconds |= {(iteration.COLLIDE_ONLY, 512): {"to the GPU": 3.0, "collide": 0.5, "to the host": 2.0, "stream": 6.5}}
    seconds |= {(iteration.SERIAL, 128): {"stream": 0.4}, (iteration.COLLIDE_ONLY, 128): {"stream": 0.2}}
    seconds |= {(iteration.SERIAL, 64): {"stream": 0.4}}
    rows = [
        (*key, part, value, [value, value, (2 if part == "to the GPU" else 1) * value])
        for key, each in seconds.items()
        for part, value in each.items()
    ]
    parts = pd.DataFrame(rows, columns=["way", "nodes", "part", "seconds", "runs"])
    table = claims.collision_table(parts).set_index("nodes")
    # where only one of the two was timed there is nothing to compare
    assert list(table.index) == [128, 512]
    assert table.loc[512].to_dict() == pytest.approx(
        {
            "saved on the core": 12,
            "bus": 5,
            "kernel": 0.5,
            "stays on the core": 6.5,
            "the same in serial": 6,
            "speedup": 1.5,
            "least": 18 / 15,
            "most": 1.5,
        }
    )
    assert table.loc[128, ["speedup", "least", "most"]].tolist() == [2, 2, 2]


def test_the_speedup_of_each_run_stands_beside_the_grid():
    even = {("serial", 128): 0.36, (iteration.PAPER_WAY, 128): 0.18, ("serial", 512): 23.04}
    parts = parts_of(even | {(iteration.PAPER_WAY, 512): 5.76})
    slow = (parts["way"] == "serial").to_numpy()
    parts["runs"] = [[v, 1.2 * v, 1.1 * v] if s else [v] * 3 for v, s in zip(parts["seconds"], slow, strict=True)]
    table = claims.speedups_table(iteration.iterations(parts))
    assert table["nodes"].tolist() == [128, 512]
    np.testing.assert_allclose(table[["least", "median", "most"]], [[2, 2.2, 2.4], [4, 4.4, 4.8]])
    assert claims.speedups_table(iteration.iterations(parts_of({("serial", 128): 0.36}))).empty


def test_boundary_nodes_on_the_host_lower_the_speedup_of_the_paper_s_way():
    way = iteration.PAPER_WAY
    times = [
        ("serial", "collide", 0.3),
        ("serial", "boundary", 0.1),
        (way, "to the GPU", 0.15),
        (way, "boundary", 0.05),
    ]
    parts = pd.DataFrame(times, columns=["way", "part", "seconds"]).assign(nodes=128)
    crossing = parts["part"] == "to the GPU"
    parts["runs"] = [[v, v, (1.5 if late else 1) * v] for v, late in zip(parts["seconds"], crossing, strict=True)]
    assert claims.boundary_on_host(parts) == pytest.approx([1.6, 1.6, 0.4 / 0.325])
    table = claims.times_table(parts, STATED)
    # 75 % of 0.4 s over half of 0.2 s in the paper
    assert table["paper (ms)"].tolist() == pytest.approx([300, 100, 100, 100])
    assert table["here (ms)"].tolist() == pytest.approx([300, 100, 150, 50])
    assert table["here / paper"].tolist() == pytest.approx([1, 1, 1.5, 0.5])


def test_the_paper_s_time_for_collision_and_streaming_is_a_speed_of_its_bus():
    # 19 populations of 8 bytes of each of 128^3 nodes, there and back in 0.1 s
    assert claims.bus_rate(STATED) == pytest.approx(2 * 19 * 8 * 128**3 / 0.1)


def test_a_speedup_over_the_paper_s_time_grows_with_our_core_and_one_over_our_sweep_does_not():
    fast, slow = (parts_of({("serial", 128): t, (iteration.PAPER_WAY, 128): t / 2}) for t in (0.2, 0.8))
    both = [claims.over_both(iteration.iterations(p), STATED, 128).set_index("way") for p in (fast, slow)]
    ours = [table.loc[iteration.PAPER_WAY, "over our serial sweep"] for table in both]
    theirs = [table.loc[iteration.PAPER_WAY, "over the paper's serial program"] for table in both]
    assert ours == pytest.approx([2, 2])
    assert theirs == pytest.approx([4, 1])
    assert both[0].loc["paper: serial", "over the paper's serial program"] == pytest.approx(1)
    assert both[0].loc[f"paper: {iteration.PAPER_WAY}", "over the paper's serial program"] == pytest.approx(2)


def test_no_speedup_passes_amdahls_limit_with_the_paper_s_rest_on_the_host():
    at_once = {("serial", 128): 1.0, (iteration.PAPER_WAY, 128): 1e-9, (iteration.COLLIDE_ONLY, 128): 0.5}
    found = claims.with_the_rest(parts_of(at_once), STATED, 128)
    # three quarters are collision and streaming
    assert found["hybrid"] == pytest.approx(4)
    assert found["collision alone"] == pytest.approx(4 / (0.5 * 3 + 1))
    assert found["share"] == pytest.approx(0, abs=1e-6)


def test_the_rest_is_told_by_how_far_speedups_are_off_with_it_and_without():
    rows = [("x", 2.0, 1.8, 3.0), ("x", 4.0, 4.6, 2.0), ("%", 60.0, 50.0, 0.0), ("%", 30.0, 70.0, 0.0)]
    rest = pd.DataFrame(rows, columns=["unit", "paper", "here, with the paper's rest", "here"])
    assert claims.off_from_the_paper(rest) == pytest.approx((50, 15))


def test_the_worst_of_the_model_counts_in_both_directions():
    table = pd.DataFrame({"nodes": [16, 16, 8], "predicted/measured": [1.25, 0.5, 9.0]})
    assert iteration.worst_factor(table, 16) == {"nodes": 16, "off": pytest.approx(2), "holds": False}
    assert iteration.worst_factor(table[:1], 16) == {"nodes": 16, "off": pytest.approx(1.25), "holds": True}


def test_without_a_gpu_no_rate_of_a_bus_is_shown():
    rates = Rates({"core": 1e9, "to the GPU": 1e9}, {"to the GPU": 1e-6}, {"collide": 1e6})
    assert len(iteration.rates_table(rates, True)) == 4
    assert iteration.rates_table(rates, False)["what"].tolist() == ["memory, one core", "one core, collide"]


def test_the_paper_s_share_stands_on_its_own_grid_only():
    parts = parts_of({("serial", 64): 1.0})
    figure, shown = figures.iteration_shares(parts, 64, STATED)
    assert shown["paper"] == []
    plt.close(figure)


def test_boundary_nodes_make_room_for_the_rest():
    parts = parts_of({("serial", 128): 1.0, (iteration.PAPER_WAY, 128): 0.5, (iteration.COLLIDE_ONLY, 128): 0.8})
    walls = parts[parts["part"] == "stream"].assign(part="boundary", seconds=0.3)
    with_walls = claims.with_the_rest(pd.concat([parts, walls]), STATED, 128)
    assert with_walls == pytest.approx(claims.with_the_rest(parts, STATED, 128))


def test_the_paper_s_numbers_come_from_its_claims():
    paper = claims.paper(find(claims.JUDGED))
    assert paper.speedups == {128: 1.7, 512: 1.94}
    # the time of collision and streaming by which the claim on their speedup is worked out
    moved = [
        seconds * share for seconds, share in ((paper.serial, paper.serial_share), (paper.hybrid, paper.hybrid_share))
    ]
    assert moved[0] / moved[1] == pytest.approx(find(["swap-019"])["swap-019"].bounds()[0], abs=0.005)


def test_shares_of_an_iteration_fill_its_bar_and_the_paper_s_stand_on_them():
    parts = parts_of({("serial", 128): 1.0, (iteration.PAPER_WAY, 128): 0.5})
    parts.loc[parts["part"] == "collide", "seconds"] *= 3
    figure, shown = figures.iteration_shares(parts, 128, STATED)
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_xlim()) == ("linear", (0, 100))
    assert shown["serial"].to_dict() == pytest.approx({"collide": 75, "stream": 25})
    assert shown["paper"] == pytest.approx([75, 50])
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    assert max(ends) == pytest.approx(100)
    plt.close(figure)


def test_our_programs_stand_beside_the_paper_s():
    parts = parts_of({("serial", 128): 0.6, (iteration.PAPER_WAY, 128): 0.3})
    both = claims.over_both(iteration.iterations(parts), STATED, 128).set_index("way")
    assert both.loc[iteration.PAPER_WAY, "over our serial sweep"] == pytest.approx(2)
    assert both.loc[iteration.PAPER_WAY, "over the paper's serial program"] == pytest.approx(0.4 / 0.3)
    assert both.loc["serial", "over the paper's serial program"] == pytest.approx(1 / 1.5)


def clocked(monkeypatch, seconds) -> hybrid.Period:
    """A period of two parts that take these seconds, one after the other."""
    times = iter(seconds)
    monkeypatch.setattr(iteration, "host_clock", lambda run, device: next(times))
    return hybrid.Period("made up", 1, [Part(name, None, 1.0, "core") for name in "ab"], None, None)


def test_the_median_of_the_periods_counts_and_the_first_does_not(monkeypatch):
    # the first would change both medians; the least, the largest and the last are others
    period = clocked(monkeypatch, [0.01, 0.9, 0.03, 0.2, 0.02, 0.5, 0.06, 0.3, 0.09, 0.1, 0.01, 0.4])
    assert iteration.time_parts(period).tolist() == [0.03, 0.3]


@pytest.mark.parametrize(("last", "counts"), [(0.625, [0.5, 0.625]), (0.5, [0.25, 0.125])])
def test_a_period_of_more_than_a_second_runs_once(monkeypatch, last, counts):
    period = clocked(monkeypatch, [0.5, last, 0.25, 0.125])
    assert iteration.time_parts(period, repeats=1).tolist() == counts


@pytest.mark.parametrize("every", [1, 3])
def test_an_iteration_is_one_step_of_its_period(threads, monkeypatch, every):
    monkeypatch.setattr(iteration, "time_parts", lambda period: np.ones(len(period.parts)))
    ways = {"to the GPU and home": lambda problem: hybrid.hybrid_period(problem, threads, every=every)}
    # a tenth of a second for each part, by the model
    rates = SimpleNamespace(seconds=lambda part, nodes: 0.1)
    parts = iteration.iteration_parts([10], ways, rates).set_index("part")
    for column, one in (("seconds", 1.0), ("predicted", 0.1)):
        assert parts[column].to_dict() == pytest.approx(
            {"to the GPU": one / every, "collide": one, "stream": one, "boundary": one, "to the host": one / every}
        )


@pytest.mark.parametrize("median", range(3))
def test_every_run_of_an_iteration_is_kept_and_the_median_counts(monkeypatch, median):
    # seconds of each part, run by run: of no part are those of the median run the median
    middle, others = [3.0, 1.0, 3.5], [[1.0, 2.0, 3.0], [2.0, 5.0, 2.0]]
    clock = [*others[:median], middle, *others[median:]]
    # an aside's own
    times = iter([*clock, [4.0, 4.0, 4.0]])
    monkeypatch.setattr(iteration, "time_parts", lambda period: np.array(next(times)))
    ways = {"serial": hybrid.serial_period, "as an aside": hybrid.serial_period}
    parts = iteration.iteration_parts([10], ways, RATES, runs=3)
    # what no claim compares runs once
    assert parts["runs"].map(len).groupby(parts["way"]).unique().map(list).to_dict() == {
        "serial": [3],
        "as an aside": [1],
    }
    assert claims.one_by_one(parts)[0]["way"].unique().tolist() == ["serial"]
    timed = parts[parts["way"] == "serial"]
    assert timed["runs"].tolist() == np.transpose(clock).tolist()
    assert timed["seconds"].tolist() == middle


def test_claims_need_every_way_on_both_grids():
    ways = {(way, n): 1.0 for way in ("serial", iteration.COLLIDE_ONLY, iteration.PAPER_WAY) for n in (128, 512)}
    assert claims.compared(parts_of(ways))
    for missing in ways:
        assert not claims.compared(parts_of({key: 1.0 for key in ways if key != missing}))


def test_arrays_of_a_run_are_gone_before_the_next_is_allocated(threads):
    alive = weakref.WeakSet()

    def build(problem):
        assert not alive
        period = hybrid.serial_period(problem)
        # the fluid, which holds the arrays
        alive.add(period.fields.__self__)
        return period

    iteration.iteration_parts([10], {"serial": build}, RATES, runs=3)


def test_every_claim_of_a_whole_run_has_its_value_and_its_grid():
    way = iteration.PAPER_WAY
    rows = [(way, "to the GPU", "to the GPU", 8.0), (way, "collide", "GPU memory", 2.0)]
    sizes = [(way, n, part, channel, t) for n in (128, 512) for way, part, channel, t in rows]
    sizes += [(other, n, "collide", "core", 20.0) for other in ("serial", iteration.COLLIDE_ONLY) for n in (128, 512)]
    parts = pd.DataFrame(sizes, columns=["way", "nodes", "part", "channel", "seconds"])
    parts = parts.assign(runs=[[t, t] for t in parts["seconds"]], predicted=1.0)
    values, notes, reasons = {}, {}, {}

    def measure(claim, value, note="", **more):
        values[claim], notes[claim] = value, note

    record = SimpleNamespace(measure=measure, not_measured=reasons.__setitem__)
    claims.record_claims(record, parts, True)
    # the share of the serial program is that of Palabos, on any grid
    assert set(values) == set(claims.JUDGED) - {claims.SHARE}
    assert reasons == {claims.SHARE: reasons[claims.SHARE]}
    assert reasons[claims.SHARE].endswith("has not run yet; our own sweep takes 100.0 %")
    assert values["swap-008"] == pytest.approx(100)
    assert values["swap-004"] == values["swap-009"] == pytest.approx(2)
    assert (notes["swap-008"], notes["swap-009"]) == ("on 128^3 nodes", "on 512^3 nodes")
    shares = iteration.shares(parts, 128).set_index("way").loc[way]
    assert shares[["bus (%)", "GPU kernels (%)"]].tolist() == pytest.approx([80, 20])


def test_bars_of_a_size_that_is_not_timed_are_refused_before_anything_is():
    iteration.require_timed(34, [26, 34])
    with pytest.raises(InputError, match="bars_nodes = 50: must be one of the sizes that are timed, 26, 34"):
        iteration.require_timed(50, [26, 34])
