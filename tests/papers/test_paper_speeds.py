"""Tables of speeds: shares of the copy bandwidth, rates of single runs, and what is kept of each speed."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from repro.errors import InputError
from repro.papers import speed as speeds


def measured(case, problem, device, **options):
    """A made-up speed: 2 s a step, in runs of 2, 4 and 1 s; a bandwidth only if one is asked for."""
    row = {"case": case, "device": device.name, "seconds": 2.0, "runs": (2.0, 4.0, 1.0), "mlups": 8.0}
    return SimpleNamespace(row=row | options)


@pytest.fixture
def device(monkeypatch):
    """A device whose memory copies 100 bytes a second."""
    monkeypatch.setattr(speeds, "copy_bandwidth", lambda device: 100.0)
    return SimpleNamespace(name="made up")


def test_the_roof_is_the_share_of_the_copy_bandwidth(device):
    table = speeds.speed_table(
        [("a", None, device, {"bandwidth": 25.0}), ("b", None, device, {"bandwidth": 80.0})],
        measured=measured,
        includes="all",
    )
    assert list(table["roof"]) == [0.25, 0.8]


def test_a_speed_without_bytes_has_no_roof_and_every_speed_is_kept(device):
    kept = []
    record = SimpleNamespace(timing=lambda case, **more: kept.append((case, more["includes"], more["mlups"])))
    table = speeds.speed_table([("a", None, device, {})], record, measured=measured, includes="all")
    assert "roof" not in table
    assert kept == [("a", "all", 8.0)]


def test_a_run_that_takes_twice_as_long_has_half_the_rate(device):
    table = speeds.speed_table([("a", None, device, {})], measured=measured, includes="all")
    assert speeds.order(table, "case", "mlups") == {"a": [8.0, 4.0, 16.0]}
    both = pd.concat([table.assign(size=size, mlups=rate) for size, rate in ((1, 8.0), (2, 2.0))])
    assert speeds.orders(both, "size", "case", "mlups") == {
        "size 1": {"a": [8.0, 4.0, 16.0]},
        "size 2": {"a": [2.0, 1.0, 4.0]},
    }
    with pytest.raises(InputError, match="several rows have the same case: a"):
        speeds.order(both, "case", "mlups")


CPU = pd.Series({"node by node": 2.0, "rows": 40.0, "rows, all cores": 400.0})


def test_speedups_are_given_over_each_rung():
    evidence = speeds.speedup_evidence(800.0, CPU, "a list in rows", "MFLUPS")
    assert evidence["measured"] == 20
    assert evidence["baseline"] == "a list in rows, one core: 40 MFLUPS"
    assert evidence["note"] == "against rows on one core; node by node 400, all cores 2"
    assert speeds.rungs_note(CPU, "MLUPS") == "rows on one core; node by node 2, all cores 400 MLUPS"
    baselines = pd.DataFrame({"mlups": CPU, "hardware": "a CPU"}).rename_axis("baseline")
    assert list(speeds.over_rungs(800.0, baselines, "mlups")["speedup"]) == [400, 20, 2]


def test_a_ladder_is_indexed_by_its_rungs(device):
    table = speeds.ladder({"rows": (None, device, {})}, prefix="box: ", measured=measured, includes="all")
    assert list(table.index) == ["rows"]
    assert list(table["case"]) == ["box: rows"]


def test_programs_are_compared_at_one_size_or_over_another_run():
    rows = [(10, "slow", 2.0), (10, "fast", 6.0), (20, "slow", 1.0), (20, "fast", 8.0)]
    table = pd.DataFrame(rows, columns=["particles", "way", "updates"])
    assert list(speeds.speedups(table, ["slow"], "particles", "updates")["over slow"]) == [1, 3, 1, 8]
    over = speeds.speedups(table[2:], ["slow"], "particles", "updates", slow=table[:1])
    assert list(over["over slow"]) == [0.5, 4]


def test_the_rungs_of_a_cpu_are_one_loop_and_rows_on_one_core_and_all(device):
    rungs = speeds.cpu_rungs()
    assert {name: (rung.name, rung.workers) for name, rung in rungs.items()} == {
        "node by node": ("serial", 1),
        "rows": ("threads", 1),
        "rows, all cores": ("threads", speeds.select("threads").workers),
    }
    asked = []

    def noted(case, problem, device, **options):
        asked.append((case, problem, device.name, options))
        return measured(case, problem, device)

    table = speeds.cpu_ladder("a box", {"block": 3}, prefix="in a ", measured=noted, includes="all")
    assert list(table.index) == list(rungs)
    assert asked == [(f"in a {name}", "a box", rung.name, {"block": 3}) for name, rung in rungs.items()]


def test_bars_of_strategies_are_their_speeds_from_the_slowest_run_to_the_fastest():
    row = {"strategy": "push", "layout": "soa", "precision": "single", "hardware": "a GPU", "size": "8 x 4"}
    row |= {"mlups": 1200.4, "roof": 0.5, "seconds": 2.0, "runs": (2.0, 4.0, 1.0)}
    table = pd.DataFrame([row, row | {"strategy": "pull", "precision": "double", "mlups": 3.14159, "roof": 0.0123}])
    figure, arrays = speeds.strategy_bars(table)
    (axes,) = figure.axes
    assert {name: list(values) for name, values in arrays.items()} == {
        "mlups": [1200.4, 3.14159],
        "roof": [0.5, 0.0123],
    }
    bars = axes.containers[-1]
    assert [bar.get_width() for bar in bars] == [1200.4, 3.14159]
    assert len({bar.get_facecolor() for bar in bars}) == 2
    assert [text.get_text() for text in axes.texts] == [" 1,200 (50 %)", " 3.1 (1.2 %)"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["push, SOA, single", "pull, SOA, double"]
    assert axes.get_title() == "a GPU, 8 x 4 nodes"
    # the first at the top, and room for what is written beside the longest
    assert axes.yaxis_inverted()
    assert axes.get_xlim()[1] == pytest.approx(1.3 * 2 * 1200.4)
    plt.close(figure)


def test_a_line_of_a_speedup_leads_from_the_published_number_to_ours():
    about = {"paper": "lbm", "kind": "speed", "unit": "x"}
    rows = [
        about | {"id": "a-1", "quantity": "speedup, sweep", "case": "10^6 nodes", "published": "20", "ratio": 2.5},
        about | {"id": "a-2", "quantity": "speedup", "case": "", "published": "3", "ratio": 0.5},
        about | {"id": "a-3", "quantity": "rate", "case": "", "published": "3", "ratio": 1.0, "unit": "MLUPS"},
        about | {"id": "a-4", "quantity": "speedup", "case": "", "published": "3", "ratio": None},
        about | {"id": "a-5", "quantity": "gain", "case": "", "published": "3", "ratio": 1.0, "kind": "mechanism"},
    ]
    chosen = speeds.published_speedups(pd.DataFrame(rows))
    assert list(chosen["id"]) == ["a-1", "a-2"]
    figure, arrays = speeds.speedup_chart(chosen)
    (axes,) = figure.axes
    assert {name: list(values) for name, values in arrays.items()} == {"published": [20, 3], "here": [50, 1.5]}
    lines = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines[:2]}
    # the first at the top
    assert lines == {
        "here, over the same kind of program": ([50, 1.5], [1, 0]),
        "published": ([20, 3], [1, 0]),
    }
    assert [segment.tolist() for segment in axes.collections[0].get_segments()] == [
        [[20, 1], [50, 1]],
        [[3, 0], [1.5, 0]],
    ]
    assert dict(zip(axes.get_yticks(), (label.get_text() for label in axes.get_yticklabels()), strict=True)) == {
        1: "a-1  sweep, $10^6$ nodes",
        0: "a-2",
    }
    assert list(axes.lines[2].get_xdata()) == [1, 1]
    assert axes.get_xscale() == "log"
    plt.close(figure)


def test_the_papers_speeds_stand_on_the_left_and_ours_in_thousands_where_they_are_large():
    for rate, (scale, label) in {3000.0: (1.0, "speed (MLUPS)"), 3001.0: (1e3, "speed (thousand MLUPS)")}.items():
        table = pd.DataFrame({"mlups": [5.0, rate], "hardware": "a GPU"})
        figure, left, right, divisor = speeds.paper_and_ours(table, "mlups", (4, 2))
        assert divisor == scale
        assert (left.get_title(), left.get_ylabel()) == ("paper: Tesla C1060", "speed (MLUPS)")
        assert (right.get_title(), right.get_ylabel()) == ("this run: a GPU", label)
        for axes, top in ((left, 50), (right, 20)):
            axes.set_ylim(10, top)
        speeds.from_zero(left, right, "nodes", room=1.5)
        assert [axes.get_ylim() for axes in (left, right)] == [(0, 75), (0, 30)]
        assert [axes.get_xlabel() for axes in (left, right)] == ["nodes", "nodes"]
        plt.close(figure)


def test_points_of_parts_stand_in_blocks_of_their_programs_with_their_times():
    parts = [("one", "push", 2.0), ("one", "sort", 300.0), ("two", "push", 40.0)]
    figure = speeds.part_points(parts, {"push": "red", "sort": "blue"}, "ns", published=[4.0, 3000.0, 10.0])
    (axes,) = figure.axes
    points = axes.collections[1]
    # a program's name stands over its first, so far from that before it
    assert points.get_offsets().tolist() == [[2, 0], [300, 1], [40, pytest.approx(3.2)]]
    assert [tuple(colour[:3]) for colour in points.get_facecolors()] == [(1, 0, 0), (0, 0, 1), (1, 0, 0)]
    texts = {text.get_text(): text.xy for text in axes.texts}
    # behind a paper's point that is near, and beside ours where it is far away
    assert texts == {
        "2": (4, 0), "one": (0, -1), "300": (300, 1), "40": (40, pytest.approx(3.2)), "two": (0, pytest.approx(2.2))
    }  # fmt: skip
    assert list(axes.lines[0].get_xdata()) == [4, 3000, 10]
    assert axes.get_xlim() == pytest.approx((2 / 3, 12000))
    assert axes.get_ylim() == pytest.approx((4, -1.7))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["push", "sort", "paper"]
    plt.close(figure)
    figure = speeds.part_points(parts, {"push": "red", "sort": "blue"}, "ns")
    assert figure.axes[0].get_xlim() == pytest.approx((2 / 3, 1200))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["push", "sort"]
    plt.close(figure)


def test_launches_are_kept_with_their_device():
    kept = []
    record = SimpleNamespace(timing=lambda case, **more: kept.append((case, more)))
    device, timing = SimpleNamespace(name="cuda", description="a GPU"), SimpleNamespace(seconds=3.0, spread=0.1)
    speeds.record_launches(record, "a launch", device, timing, size="8 x 4", includes="one kernel")
    about = {"device": "cuda", "hardware": "a GPU", "precision": "single", "size": "8 x 4", "includes": "one kernel"}
    assert kept == [("a launch", about | {"seconds": 3.0, "spread": 0.1})]
    speeds.record_launches(None, "a launch", device, timing, size="8 x 4")
    assert len(kept) == 1


def test_a_headline_has_our_rate_and_speedup_and_the_papers(device):
    found = speeds.headline("The flow", 12345.6, "MLUPS", 100.0, SimpleNamespace(description="a card"), ("9", ">50"))
    ours = "The flow runs at 12,300 MLUPS (a card), 120 times one core"
    assert found == f"{ours}; the paper has 9, more than 50 times"
