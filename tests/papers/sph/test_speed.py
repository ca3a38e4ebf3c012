"""The tables of speeds: what stands for the paper's cases, the ladder, and which claims a run can judge."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainCore
from helpers.sph_systems import shaken
from helpers.timings import Kept
from scipy.spatial import cKDTree

from repro.errors import InputError
from repro.papers.speed import speedups
from repro.papers.sph import speed, speed_claims, speed_figures
from repro.sph.cases import DamBreak
from repro.sph.ghosts import wall_sites
from repro.sph.simulation import Simulation
from repro.sph.system import Walls
from repro.study.notebooks import Project

PROJECT = Project.default()

#: milliseconds of a step, by program and thousands, and its parts with 15 thousand, made up
_MS = {speed.PAPER: 1.0, speed.GPU_LIST: 2.0, speed.FOUR_THREADS: 8.0, speed.ONE_CORE: 20.0, speed.SORTED_CELLS: 0.5}

#: particles of fluid, made up
_FLUID = {15: 10_000, 30: 20_000, 70: 40_000}


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
            row |= {"runs": tuple(value * factor / 1e3 for factor in (0.99, 1, 1.01)), "particles": _FLUID[number]}
            rows.append(row | {"ghosts": 10_000, "neighbours": 74.0, "million/s": 1 / value})
    return speedups(pd.DataFrame(rows), (speed.FOUR_THREADS, speed.ONE_CORE), "thousands", "million/s")


def parts(gpu: bool, thousands: int = 15) -> pd.DataFrame:
    """A table as of `speed.parts_table`: list 1, density 4, force 3 and update 2 times a number of the way."""
    ways, rows = list(speed.PAIR) * gpu + [speed.ONE_CORE], []
    times_of = {"link": speed.NEIGHBOUR_LIST, "density": speed.FORCE, "forces": speed.FORCE, "kick": speed.UPDATE}
    for way in ways:
        device = "cuda" if gpu and way != speed.ONE_CORE else "serial"
        for run in range(3):
            for sample, factor in enumerate((0.5, 1.0, 9.0)):
                for (part, group), share in zip(times_of.items(), (1, 4, 3, 2), strict=True):
                    rows.append((way, device, run, sample, part, group, share * factor * _MS[way]))
    table = pd.DataFrame(rows, columns=["way", "device", "run", "sample", "part", "group", "ms"])
    return table.assign(thousands=thousands)


def loaded_parts(*sizes: int) -> pd.DataFrame:
    """`parts` of a GPU with so many thousand particles of fluid."""
    return pd.concat([parts(gpu=True, thousands=n) for n in sizes], ignore_index=True)


READINGS = pd.DataFrame({"ms": [11.0, 130.0]})


def test_the_papers_particles_are_fluid_and_ghosts_in_one_shape_of_tank():
    for number in speed.COLUMNS:
        system = speed.system_of(number)
        assert system.count + len(wall_sites(system).position) == pytest.approx(1000 * number, rel=0.02)
        assert system.tank[0] / system.position[:, 0].max() == pytest.approx(2.5, rel=0.04)
        # ghosts are at rest, and the smoothing length is the dam break's
        assert system.walls.still
        assert system.resolution.ratio == DamBreak().ratio
        assert not speed.system_of(number, still=False).walls.still
    with pytest.raises(InputError, match="table 1 has 15, 30, 70"):
        speed.system_of(20)


def test_pysphs_case_has_as_much_fluid():
    system = speed.pysph_system()
    assert system.count == 5016
    assert system.resolution.spacing == pytest.approx(0.05)
    assert system.tank == pytest.approx((3.2, 0.95, 1.0))


def test_other_codes_ran_the_same_fluid():
    others = pd.read_csv(PROJECT.data / "reference" / "sph_speeds.csv", comment="#")
    assert (others["fluid"] == speed.pysph_system().count).all()
    assert others.notna().all(axis=None)


@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="there is no C compiler")
def test_the_plain_c_program_has_the_same_particles_with_as_many_neighbours():
    found, system = speed.plain_c(PROJECT.root, 15, steps=1), speed.system_of(15)
    ghosts = wall_sites(system).position
    places = np.concatenate([system.position, ghosts])
    near = cKDTree(places).query_ball_point(system.position, system.resolution.support, return_length=True)
    assert found["ghosts"] == len(ghosts)
    assert found["neighbours"] == pytest.approx(near.mean() - 1, abs=0.01)
    assert 0 < found["each pair once"] < found["linked list"]


def test_without_a_compiler_there_is_no_plain_c(monkeypatch):
    monkeypatch.setattr(speed.shutil, "which", lambda name: None)
    assert speed.plain_c(PROJECT.root, 15) is None


def test_plain_c_stands_beside_the_rungs_that_it_has():
    ladder = pd.DataFrame({"rung": ["linked list", "sorted"], "ms": [40.0, 20.0]})
    beside = speed.beside_plain_c(ladder, pd.Series({"linked list": 38.0, "neighbours": 75.0}))
    assert beside["plain C, least (ms)"].tolist() == pytest.approx([38.0, np.nan], nan_ok=True)
    assert speed.beside_plain_c(ladder, None)["plain C, least (ms)"].isna().all()


def test_our_list_is_compared_with_plain_c_by_the_least_time_of_both():
    ladder = pd.DataFrame({"rung": ["linked list", "sorted"], "ms": [60.0, 20.0], "least": [39.0, 19.0]})
    assert speed.over_plain_c(ladder, pd.Series({"linked list": 26.0})) == {"ratio": 1.5, "holds": False}
    assert not speed.over_plain_c(ladder, pd.Series({"linked list": 36.0}))["holds"]
    assert speed.over_plain_c(ladder, pd.Series({"linked list": 38.0}))["holds"]


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch):
    monkeypatch.setattr(speed, "on_threads", lambda count: SimpleNamespace(workers=count))


@pytest.fixture
def plain(monkeypatch):
    """Twelve particles in plain Python, and the searches that were checked."""
    asked = []

    def check(device, *, strategy):
        asked.append(strategy)
        return "checked"

    # few ghosts, which take nearly all of the time
    system = replace(shaken(3, tank=(3, 3, 4), water=(2, 2, 3)), walls=Walls(layers=1))
    for name in ("on_threads", "select"):
        monkeypatch.setattr(speed, name, lambda name: PlainCore())
    monkeypatch.setattr(speed, "check_strategy", check)
    monkeypatch.setattr(speed, "system_of", lambda *reading: system)
    return asked


def test_every_rung_is_checked_before_it_is_timed_and_gains_are_over_the_one_before(plain):
    table = speed.ladder_table(15, 2, kept := Kept())
    assert list(table["rung"]) == list(speed.RUNGS)
    assert kept.of("case") == [f"rung: {rung}" for rung in speed.RUNGS]
    assert (kept.of("size"), kept.of("check")) == (["15 thousand particles"] * len(table), ["checked"] * len(table))
    assert kept.of("seconds") == pytest.approx(list(table["ms"] / 1e3))
    # of two steps
    assert kept.of("spread") == pytest.approx(list(2 * (table["ms"] - table["least"]) / table["ms"]))
    # once for the time and once for what is kept of it
    assert plain[::2] == plain[1::2] == [strategy for strategy, _ in speed.RUNGS.values()]
    assert (table["from"] <= table["ms"]).all()
    assert (table["ms"] <= table["to"]).all()
    assert (table["least"] <= table["from"]).all()
    assert table["gain"][1:].prod() == pytest.approx(table["of all"].iloc[-1])
    figure, arrays = speed_figures.ladder(table, None)
    assert list(arrays["ms"]) == list(table["ms"])
    plt.close(figure)


def test_a_rung_is_kept_with_its_median_step_and_how_far_steps_lie_apart_over_it(plain, monkeypatch):
    """Of steps of 1, 2 and 9 ms, whose mean is 4, and of whose parts the later one takes three quarters."""
    step = pd.Series([1.0, 2.0, 9.0])
    monkeypatch.setattr(speed, "_whole_steps", lambda *_: step)
    monkeypatch.setattr(speed, "_sampled", lambda *_: (None, pd.DataFrame({"list": step / 4, "force": 3 * step / 4})))
    table = speed.ladder_table(15, 3, kept := Kept())
    assert list(table["ms"]) == [2.0] * len(speed.RUNGS)
    assert list(table["least"]) == [1.0] * len(speed.RUNGS)
    assert kept.of("seconds") == [2e-3] * len(speed.RUNGS)
    assert kept.of("spread") == [4.0] * len(speed.RUNGS)


def test_each_reading_is_timed_with_and_without_a_pass_over_ghosts(plain):
    table = speed.readings_table([1.3], 2)
    assert list(table["pass over ghosts"]) == [False, True]
    assert plain == ["linked list"] * 2


def test_parts_are_grouped_and_a_copy_is_rarer_with_more_frames(plain, monkeypatch):
    table = speed.parts_table(PlainCore(), samples=2)
    assert set(table["group"]) == set(speed.GROUPS)
    assert list(table.columns) == ["sample", "part", "ms", "thousands", "way", "device", "run", "group"]
    assert set(table["thousands"]) == {15}
    assert (table["ms"] > 0).all()
    assert set(table.loc[table["group"] == speed.NEIGHBOUR_LIST, "part"]) == {"unlink", "link"}
    assert set(table.loc[table["group"] == speed.UPDATE, "part"]) == {"drift", "kick"}
    monkeypatch.setattr(PlainCore, "download", lambda core, source, target: None, raising=False)
    monkeypatch.setattr(speed, "measure", lambda run, device, repeats: SimpleNamespace(seconds=1e-3))
    monkeypatch.setattr(speed, "ways", lambda device: {speed.PAPER: ("linked list", device)})
    copies = speed.copy_table(15, PlainCore(), [1, 10], samples=2)
    step = copies["step (ms)"].iloc[0]
    assert list(copies["share of the copy (%)"]) == pytest.approx([100 / (1 + n * step) for n in (1, 10)])


def test_four_threads_on_two_cores_are_not_the_paper_s_program(monkeypatch):
    monkeypatch.setattr(speed, "on_threads", lambda count: SimpleNamespace(workers=2))
    values = speed_claims.claim_values(times(gpu=True), parts(gpu=True), READINGS)
    assert not {"sph-003", speed_claims.OVER_THREADS, speed_claims.ORDER, speed_claims.SCALING} & set(values)
    assert {"sph-004", speed_claims.OVER_CORE} <= set(values)


@pytest.mark.parametrize("worst", speed.COLUMNS)
def test_what_four_threads_gain_is_told_of_the_size_where_they_gain_least(worst):
    table = times(gpu=False)
    slow = (table["way"] == speed.FOUR_THREADS) & (table["thousands"] == worst)
    table.loc[slow, "ms"] *= 1.25
    values = speed_claims.claim_values(table, parts(gpu=False), READINGS)
    assert values[speed_claims.SCALING]["measured"] == pytest.approx(2.0)


def test_on_a_gpu_with_all_sizes_every_claim_is_measured():
    loaded = times(gpu=True).assign(thousands=lambda table: table["thousands"] * 20, device="cuda")
    values = speed_claims.claim_values(times(gpu=True), parts(gpu=True), READINGS, loaded, loaded_parts(600, 1400))
    assert sorted(values) == speed_claims.CLAIMS
    assert values["sph-002"]["measured"] == 2.0
    assert values["sph-011"]["measured"] == 4.0
    # medians of the samples; the density stands where the paper's words put it
    assert [values[f"sph-0{n}"]["measured"] for n in (13, 14, 15)] == [5.0, 3.0, 2.0]
    assert [values[f"sph-0{n}"]["measured"] for n in (16, 17, 18)] == [2.0, 14.0, 4.0]
    # and orders have it in neither
    assert values[speed_claims.LIST_ORDER]["measured"] == {"this paper": [1.0] * 3, "GPU linked list": [2.0] * 3}
    assert values[speed_claims.FORCE_ORDER]["measured"] == {"this paper": [3.0] * 3, "GPU linked list": [6.0] * 3}
    assert values[speed_claims.SHARES[speed.PAPER]]["measured"] == pytest.approx(10)
    # the smallest speedup is that of 70 thousand
    assert values[speed_claims.OVER_THREADS]["measured"] == pytest.approx(4.0)
    assert "4 ms a step with 70 thousand particles" in values[speed_claims.OVER_THREADS]["baseline"]
    assert values[speed_claims.ORDER]["measured"]["30000 particles"]["CPU"] == pytest.approx([19.8, 20, 20.2])
    assert values[speed_claims.SCALING]["measured"] == pytest.approx(2.5)
    # half the time for 2.5 times the particles, ghosts among them
    assert values[speed_claims.CORE_GROWTH]["measured"] == pytest.approx(np.log(0.5) / np.log(2.5))
    assert values[speed_claims.GROWTH]["measured"] == 0
    # with 300 thousand no parts were taken
    cases = [f"{n} thousand of fluid" for n in (600, 1400)]
    assert list(values[speed_claims.LOADED_ORDER]["measured"]) == cases
    assert values[speed_claims.SORT_ORDER] == values[speed_claims.LOADED_ORDER]
    for name, paper in ((speed_claims.LOADED_LIST, 1.0), (speed_claims.LOADED_FORCE, 3.0)):
        order = {"this paper": [paper] * 3, "GPU linked list": [2 * paper] * 3}
        assert values[name]["measured"] == dict.fromkeys(cases, order)
    assert values[speed_claims.LOADED_SHARE]["measured"] == pytest.approx(10)
    assert values[speed_claims.LOADED_SHARE]["scatter"] == pytest.approx(0)


@pytest.mark.parametrize("most", [600, 1400])
def test_the_share_of_a_list_at_equal_load_is_that_of_the_size_where_it_is_largest(most):
    """Of ten parts of a step the list takes one; there it takes three of twelve, and in one run six of fifteen."""
    loaded, taken = times(gpu=True).assign(thousands=lambda table: table["thousands"] * 20), loaded_parts(600, 1400)
    there = (taken["thousands"] == most) & (taken["part"] == "link")
    taken.loc[there, "ms"] *= 3
    taken.loc[there & (taken["run"] == 1), "ms"] *= 2
    values = speed_claims.claim_values(times(gpu=True), parts(gpu=True), READINGS, loaded, taken)
    found = values[speed_claims.LOADED_SHARE]
    assert (found["measured"], found["scatter"]) == (pytest.approx(25), pytest.approx(15))
    assert f"with {most} thousand of fluid" in found["note"]


def test_one_size_at_equal_load_tells_no_growth():
    loaded = times(gpu=True).assign(thousands=lambda table: table["thousands"] * 100, device="cuda")
    for found in (None, loaded_parts(1500)):
        values = speed_claims.claim_values(times(gpu=True), parts(gpu=True), READINGS, loaded, found)
        lacking = speed_claims.GROWTH, speed_claims.LOADED_ORDER, speed_claims.SORT_ORDER, speed_claims.LOADED_LIST
        assert not {*lacking, speed_claims.LOADED_FORCE, speed_claims.LOADED_SHARE} & set(values)


def test_parts_are_taken_of_what_is_as_many_a_thread_as_on_the_papers_gpu():
    made = {"multiProcessorCount": 132, "maxThreadsPerMultiProcessor": 2048}
    runtime = SimpleNamespace(getDeviceProperties=lambda number: made)
    cuda = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0))
    gpu = SimpleNamespace(name="cuda", xp=SimpleNamespace(cuda=cuda))
    systems = dict.fromkeys([10, 101, 328, 653, 1528, 3200])
    assert list(speed.at_equal_load(systems, gpu)) == [328, 653, 1528]
    # a third of an H100
    made["multiProcessorCount"] = 46
    assert list(speed.at_equal_load(systems, gpu)) == [328]
    assert not speed.at_equal_load(systems, PlainCore())
    # the simulator has no properties to ask for
    assert not speed.at_equal_load({}, SimpleNamespace(name="cuda", xp=np))
    table = speed.groups_by_size(loaded_parts(328, 653).query("way != 'CPU'"))
    assert list(table["thousands"]) == [328, 328, 653, 653]
    assert list(table["way"]) == list(speed.PAIR) * 2
    assert list(table["list (%)"]) == pytest.approx([10] * 4)


def test_without_a_gpu_only_the_cpus_programs_are_judged():
    values = speed_claims.claim_values(times(gpu=False, sizes=[15]), parts(gpu=False), READINGS)
    assert sorted(values) == ["sph-003", "sph-004", "sph-019", "sph-020", "sph-021", "sph-045"]
    assert values["sph-020"]["note"] == "by reading of the text 11 to 130 ms a step"


def test_speedups_and_the_order_need_all_sizes():
    values = speed_claims.claim_values(times(gpu=True, sizes=[15, 30]), parts(gpu=True), READINGS)
    lacking = speed_claims.OVER_THREADS, speed_claims.OVER_CORE, speed_claims.ORDER, speed_claims.CORE_GROWTH
    assert not set(lacking) & set(values)
    assert {"sph-005", speed_claims.LIST_ORDER} <= set(values)


def test_the_papers_tables_are_those_of_its_claims():
    numbers = [str(n) for n in range(1, len(speed_claims.CLAIMS) + 1)]
    claims = pd.DataFrame({"id": speed_claims.CLAIMS, "paper": numbers})
    one, two = speed_claims.published(claims)
    assert list(one.loc[speed.PAPER]) == [1, 5, 9]
    assert list(two.loc[speed.ONE_CORE]) == [19, 20, 21]


def test_the_paper_s_own_times_grow_by_the_powers_that_the_claims_state():
    claims = {claim: text for claim, text in _published().items() if claim in speed_claims.CLAIMS}
    one, _ = speed_claims.published(pd.DataFrame({"id": list(claims), "paper": list(claims.values())}))
    ms = {way: list(one.loc[way]) for way in one.index}
    table = pd.DataFrame(
        [(way, n, n, t) for way, row in ms.items() for n, t in zip((15, 30, 70), row, strict=True)],
        columns=["way", "thousands", "particles", "ms"],
    ).assign(ghosts=0)
    powers = speed.growth_table(table, one).set_index("way")
    np.testing.assert_allclose(powers["power here"], powers["power in the paper"])
    for way, claim in ((speed.PAPER, speed_claims.GROWTH), (speed.ONE_CORE, speed_claims.CORE_GROWTH)):
        assert powers["power in the paper"][way] == pytest.approx(float(claims[claim]), abs=0.005)


def _published() -> dict[str, str]:
    table = pd.read_csv(PROJECT.data / "published" / "sph.csv", comment="#", dtype=str)
    return dict(zip(table["id"], table["value"], strict=True))


def test_a_reader_sees_what_was_timed_how_many_particles_it_had_and_its_speedups():
    table = pd.DataFrame([{"over four": 2.0, "seconds": 1e-3, "spread": 0.1, "ms": 1.0, "way": "a", "thousands": 15}])
    assert list(speed.summary(table)) == ["thousands", "way", "ms", "spread", "over four"]


def test_speedups_are_over_the_last_rung_first():
    ladder = pd.DataFrame({"rung": ["linked list", "all cores"], "ms": [40.0, 5.0]})
    found = speed.over_rungs(times(gpu=True), ladder)
    assert list(found["over"]) == ["all cores", "linked list"]
    assert list(found[speed.PAPER]) == [5, 40]
    assert list(found[speed.SORTED_CELLS]) == [10, 80]


@pytest.mark.parametrize(("gpu", "where"), [(True, "a GPU"), (False, "all cores")])
def test_a_headline_has_the_speedup_with_the_most_particles_beside_the_papers(gpu, where):
    paper = pd.DataFrame({15: [6.0, 48.0], 70: [30.0, 300.0]}, [speed.PAPER, speed.ONE_CORE])
    said = f"On {where} a step by the paper's search is 10 times as fast as by linked lists on one core"
    assert speed.headline(times(gpu), paper) == f"{said} (paper's GPU: 10.0)."
    assert "is 20 times" in speed.headline(times(gpu, sizes=(15,)), paper)
    assert "(paper's GPU: 8.0)" in speed.headline(times(gpu, sizes=(15,)), paper)


def test_the_share_of_the_list_is_told_with_the_density_in_it_and_without():
    table_2 = pd.DataFrame({"neighbour list": 1.0, "force": 3.0}, index=["this paper", "GPU linked list", "CPU"])
    shares = speed.list_shares(parts(gpu=True), table_2).set_index("way")
    for way in table_2.index:
        assert list(shares.loc[way]) == pytest.approx([10, 50, 25])


def test_half_of_the_samples_lie_between_the_quartiles():
    scatter = speed.group_scatter(parts(gpu=False)).set_index("group")
    # samples of 0.5, 1 and 9 times 20 ms
    assert list(scatter.loc[speed.NEIGHBOUR_LIST, ["from", "ms", "to"]]) == [10, 20, 180]
    assert (scatter["samples"] == 3).all()


def test_a_point_of_the_papers_does_not_lie_on_the_time_of_a_part():
    table = parts(gpu=True)
    ours = speed.with_density(speed.group_times(table))
    for factor in (0.5, 1.0, 1.4, 2.0, 20.0):
        figure, _ = speed_figures.part_points(table, factor * ours)
        figure.draw_without_rendering()
        axes = figure.axes[0]
        points = axes.transData.transform(axes.lines[0].get_xydata())
        boxes = [text.get_window_extent() for text in axes.texts]
        assert not any(box.contains(*point) for box in boxes for point in points), factor
        plt.close(figure)


def test_every_part_of_a_step_of_the_papers_search_belongs_to_a_group(plain):
    groups = speed.paper_groups(Simulation(speed.system_of(15), PlainCore(), strategy="cell table, block sort"))
    assert groups["sort in a block"] == groups["first of each cell"] == speed.NEIGHBOUR_LIST
    assert groups["density"] == groups["forces"] == groups["ghosts in walls"] == speed.FORCE
    assert groups["drift"] == groups["kick"] == speed.UPDATE


def test_a_whole_step_is_the_tenth_of_ten_in_milliseconds_after_ten_that_are_not_timed(monkeypatch):
    asked, clocked = [], iter([0.02, 0.05])

    class Counted:
        def __init__(self, system, device, *, strategy):
            asked.append((system, device, strategy))

        def advance(self, count):
            asked.append(count)

    def clock(run, device):
        run()
        return next(clocked)

    monkeypatch.setattr(speed, "Simulation", Counted)
    monkeypatch.setattr(speed, "host_clock", clock)
    monkeypatch.setattr(speed, "check_strategy", lambda device, *, strategy: asked.append(f"checked {strategy}"))
    assert speed._whole_steps("system", "a search", "here", 2).tolist() == pytest.approx([2, 5])
    assert asked == ["checked a search", ("system", "here", "a search"), 10, 10, 10]


def test_readings_are_of_one_core_with_the_ratio_and_the_walls_of_each(monkeypatch):
    monkeypatch.setattr(speed, "system_of", lambda thousands, ratio, still: (thousands, ratio, still))
    parts = pd.DataFrame({"a": [1.0, 2.0, 9.0], "b": [0.5, 0.5, 0.5]})
    seen = []
    monkeypatch.setattr(speed, "_sampled", lambda *asked: seen.append(asked) or (asked[0], parts))
    monkeypatch.setattr(speed, "facts_of", lambda found: {"neighbours": 70 * found[1], "ghosts": found[2], "more": 0})
    table = speed.readings_table([1.3, 2.0], 3)
    assert table.to_dict("records") == [
        {"h over spacing": ratio, "pass over ghosts": not still, "neighbours": 70 * ratio, "ghosts": still,
         "ms": 2.5, "from": 2.0, "to": 6.0}
        for ratio in (1.3, 2.0) for still in (True, False)
    ]  # fmt: skip
    assert {(strategy, device.workers, samples) for _, strategy, device, samples in seen} == {("linked list", 1, 3)}
    assert [system for system, *_ in seen] == [(15, ratio, still) for ratio in (1.3, 2.0) for still in (True, False)]
