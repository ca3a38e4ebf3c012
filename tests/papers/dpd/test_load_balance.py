"""Gas and liquid, and load balancing with one thread per cell."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.timings import Kept

from repro.dpd.fluid import Fluid
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.state import make_state
from repro.dpd.uneven import KINDS, Uneven, particles_in_cells
from repro.errors import InputError
from repro.papers.dpd.load_balance import balance as load_balance
from repro.papers.dpd.load_balance.balance import WARP, cell_order, pairs_of_cells, warp_share
from repro.particles.cell_table import CellTable
from repro.particles.cells import Cells, neighbour, place_of
from repro.study.judge import claims
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict, judge


@pytest.mark.parametrize("kind", KINDS)
def test_gas_and_liquid_have_the_mean_density_and_the_share_of_liquid_that_follows_from_it(kind):
    case = Uneven(kind, box=(16.0, 16.0, 16.0), liquid=12.0, gas=0.5)
    system = case.system()
    assert system.count == 4 * 16**3
    # mean = share * liquid + (1 - share) * gas
    assert case.share == pytest.approx(3.5 / 11.5)
    if kind == "cells by lot":
        full = np.sort(particles_in_cells(system))[::-1][: round(case.share * 16**3)]
        assert full.sum() == pytest.approx(12.0 * case.share * 16**3, rel=0.02)


def test_a_slab_is_dense_below_its_height_and_drops_are_dense_around_their_middles():
    slab = Uneven("slab").system().position
    height = Uneven("slab").share * 16
    assert (slab[:, 2] < height).sum() / (16 * 16 * height) == pytest.approx(12.0, rel=0.01)
    drops = Uneven("drops").system().position
    # two drops along each axis, 8 apart, around the corners of the box
    distance = np.linalg.norm((drops + 4) % 8 - 4, axis=1)
    assert (distance < 3).sum() / (8 * 4 / 3 * np.pi * 27) == pytest.approx(12.0, rel=0.05)
    assert (distance > 4).sum() / (16**3 - 8 * 4 / 3 * np.pi * 64) == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "foam"}, "choose one of"),
        ({"liquid": 3.0}, "must rise"),
        ({"gas": 4.5}, "must rise"),
        ({"liquid": 5.0, "gas": 1.0}, "drops that do not touch"),
        ({"box": (8.0, 8.0, 4.0)}, "drops that do not touch"),
    ],
)
def test_densities_that_cannot_be_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Uneven(**options)


def test_cells_are_numbered_as_the_kernels_number_them(threads):
    system = Uneven("slab", box=(5.3, 4.0, 6.7)).system()
    lists = CellTable(threads, system.cells, 64, np.float32)
    state = make_state(threads, np.float32, system.position, system.velocity, system.moving, system.box)
    for launch in lists.update(state.r, system.count).values():
        launch()
    assert np.array_equal(lists.counts, particles_in_cells(system))
    first = lists.entries[: system.cells.count]
    occupied = np.flatnonzero(lists.counts)
    assert np.array_equal(system.cells.of(system.position)[first[occupied]], occupied)


def test_all_cells_together_look_at_each_pair_of_their_27_cells_once():
    shape = (4, 3, 5)
    counts = np.random.default_rng(1).integers(0, 9, 60)
    around = [neighbour(place_of(c, shape), k, shape) for c in range(60) for k in range(27)]
    ordered = (np.repeat(counts, 27) * counts[around]).sum()
    # each unordered pair is found twice among the ordered ones, and each particle meets itself once
    assert 2 * pairs_of_cells(counts, shape).sum() == ordered - counts.sum()


def test_an_even_density_is_all_useful_and_one_full_cell_in_a_warp_leaves_a_thirty_second():
    even = np.full(64, 5)
    lone = np.zeros(64, int)
    lone[[3, 40]] = 7
    natural = np.arange(64)
    assert warp_share(even, natural) == 1
    assert warp_share(lone, natural) == pytest.approx(1 / WARP)
    # sorted, both full cells are in one warp: it works as long as one of two warps did before
    assert warp_share(lone, cell_order("by pairs", lone, lone)) == pytest.approx(2 / WARP)
    # a last warp that is not full is idle in part
    assert warp_share(np.full(48, 5), np.arange(48)) == pytest.approx(48 / 64)


@pytest.fixture
def simulated() -> list:
    """The systems of all simulations of the module, see `made`."""
    return []


@pytest.fixture
def made(monkeypatch, simulated):
    """The options of all simulations of the module, which are built all the same."""
    seen, build = [], load_balance.Simulation

    def simulation(system, device, **options):
        seen.append(options)
        simulated.append(system)
        return build(system, device, **options)

    monkeypatch.setattr(load_balance, "Simulation", simulation)
    return seen


def test_times_are_taken_of_checked_forces_and_the_gain_is_their_ratio(threads, made):
    systems = {"drops": Uneven(box=(4.0, 4.0, 4.0), fluid=Fluid(density=2.0), liquid=6.0).system()}
    times = load_balance.times_table(systems, threads, ["cell", "cell by load"], kept := Kept(), seconds=1e-4)
    assert kept.of("case") == ["cell, drops", "cell by load, drops"]
    more = {"rounds": PAPER_ROUNDS, "capacity": particles_in_cells(systems["drops"]).max()}
    assert made == [{"strategy": name} | more for name in ("cell", "cell by load")]
    for name in ("strategy", "particles", "seconds", "kernel", "sorting", "spread"):
        assert kept.of(name) == list(times[name])
    model = load_balance.model_table(systems)
    gain = load_balance.gains(times, model)
    at = times.set_index("strategy")
    assert gain["kernel"][0] == pytest.approx(at["kernel"]["cell"] / at["kernel"]["cell by load"])
    assert gain["with sorting"][0] == pytest.approx(at["seconds"]["cell"] / at["seconds"]["cell by load"])
    assert gain["predicted gain"][0] == pytest.approx(model["by particles"][0] / model["natural"][0])
    assert at["sorting"]["cell"] == 0 < at["sorting"]["cell by load"]
    share = 100 * at["sorting"]["cell by load"] / at["seconds"]["cell by load"]
    assert gain["sorting (% of lists and forces)"][0] == pytest.approx(share)


def test_whole_lists_their_forces_alone_and_what_sorts_are_timed_apart(monkeypatch, threads):
    """A launch takes a second."""

    def time_launches(launches, device, seconds):
        count = len(list(launches))
        return SimpleNamespace(seconds=float(count), spread=0.01 * count)

    monkeypatch.setattr(load_balance, "time_launches", time_launches)
    systems = {"drops": Uneven(box=(4.0, 4.0, 4.0), fluid=Fluid(density=2.0), liquid=6.0).system()}
    times = load_balance.times_table(systems, threads, ["cell", "cell by load"], seconds=1.0).set_index("strategy")
    parts = {}
    for name in ("cell", "cell by load"):
        made = load_balance.Simulation(systems["drops"], threads, strategy=name, rounds=PAPER_ROUNDS)
        parts[name] = list(made.forces.parts)
    assert times["seconds"].to_dict() == {name: len(each) for name, each in parts.items()}
    assert times["spread"].to_dict() == {name: 0.01 * len(each) for name, each in parts.items()}
    assert times["kernel"].tolist() == [1, 1]
    # what the plain strategy does not have
    assert times["sorting"].to_dict() == {
        "cell": 0,
        "cell by load": len(set(parts["cell by load"]) - set(parts["cell"])),
    }


def _particles_in(cells) -> SimpleNamespace:
    """Particles in the middles of the given cells of a box of 4 x 4 x 4: two warps."""
    cells = np.array(cells)
    middles = np.column_stack([cells % 4, cells // 4 % 4, cells // 16]) + 0.5
    return SimpleNamespace(position=middles, count=len(middles), cells=Cells((4.0, 4.0, 4.0)))


def test_two_full_cells_in_two_warps_are_balanced_twice_as_well_in_one():
    # no neighbours of each other: 21 pairs each; one of 32 lanes works before, and one of 16 of both warps after
    apart = _particles_in([3] * 7 + [40] * 7)
    assert load_balance.balance_gain([apart] * 3) == {"measured": pytest.approx(2.0), "scatter": 0.0}


def test_sorting_gains_no_balance_where_all_cells_have_the_same_load():
    even = _particles_in(np.arange(64))
    assert load_balance.balance_gain([even] * 3) == {"measured": pytest.approx(1.0), "scatter": 0.0}


def test_the_balance_scatters_by_what_the_seeds_differ():
    apart, even = _particles_in([3] * 7 + [40] * 7), _particles_in(np.arange(64))
    assert load_balance.balance_gain([even, apart, even])["scatter"] == pytest.approx(1.0)


def test_cells_sorted_in_blocks_stay_in_their_block_fullest_first():
    counts = np.random.default_rng(3).integers(0, 9, 2 * load_balance.BLOCK + 100)
    assert load_balance.BLOCK == 32 * 32
    order = cell_order("by particles in blocks", counts, counts)
    assert sorted(order) == list(range(len(counts)))
    assert (np.diff(order // load_balance.BLOCK) >= 0).all()
    for block in range(3):
        inside = order[order // load_balance.BLOCK == block]
        assert (np.diff(counts[inside]) <= 0).all()


def test_the_experiment_times_each_order_of_cells_and_particles_with_the_forces_of_all_cells(threads, made):
    system = Uneven(box=(4.0, 4.0, 4.0), fluid=Fluid(density=2.0), liquid=6.0).system()
    table = load_balance.causes_table(system, threads, seconds=1e-4)
    fullest = particles_in_cells(system).max()
    assert made == [{"strategy": "cell", "rounds": PAPER_ROUNDS, "capacity": fullest}] * (2 * 3 * 4)
    assert len(table) == 2 * len(load_balance.ORDERS)
    assert (table.loc[table["cells"] == "natural", "gain"] == 1).all()
    shares = table.groupby("cells")["lanes that work"].nunique()
    assert (shares == 1).all()


def test_an_order_of_cells_gains_by_how_much_faster_it_is_than_theirs_run_by_run(monkeypatch):
    """Particles as they come first, and then by cell; the runs take turns with the orders."""
    clock = {"natural": [8.0, 6.0, 10.0], "by particles": [2.0, 3.0, 1.0], "by pairs": [16.0, 6.0, 5.0]}
    clock["by particles in blocks"] = [4.0, 4.0, 4.0]
    times = iter([(1 + late) * clock[name][run] for late in (0, 0.25) for run in range(3) for name in clock])
    system, built = _particles_in([3] * 7 + [40] * 5), []

    def build(setup, order):
        built.append((setup, order.tolist()))
        return SimpleNamespace(run=lambda: None, parts={"forces": "the kernel", "fill": "not it"})

    def simulation(system, device, **options):
        assert options == {"strategy": "cell", "rounds": PAPER_ROUNDS, "capacity": 7}
        return SimpleNamespace(setup=system)

    def time_launches(launches, device, seconds):
        assert (launches, seconds) == (["the kernel"], 0.1)
        return SimpleNamespace(seconds=next(times))

    monkeypatch.setattr(load_balance, "cell", SimpleNamespace(build=build))
    monkeypatch.setattr(load_balance, "Simulation", simulation)
    monkeypatch.setattr(load_balance, "time_launches", time_launches)
    monkeypatch.setattr(load_balance, "in_cell_order", lambda system: "in the order of cells")
    table = load_balance.causes_table(system, SimpleNamespace(to_device=lambda array: array), seconds=0.1)
    assert table[["particles", "cells"]].to_numpy().tolist() == [
        [lie, o] for lie in ("random", "by cell") for o in clock
    ]
    gains = [[1.0] * 3, [4.0, 2.0, 10.0], [0.5, 1.0, 2.0], [2.0, 1.5, 2.5]]
    assert table["runs"].tolist() == [pytest.approx(each) for each in gains * 2]
    assert table["gain"].tolist() == pytest.approx([1.0, 4.0, 1.0, 2.0] * 2)
    counts = particles_in_cells(system)
    orders = [cell_order(name, counts, pairs_of_cells(counts, system.cells.shape)).tolist() for name in clock]
    assert [order for _, order in built] == orders * 6
    assert [setup for setup, _ in built] == [system] * 12 + ["in the order of cells"] * 12


def test_a_mapping_is_slowed_down_by_the_drops_over_the_even_density(monkeypatch, threads, made, simulated):
    system = Uneven(box=(4.0, 4.0, 4.0), fluid=Fluid(density=2.0), liquid=6.0).system()
    systems = {"drops": system, "even": dataclasses.replace(system)}
    seconds = iter([6.0, 2.0] * 3 + [4.0, 2.0] * 3)
    timed = []
    monkeypatch.setattr(
        load_balance, "time_launches", lambda *given: timed.append(given[1:]) or SimpleNamespace(seconds=next(seconds))
    )
    found = load_balance.slowdowns(systems, threads, seconds=0.1)
    assert found == {"cell": [3.0] * 3, "particle": [2.0] * 3}
    assert timed == [(threads, 0.1)] * 12
    assert [one is system for one in simulated] == [True, False] * 6
    more = {"rounds": PAPER_ROUNDS, "capacity": particles_in_cells(system).max()}
    assert made == [{"strategy": name} | more for name in ("cell", "particle") for _ in range(6)]
    claim = claims.load("dpd")["dpd-083"]
    assert judge(claim, Evidence(found)).verdict is Verdict.REPRODUCED
    assert (
        judge(claim, Evidence(dict(zip(found, reversed(found.values()), strict=True)))).verdict
        is Verdict.NOT_REPRODUCED
    )


def test_by_either_reading_of_balance_the_claim_is_not_comparable():
    for value in (0.77, 1.96):
        assert judge(claims.load("dpd")["dpd-062"], Evidence(value)).verdict is Verdict.NOT_COMPARABLE


def test_the_fullest_cell_comes_first_or_that_with_the_most_pairs():
    counts, pairs = np.array([1, 9, 5, 5]), np.array([7, 0, 8, 9])
    assert cell_order("natural", counts, pairs).tolist() == [0, 1, 2, 3]
    assert cell_order("by particles", counts, pairs).tolist() == [1, 2, 3, 0]
    assert cell_order("by pairs", counts, pairs).tolist() == [3, 2, 0, 1]


def test_a_density_is_told_by_its_fullest_cell_its_empty_ones_and_the_most_pairs():
    """Seven particles in one of 64 cells and three far away: 21 pairs and 3."""
    (row,) = load_balance.model_table({"a": _particles_in([3] * 7 + [40] * 3)}).to_dict("records")
    assert (row["density"], row["particles"], row["cells"], row["fullest cell"]) == ("a", 10, 64, 7)
    assert (row["empty cells"], row["pairs, largest over mean"]) == (62 / 64, pytest.approx(21 * 64 / 24))
    # of two warps one lane each works, for as long as its 21 pairs and its 3; or both lanes of one for 21
    assert (row["natural"], row["by particles"]) == (pytest.approx(1 / 32), pytest.approx(24 / 21 / 32))
    assert row["predicted gain"] == pytest.approx(24 / 21)
