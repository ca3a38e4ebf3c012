"""Speeds are measured only of programs that compute the right forces, and tables compare like with like."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.dpd import benchmark
from repro.dpd.cases import Poiseuille
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import STRATEGIES, linked
from repro.errors import CheckError, InputError
from repro.papers.dpd.speed import tables as speed_tables
from repro.papers.dpd.speed import text, trajectories
from repro.parallel import select
from repro.study import claims

SERIAL = select("serial")
CLAIMS = claims.load("dpd")


def test_a_strategy_with_other_noise_is_not_timed(monkeypatch):
    wrong = SimpleNamespace(TRAITS=linked.TRAITS, build=lambda setup: linked.build(replace(setup, seed=setup.seed + 1)))
    monkeypatch.setitem(STRATEGIES, "wrong", wrong)
    with pytest.raises(CheckError, match="wrong, serial.* differs from one core"):
        benchmark.measure_speed("case", Poiseuille(4, 4, 4).system(), SERIAL, strategy="wrong", seconds=1e-3)


def test_a_speed_is_particles_over_seconds_of_a_step_and_names_its_check():
    system = Poiseuille(4, 4, 4).system()
    found = benchmark.measure_speed("case", system, SERIAL, strategy="linked", seconds=1e-3)
    assert found.rates["updates"] * found.seconds == pytest.approx(system.count)
    assert found.check.startswith("forces within 0.0e+00")
    assert found.choices["launch"] == "from Python, one by one"


def test_a_step_that_takes_long_on_a_core_is_timed_twice(monkeypatch):
    repeats = []
    measure = benchmark.measure
    monkeypatch.setattr(benchmark, "LONG", 0.0)
    monkeypatch.setattr(benchmark, "measure", lambda *a, **k: repeats.append(k["repeats"]) or measure(*a, **k))
    benchmark.measure_speed("case", Poiseuille(4, 4, 4).system(), SERIAL, strategy="linked", seconds=1e-3)
    assert repeats == [2]


def test_no_time_is_refused():
    with pytest.raises(InputError, match="must take some time"):
        benchmark.measure_speed("case", Poiseuille(4, 4, 4).system(), SERIAL, seconds=0)


def test_the_parts_of_a_step_are_those_that_a_step_launches():
    simulation = Simulation(Poiseuille(4, 4, 4).system(), SERIAL, strategy="planes")
    assert list(benchmark.part_times(simulation, seconds=1e-3)) == list(simulation.parts)


def test_the_claims_of_table_4_are_found_by_row_and_column():
    names = {"particles": "particles", "one core": "CPU rate", "thread per cell": "GPU rate thread per cell"}
    names |= {"speedup, cell": "speedup thread per cell", "thread per particle": "GPU rate thread per particle"}
    names |= {"speedup, particle": "speedup thread per particle"}
    for row, size in enumerate(speed_tables.TABLE_4, 1):
        for column, quantity in names.items():
            found = CLAIMS[speed_tables.claim(row, column)]
            assert (found.quantity, found.case) == (quantity, "x".join(str(side) for side in size))


def test_only_the_last_speedup_of_the_paper_does_not_follow_from_its_rates():
    table = speed_tables.published({key: claim.value for key, claim in CLAIMS.items()})
    assert table["from rates, particle"].iloc[:3].to_numpy() == pytest.approx(table["speedup, particle"][:3], rel=0.006)
    assert table["from rates, cell"].to_numpy() == pytest.approx(table["speedup, cell"], rel=0.006)
    assert table["from rates, particle"].iloc[3] == pytest.approx(18.96, abs=0.005)
    assert table["speedup, particle"].iloc[3] == 19.15


def _table(device: str) -> pd.DataFrame:
    # updates a second of the three baselines and both mappings, in units in which the linked list has 1
    rates = {864: (1, 2, 4, 0.5, 0.8), 67584: (1, 2, 8, 6, 12), 540672: (1, 2, 8, 10, 17), 1081344: (1, 2, 8, 12, 19)}
    ways = (*speed_tables.BASELINES, "thread per cell", "thread per particle")
    on = ("serial", "serial", "threads", device, device)
    rows = [(n, *row) for n, values in rates.items() for row in zip(ways, on, values, strict=True)]
    return pd.DataFrame(rows, columns=["particles", "way", "device", "updates"])


def test_every_speedup_is_over_the_same_number_of_particles():
    table = speed_tables.with_speedups(_table("cuda"))
    row = table[(table["particles"] == 67584) & (table["way"] == "thread per particle")].iloc[0]
    assert [row[f"over {name}"] for name in speed_tables.BASELINES] == pytest.approx([12, 6, 1.5])


def test_on_a_gpu_all_claims_of_the_table_get_a_value():
    table = speed_tables.with_speedups(_table("cuda"))
    values = speed_tables.claim_values(table, table[table["particles"] == 540672], full_size=True)
    assert set(values) == {f"dpd-{k:03d}" for k in (1, 33, *range(34, 58), 59, 67)} == set(speed_tables.CLAIMS)
    assert (values["dpd-001"], values["dpd-033"], values["dpd-057"]) == (19, 17, 19)
    assert (values["dpd-059"], values["dpd-067"]) == ("particle > cell", "864 < 67584 < 540672 < 1081344")
    assert [values[f"dpd-{k:03d}"] for k in (34, 40, 46, 52)] == [864, 67584, 540672, 1081344]


def test_without_a_gpu_only_particles_and_the_core_are_measured():
    table = speed_tables.with_speedups(_table("threads"))
    values = speed_tables.claim_values(table, table, full_size=True)
    assert set(values) == {f"dpd-{k:03d}" for k in (34, 35, 40, 41, 46, 47, 52, 53)}


def test_the_result_is_the_papers_mapping_on_the_largest_system_and_the_fastest_way_there():
    table = speed_tables.with_speedups(_table("cuda")).assign(hardware="a GPU")
    table["updates"] *= 1e6
    found = text.result(table)
    assert "mapping on 1081344 particles, on a GPU, is **19 times linked list, one core, 9.5 times planes" in found
    assert "The fastest way at this size is thread per particle (cuda): 19 million updates a second" in found


def test_mappings_that_change_places_are_not_ordered():
    table = _table("cuda")
    table.loc[(table["particles"] == 864) & (table["way"] == "thread per cell"), "updates"] = 9
    assert speed_tables.faster_mapping(table) == "depends on the size"


def test_a_smaller_channel_has_the_same_shape():
    whole, quarter = speed_tables.channel(1), speed_tables.channel(0.25)
    assert quarter.volume == pytest.approx(whole.volume / 64)
    assert np.isclose(quarter.gap / quarter.height, whole.gap / whole.height)
    assert (whole.frozen, quarter.frozen) == (101760, None)


def test_trajectories_diverge_by_other_noise_and_by_nothing_else(monkeypatch):
    wrong = SimpleNamespace(TRAITS=linked.TRAITS, build=lambda setup: linked.build(replace(setup, seed=setup.seed + 1)))
    monkeypatch.setitem(STRATEGIES, "wrong", wrong)
    system = Poiseuille(4, 4, 4).system()
    ways = {name: (name, SERIAL) for name in ("linked", "planes", "wrong")}
    table = trajectories.apart(system, ways, [1, 3], ["single"]).set_index(["way", "step"])
    assert (table.loc["planes", ["largest distance", "particles apart"]] == 0).all(axis=None)
    assert table.loc[("wrong", 3), "particles apart"] == system.moving
    assert 1e-3 < table.loc[("wrong", 3), "largest distance"] < 1


def test_one_way_alone_cannot_be_compared():
    with pytest.raises(InputError, match="at least two"):
        trajectories.apart(Poiseuille(4, 4, 4).system(), {"linked": ("linked", SERIAL)}, [1], ["single"])
