"""What the notebooks on water run, and what they make of it: nothing moves, and all numbers are made up."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainDevice

from repro.errors import CheckError, DivergenceError
from repro.papers.sph import machines, neighbours, speed
from repro.papers.sph.dam_break import runs as dam_break
from repro.papers.sph.ghosts import air, measures, runs
from repro.papers.sph.ghosts.measures import NAMES
from repro.parallel import CpuDevice, select
from repro.sph.cases import DamBreak

CASE = DamBreak(column=(4, 3, 8))
GPU = SimpleNamespace(name="cuda", description="made up")


class Water:
    """Water that does not move; what is asked of it is noted."""

    def __init__(self, system, device, **options):
        self.system, self.device, self.options, self.steps, self.started = system, device, options, 0, 0
        self.air_samples = "air"

    def start(self):
        self.started += 1

    def step(self, count):
        self.steps += count

    def particles(self):
        zero = np.zeros_like(self.system.position)
        return {"position": self.system.position, "velocity": zero, "condensation": zero[:, 0]}

    def summed_condensation(self):
        return "summed"


def test_water_is_looked_at_after_a_time_at_the_nearest_step(monkeypatch):
    monkeypatch.setattr(runs, "Simulation", Water)
    system = CASE.system()
    look = runs.after(system, "here", 7.4 * system.dt, boundary="none")
    assert (look.summed, look.air, look.system) == ("summed", "air", system)
    assert look.time == pytest.approx(7 * system.dt)
    np.testing.assert_array_equal(look.position, system.position)


def test_every_boundary_is_run_from_each_seed_and_two_of_them_on_each_device(monkeypatch):
    asked = []
    monkeypatch.setattr(runs, "after", lambda system, device, seconds, *, boundary: asked.append(
        (system.position[0, 0], device.name, seconds, boundary)) or boundary)  # fmt: skip
    core = CpuDevice("threads", workers=1)
    found = runs.sweep(CASE, core, 0.1, [4, 7])
    assert found == {NAMES[name]: [name] * 2 for name in runs.BOUNDARIES}
    places = [runs.displaced(CASE.system(), seed).position[0, 0] for seed in (4, 7)]
    assert asked == [(place, "threads", 0.1, name) for name in runs.BOUNDARIES for place in places]
    asked.clear()
    columns = runs.columns(CASE, [GPU, core], 0.1, 7)
    # the GPU stands last, whichever ran first
    assert list(columns) == ["one thread" if core.parallel else "one core", "GPU"]
    assert set(columns["GPU"]) == {NAMES[name] for name in runs.PAIR}
    assert {place for place, *_ in asked} == {places[1]}


def test_a_table_has_a_row_for_each_boundary_and_seed(monkeypatch):
    monkeypatch.setattr(measures, "deficits", lambda look: {"counted": {"inside": look}, "excess": {"inside": -look}})
    monkeypatch.setattr(measures, "shape", lambda look: {"surface": 10 * look})
    table = measures.table({"with": [1.0, 2.0], "without": [3.0]})
    assert table.to_dict("records") == [
        {"boundary": name, "seed": seed, "counted inside": x, "excess inside": -x, "surface": 10 * x}
        for name, seed, x in (("with", 0, 1.0), ("with", 1, 2.0), ("without", 0, 3.0))
    ]


def test_the_devices_that_are_compared_are_a_gpu_and_cores_or_one_core_and_the_one_asked_for(monkeypatch):
    monkeypatch.setattr(machines, "resolve", lambda name: "cuda" if name == "auto" else name)
    monkeypatch.setattr(machines, "select", lambda name: SimpleNamespace(name=name, workers=9))
    gpu, cores = machines.pair("auto", 5)
    assert (gpu.name, cores.name, cores.workers) == ("auto", "threads", 5)
    core, other = machines.pair("threads", 5)
    assert (core.name, core.workers, other.workers) == ("threads", 1, 9)


def test_a_variant_that_is_stopped_is_told_up_to_its_last_look(monkeypatch):
    class Stopped(Water):
        def step(self, count):
            super().step(count)
            if self.steps > 6:
                raise DivergenceError("too fast")

    monkeypatch.setattr(air, "Simulation", Stopped)
    variant = air.Variant("soft", soft=True)
    dt = variant.system(CASE).dt
    table = air.follow(variant, CASE, None, 8 * dt, 4)
    assert table["time"].tolist() == pytest.approx([2 * dt, 4 * dt, 6 * dt])
    assert table["stopped"].tolist() == [True] * 3
    # water that does not move is a column wide, has not fallen and has its energy
    assert table["front"].tolist() == pytest.approx([1.0] * 3, abs=0.2)
    assert table[["fallen", "energy", "compression"]].to_numpy().tolist() == [[0, 0, 0]] * 3


def test_what_a_variant_has_fallen_is_over_a_free_fall_and_its_energy_over_that_of_its_place(monkeypatch):
    system = CASE.system()
    fall, potential = 0.01, 4.0
    moved = system.position - [0, 0, fall]
    found = {"position": moved, "condensation": np.array([0.1, -0.3])}
    simulation = SimpleNamespace(particles=lambda: found, steps=50)
    monkeypatch.setattr(air, "energy", lambda *_: SimpleNamespace(kinetic=1.0, potential=3.5, internal=99.0))
    monkeypatch.setattr(air, "front", lambda *_: 0.6)
    time, front, fallen, energy, compression = air._look(simulation, system, 0.3, potential)
    assert time == pytest.approx(50 * system.dt)
    assert (front, energy, compression) == (pytest.approx(2), pytest.approx(4.5 / 4 - 1), 0.3)
    assert fallen == pytest.approx(fall / (9.81 * time**2 / 2))


def test_every_variant_has_a_row_with_what_varies_and_whether_it_fails(monkeypatch):
    def follow(variant, case, device, seconds, looks):
        assert (case, device, seconds, looks) == (CASE, "here", 0.1, air.SHORT_LOOKS)
        stopped = variant.name == "paper's B"
        rows = 0 if stopped else 3
        columns = {"time": [0.02, 0.05, 0.1], "front": 1.0, "fallen": [0.1, 0.2, 0.5]}
        columns |= {"energy": 0.0, "compression": 0.1}
        return pd.DataFrame(columns)[:rows].assign(stopped=stopped)

    monkeypatch.setattr(air, "follow", follow)
    table = air.variants(CASE, "here", 0.1).set_index("variant")
    assert list(table.index) == [variant.name for variant in air.VARIANTS]
    first = table.iloc[0]
    assert (first["time"], first["fallen"], first["xsph"], first["stiffness"]) == (
        0.1, 0.5, 0.0, pytest.approx(CASE.fluid.stiffness / 1000)
    )  # fmt: skip
    assert np.isnan(first["radius"])
    assert table.loc["soft water, sown each 20 steps", "every"] == 20
    assert table.loc["paper's B, samples farther apart", "radius"] == 0.95
    # one was stopped before its first look
    assert table.loc["paper's B", "time"] == 0
    assert table["fails"].to_dict() == {name: name == "paper's B" for name in table.index}
    soft = air.SOFT.system(CASE).fluid.stiffness / 1000
    assert table.loc[air.SOFT.name, "stiffness"] == pytest.approx(soft)


def test_columns_collapse_in_soft_water_and_the_last_one_by_equation_4_too(monkeypatch):
    def follow(variant, case, device, seconds, looks):
        assert looks == air.LONG_LOOKS
        return variant.density, case.column, variant.soft, variant.sampling and variant.sampling.every

    monkeypatch.setattr(air, "follow", follow)
    found = air.through([[2, 2, 3], [2, 2, 4], [3, 2, 4]], CASE, None, 0.1)
    assert found == {
        "equation 3, 12 particles": ("summation", (2, 2, 3), True, air.EVERY),
        "equation 3, 16 particles": ("summation", (2, 2, 4), True, air.EVERY),
        "equation 3, 24 particles": ("summation", (3, 2, 4), True, air.EVERY),
        "equation 4, 24 particles": ("continuity", (3, 2, 4), True, None),
    }


def test_fronts_run_to_the_far_wall_by_their_number_of_particles(monkeypatch):
    monkeypatch.setattr(
        dam_break, "_to_the_wall", lambda case, device: SimpleNamespace(system=case.system(), case=case, device=device)
    )
    found = dam_break.fronts([[4, 3, 8], [2, 2, 4]], "here")
    assert list(found) == [96, 16]
    assert [run.case.column for run in found.values()] == [(4, 3, 8), (2, 2, 4)]
    assert {run.device for run in found.values()} == {"here"}


def test_a_film_goes_on_for_twice_as_long_as_its_pictures_and_energies_are_looked_at_more_often(monkeypatch):
    monkeypatch.setattr(dam_break, "follow", lambda case, device, times, kept: (case, device, times, kept))
    case, device, times, kept = dam_break.watch("case", "here", [0.0, 0.25, 0.5], 0.25, 0.125)
    assert (case, device) == ("case", "here")
    assert kept == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
    assert times == pytest.approx(np.arange(9) / 8)


def test_water_deep_inside_has_as_many_neighbours_as_its_sphere_holds():
    """And its search looks at 27 cells."""
    table = neighbours.candidate_table([1.0], 11, PlainDevice(), seed=1)
    (row,) = table.to_dict("records")
    support = 2.0
    assert row["ratio"] == 1.0
    assert row["sphere over spacing^3"] == pytest.approx(4 / 3 * np.pi * support**3)
    assert row["neighbours"] == pytest.approx(row["sphere over spacing^3"], rel=0.1)
    assert row["candidates a neighbour"] == pytest.approx(row["candidates"] / row["neighbours"])
    # cells are no narrower than the support
    assert row["by volumes"] >= 27 / (4 / 3 * np.pi) - 1e-9
    assert row["candidates a neighbour"] == pytest.approx(row["by volumes"], rel=0.15)
    with pytest.raises(CheckError, match=r"no particle of 4\^3 lies two cells deep at ratio 1"):
        neighbours.candidate_table([1.0], 4, PlainDevice(), seed=1)


def test_more_neighbours_than_are_written_down_are_found_out():
    with pytest.raises(CheckError, match="neighbours: more than the 1 that are written down"):
        neighbours.kinds_table(2, PlainDevice(), 0.001, width=1)


def test_cells_whose_neighbours_differ_are_found_out(monkeypatch):
    """A grid in which the first cell alone is among those that it visits."""
    monkeypatch.setattr(neighbours, "neighbour", lambda place, k, shape: k if tuple(place) == (0, 0, 0) else k + 100)
    with pytest.raises(CheckError, match="cells have"):
        neighbours.neighbour_cells((3, 3, 3))


def test_two_fluids_lie_one_above_the_other_around_a_body_and_ghosts_in_the_walls():
    system, kinds = neighbours.mixture(6)
    spacing = system.resolution.spacing
    assert {name: len(places) for name, places in kinds.items()} == {
        # 216 places, of which two in three dimensions are the body's; a layer around all of them
        "fluid": 108 - 4, "second fluid": 108 - 4, "obstacle": 8, "ghosts": 8**3 - 6**3,
    }  # fmt: skip
    assert kinds["fluid"][:, 2].max() < 3.3 * spacing
    assert kinds["second fluid"][:, 2].min() > 2.7 * spacing
    outside = kinds["ghosts"] / spacing
    assert (((outside < 0) | (outside > 6)).any(1)).all()
    assert (np.abs(kinds["obstacle"] / spacing - 3) < 1).all()
    # shaken by three tenths of a spacing at most
    lattice = np.abs(kinds["fluid"] / spacing % 1 - 0.5)
    assert 0.2 < lattice.max() <= 0.3 + 1e-9


def test_a_cpu_has_no_more_threads_than_cores():
    cores = select("threads").workers
    assert speed.on_threads(1).workers == 1
    assert speed.on_threads(1000).workers == cores


@pytest.fixture
def timed(monkeypatch):
    """What is timed: a step takes 2, 4, 6, ... ms."""
    seen = []

    def speed_table(runs, record, *, measured, includes):
        assert measured is speed.measure_speed
        seen.extend(runs)
        seconds = [2e-3 * (k + 1) for k in range(len(runs))]
        rows = [
            {"updates": 1e4 / s, "seconds": s, "device": on.name}
            for s, (_, _, on, _) in zip(seconds, runs, strict=True)
        ]
        return pd.DataFrame(rows)

    monkeypatch.setattr(speed, "speed_table", speed_table)
    return seen


def test_every_program_is_timed_with_every_system_and_held_against_the_cpus(timed):
    table = speed.time_table({15: "small", 30: "large"}, GPU, seconds=0.1, runs=3)
    ways = [*speed.ways(GPU)]
    assert ways == [
        speed.PAPER, speed.GPU_LIST, speed.GLOBAL_SORT, speed.FOUR_THREADS, speed.ONE_CORE,
        speed.SORTED_CELLS, speed.SORTED_ON_CORES,
    ]  # fmt: skip
    assert table[["thousands", "way"]].to_numpy().tolist() == [[n, way] for n in (15, 30) for way in ways]
    assert table["ms"].tolist() == pytest.approx([2.0 * k for k in range(1, 15)])
    assert table["million/s"].tolist() == pytest.approx((0.01 / (table["ms"] / 1e3)).tolist())
    # one core is the fifth: 10 ms, and 24 with the larger system
    assert table[f"over {speed.ONE_CORE}"].tolist() == pytest.approx((np.repeat([10, 24], 7) / table["ms"]).tolist())
    case, system, _, options = timed[0]
    assert (case, system) == (f"15k, {speed.PAPER}, cuda", "small")
    assert options == {"strategy": "cell table, block sort", "seconds": 0.1, "runs": 3}
    few = speed.time_table({15: "small"}, GPU, seconds=0.1, runs=1, only=[speed.ONE_CORE])
    assert few["way"].tolist() == [speed.ONE_CORE]
    assert f"over {speed.FOUR_THREADS}" not in few
    assert list(speed.ways(SimpleNamespace(name="threads"))) == [
        speed.PAPER, speed.FOUR_THREADS, speed.ONE_CORE, speed.SORTED_CELLS
    ]  # fmt: skip


def test_pysphs_fluid_is_timed_on_all_cores_and_on_a_gpu(timed):
    table = speed.pysph_table(GPU, seconds=0.1)
    assert [on.name for _, _, on, _ in timed] == [select("threads").name, "cuda"]
    assert {system.count for _, system, *_ in timed} == {5016}
    assert table["ms"].tolist() == pytest.approx([2.0, 4.0])
    assert len(speed.pysph_table(SimpleNamespace(name="threads"), seconds=0.2)) == 1


def test_systems_are_named_by_their_thousands():
    found = speed.loaded_systems([[10, 10, 10], [20, 10, 12]])
    assert {thousands: system.count for thousands, system in found.items()} == {1: 1000, 2: 2400}
    for column, system in zip(([10, 10, 10], [20, 10, 12]), found.values(), strict=True):
        expected = DamBreak.of_paper(tuple(column)).system()
        assert system.tank == expected.tank


def test_a_plain_c_program_with_other_particles_is_found_out(monkeypatch):
    monkeypatch.setattr(speed.shutil, "which", lambda name: name)
    said = [f"{20 * 20 * 25 + 1},7,70,1,2,3,4,5,6", f"{20 * 20 * 25},7,70,1,2,3,4,5,6"]
    words = []
    monkeypatch.setattr(
        speed.subprocess, "run", lambda given, **_: words.append(given) or SimpleNamespace(stdout=said[0])
    )
    with pytest.raises(CheckError, match="10001 particles of fluid, not 10000"):
        speed.plain_c(speed.Path("root"), 15)
    # the column, the tank's length and width, the ratio and the steps
    assert words[1][1:] == ["20", "20", "25", "50", "20", "1.3", "20"]
    assert words[0][:3] == ["cc", "-O3", "-march=native"]
    said.pop(0)
    found = speed.plain_c(speed.Path("root"), 15)
    # the list and two passes; the second pass of each pair once
    assert found.to_dict() == {"linked list": 1 + 2 + 4, "each pair once": 1 + 5 + 6, "neighbours": 70, "ghosts": 7}


def test_all_rungs_but_the_last_run_on_one_core(monkeypatch):
    """By name of the device; the last one's samples are whole steps."""
    one, every = (SimpleNamespace(name=name, description=name) for name in ("one core", "all cores"))
    monkeypatch.setattr(speed, "system_of", lambda thousands: thousands)
    monkeypatch.setattr(speed, "on_threads", {1: one}.get)
    monkeypatch.setattr(speed, "select", {"threads": every}.get)
    parts = pd.DataFrame({"a": [1.0, 2.0, 3.0, 9.0], "b": 1.0})
    monkeypatch.setattr(speed, "_sampled", lambda system, strategy, device, samples: (None, parts))
    monkeypatch.setattr(speed, "_whole_steps", lambda system, strategy, device, samples: parts.sum(axis=1))
    table = speed.ladder_table(15, 4)
    assert table["device"].tolist() == ["one core"] * (len(speed.RUNGS) - 1) + ["all cores"]
    assert table[["ms", "from", "to", "least"]].drop_duplicates().to_numpy().tolist() == [[3.5, 2.75, 5.5, 2.0]]
    assert set(table["of all"]) == {1.0}
