"""What the notebooks of the dpd paper run, and what they say of it: nothing is simulated, all numbers are made up."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.dpd import exact
from repro.dpd.averages import Field
from repro.dpd.cases import Channel, Poiseuille
from repro.dpd.fluid import Fluid
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.observables import Estimate
from repro.errors import CheckError
from repro.papers.dpd.cell_list import speed as lists
from repro.papers.dpd.flow import flows, plates, sections
from repro.papers.dpd.load_balance import balance
from repro.papers.dpd.memory_and_launch import access, memory, occupancy
from repro.papers.dpd.random_numbers import cycle, density_waves
from repro.papers.dpd.speed import host, linear, tables
from repro.papers.dpd.thermodynamics import checks, equilibrium, transport

GPU = SimpleNamespace(name="cuda", description="made up")


def test_a_list_is_one_row_of_all_its_parts_in_microseconds_and_particles_a_second():
    rows = [("table", "cpu", "random", 500, part, 1e-6, 2e-5) for part in ("clear", "fill")]
    rows += [("table", "cpu", "random", 800, "fill", 1e-6, 4e-5), ("table", "cpu", "by cell", 500, "fill", 1e-6, 1e-5)]
    parts = pd.DataFrame(rows, columns=["list", "device", "order", "particles", "part", "seconds", "whole"])
    table = lists.totals(parts)
    assert table["particles"].tolist() == [500, 800, 500]
    assert table["microseconds"].tolist() == pytest.approx([20, 40, 10])
    assert table["rate"].tolist() == pytest.approx([2.5e7, 2e7, 5e7])


def test_filling_and_clearing_are_in_microseconds_and_all_entries_are_cleared(monkeypatch):
    """A table of seven cells and four rows: 7 counts and 28 entries."""
    made = SimpleNamespace(counts=np.zeros(7), entries=np.zeros(28))
    monkeypatch.setattr(lists, "make_list", lambda *given: (made, {"clear the table": 1, "fill the table": 2}, None))
    cleared, timed = [], []

    def part_seconds(parts, device, seconds):
        timed.append((device, seconds))
        return {"fill the table": 3e-6, "other": 1.0}

    def time_launches(launches, device, seconds):
        timed.append((device, seconds))
        cleared.extend(launches)
        return SimpleNamespace(seconds=5e-6)

    monkeypatch.setattr(lists, "part_seconds", part_seconds)
    monkeypatch.setattr(lists, "time_launches", time_launches)
    device = SimpleNamespace(compile=lambda kernel: lambda shape, array: (shape, array))
    system = SimpleNamespace(position=None, cells=None)
    assert lists._clearing(system, device, 4, 0.1) == pytest.approx([3, 5])
    assert [shape for shape, _ in cleared] == [(7,), (28,)]
    assert cleared[0][1] is made.counts
    assert cleared[1][1] is made.entries
    assert lists._update(system, device, 4, 0.1) == 5e-6
    assert cleared[2:] == [1, 2]
    assert timed == [(device, 0.1)] * 3


def test_each_program_has_its_viscosity_at_the_density_of_the_flow(monkeypatch):
    asked = []

    def reverse_flow(device, fluid, drive, flow, **options):
        asked.append((device.name, fluid, drive, flow, options))
        return Estimate(float(len(asked)), 0.1), None

    monkeypatch.setattr(plates, "reverse_flow", reverse_flow)
    case = Poiseuille(4, 4, 10)
    found = plates.viscosities(GPU, 3.7, case, "flow", 0.2)
    assert {name: estimate.value for name, estimate in found.items()} == {"serial program": 1, "GPU's program": 2}
    assert [(name, options) for name, _, _, _, options in asked] == [
        ("serial", flows.SERIAL_PROGRAM), ("cuda", flows.GPU_PROGRAM)
    ]  # fmt: skip
    for _, fluid, drive, flow, _ in asked:
        assert (fluid.density, fluid.repulsion, drive, flow) == (3.7, case.fluid.repulsion, 0.2, "flow")


def test_a_flow_is_expected_to_be_slower_than_sound_and_settled_after_four_relaxations():
    case = Poiseuille(4, 4, 10, 0.02)
    fluid = case.fluid
    found = plates.expectation(case, 10_000)
    # rho g H^2 / (8 eta), and H^2 / (pi^2 nu)
    eta = exact.viscosity(fluid)
    assert found["mach"] == pytest.approx(fluid.density * 0.02 * 100 / (8 * eta) / exact.sound_speed(fluid))
    assert found["steps"] == pytest.approx(100 * fluid.density / (np.pi**2 * eta) / fluid.dt)
    assert found["times"] == pytest.approx(10_000 / found["steps"])
    assert plates.expectation(case, int(found["steps"] * 4.01))["holds"]
    assert not plates.expectation(case, int(found["steps"] * 3.99))["holds"]


def test_the_channels_force_is_told_beside_the_plane_flows_in_the_papers_channel():
    case = Channel(32, 6, 16, 12, 4, frozen=None, drive=0.05)
    table = sections.drives(case).set_index("channel")
    nu = exact.viscosity(case.fluid) / case.fluid.density
    row = table.loc["this run"]
    speed = sections.creeping_speed(case, nu)
    assert row["force"] == 0.05
    assert row["at most"] == pytest.approx(speed, abs=6e-4)
    assert row["Mach"] == pytest.approx(speed / exact.sound_speed(case.fluid), abs=6e-4)
    # the time goes with the square of the height: 4 and 16
    steps = row[["narrow part (steps)", "wide part (steps)"]].tolist()
    assert steps == pytest.approx([h**2 / (np.pi**2 * nu * case.fluid.dt) for h in (4, 16)], rel=1e-3)
    other = table.iloc[1]
    assert other["force"] == 0.02
    assert other["at most"] == pytest.approx(sections.creeping_speed(Channel(drive=0.02), nu), rel=1e-3)


def test_the_largest_velocity_of_a_channel_is_that_of_either_section_over_its_bound():
    case = Channel(32, 6, 16, 12, 4, frozen=None, drive=0.05)
    x, z = np.arange(32) + 0.5, case.walls.bottom + (np.arange(32) + 0.5) / 2
    narrow = (np.abs(x - 16) < 6)[:, None]
    inside = ~narrow | (np.abs(z - case.walls.bottom - 8) < 2)[None, :]
    bound = sections.creeping_speed(case, exact.viscosity(case.fluid) / case.fluid.density)
    for share, holds in ((0.5, True), (1.5, False)):
        u = np.where(inside, np.where(narrow, share * bound, 0.1 * bound), np.nan)
        zero = np.where(inside, 0.0, np.nan)
        field = Field(x, z, np.where(inside, 4.0, 0.0), u, zero, zero + 1, 5)
        found = sections.fastest([field, field], case)
        assert found == {"fastest": pytest.approx(share * bound), "share": pytest.approx(100 * share), "holds": holds}


def test_sorting_takes_an_order_a_rank_and_a_histogram_over_the_table_of_the_fullest_cell(monkeypatch):
    counts = {"even": np.array([2, 3]), "drops": np.array([9, 0])}
    monkeypatch.setattr(balance, "particles_in_cells", lambda system: counts[system.name])
    systems = {name: SimpleNamespace(name=name, cells=SimpleNamespace(count=50)) for name in counts}
    # four bytes each: 50 of an order and of a rank, 2 * 9 + 3 of a histogram; 50 columns of nine entries and two more
    assert balance.extra_memory(systems) == pytest.approx((100 + 21) / (50 * 11))


def test_cached_places_are_timed_with_the_registers_that_plain_loads_take(monkeypatch):
    asked = []

    def speed_table(runs, record, *, measured, includes):
        assert (measured, record) == (memory._kernel_speed, "record")
        asked.extend(runs)
        rows = {"constants": memory.CACHED, "registers": 56, "occupancy": 0.5, "seconds": [2.0, 4.0]}
        return pd.DataFrame(rows | {"runs": [(1.0,)] * 2, "spread": 0.0})

    monkeypatch.setattr(memory, "speed_table", speed_table)
    monkeypatch.setattr(memory, "reference_forces", lambda system, rounds: ("forces", rounds))
    rows = [("half", "global memory", 3.0, 56), ("half", "read-only path", 1.0, 40), ("full", "global memory", 9.0, 72)]
    times = pd.DataFrame(rows, columns=["stencil", "constants", "seconds", "registers"])
    found = memory.with_equal_registers(times, "system", "here", "record", seconds=0.1, runs=3)
    assert found[memory.GAIN].tolist() == [1.5, 0.75]
    assert [options["place"] for *_, options in asked] == ["read-only path", "texture object"]
    for case, system, device, options in asked:
        assert case.endswith(f"56 registers at most, constants: {options['place']}")
        expected = {"stencil": "half", "registers": 56, "runs": 3, "seconds": 0.1, "expected": ("forces", PAPER_ROUNDS)}
        assert (system, device, options) == ("system", "here", expected | {"place": options["place"]})


@pytest.mark.parametrize("module", [memory, occupancy])
def test_a_kernel_is_timed_of_a_simulation_with_the_papers_noise_and_says_what_it_takes(monkeypatch, module):
    """Made up: the strategy's own launch, or a launch with constants in a place of their own."""
    seen = {}

    def kernel_speed(case, system, device, *, forces_of, choices, **options):
        forces = forces_of(made := SimpleNamespace(forces="own", setup=SimpleNamespace(block=64)))
        seen.update({"forces": forces, "choices": choices(made, forces), "options": options})
        return system, device

    monkeypatch.setattr(module, "kernel_speed", kernel_speed)
    monkeypatch.setattr(module, "taken", lambda device, forces, block: {"registers": 40, "in": block})
    options = {"registers": 32, "seconds": 0.1}
    expected = options | {"strategy": "particle", "rounds": PAPER_ROUNDS}
    if module is memory:
        monkeypatch.setattr(memory.constants, "build", lambda setup, place, stencil: (place, stencil))
        found = memory._kernel_speed("case", "system", "here", stencil="half", place="literals", **options)
        assert seen["forces"] == ("literals", "half")
        assert seen["choices"] == {"stencil": "half", "constants": "literals", "registers": 40, "in": 64}
    else:
        found = occupancy._launch_speed("case", "system", "here", strategy="particle", block=96, **options)
        assert seen["forces"] == "own"
        assert seen["choices"] == {"block": 96, "registers": 40, "in": 96}
        expected["block"] = 96
    assert found == ("system", "here")
    assert seen["options"] == expected


def test_of_all_sub_sequences_those_of_the_longest_run_are_told():
    table = pd.DataFrame({"stretches": [9, 99, 1000], "anew, second": [3, 8, 90], "anew, first": [1, 2, 10]})
    assert cycle.anew(table) == {"all": 1000, "second": 90, "first": 10, "holds": True}
    assert not cycle.anew(table.assign(**{"anew, second": [3, 8, 100]}))["holds"]


def test_every_program_that_is_timed_has_its_temperature_taken_with_its_own_noise(monkeypatch):
    found = tables.programs(GPU)
    assert {name: (device.name, options) for name, (device, options) in found.items()} == {
        "serial program, one core": ("serial", {"strategy": "linked", "rounds": 0}),
        "planes, one core": ("serial", {"strategy": "planes", "rounds": PAPER_ROUNDS}),
        "planes, all cores": ("threads", {"strategy": "planes", "rounds": PAPER_ROUNDS}),
        "thread per cell, cuda": ("cuda", {"strategy": "cell", "rounds": PAPER_ROUNDS}),
        "thread per particle, cuda": ("cuda", {"strategy": "particle", "rounds": PAPER_ROUNDS}),
        "thread per particle, full stencil, cuda": (
            "cuda",
            {"strategy": "particle, full stencil", "rounds": PAPER_ROUNDS},
        ),
        "sorted cells, cuda": ("cuda", {"strategy": "fastest", "rounds": PAPER_ROUNDS}),
    }
    on_cores = tables.programs(SimpleNamespace(name="threads"))
    assert list(on_cores)[3:] == ["thread per cell, threads", "thread per particle, threads"]
    series = {"a": Estimate(1.004, 0.0001), "b": Estimate(1.006, 0.0001), "c": Estimate(0.99, 0.004)}
    series["d"] = Estimate(0.994, 0.0001)
    monkeypatch.setattr(linear, "kt_of", lambda device, *, steps, name: series[name])
    table = linear.temperatures({name: ("here", {"name": name}) for name in series}, steps=9)
    assert table["kT"].tolist() == [1.004, 1.006, 0.99, 0.994]
    # within half a per cent, or three errors
    assert table["within"].tolist() == [True, False, True, False]


@pytest.fixture
def asked(monkeypatch):
    """Tables of speeds that are asked for, with particles and launches; a way is as fast as its place."""
    seen = []

    def speed_table(runs, record, *, measured, includes):
        assert measured is linear.timed
        seen.extend(runs)
        rows = [
            {"particles": system.count, "updates": 1e6 * (k + 1), "seconds": 1.0, "spread": 0.1}
            | {"launch": "graph" if options.get("graph") else "one by one"}
            for k, (_, system, _, options) in enumerate(runs)
        ]
        return pd.DataFrame(rows)

    monkeypatch.setattr(tables, "speed_table", speed_table)
    monkeypatch.setattr(tables, "in_cell_order", lambda system: SimpleNamespace(count=system.count, name="by cell"))
    monkeypatch.setattr(
        tables, "systems", lambda rows: [SimpleNamespace(count=100 * row, name="random") for row in dict.fromkeys(rows)]
    )
    return seen


def test_graphs_and_single_launches_are_timed_on_the_first_system_and_another(asked):
    table = tables.launch_table(3, GPU, seconds=0.1)
    assert list(table.columns) == ["way", "particles", "launch", "updates", "seconds", "spread"]
    assert table["launch"].tolist() == ["graph"] * 4 + ["one by one"] * 4
    assert table["particles"].tolist() == [100, 100, 300, 300] * 2
    assert table["way"].tolist() == ["thread per particle", "fastest"] * 4
    assert [options["strategy"] for *_, options in asked] == ["particle", "fastest"] * 4


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("cuda", "The GPU's program is 30 times as fast as the serial one (paper: 16.5), and 10 times as"),
        ("threads", "The serial program makes 0.2 million updates of particles a second (the paper's: 0.3)."),
    ],
)
def test_a_headline_has_the_largest_system_beside_the_paper(device, said):
    over = {f"over {name}": [0.0, 30.0 / k, 0.0] for k, name in enumerate(tables.BASELINES, 1)}
    ways = [tables.JUDGED, tables.JUDGED, tables.SERIAL_PROGRAM]
    table = pd.DataFrame({"particles": [9, 100, 100], "way": ways, "updates": [1e6, 6e6, 2e5], "device": device} | over)
    paper = pd.DataFrame({"one core": [1e5, 3e5, 4e5], "speedup, particle": [0.9, 16.5, 19.0]})
    assert tables.headline(table, paper).startswith(said)


def test_gains_are_those_of_the_papers_mapping_and_of_sorted_cells_on_the_largest_system():
    over = {f"over {name}": [0.0, 30.0 / k, 90.0 / k] for k, name in enumerate(tables.BASELINES, 1)}
    table = pd.DataFrame({"particles": [9, 100, 100], "way": ["thread per particle"] * 2 + ["sorted cells"]} | over)
    found = tables.over_baselines(table)
    assert list(found.index) == ["thread per particle", "sorted cells"]
    assert tables.gains(found) == {"core": 30.0, "cores": 10.0, "fast": 30.0, "holds": True}
    # the fastest way must gain more than the paper's, over all cores
    assert not tables.gains(found.assign(**{f"over {tables.ALL_CORES}": [10.0, 10.0]}))["holds"]


def test_without_a_compiler_nothing_stands_beside_plain_c_and_with_one_the_best_of_both(monkeypatch):
    steps, times = [], iter([0.0, 2.0, 10.0, 11.0, 20.0, 24.0, 30.0, 34.0, 40.0, 44.0])
    simulation = SimpleNamespace(step=steps.append)
    monkeypatch.setattr(tables, "Simulation", lambda system, device, **options: simulation)
    monkeypatch.setattr(tables, "Bulk", lambda box: SimpleNamespace(system=lambda: SimpleNamespace(count=500)))
    monkeypatch.setattr(tables, "in_cell_order", lambda system: system)
    monkeypatch.setattr(tables, "thread_time", lambda: next(times))
    rates = iter([15e3, 20e3, 20e3, 10e3, 19e3])
    monkeypatch.setattr(linear, "plain_c", lambda source, *_: {"updates": next(rates), "kT": 1.01})
    (row,) = tables.over_plain_c(tables.Path("peers"), (8, 8, 8), 200).to_dict("records")
    # 500 particles and 100 steps in a second, at best
    assert row == pytest.approx({"ours": 0.05, "plain C": 0.02, "ratio": 2.5, "its kT": 1.01})
    assert steps == [100] * 6
    monkeypatch.setattr(linear, "plain_c", lambda *_: None)
    assert tables.over_plain_c(tables.Path("peers"), (8, 8, 8), 200).empty


def test_parts_are_grouped_with_a_step_of_a_gpu_after_its_warm_up(monkeypatch):
    made = []

    class Simulation:
        def __init__(self, system, device, *, strategy, rounds):
            self.strategy = strategy
            made.append([strategy, rounds])

        def advance(self, steps):
            made[-1].append(steps)

    system = SimpleNamespace(count=7)
    monkeypatch.setattr(tables, "Simulation", Simulation)
    monkeypatch.setattr(tables, "systems", lambda rows: [system] if rows == [2] else [])
    monkeypatch.setattr(tables, "in_cell_order", lambda system: system)
    parts = {"drift": 1.0, "forces 2": 2.0, "fill": 4.0, "round off": 8.0}
    monkeypatch.setattr(tables, "part_times", lambda simulation: parts)
    table = tables.parts_table(2, GPU)
    warm = tables.WARM_UP
    assert made == [["fastest", 8, warm], *([name, PAPER_ROUNDS, warm] for name in ("fastest", "particle", "cell"))]
    assert table["group"].tolist() == ["integration", "forces", "lists", "clear and round off"] * 4
    assert table["way"].unique().tolist() == [f"{name}, TEA {rounds}" for name, rounds, _ in made]
    assert (table["seconds"].tolist(), set(table["particles"])) == ([1.0, 2.0, 4.0, 8.0] * 4, {7})
    made.clear()
    tables.parts_table(2, SimpleNamespace(name="threads"))
    assert all(len(each) == 2 for each in made)


def test_the_checks_of_the_fluid_are_those_of_known_temperatures_gas_fit_and_linear_response():
    """Of each quantity one number; by hand."""
    temperature = {"lambda": [0.5, 0.5, 0.65, 0.5], "dt": [0.02, 0.05, 0.02, 0.04], "kT": [1.012, 9.0, 1.001, 1.04]}
    temperature = pd.DataFrame(temperature)
    pressure = {"a": [0.0, 18.75], "rho": 4.0, "p": [4.02, 32.7], "error": 0.1, "fit": [4.0, 33.0]}
    pressure = pd.DataFrame(pressure | {"excess": [0.02, 28.7], "excess error": 0.05})
    structure = pd.DataFrame({"a": [0.0, 0.0, 18.75], "g": [1.2, 0.8, 0.0], "error": [0.1, 0.1, 0.01]})
    diffusion = pd.DataFrame({"a": [18.75, 0.0], "D": [0.3, 0.55], "error": 0.01, "theory": [0.5, 0.5]})
    viscosity = pd.DataFrame(
        {"a": 0.0, "drive": [0.1, 0.2], "viscosity": [1.0, 1.1], "error": [0.03, 0.04], "theory": 1.2}
    )
    rate = Estimate(2.1, 0.05)
    table = checks.of_all(temperature.assign(error=0.001), pressure, structure, diffusion, rate, viscosity)
    found = {row.law: (row.measured, row.error, row.theory, row.exact) for row in table.itertuples()}
    assert found == {
        "kT, lambda = 0.5, dt = 0.02": (1.012, 0.001, 1.01, False),
        "kT, lambda = 0.65, dt = 0.02": (1.001, 0.001, 1.0, False),
        "kT, lambda = 0.5, dt = 0.04": (1.04, 0.001, 1.03, False),
        "p - rho kT, a = 0, rho = 4": (0.02, 0.05, 0.0, True),
        "pressure, a = 18.75, rho = 4": (32.7, 0.1, 33.0, False),
        # twice the error in both bins
        "(g - 1) / error, root mean square, a = 0": (pytest.approx(2), pytest.approx(0.5 / 3), 1.0, True),
        "rate of friction, a = 0": (2.1, 0.05, 2.0, True),
        "self-diffusion, a = 0": (0.55, 0.01, 0.5, False),
        "viscosity, a = 0": (1.0, 0.03, 1.2, False),
        "viscosity, a = 0: strong minus weak drive": (pytest.approx(0.1), pytest.approx(0.05), 0.0, True),
    }
    # a deviation of g may be half as large again as its error: 0.5 is three sigmas
    assert table.set_index("law")["holds"].tolist() == [True] * 5 + [False] + [True] * 4


def test_temperatures_are_those_of_each_predictor_and_step_with_their_errors(monkeypatch):
    asked = []
    monkeypatch.setattr(
        equilibrium,
        "settled",
        lambda fluid, length, device, *, seed: asked.append((fluid, length, device, seed)) or fluid,
    )
    monkeypatch.setattr(
        equilibrium, "series", lambda run, quantities, samples: {"kT": np.array([run.dt, run.predictor] * samples)}
    )
    length = equilibrium.Length(4.0, 20)
    table = equilibrium.temperatures("here", [0.02, 0.04], [0.5, 0.65], length, seed=3)
    assert table[["lambda", "dt"]].to_numpy().tolist() == [[0.5, 0.02], [0.5, 0.04], [0.65, 0.02], [0.65, 0.04]]
    assert table["kT"].tolist() == pytest.approx([0.26, 0.27, 0.335, 0.345])
    assert asked[1] == (Fluid(dt=0.04, predictor=0.5), length, "here", 3)


def test_viscosities_are_those_of_each_repulsion_and_drive_with_the_fastest_of_the_parabola(monkeypatch):
    def reverse_flow(device, fluid, drive, flow, *, seed):
        assert (device, flow, seed) == ("here", "flow", 3)
        profile = pd.DataFrame({"z": [0.5, 1.5], "velocity": 0.0, "error": 0.0, "fit": [10 * drive, -20 * drive]})
        return Estimate(fluid.repulsion + drive, 0.5), profile

    monkeypatch.setattr(transport, "reverse_flow", reverse_flow)
    table, profiles = transport.viscosities("here", [0.0, 18.75], [0.1, 0.2], "flow", seed=3)
    assert table[["a", "drive"]].to_numpy().tolist() == [[0.0, 0.1], [0.0, 0.2], [18.75, 0.1], [18.75, 0.2]]
    assert table["viscosity"].tolist() == pytest.approx([0.1, 0.2, 18.85, 18.95])
    assert table["fastest"].tolist() == pytest.approx([1.0, 2.0] * 2)
    assert table["theory"].tolist() == pytest.approx(
        [exact.viscosity(Fluid(repulsion=a)) for a in (0.0, 0.0, 18.75, 18.75)]
    )
    assert set(table["error"]) == {0.5}
    assert profiles[["a", "drive"]].drop_duplicates().to_numpy().tolist() == table[["a", "drive"]].to_numpy().tolist()


@pytest.mark.parametrize(("bits", "block", "items"), [(12, 256, 8), (9, 256, 2), (6, 256, 1)])
def test_a_thread_of_a_gpu_takes_as_many_numbers_as_the_array_gives_each_block_and_a_core_one(bits, block, items):
    made = []

    def compile_(kernel):
        made.append(kernel.rows)
        assert kernel.block == block
        return lambda shape, *given: made.append(shape)

    arrays = {"to_device": lambda array: array, "zeros": np.zeros, "free_memory": lambda: 1 << 40}
    device = SimpleNamespace(name="cuda", compile=compile_, **arrays)
    access.walks(device, bits, [1, 0])
    assert made == [items, (2**bits // items,)] * 2
    made.clear()
    access.walks(SimpleNamespace(name="serial", compile=compile_, **arrays), bits, [1], block=block)
    assert made == [1, (2**bits,)]


def test_reverse_flow_runs_for_whole_samples_of_its_relaxation_times_and_one_at_least():
    """Of a half box 4 high: H^2 / (pi^2 nu), in steps of a fiftieth."""
    fluid, flow = Fluid(), transport.Reverse((4.0, 4.0, 8.0))
    relaxation = 16 * fluid.density / (np.pi**2 * exact.viscosity(fluid)) / fluid.dt
    assert flow.steps(fluid, 3.0) == pytest.approx(3 * relaxation, abs=equilibrium.EVERY / 2)
    assert flow.steps(fluid, 3.0) % equilibrium.EVERY == 0
    assert flow.steps(fluid, 1e-9) == equilibrium.EVERY


def test_plain_c_is_built_and_run_where_there_is_a_compiler(monkeypatch, tmp_path):
    ran = []
    monkeypatch.setattr(linear.shutil, "which", lambda name: f"/bin/{name}")

    def run(command, **_):
        ran.append(command)
        return SimpleNamespace(returncode=0, stdout="updates/s 5e6 kT 1.02\n", stderr="")

    monkeypatch.setattr(linear.subprocess, "run", run)
    source = tmp_path / "dpd_serial.c"
    assert linear.plain_c(source, tmp_path, (8.0, 8.0, 6.0), 40) == {"updates": 5e6, "kT": 1.02}
    (compiler, *_), program = ran
    assert compiler == "/bin/cc"
    assert program == [str(tmp_path / "dpd_serial"), "8", "8", "6", "40"]
    monkeypatch.setattr(linear.shutil, "which", lambda name: None)
    assert linear.plain_c(source, tmp_path, (8.0, 8.0, 6.0), 40) is None
    assert len(ran) == 2


def test_a_run_is_sampled_cell_by_cell_with_the_temperature_of_all_and_of_each(monkeypatch):
    """Two particles in one cell and one in another, with other velocities at each of two samples."""
    position = np.array([[0.5, 0.5, 0.5], [0.6, 0.5, 0.5], [2.5, 1.5, 0.5]])
    velocities = iter(np.array([[[1, 0, 0], [0, 2, 0], [0, 0, 3]], [[3, 0, 0], [0, 2, 0], [0, 0, 1]]], np.float32))
    seen = []

    class Run:
        def __init__(self, system, device, **options):
            seen.append(options)
            self.system = SimpleNamespace(cells=SimpleNamespace(shape=(3, 2, 1)), count=3)

        def step(self, count, *, every):
            seen.append((count, every))

        def particles(self):
            return {"position": position, "velocity": next(velocities)}

    monkeypatch.setattr(density_waves, "Simulation", Run)
    monkeypatch.setattr(density_waves, "Bulk", lambda box: SimpleNamespace(system=lambda seed: (box, seed)))
    box = (3.0, 2.0, 1.0)
    found = density_waves.sample(box, None, density_waves.BY_CELL, seed=2, steps=21, every=10, settle=30)
    assert seen == [{"strategy": "cell", "rounds": 0, "capacity": 64}, (30, 10), (10, 10), (10, 10)]
    assert found.counts.tolist() == [[[2.0], [0.0]], [[0.0], [0.0]], [[0.0], [1.0]]]
    # 1 + 4 and 9 + 4 of two particles twice; 9 and 1 of one; three degrees of freedom each, or six of all
    assert (found.cell_temperature[0, 0, 0], found.cell_temperature[2, 1, 0]) == pytest.approx((18 / 12, 10 / 6))
    assert found.temperature.tolist() == pytest.approx([14 / 6, 14 / 6])
    assert (found.particles, found.every, found.drift) == (3, 10, pytest.approx(1.0))
    assert found.waves.shape == (2, 3, 2, 1)
    assert found.waves[:, 0, 0, 0].tolist() == [3.0, 3.0]
    assert density_waves.FEWEST_STEPS == 500


def test_half_of_the_particles_around_one_are_a_pair_that_it_counts():
    """Of a sphere of radius one, 4 pi / 3, at a density of three."""
    assert cycle.numbers_a_step(Fluid(density=3.0)) == pytest.approx(2 * np.pi)


def test_parts_on_the_host_are_added_to_a_step_but_for_its_own_list(monkeypatch):
    """A step of 10 ms, of which the list takes 3; on the host it takes 8, numbers 20 and copies 6."""
    seconds, ran = iter([0.2, 0.008, 0.02, 0.006] * 3), []
    made = SimpleNamespace(
        step=ran.append, advance=lambda steps, every: ran.append((steps, every)), forces=SimpleNamespace(parts=None)
    )
    asked = []
    monkeypatch.setattr(host, "Simulation", lambda *given, **options: asked.append((given, options)) or made)
    monkeypatch.setattr(host, "systems", lambda rows: ["second"] if rows == [2] else [])
    monkeypatch.setattr(host, "in_cell_order", lambda system: system)

    def timed(device, work):
        assert device == "here"
        if getattr(work, "keywords", None):
            work()
        return next(seconds)

    monkeypatch.setattr(host, "_seconds", timed)
    parts = {"clear the table": 0.001, "fill the table": 0.002, "forces": 0.007}
    monkeypatch.setattr(host, "part_seconds", lambda launches, device, seconds: parts if device == "here" else {})
    for name in ("_list_on_the_host", "_numbers_on_the_host"):
        monkeypatch.setattr(host, name, lambda simulation: None)
    table = host.host_table(2, "here")
    assert ran == [20, (20, 20)] * 3
    assert asked == [(("second", "here"), {"strategy": "particle", "rounds": PAPER_ROUNDS})] * 3
    assert table["step (ms)"].tolist() == pytest.approx([10, 15, 30, 16])
    assert table["over a step without"].tolist() == pytest.approx([1, 1.5, 3, 1.6])
    assert table["runs"][2] == pytest.approx([3.0] * 3)


@pytest.mark.parametrize(("kt", "other"), [(1.049, False), (1.051, True), (0.951, False), (0.949, True)])
def test_a_fluid_is_another_beyond_five_per_cent_of_its_temperature(kt, other):
    table = pd.DataFrame({"program": ["a"], "kT": [kt], "error": [0.1]})
    if other:
        with pytest.raises(CheckError, match="it simulates another fluid"):
            linear.require_fluid(table)
    else:
        assert linear.require_fluid(table) is table


def test_what_is_repeated_is_timed_three_times_in_each_of_three_runs(asked):
    system, way = SimpleNamespace(count=5, name="five"), {"a": ("particle", GPU), "b": ("cell", GPU)}
    tables._measured([system], way, None, 0.1, repeated=("a",))
    options = [{name: each.get(name) for name in ("runs", "repeats")} for *_, each in asked]
    assert options == [{"runs": 3, "repeats": 3}, {"runs": 1, "repeats": None}]


def test_a_reader_compares_millions_of_updates_and_speedups_to_three_and_two_digits():
    row = {"particles": 9, "way": "a", "device": "cuda", "precision": "single", "rounds": 8, "updates": 1234567.8}
    table = pd.DataFrame([row | {"spread": 0.12345, "over a": 1.23456, "seconds": 1.0}])
    (found,) = tables.summary(table).to_dict("records")
    assert (found["million/s"], found["spread"], found["over a"]) == (1.235, 0.123, 1.23)
    assert list(found)[:5] == ["particles", "way", "device", "precision", "rounds"]


class Still:
    """A fluid in a box of 4 x 4 x 5 in which nothing moves; its steps are counted."""

    def __init__(self, fluid=None):
        self.steps, self.asked = 0, 0
        self.system = SimpleNamespace(count=320, box=(4.0, 4.0, 5.0), fluid=fluid or Fluid())

    def step(self, count, *, every):
        assert count % every == 0
        self.steps += count

    def particles(self):
        self.asked += 1
        return {"position": self.asked, "velocity": np.full((2, 3), 1.0 / self.asked)}


def test_the_pressure_is_the_mean_and_its_excess_that_over_the_gas_of_the_same_samples(monkeypatch):
    run = Still(Fluid(density=4.5, repulsion=2.0))
    monkeypatch.setattr(equilibrium, "settled", lambda fluid, length, device, *, seed: run)
    kt, p = 1 + 0.1 * (np.arange(40) % 2), 9 + 1.0 * (np.arange(40) % 2)
    monkeypatch.setattr(equilibrium, "series", lambda run, quantities, samples: {"kT": kt, "p": p})
    (row,) = equilibrium.pressures(None, [2.0], [4.5], equilibrium.Length(4.0, 40), seed=1).to_dict("records")
    # 320 particles in 64: a density of five
    assert (row["a"], row["rho"], row["kT"], row["p"]) == (2.0, 4.5, pytest.approx(1.05), pytest.approx(9.5))
    assert row["excess"] == pytest.approx(9.5 - 5 * 1.05)
    assert row["alpha"] == pytest.approx((9.5 - 5 * 1.05) / (2 * 25))
    assert row["fit"] == exact.pressure(run.system.fluid)


def test_a_radial_distribution_is_that_of_twenty_snapshots_at_least_in_the_middles_of_its_bins(monkeypatch):
    runs = []

    def settled(fluid, length, device, *, seed):
        runs.append(Still(fluid))
        return runs[-1]

    def distribution(position, box, edges):
        assert box == (4.0, 4.0, 5.0)
        return np.full(len(edges) - 1, 1.0 + position % 2)

    monkeypatch.setattr(equilibrium, "settled", settled)
    monkeypatch.setattr(equilibrium, "radial_distribution", distribution)
    few, many = (equilibrium.structure(None, [3.0], equilibrium.Length(4.0, samples), seed=1) for samples in (7, 500))
    assert [run.steps for run in runs] == [20 * 100, 50 * 100]
    assert few["r"].tolist() == pytest.approx([0.025 + 0.05 * k for k in range(40)])
    # an ideal gas of 320 particles has one more than its own
    assert few["g"].tolist() == pytest.approx([1.5 * 320 / 319] * 40)
    assert many["a"].tolist() == [3.0] * 40


def test_the_memory_of_a_velocity_is_its_overlap_with_the_first_over_a_unit_of_time(monkeypatch):
    run = Still(Fluid(repulsion=0.0, dt=0.005))
    asked = []
    monkeypatch.setattr(
        transport, "settled", lambda fluid, length, device, *, seed: asked.append((fluid.repulsion, fluid.dt)) or run
    )
    table = transport.velocity_memory(None, equilibrium.Length(4.0, 9), origins=2, seed=1)
    assert asked == [(0.0, 0.005)]
    assert table["t"].tolist() == pytest.approx([0.025 * k for k in range(1, 41)])
    # velocities are one over how often they were asked for: 1 over 2 to 41, then 1/42 over 43 to 82
    both = [(1 / (k + 1), 42 / (42 + k)) for k in range(1, 41)]
    assert table["memory"].tolist() == pytest.approx([np.mean(pair) for pair in both])


def test_the_friction_of_a_gas_is_taken_of_eight_states_with_seeds_of_their_own(monkeypatch):
    seeds = []

    class Run:
        def __init__(self, system, device, *, seed):
            seeds.append((system, seed))

        def start(self):
            pass

        def particles(self):
            v = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
            return {"velocity": v, "force": -0.5 * len(seeds) * v}

    def bulk(box, fluid):
        assert (box, fluid.repulsion, fluid.dt) == ((5.0,) * 3, 0.0, 1.0)
        return SimpleNamespace(system=lambda seed: seed)

    monkeypatch.setattr(transport, "Simulation", Run)
    monkeypatch.setattr(transport, "Bulk", bulk)
    found = transport.friction_rate(None, equilibrium.Length(5.0, 1), seed=7)
    assert seeds == [(k, k) for k in range(7, 15)]
    assert found.value == pytest.approx(0.5 * 4.5)


def test_displacements_are_followed_over_the_whole_span_from_each_origin(monkeypatch):
    asked = []

    def displacements(run, frames):
        asked.append((run, frames))
        time = 0.2 * np.arange(1, frames + 1)
        return time, 6.0 * time

    settled = []
    monkeypatch.setattr(transport, "settled", lambda *given, **seed: settled.append((given, seed)) or "run")
    monkeypatch.setattr(transport, "square_displacements", displacements)
    length = equilibrium.Length(4.0, 1)
    table, curves = transport.diffusions("here", [0.0], length, span=6.0, origins=3, seed=5)
    assert settled == [((Fluid(repulsion=0.0), length, "here"), {"seed": 5})]
    # six units of time are 300 steps of 0.02, looked at each tenth
    assert asked == [("run", 30)] * 3
    assert table["D"].tolist() == pytest.approx([1.0])
    assert (curves["t"].iloc[-1], curves["square"].iloc[-1]) == pytest.approx((6.0, 36.0))
