"""Speeds are measured only of programs that compute the right forces, and tables compare like with like."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.dpd import benchmark
from repro.dpd.cases import Bulk, Poiseuille
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.observables import temperature
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import STRATEGIES, linked
from repro.dpd.system import in_cell_order
from repro.dpd.uneven import particles_in_cells
from repro.errors import CheckError, InputError
from repro.papers.dpd.random_numbers.cycle import numbers_a_step
from repro.papers.dpd.speed import figures, host, judged, linear
from repro.papers.dpd.speed import tables as speed_tables
from repro.parallel import Kernel, Speed, Timing, part_times, select
from repro.study.judge import claims
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict, judge
from repro.study.notebooks import Project

SERIAL = select("serial")
CLAIMS = claims.load("dpd")
PAPER = pd.DataFrame([(key, claim.value) for key, claim in CLAIMS.items()], columns=["id", "paper"])


def test_a_strategy_with_other_noise_is_not_timed(monkeypatch):
    wrong = SimpleNamespace(TRAITS=linked.TRAITS, build=lambda setup: linked.build(replace(setup, seed=setup.seed + 1)))
    monkeypatch.setitem(STRATEGIES, "wrong", wrong)
    with pytest.raises(CheckError, match="wrong, serial.* differs from linked on one core"):
        benchmark.measure_speed("case", Poiseuille(4, 4, 4).system(), SERIAL, strategy="wrong", seconds=1e-3)


def test_a_speed_is_particles_over_seconds_of_a_step_and_names_its_check():
    system = Poiseuille(4, 4, 4).system()
    found = benchmark.measure_speed("case", system, SERIAL, strategy="linked", seconds=1e-3)
    assert found.rates["updates"] * found.seconds == pytest.approx(system.count)
    # nothing is compared with itself
    assert found.check.endswith("of cell on one core, on the same 768 particles")
    assert found.choices["launch"] == "from Python, one by one"


def test_no_time_is_refused():
    with pytest.raises(InputError, match="seconds = 0: must be a number above 0"):
        benchmark.measure_speed("case", Poiseuille(4, 4, 4).system(), SERIAL, seconds=0)


_SPEED = Speed.of(
    "case",
    SERIAL,
    [Timing(1.0, 1.0, 0.0, 5)],
    **{"strategy": "linked", "precision": "single", "size": "", "check": "of TEA", "work": {"updates": 768}},
    choices={"particles": 768, "rounds": 32},
)


def test_the_parts_of_a_step_are_those_that_a_step_launches():
    simulation = Simulation(Poiseuille(4, 4, 4).system(), SERIAL, strategy="planes")
    assert list(part_times(simulation, seconds=1e-3)) == list(simulation.parts)


def test_the_claims_of_table_4_are_found_by_row_and_column():
    names = {"particles": "particles", "one core": "CPU rate", "thread per cell": "GPU rate thread per cell"}
    names |= {"speedup, cell": "speedup thread per cell", "thread per particle": "GPU rate thread per particle"}
    names |= {"speedup, particle": "speedup thread per particle"}
    for row, size in enumerate(speed_tables.TABLE_4, 1):
        for column, quantity in names.items():
            found = CLAIMS[judged.claim(row, column)]
            assert (found.quantity, found.case) == (quantity, "x".join(str(side) for side in size))


def test_only_the_last_speedup_of_the_paper_does_not_follow_from_its_rates():
    table = judged.published(PAPER)
    assert table["from rates, particle"].iloc[:3].to_numpy() == pytest.approx(table["speedup, particle"][:3], rel=0.006)
    assert table["from rates, cell"].to_numpy() == pytest.approx(table["speedup, cell"], rel=0.006)
    assert table["from rates, particle"].iloc[3] == pytest.approx(18.96, abs=0.005)
    assert table["speedup, particle"].iloc[3] == 19.15


#: seconds of a run over those of the median run
RUNS = (1.0, 1.02, 0.98)


def _table(device: str) -> pd.DataFrame:
    # updates a second of the three baselines and both mappings, in units in which the paper's program has 1
    mappings = {864: (0.5, 0.8), 67584: (6, 12), 540672: (10, 17), 1081344: (12, 19)}
    rates = {count: (1, 2, 8, *pair) for count, pair in mappings.items()}
    ways = (*speed_tables.BASELINES, "thread per cell", "thread per particle")
    on = ("serial", "serial", "threads", device, device)
    rows = [(n, *row) for n, values in rates.items() for row in zip(ways, on, values, strict=True)]
    table = pd.DataFrame(rows, columns=["particles", "way", "device", "updates"]).assign(
        spread=0.04, rounds=PAPER_ROUNDS
    )
    table["seconds"] = table["particles"] / table["updates"]
    core = table["way"] == speed_tables.SERIAL_PROGRAM
    table["runs"] = [
        (s,) * 3 if even else tuple(s * run for run in RUNS) for s, even in zip(table["seconds"], core, strict=True)
    ]
    return table


def _values(table: pd.DataFrame, channel: pd.DataFrame | None = None, **more) -> dict:
    """The claims' values by a table of which each row is as fast in any order of the particles."""
    table = speed_tables.with_speedups(table)
    both = pd.concat([table.assign(order=order) for order in (speed_tables.BY_CELL, speed_tables.AT_RANDOM)])
    return judged.claim_values(table, table if channel is None else channel, both, **more)


def _set(table: pd.DataFrame, particles: int, way: str, updates: float) -> None:
    """Give a way another speed."""
    here = (table["particles"] == particles) & (table["way"] == way)
    table.loc[here, "updates"] = updates
    table.loc[here, "seconds"] = particles / updates
    for k in table.index[here]:
        table.at[k, "runs"] = tuple(particles / updates * run for run in RUNS)


def _verdict(identifier: str, values: dict) -> Verdict:
    """By the rule of a claim, also of one that is not comparable."""
    return judge(replace(CLAIMS[identifier], kind="mechanism"), Evidence(**values[identifier])).verdict


def test_only_claims_with_a_verdict_of_their_own_are_tested():
    assert all(CLAIMS[name].judged for name in judged.CLAIMS)
    assert CLAIMS["dpd-001"].same_as == judged.claim(4, "speedup, particle")


def test_the_systems_of_table_4_have_the_papers_numbers_of_particles():
    stated = [int(CLAIMS[judged.claim(row, "particles")].value) for row in (1, 2, 3, 4)]
    assert list(speed_tables.particle_counts()) == stated


def test_every_speedup_is_over_the_same_number_of_particles():
    table = speed_tables.with_speedups(_table("cuda"))
    row = table[(table["particles"] == 67584) & (table["way"] == "thread per particle")].iloc[0]
    assert [row[f"over {name}"] for name in speed_tables.BASELINES] == pytest.approx([12, 6, 1.5])


def test_on_a_gpu_all_claims_of_the_table_get_a_value():
    table = speed_tables.with_speedups(_table("cuda"))
    names = (host.AS_IT_IS, host.LIST, host.NUMBERS, host.COPIES)
    hosts = pd.DataFrame({"on the host": names, "runs": [[share] * 3 for share in (1.0, 3.0, 4.0, 1.5)]})
    noise = pd.DataFrame({"rounds": [0, PAPER_ROUNDS], "runs": [[1.0] * 3, [2.0] * 3]})
    values = _values(table, table[table["particles"] == 540672], hosts=hosts, noise=noise, full_size=True)
    tested = {33, 59, 67, 68, 69, 85, 86, 87} | {k for k in range(35, 58) if k not in (40, 46, 52)}
    assert set(values) == {f"dpd-{k:03d}" for k in tested} == set(judged.CLAIMS)
    assert [values[f"dpd-{k:03d}"]["measured"] for k in (85, 86, 87, 69)] == [3, 3, 1.5, 2]
    # the core's runs spread by up to 9 %, those of a mapping do not count
    spreads = table.assign(spread=np.where(table["way"] == speed_tables.SERIAL_PROGRAM, 0.02, 0.5))
    spreads.loc[spreads.index[0], "spread"] = 0.09
    noted = _values(spreads)
    assert noted[judged.SPEEDUP_GROWS]["note"].endswith("spreads by up to 9 %")
    assert [values[f"dpd-{k:03d}"]["measured"] for k in (33, 35, 36, 38, 55, 57)] == [17, 1, 0.5, 0.8, 12, 19]


def test_every_speedup_names_the_speed_of_its_baseline():
    table = _table("cuda")
    table["updates"] *= 2.4e5
    values = _values(table)
    assert "dpd-033" not in values
    over = {name for name in values if CLAIMS[name].unit == "x"}
    assert over == {f"dpd-{k:03d}" for k in (37, 39, 43, 45, 49, 51, 55, 57)}
    assert {values[name]["baseline"] for name in over} == {"serial program, one core: 0.24 M particles/s"}


def test_a_baseline_of_another_size_is_named_with_its_number_of_particles():
    table = _table("cuda")
    table["updates"] *= 1e6
    fast, slow = (table[table["particles"] == count] for count in (1081344, 67584))
    channel = speed_tables.with_speedups(fast, slow)
    values = _values(table, channel, full_size=True)
    assert values["dpd-033"]["measured"] == pytest.approx(19)
    over = "serial program, one core: 1 M particles/s on 67,584 particles"
    assert values["dpd-033"]["baseline"] == over


def test_the_speedup_of_a_run_is_its_rate_over_that_of_the_core_s_run():
    values = _values(_table("cuda"))
    assert list(values["dpd-067"]["measured"]) == ["particles by cell", "particles at random"]
    for speedups in values["dpd-067"]["measured"].values():
        assert speedups["67584"] == pytest.approx([12, 12 / 1.02, 12 / 0.98])
    assert "spreads by up to 4 %" in values["dpd-067"]["note"]
    assert _verdict("dpd-067", values) is Verdict.REPRODUCED


def test_a_speedup_that_falls_or_stays_is_no_growth():
    for updates, verdict in ((16.0, Verdict.NOT_REPRODUCED), (17.1, Verdict.TIE)):
        table = _table("cuda")
        _set(table, 1081344, "thread per particle", updates)
        assert _verdict("dpd-067", _values(table)) is verdict


def test_a_speedup_that_grows_in_one_order_of_the_particles_alone_is_no_growth():
    fast, slow = _table("cuda"), _table("cuda")
    _set(slow, 1081344, "thread per particle", 16.0)
    both = pd.concat([fast.assign(order=speed_tables.BY_CELL), slow.assign(order=speed_tables.AT_RANDOM)])
    fast = speed_tables.with_speedups(fast)
    assert _verdict("dpd-067", judged.claim_values(fast, fast, both)) is Verdict.NOT_REPRODUCED


def test_the_core_and_the_gpu_are_compared_in_one_order_of_the_particles(monkeypatch):
    seen = []

    def noted(case, system, device, **options):
        seen.append((case, system.position, options))
        seconds = {"serial": 2.0, "cuda": 0.1}[device.name]
        more = {"strategy": options["strategy"], "precision": "single", "size": "", "check": ""}
        work = {"updates": system.count}
        return Speed.of(
            case,
            device,
            [Timing(seconds * run, 1.0, 0.0, 5) for run in RUNS],
            **more,
            work=work,
            choices={"particles": system.count},
        )

    monkeypatch.setattr(linear, "timed", noted)
    cases = speed_tables.systems([1, 2])
    gpu = SimpleNamespace(name="cuda", description="a device")
    found = speed_tables.order_table(_table("cuda"), cases, gpu, seconds=0.2)
    # both programs on each system, as it was set up
    for system, (core, mapped) in zip(cases, zip(seen[::2], seen[1::2], strict=True), strict=True):
        assert core[1] is mapped[1] is system.position
        assert core[0].startswith("serial program, one core, serial")
        assert core[0].endswith(f"{system.count} particles, at random")
        assert [each[2]["rounds"] for each in (core, mapped)] == [0, PAPER_ROUNDS]
        assert [each[2]["runs"] for each in (core, mapped)] == [3, 3]
    over = found.set_index(["order", "particles", "way"])[f"over {speed_tables.SERIAL_PROGRAM}"]
    assert over["at random", 864, "thread per particle"] == pytest.approx(20)
    assert over["by cell", 864, "thread per particle"] == pytest.approx(0.8)


def test_what_is_left_of_a_rate_is_that_at_random_on_the_last_two_systems():
    fast, slow = _table("cuda"), _table("cuda")
    _set(slow, 1081344, "thread per particle", 8.5)
    _set(slow, 1081344, speed_tables.SERIAL_PROGRAM, 0.9)
    both = pd.concat([fast.assign(order=speed_tables.BY_CELL), slow.assign(order=speed_tables.AT_RANDOM)])
    assert speed_tables.kept(both) == {"core": 0.9, "gpu": 0.5, "holds": True}


def test_a_core_whose_runs_lie_apart_shows_no_growth():
    table = _table("cuda")
    # the speedup over the largest system rises from 17 to 19, and one run of the core took a fifth less
    (k,) = table.index[(table["particles"] == 1081344) & (table["way"] == speed_tables.SERIAL_PROGRAM)]
    table.at[k, "runs"] = tuple(s * run for s, run in zip(table.at[k, "runs"], (1.0, 0.8, 1.0), strict=True))
    assert _verdict("dpd-067", _values(table)) is Verdict.TIE


def test_the_mappings_are_compared_run_by_run_at_every_size():
    values = _values(_table("cuda"))
    rates = values["dpd-059"]["measured"]
    assert list(rates) == [f"particles {count}" for count in (864, 67584, 540672, 1081344)]
    assert rates["particles 864"]["cell"] == pytest.approx([0.5, 0.5 / 1.02, 0.5 / 0.98])
    assert rates["particles 864"]["particle"] == pytest.approx([0.8, 0.8 / 1.02, 0.8 / 0.98])
    assert _verdict("dpd-059", values) is Verdict.REPRODUCED


def test_mappings_that_change_places_at_one_size_or_overlap_there_are_not_ordered():
    for updates, verdict in ((9.0, Verdict.NOT_REPRODUCED), (0.81, Verdict.TIE)):
        table = _table("cuda")
        _set(table, 864, "thread per cell", updates)
        assert _verdict("dpd-059", _values(table)) is verdict


def test_orders_need_all_four_sizes():
    table = _table("cuda")
    assert not {"dpd-059", "dpd-067", "dpd-057"} & set(_values(table[table["particles"] < 1081344]))


def test_without_a_gpu_only_the_core_is_measured():
    values = _values(_table("threads"), full_size=True)
    assert set(values) == {f"dpd-{k:03d}" for k in (35, 41, 47, 53)}


@pytest.mark.parametrize(("name", "runs"), [("cuda", 3), ("threads", 1)])
def test_beside_a_gpu_what_claims_compare_runs_three_times_and_all_else_once(monkeypatch, name, runs):
    def noted(case, system, device, **options):
        seconds = Timing(1.0, 1.0, 0.0, 5)
        more = {"strategy": options["strategy"], "precision": "single", "size": "", "check": "", "work": {"updates": 1}}
        choices = {"particles": system.count, "rounds": options["rounds"]}
        return Speed.of(case, device, [seconds] * options["runs"], **more, choices=choices)

    monkeypatch.setattr(linear, "timed", noted)
    device = SimpleNamespace(name=name, description="a device")
    table = speed_tables.paper_table(speed_tables.systems([1]), device, seconds=0.2)
    found = {way: len(times) for way, times in zip(table["way"], table["runs"], strict=True)}
    compared = {"thread per cell", "thread per particle", speed_tables.SERIAL_PROGRAM}
    assert {found[way] for way in compared} == {runs}
    assert {found[way] for way in set(found) - compared} == {1}


def test_the_gain_of_the_better_mapping_is_held_against_the_size_run_by_run():
    values = _values(_table("cuda"))
    gains = values["dpd-068"]["measured"]
    assert list(gains) == ["864", "67584", "540672", "1081344"]
    assert gains["67584"] == pytest.approx([2.0, 2.0, 2.0])
    # 1.6, 2, 1.7 and 1.58: the smallest system does not gain most
    assert _verdict("dpd-068", values) is Verdict.NOT_REPRODUCED
    table = _table("cuda")
    _set(table, 864, "thread per particle", 1.5)
    values = _values(table)
    assert _verdict("dpd-068", values) is Verdict.REPRODUCED


def test_the_cost_of_tea_is_that_of_pairs_of_runs_and_names_its_rounds(monkeypatch):
    seconds = {0: 1.0, 8: 1.1, 32: 1.5, 64: 2.0}

    def noted(case, system, device, **options):
        times = [Timing(seconds[options["rounds"]] * run, 1.0, 0.0, 5) for run in (1.0, 1.1, 0.9)]
        more = {"strategy": options["strategy"], "precision": "single", "size": "", "check": "", "work": {"updates": 1}}
        choices = {"particles": system.count, "rounds": options["rounds"]}
        assert options["runs"] == 3
        return Speed.of(case, device, times, **more, choices=choices)

    monkeypatch.setattr(linear, "timed", noted)
    noise = speed_tables.noise_table(1, SimpleNamespace(name="cuda", description="a device"), seconds=0.2)
    found = judged.cost_of_tea(noise)
    assert (found["measured"], found["scatter"]) == (pytest.approx(2.0), pytest.approx(0))
    assert list(noise["over method one"]) == pytest.approx([1.0, 1.1, 1.5, 2.0])
    assert _verdict("dpd-069", {"dpd-069": found}) is Verdict.REPRODUCED


def test_the_share_of_the_forces_is_that_of_all_their_parts():
    rows = [("a", "forces 1", "forces", 3.0), ("a", "forces 2", "forces", 3.0), ("a", "kick", "integration", 2.0)]
    parts = pd.DataFrame(rows, columns=["way", "part", "group", "seconds"])
    (row,) = speed_tables.force_shares(parts).to_dict("records")
    assert row == {"way": "a", "step (us)": 8e6, "forces (%)": 75.0}


def test_the_fast_strategy_of_a_gpu_leaves_out_the_force_on_frozen_particles_and_the_others_find_it():
    system = Poiseuille(4, 4, 4).system()
    found = {}
    for name in ("sorted cells", "linked"):
        simulation = Simulation(system, SERIAL, strategy=name)
        simulation.forces.run()
        found[name] = simulation.particles()["force"]
    np.testing.assert_allclose(found["sorted cells"][: system.moving], found["linked"][: system.moving], atol=1e-3)
    assert not found["sorted cells"][system.moving :].any()
    assert np.abs(found["linked"][system.moving :]).max() > 1


def test_the_rates_of_other_codes_say_who_measured_them_and_where():
    found = speed_tables.other_codes(Project.default().data)
    assert set(found["cores"]) == {1, 2}
    assert (found[["version", "hardware", "who"]] != "").all(axis=None)
    assert found.notna().all(axis=None)


def test_the_sketch_of_the_mappings_has_each_near_pair_once():
    position = np.random.default_rng(2).uniform(0, 4, (40, 2))
    pairs = figures.near_pairs(position, position.astype(int) @ (1, 4))
    near = {(i, j) for i in range(40) for j in range(i + 1, 40) if np.hypot(*(position[i] - position[j])) < 1}
    assert len(pairs) == len(near)
    assert {tuple(sorted(pair)) for pair in pairs} == near
    titles = [axes.get_title() for axes in figures.mapping_sketch(40, 4)[0].axes]
    assert titles[0].startswith("thread per cell: 16 threads")
    assert titles[1].startswith("thread per particle: 40 threads")


def test_a_smaller_channel_has_the_same_shape_and_a_slice_all_but_its_width():
    whole, quarter, slice_of_it = speed_tables.channel(1), speed_tables.channel(0.25), speed_tables.channel(1, 3.0)
    assert slice_of_it == replace(whole, width=3.0, frozen=None)
    frozen = 1 - slice_of_it.system().moving / slice_of_it.system().count
    assert frozen == pytest.approx(whole.frozen / (whole.frozen + 1130496), rel=0.1)
    assert quarter.volume == pytest.approx(whole.volume / 64)
    assert quarter.gap / quarter.height == pytest.approx(whole.gap / whole.height)
    assert (whole.frozen, quarter.frozen) == (101760, None)


def test_all_programs_are_timed_in_cell_order_and_the_papers_with_its_sequence(monkeypatch):
    seen = []
    monkeypatch.setattr(linear, "measure_speed", lambda case, system, device, **o: seen.append((system, o)) or _SPEED)
    system = Poiseuille(4, 4, 4).system()
    table = speed_tables.with_speedups(speed_tables._measured([system], speed_tables.baselines(), None, 1e-3))
    assert [(o["strategy"], o["rounds"]) for _, o in seen] == [("linked", 0), *[("planes", PAPER_ROUNDS)] * 2]
    for ordered, _ in seen:
        assert (np.diff(system.cells.of(ordered.position[: system.moving])) >= 0).all()
    assert list(table["way"]) == list(speed_tables.BASELINES)
    assert table["check"].iloc[0].startswith("without noise: forces within")
    assert set(table["check"].iloc[1:]) == {"of TEA"}


@pytest.fixture
def asked(monkeypatch):
    """What is timed: way, particles, device and variant; the k-th of a table does k million updates a second."""
    seen = []

    def measured(cases, ways, record, seconds, variants=({},), **_):
        rows = [(way, system.count, on.name, v) for v in variants for system in cases for way, (_, on) in ways.items()]
        seen.extend(rows)
        table = pd.DataFrame(rows, columns=["way", "particles", "device", "variant"])
        more = {"updates": [1e6 * (1 + k) for k in range(len(rows))], "rounds": 8, "launch": "one by one"}
        return table.assign(**more, seconds=1e-3, spread=0.01, precision="single", runs=[(1e-3,)] * len(rows))

    monkeypatch.setattr(speed_tables, "_measured", measured)
    return seen


def test_todays_speeds_are_of_all_precisions_and_rounds_on_a_gpu_and_of_the_first_system_on_a_cpu(asked):
    gpu = SimpleNamespace(name="cuda")
    table = speed_tables.today([2, 1], ["single", "double"], [4, 8], gpu, seconds=0.2)
    first, second = (system.count for system in speed_tables.systems([2, 1]))
    fast = [row for row in asked if row[0] == "fastest"]
    variants = [{"precision": p, "rounds": r} for p in ("single", "double") for r in (4, 8)]
    assert fast == [("fastest", count, "cuda", variant) for variant in variants for count in (first, second)]
    slow = [row for row in asked if row[0] != "fastest"]
    assert [(way, count, v) for way, count, _, v in slow] == [
        (way, first, variant) for variant in variants for way in speed_tables.BASELINES
    ]
    # three baselines run before the fastest way, whose first system is the first of its table again
    assert table[f"over {speed_tables.BASELINES[0]}"].tolist() == pytest.approx([1, 2] * 4)


def test_the_channel_on_a_cpu_has_a_width_of_its_own(asked):
    table = speed_tables.channel_table(0.25, 3.0, SimpleNamespace(name="cuda"), seconds=0.2)
    large, small = (speed_tables.channel(0.25, width).system().count for width in (None, 3.0))
    assert {count for way, count, *_ in asked if way in speed_tables.BASELINES} == {small}
    assert {count for way, count, *_ in asked if way.startswith("thread per")} == {large}
    assert len(table) == len(asked) - len(speed_tables.BASELINES)
    assert set(table["baseline particles"]) == {small}


def test_a_linear_program_with_another_force_fails_its_check(monkeypatch):
    def build(setup):
        return linked.build(replace(setup, fluid=replace(setup.fluid, repulsion=18.7)))

    monkeypatch.setitem(STRATEGIES, "wrong", SimpleNamespace(TRAITS=linked.TRAITS, build=build))
    with pytest.raises(CheckError, match="differs from cell"):
        linear.check_linear("wrong", "single", SERIAL)


@pytest.mark.parametrize(("strategy", "rounds"), [("linked", 0), ("particle", PAPER_ROUNDS)])
def test_a_program_of_either_noise_keeps_the_temperature_of_the_fluid(strategy, rounds):
    # kT of 2048 particles scatters by sqrt(2 / 3 / 2048) = 0.018 and is another one after a time of 0.4: 2000 steps of
    # 0.02 are 100 samples, with a standard error of 0.0018; generators that begin anew for each particle had 0.88
    found = linear.kt_of(SERIAL, strategy=strategy, rounds=rounds, steps=2000)
    assert found.error < 0.0025
    assert found.value == pytest.approx(1, abs=linear.LIMIT)


@pytest.mark.parametrize("strategy", ["planes", "cell"])
def test_every_other_program_that_is_timed_has_the_temperature_of_one_with_its_noise(strategy):
    # with one noise two programs differ by rounding, which makes 1e-5 of kT in a hundred steps, and not by chance
    series = []
    for name in (strategy, "particle"):
        simulation = Simulation(in_cell_order(Bulk((4.0,) * 3).system()), SERIAL, strategy=name, rounds=PAPER_ROUNDS)
        series.append([simulation.step(10, every=10) or temperature(simulation) for _ in range(10)])
    np.testing.assert_allclose(*series, atol=1e-4)


def test_a_program_of_another_temperature_is_not_timed():
    table = pd.DataFrame({"program": ["a", "b"], "kT": [1.01, 0.88], "error": [0.001] * 2})
    linear.require_fluid(table[:1])
    for kt in (0.88, 1.12):
        with pytest.raises(CheckError, match=f"b: kT = {kt:.3f} where 1 is set"):
            linear.require_fluid(table.replace(0.88, kt))


def test_plain_c_says_its_rate_and_its_temperature_or_what_is_wrong(tmp_path):
    source = Project.default().root / "tools" / "peers" / "dpd_serial.c"
    found = linear.plain_c(source, tmp_path, (4, 4, 4), 400)
    if found is None:
        pytest.skip("no C compiler")
    assert found["updates"] > 1e4
    assert found["kT"] == pytest.approx(1, abs=0.1)
    with pytest.raises(CheckError, match="dpd_serial.c: three cells a side"):
        linear.plain_c(source, tmp_path, (2, 4, 4), 400)


def test_parts_on_the_host_are_added_to_a_step_and_copies_change_nothing():
    system = Poiseuille(4, 4, 4).system()
    table = host.host_table(1, SERIAL, steps=2)
    assert list(table["on the host"]) == [host.AS_IT_IS, host.LIST, host.NUMBERS, host.COPIES]
    assert table["over a step without"][0] == 1
    assert (table["over a step without"][2:] > 1).all()
    values = host.claim_values(table)
    assert values["dpd-086"]["measured"] == pytest.approx(table["over a step without"][2] - 1)
    for claim, value in values.items():
        assert judge(CLAIMS[claim], Evidence(**value)).verdict is Verdict.NOT_COMPARABLE
    simulation = Simulation(system, SERIAL, strategy="particle")
    before = simulation.particles()
    host._copy_all(simulation)
    for name, values in simulation.particles().items():
        np.testing.assert_array_equal(values, before[name])


def test_the_host_hands_over_the_list_of_where_particles_are_and_a_number_for_each_pair(monkeypatch):
    """Anew each time: the list is that of the last positions, and the numbers are others."""
    system = Poiseuille(4, 4, 4).system()
    simulation = Simulation(system, SERIAL, strategy="particle", capacity=40)
    handed = []
    monkeypatch.setattr(type(SERIAL), "upload", lambda self, array, target: handed.append((array.copy(), target)))
    build, make = host._list_on_the_host(simulation), host._numbers_on_the_host(simulation)
    found = []
    for _ in range(2):
        simulation.step(20)
        where = simulation.particles()["position"]
        build()
        (counts, first), (entries, second) = handed
        assert counts.tolist() == particles_in_cells(replace(system, position=where)).tolist()
        found.append(counts)
        assert (entries.size, second.shape) == (40 * system.cells.count, entries.shape)
        assert first.shape == counts.shape
        handed.clear()
    assert (found[0] != found[1]).any()
    make()
    make()
    (one, target), (other, _) = handed
    assert one.size == target.size == round(system.count * numbers_a_step(system.fluid))
    assert (one != other).all()
    for numbers in (one, other):
        assert abs(numbers.mean()) < 5 / np.sqrt(numbers.size)
        assert abs(numbers.var() - 1) < 5 * np.sqrt(2 / numbers.size)


def test_work_on_the_host_is_timed_after_one_that_does_not_count(monkeypatch):
    """The median of five, not their mean, and the first is cold."""
    clock, worked = iter([5.0, 1.0, 2.0, 90.0, 3.0]), []
    monkeypatch.setattr(host, "host_clock", lambda work, device: (work(), next(clock))[1] if device == "here" else None)
    assert host._seconds("here", lambda: worked.append(1)) == 3.0
    assert len(worked) == 6


def test_numbers_on_the_host_go_on_where_the_last_launch_ended():
    """One sequence over all launches: a generator that began anew would need no time for its state."""
    fill = SERIAL.compile(Kernel(host._numbers_body(), dtype=np.float32, strict=True))
    found, whole = (SERIAL.zeros(n, np.float32) for n in (3, 6))
    words = SERIAL.to_device(np.array([1, 77], np.uint32))
    launch, parts = fill((3,), found, words), []
    for _ in range(2):
        launch()
        parts += list(found)
    fill((6,), whole, SERIAL.to_device(np.array([1, 77], np.uint32)))()
    assert parts == list(whole)
    assert len(set(parts)) == 6
    assert words[1] == 77


def test_the_figures_show_every_baseline_and_the_papers_points():
    table = speed_tables.with_speedups(_table("cuda"))
    paper = judged.published(PAPER)
    drawn = figures.rates(table, paper)[0].axes[0]
    assert set(speed_tables.BASELINES) <= set(drawn.get_legend_handles_labels()[1])
    labels = figures.speedups(table, paper)[0].axes[0].get_legend_handles_labels()[1]
    assert speed_tables.SERIAL_PROGRAM not in labels
    assert {"thread per cell", "paper, thread per particle"} <= set(labels)
