"""The tables of speeds: what is compared with what, and which claims a run can judge. All numbers are made up."""

import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.judging import by_statement
from helpers.plain import PlainCore

from repro.errors import InputError, MemoryLimitError
from repro.papers.electrons.speed import figures, programs, tables
from repro.papers.style import PAPER
from repro.parallel import Speed, Timing
from repro.parallel.ranks.domain import split
from repro.study.judge.claims import find, load
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict
from repro.study.notebooks import Project

CLAIMS = load("electrons")
SIZES = sorted(tables.TREND_NAMES)

#: one run, as short as its timer takes it
ONCE = {"seconds": 0.1, "runs": 1}

#: ns of a particle's step; a GPU's grow with the number of particles by a half at each size
_NS = {
    programs.PAPER: 1.0,
    programs.ON_DEVICE: 0.5,
    programs.PRODUCTION: 0.25,
    programs.TILES: 0.5,
    programs.LOOP: 100.0,
    programs.BATCHES: 10.0,
    programs.LOOP_ON_CORE: 400.0,
    programs.BATCHES_ON_CORE: 40.0,
}


class _Gpu(PlainCore):
    name, description = "cuda", "a GPU"


def speed(case, system, device, *, seconds, runs, strategy, precision, sort_every) -> Speed:
    """Instead of a measurement: runs that differ by a percent."""
    name = case.split(" particles, ")[1].rpartition(", ")[0]
    step = 1e-9 * _NS[name] * system.count
    if name in programs.ON_GPU:
        step *= 1.5 ** SIZES.index(system.count) if system.count in SIZES else 1
    work = {"updates": system.count, "segments": 1.75 * system.count}
    by_host = name in (programs.PAPER, programs.ON_DEVICE)
    facts = {"particles": system.count, "cells": system.mesh.shape[0] ** 3, "per step": 1.75, "sort every": sort_every}
    facts |= {"launches": 800 if by_host else 1, "busy": 0.9 if by_host else None}
    timings = [Timing(step * factor, step, 0.02, 5) for factor in (0.99, 1, 1.01)[:runs]]
    more = {"strategy": name, "precision": precision, "size": "", "check": "the same bits", "choices": facts}
    return Speed.of(case, device, timings, work=work, **more)


@pytest.fixture
def timed(monkeypatch):
    """A GPU, on which nothing runs."""
    monkeypatch.setattr(tables, "measure_speed", speed)
    return _Gpu()


def test_the_most_particles_fit_on_the_device_and_a_plasma_on_the_host_before_anything_is_timed():
    small = SimpleNamespace(name="tiny", free_memory=lambda: 1_000_000)
    tables.require_fit(small, [30, 9_000], 30)
    with pytest.raises(MemoryLimitError, match=r"^30000 particles needs .*, but tiny has 976.6 KiB free: use fewer"):
        tables.require_fit(small, [30, 30_000], 30)
    with pytest.raises(MemoryLimitError, match=r"^\d+ particles needs .*, but serial has"):
        tables.require_fit(small, [30], 2**40)


def test_a_set_up_has_exactly_the_particles_and_about_thirty_a_cell():
    for particles in (100_000, 300_000, 3_000_000, tables.PAPER_PARTICLES):
        case = tables.cube(particles)
        assert case.particles == particles
        assert case.per_cell == pytest.approx(tables.PER_CELL, rel=0.1)
    assert tables.cube(1000, tables.Plasma).particles == 1000


@pytest.mark.parametrize("particles", [1000, 30_000, 3_000_000, tables.PAPER_PARTICLES])
def test_processes_of_four_gpus_divide_the_cells_of_every_size(particles):
    """Eight a GPU, as the paper has them; 3 x 10^6 particles were 46 cells a side, which 16 do not divide."""
    case = tables.cube(particles, multiple=tables.DIVISIBLE)
    assert case.particles == particles
    assert [np.prod(split((case.cells,) * 3, count)) for count in (8, 16, 32, 64)] == [8, 16, 32, 64]


def test_fewer_particles_than_one_cell_has_are_refused():
    with pytest.raises(InputError, match="particles = 3: must be a whole number from 30 to 2147483647$"):
        tables.cube(3)


def test_one_core_is_for_few_particles_and_without_a_gpu_the_cpus_programs_are_left(timed):
    assert list(tables.chosen(timed, 1000, one_core=1000)) == list(_NS)
    assert list(tables.chosen(timed, 1001, one_core=1000)) == list(_NS)[:6]
    assert list(tables.chosen(PlainCore(), 1001)) == list(programs.ON_CORES)
    with pytest.raises(InputError, match="program"):
        tables.chosen(timed, 1000, ["quick"])
    with pytest.raises(InputError, match="particles of one core = -1: must be a whole number from 0 to 2147483647$"):
        tables.chosen(timed, 1000, one_core=-1)
    both = [programs.PAPER, programs.BATCHES]
    assert list(tables.chosen(PlainCore(), 1000, both)) == [programs.BATCHES]


def test_the_papers_program_does_not_sort_and_a_cpu_does(timed):
    found = {name: options for name, (_, options) in programs.programs(timed).items()}
    assert found[programs.PAPER]["strategy"].fields_on_host
    assert not found[programs.ON_DEVICE]["strategy"].fields_on_host
    assert [found[name]["sort_every"] for name in (programs.PAPER, programs.LOOP, programs.PRODUCTION)] == [0, 20, 20]
    # the check of a strategy is remembered by the object
    assert programs.programs(timed)[programs.PAPER][1]["strategy"] is found[programs.PAPER]["strategy"]


def test_speedups_are_ratios_of_each_run_and_both_claims_are_judged(timed):
    table = tables.speeds(SIZES, timed, seconds=0.1, runs=3)
    assert set(table["program"]) == {*programs.ON_GPU, *programs.ON_CORES}
    ratios = tables.speedups(table)
    assert len(ratios) == 3 * 4 * 2
    found = tables.claim_values(ratios, table)
    assert found[tables.SPEEDUP]["measured"] == pytest.approx(100 / 1.5**2)
    assert found[tables.SPEEDUP]["scatter"] == pytest.approx(0, abs=1e-12)
    assert found[tables.SPEEDUP]["baseline"].startswith("particle by particle on all cores")
    # runs of 20, 29 and 26 lie 9 apart, 4.5 to either side
    apart = ratios.assign(runs=[[20.0, 29.0, 26.0]] * len(ratios))
    assert tables.claim_values(apart, table)[tables.SPEEDUP]["scatter"] == pytest.approx(4.5)
    evidence = Evidence(found[tables.TREND]["measured"])
    assert by_statement(CLAIMS[tables.TREND], evidence) is Verdict.REPRODUCED
    evidence = Evidence(found[tables.SPEEDUP]["measured"], baseline=found[tables.SPEEDUP]["baseline"])
    assert by_statement(CLAIMS[tables.SPEEDUP], evidence) is Verdict.REPRODUCED
    setup, loop = tables.setup(find(tables.SETUP), SIZES, 1), 10.0
    cores = int(re.search(r"(\d+) core", table[table["program"] == programs.LOOP]["hardware"].iloc[0])[1])
    # the paper has eight cores for each GPU
    assert tables.over_the_papers_cores(loop, setup) == pytest.approx(loop * cores / 8)
    said = tables.headline(table, 30.0)
    assert said.startswith("In the paper's way one GPU moves 30,000,000 electrons 44.4 times as fast as a loop")
    assert said.endswith("paper: over 30 with four.")
    assert len(said.split()) <= 25
    times = tables.relative_times(table)
    assert list(times.loc[programs.PAPER]) == pytest.approx([1 / 1.5**2, 1 / 1.5, 1])
    assert list(times.loc[programs.LOOP]) == pytest.approx([1, 1, 1])
    for figure, arrays in (figures.times(table), figures.speedups(ratios, 30.0, PAPER)):
        assert len({len(values) for values in arrays.values()}) == 1
        plt.close(figure)


def test_a_slow_plasma_is_small_for_one_core(timed):
    names = [programs.PRODUCTION, programs.BATCHES_ON_CORE]
    found = tables.slow_speeds(2000, timed, one_core=500, names=names, precisions=["single", "double"], seconds=0.1)
    assert set(found["runs"].map(len)) == {1}
    assert found["particles"].tolist() == [2000, 500] * 2
    assert found["precision"].tolist() == ["single"] * 2 + ["double"] * 2
    assert set(found["system"]) == {"plasma"}
    none = tables.slow_speeds(2000, timed, one_core=0, names=names, precisions=["single"], seconds=0.1)
    assert none["program"].tolist() == names[:1]


def test_a_trend_that_goes_the_other_way_is_not_reproduced(timed):
    ratios = tables.speedups(tables.speeds(SIZES, timed, seconds=0.1, runs=3))
    ratios["runs"] = [[1e3 / value for value in runs] for runs in ratios["runs"]]
    measured = tables.claim_values(ratios, tables.speeds([SIZES[-1]], timed, **ONCE))[tables.TREND]["measured"]
    assert by_statement(CLAIMS[tables.TREND], Evidence(measured)) is Verdict.NOT_REPRODUCED


def test_without_a_gpu_or_the_papers_sizes_nothing_is_judged(timed, monkeypatch):
    table = tables.speeds([1000], PlainCore(), one_core=1000, **ONCE)
    assert tables.speedups(table).empty
    said = tables.headline(table, 30.0)
    assert said.startswith("Without a GPU vector code moves 1,000 electrons")
    assert len(said.split()) <= 25
    assert tables.claim_values(tables.speedups(table), table) == {}
    few = tables.speeds(SIZES[:2], timed, **ONCE)
    assert tables.claim_values(tables.speedups(few), few) == {}


def test_the_set_up_is_the_papers_particles_on_other_hardware():
    table = tables.setup(find(tables.SETUP), [1000, 2000], 0).set_index("id")
    assert table.loc["electrons-002", ["paper", "here"]].tolist() == ["30000000", 2000]
    assert table["paper"].tolist()[1:] == ["32", "4"]
    assert int(table.loc["electrons-002", "paper"]) == tables.PAPER_PARTICLES
    assert {float(name): size for size, name in tables.TREND_NAMES.items()} == {n: n for n in tables.TREND_NAMES}


@pytest.mark.parametrize(
    ("part", "group"),
    [
        ("magnetic field", "fields"),
        ("guards of the current", "fields"),
        ("fields to the device", "bus"),
        ("currents to the host", "bus"),
        ("clock", "births"),
        ("births and pointers", "births"),
        ("particles", "segments"),
        ("launches and looks", "segments"),
        ("sum of currents", "currents of blocks or cores"),
        ("sum over blocks", "currents of blocks or cores"),
        ("sorting", "sorting"),
    ],
)
def test_each_part_of_a_step_has_its_group(part, group):
    assert tables.group_of(part) == group


def test_parts_are_nanoseconds_a_particle_and_so_are_their_points(monkeypatch):
    monkeypatch.setattr(tables, "cube", lambda particles: tables.UniformSource(cells=2, per_cell=particles / 8))
    program = PlainCore(), {"strategy": "global sums", "sort_every": 5}
    monkeypatch.setattr(tables, "programs", lambda device: {programs.LOOP: program})
    table = tables.parts(16, PlainCore(), [programs.LOOP], steps=1)
    by_part = table.set_index("part")["ns"]
    # a millisecond a launch, over 16 particles
    assert by_part["particles"] == pytest.approx(1e6 / 16)
    shares = tables.part_shares(table).loc[programs.LOOP]
    assert shares["segments"] == pytest.approx(100 * by_part["particles"] / by_part.sum())
    assert shares["step (ns)"] == pytest.approx(by_part.sum())
    figure, arrays = figures.part_points(table)
    assert arrays["segments"][0] == pytest.approx(1e6 / 16)
    # a part a hundred times shorter than another has a point that one can see
    assert figure.axes[0].get_xscale() == "log"
    plt.close(figure)


def test_other_codes_stand_beside_our_best(timed):
    others = pd.read_csv(Project.default().data / "reference" / "pic_speeds.csv", comment="#")
    assert dict(zip(others["code"], others["ns"], strict=True))["PIConGPU"] == 0.373
    found = tables.comparison(
        [tables.speeds([1000], timed, one_core=1000, seconds=0.1, runs=3)], Project.default().data
    )
    ours = found[found["who"] == "this run"].set_index("where")
    assert ours.loc["GPU", "ns"] == pytest.approx(0.25)
    assert ours.loc["one core", "ns"] == pytest.approx(40)
    assert set(found.loc[found["who"] != "this run", "precision"]) == {"-"}
    figure, arrays = figures.codes(found)
    assert len(arrays["ns"]) == 6
    plt.close(figure)


def test_a_claim_of_which_a_run_knows_nothing_is_not_measured():
    """And all others have their own value."""
    given, missed = {}, []
    record = SimpleNamespace(
        measure=lambda claim, **value: given.update({claim: value}),
        not_measured=lambda claim, why: missed.append(claim),
    )
    tables.record_claims(record, {tables.TREND: {"measured": 2.0}})
    assert given == {tables.TREND: {"measured": 2.0}}
    assert sorted([*given, *missed]) == sorted(tables.JUDGED)


def test_a_reader_sees_segments_a_second_and_a_dash_where_a_program_has_no_such_number(timed):
    table = tables.summary(tables.speeds([1000], timed, names=[programs.PAPER, programs.PRODUCTION], **ONCE))
    assert table["program"].tolist() == [programs.PAPER, programs.PRODUCTION]
    # 1.75 segments in 1 ns and in a quarter of one
    assert table["10^6 segments/s"].tolist() == pytest.approx([1750, 7000], rel=0.02)
    assert table["segments/step"].tolist() == [1.75] * 2
    assert table["ms"].tolist() == pytest.approx([1e-3, 0.25e-3], rel=0.02)
    assert table["busy"].tolist() == [0.9, tables.UNKNOWN]
    both = tables.summary(*[tables.speeds([n], timed, names=[programs.PAPER], **ONCE) for n in (1000, 2000)])
    assert both["particles"].tolist() == [1000, 2000]


def test_no_particles_have_no_speeds(timed):
    assert tables.speeds([], timed, **ONCE).empty
