"""The tables of speeds: what stands for the paper's cases, and which claims a run can judge."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from repro.errors import InputError
from repro.papers.speed import speedups
from repro.papers.sph import speed, speed_figures
from repro.study.notebooks import Project

#: milliseconds of a step, by program and thousands, and its parts with 15 thousand, made up
_MS = {speed.PAPER: 1.0, speed.GPU_LIST: 2.0, speed.FOUR_THREADS: 8.0, speed.ONE_CORE: 20.0, speed.SORTED_CELLS: 0.5}


def times(gpu: bool, sizes=(15, 30, 70)) -> pd.DataFrame:
    """A table as of `speed.time_table`; with 70 thousand the CPU's programs are half as slow."""
    rows = []
    for number in sizes:
        for way, ms in _MS.items():
            on_cpu = way in (speed.FOUR_THREADS, speed.ONE_CORE)
            if way == speed.GPU_LIST and not gpu:
                continue
            device = "cuda" if gpu and not on_cpu else "threads"
            value = ms / 2 if on_cpu and number == 70 else ms
            row = {"thousands": number, "way": way, "device": device, "hardware": device, "ms": value}
            row |= {"runs": tuple(value * factor / 1e3 for factor in (0.99, 1, 1.01)), "particles": 1000}
            rows.append(row | {"ghosts": 100, "neighbours": 74.0, "million/s": 1 / value})
    return speedups(pd.DataFrame(rows), (speed.FOUR_THREADS, speed.ONE_CORE), "thousands", "million/s")


def parts(gpu: bool) -> pd.DataFrame:
    """A table as of `speed.parts_table`."""
    ways = [speed.PAPER, speed.GPU_LIST] * gpu + [speed.ONE_CORE]
    rows = []
    for way in ways:
        device = "cuda" if gpu and way != speed.ONE_CORE else "serial"
        for run in range(3):
            for k, group in enumerate(speed.GROUPS):
                # two parts a group
                rows += [(way, device, run, f"{group} {n}", group, (k + 1) * _MS[way]) for n in range(2)]
    return pd.DataFrame(rows, columns=["way", "device", "run", "part", "group", "ms"])


def test_two_thirds_of_the_papers_particles_are_fluid():
    for number in speed.COLUMNS:
        assert speed.system_of(number).count == pytest.approx(1000 * number * 2 / 3, rel=1e-3)
    with pytest.raises(InputError, match="table 1 has 15, 30, 70"):
        speed.system_of(20)


def test_pysphs_case_has_as_much_fluid():
    system = speed.pysph_system()
    assert system.count == 5016
    assert system.resolution.spacing == pytest.approx(0.05)


def test_other_codes_ran_the_same_fluid():
    others = speed.other_codes(Project.default().data)
    assert (others["fluid"] == speed.pysph_system().count).all()
    assert others.notna().all(axis=None)


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch):
    monkeypatch.setattr(speed, "on_threads", lambda count: SimpleNamespace(workers=count))


def test_four_threads_on_two_cores_are_not_the_paper_s_program(monkeypatch):
    monkeypatch.setattr(speed, "on_threads", lambda count: SimpleNamespace(workers=2))
    values = speed.claim_values(times(gpu=True), parts(gpu=True))
    assert not {"sph-003", speed.OVER_THREADS, speed.ORDER} & set(values)
    assert {"sph-004", speed.OVER_CORE} <= set(values)


def test_on_a_gpu_with_all_sizes_every_claim_is_measured():
    values = speed.claim_values(times(gpu=True), parts(gpu=True))
    assert sorted(values) == speed.CLAIMS
    assert values["sph-002"]["measured"] == 2.0
    assert values["sph-011"]["measured"] == 4.0
    # two parts a group, medians over the runs
    assert [values[f"sph-0{n}"]["measured"] for n in (16, 17, 18)] == [4.0, 8.0, 12.0]
    # the smallest speedup is that of 70 thousand
    assert values[speed.OVER_THREADS]["measured"] == pytest.approx(4.0)
    assert "4 ms a step with 70 thousand particles" in values[speed.OVER_THREADS]["baseline"]
    assert values[speed.ORDER]["measured"]["30000 particles"]["CPU"] == pytest.approx([19.8, 20, 20.2])
    assert values[speed.LIST_ORDER]["measured"] == {"this paper": [2.0] * 3, "GPU linked list": [4.0] * 3}


def test_without_a_gpu_only_the_cpus_programs_are_judged():
    values = speed.claim_values(times(gpu=False, sizes=[15]), parts(gpu=False))
    assert sorted(values) == ["sph-003", "sph-004", "sph-019", "sph-020", "sph-021"]


def test_speedups_and_the_order_need_all_sizes():
    values = speed.claim_values(times(gpu=True, sizes=[15, 30]), parts(gpu=True))
    assert not {speed.OVER_THREADS, speed.OVER_CORE, speed.ORDER} & set(values)
    assert {"sph-005", speed.LIST_ORDER} <= set(values)


def test_the_papers_tables_are_those_of_its_claims():
    claims = pd.DataFrame({"id": speed.CLAIMS, "paper": [str(n) for n in range(1, len(speed.CLAIMS) + 1)]})
    one, two = speed.published(claims)
    assert list(one.loc[speed.PAPER]) == [1, 5, 9]
    assert list(two.loc[speed.ONE_CORE]) == [19, 20, 21]


def times_of(ms: dict, device: str = "cuda") -> pd.DataFrame:
    """A table as of `speed.time_table` from {(program, thousands): milliseconds}."""
    facts = {"particles": 10_000, "neighbours": 100.0, "passes": 2, "hardware": "a machine"}
    rows = [{"way": way, "thousands": n, "ms": t, "device": device, **facts} for (way, n), t in ms.items()]
    return pd.DataFrame(rows)


def test_a_slow_program_on_our_core_does_not_raise_the_speedup_over_the_paper_s_time():
    paper = pd.DataFrame({15: {"this paper": 5.0, "CPU multithread": 20.0, "CPU": 50.0}})
    found = [
        speed.over_both(
            times_of({("this paper", 15): 1.0, ("CPU multithread", 15): slow / 4, ("CPU", 15): slow}), paper
        ).set_index("over")
        for slow in (40.0, 400.0)
    ]
    assert [table.loc["CPU", "over ours"] for table in found] == [40, 400]
    assert [table.loc["CPU", "over the paper's"] for table in found] == [50, 50]
    assert found[0].loc["CPU multithread", "in the paper"] == 4


def test_the_time_of_a_neighbour_and_of_the_sort_follow_from_the_parts():
    parts = pd.DataFrame(
        [
            ("CPU", "threads", 0, "density", "force", 40.0),
            ("CPU", "threads", 0, "forces", "force", 60.0),
            ("CPU", "threads", 0, "ghosts in walls", "force", 20.0),
            ("this paper", "cuda", 0, "sort by digit 0", "neighbour list", 0.2),
            ("this paper", "cuda", 0, "forces", "force", 0.5),
            ("GPU linked list", "cuda", 0, "link", "neighbour list", 0.1),
            ("GPU linked list", "cuda", 0, "forces", "force", 0.3),
            ("GPU linked list", "cuda", 0, "density", "force", 0.2),
            *((way, "cuda", 0, "kick", "update", 0.0) for way in ("this paper", "GPU linked list")),
        ],
        columns=["way", "device", "run", "part", "group", "ms"],
    )
    each, pairs = speed.neighbour_cost(times_of({("CPU", 15): 120.0}), parts)
    # 100 ms for 10000 particles, 100 neighbours, two passes
    assert each == pytest.approx(50)
    assert pairs == 2e6
    assert speed.sorting_cost(parts) == pytest.approx((0.2, 0.7, 0.6))
    table_2 = pd.DataFrame({"neighbour list": 1.0, "force": 3.0}, index=["this paper", "GPU linked list"])
    shares = speed.list_shares(parts[parts["device"] == "cuda"], table_2).set_index("way")
    assert list(shares.loc["this paper"]) == pytest.approx([100 * 0.2 / 0.7, 25, 0.2, 0.5])
    # with the density in neither
    assert list(shares.loc["GPU linked list", ["list", "force"]]) == pytest.approx([0.1, 0.3])


def test_a_point_of_the_papers_does_not_lie_on_the_time_of_a_bar():
    times = parts(gpu=True)
    ours = speed.group_times(times)
    for factor in (0.5, 1.0, 1.4, 2.0, 20.0):
        figure, _ = speed_figures.part_bars(times, factor * ours)
        figure.draw_without_rendering()
        axes = figure.axes[0]
        points = axes.transData.transform(axes.lines[0].get_xydata())
        boxes = [text.get_window_extent() for text in axes.texts]
        assert not any(box.contains(*point) for box in boxes for point in points), factor
        plt.close(figure)


def test_the_papers_own_search_counts_the_density_to_the_neighbour_list():
    names = ["drift", "sort", "air", "density", "ghosts in walls", "forces", "kick"]

    def groups(strategy):
        lists = SimpleNamespace(parts={"sort": None})
        simulation = SimpleNamespace(parts=dict.fromkeys(names), strategy=strategy, _lists=lists)
        return [speed.paper_groups(simulation)[name] for name in names]

    assert groups("cell table") == ["update", *["neighbour list"] * 3, "force", "force", "update"]
    assert groups("linked list") == ["update", "neighbour list", *["force"] * 4, "update"]
