"""Gas and liquid, and load balancing with one thread per cell."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.dpd.fluid import Fluid
from repro.dpd.state import make_state
from repro.errors import InputError
from repro.papers.dpd.load_balance import balance as load_balance
from repro.papers.dpd.load_balance.balance import WARP, cell_order, pairs_of_cells, useful_share
from repro.papers.dpd.load_balance.uneven import KINDS, Uneven, particles_in_cells
from repro.particles.cell_table import CellTable
from repro.particles.cells import Cells, neighbour, place_of
from repro.study.judge import claims
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict, judge

GPU = SimpleNamespace(name="cuda")
TWO_CORES = SimpleNamespace(name="threads", workers=2)


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
    assert useful_share(even, natural, GPU) == 1
    assert useful_share(lone, natural, GPU) == pytest.approx(1 / WARP)
    # sorted, both full cells are in one warp: it works as long as one of two warps did before
    assert useful_share(lone, cell_order("by pairs", lone, lone), GPU) == pytest.approx(2 / WARP)
    # a last warp that is not full is idle in part
    assert useful_share(np.full(48, 5), np.arange(48), GPU) == pytest.approx(48 / 64)


def test_sorting_helps_warps_and_harms_cores_that_take_one_piece_each():
    work = np.tile([9, 1], 64)
    natural, by_load = np.arange(128), cell_order("by particles", work, work)
    assert useful_share(work, natural, GPU) == pytest.approx(5 / 9)
    assert useful_share(work, by_load, GPU) == 1
    assert useful_share(work, natural, TWO_CORES) == 1
    # one core gets all of the work's larger half: mean 320 of largest 576
    assert useful_share(work, by_load, TWO_CORES) == pytest.approx(320 / 576)


def test_times_are_taken_of_checked_forces_and_the_gain_is_their_ratio(threads):
    systems = {"drops": Uneven(box=(4.0, 4.0, 4.0), fluid=Fluid(density=2.0), liquid=6.0).system()}
    times = load_balance.times_table(systems, threads, ["cell", "cell by load"], seconds=1e-4)
    model = load_balance.model_table(systems, threads)
    gain = load_balance.gains(times, model)
    at = times.set_index("strategy")
    assert gain["kernel"][0] == pytest.approx(at["kernel"]["cell"] / at["kernel"]["cell by load"])
    assert gain["with sorting"][0] == pytest.approx(at["seconds"]["cell"] / at["seconds"]["cell by load"])
    assert gain["predicted gain"][0] == pytest.approx(model["by particles"][0] / model["natural"][0])
    assert at["sorting"]["cell"] == 0 < at["sorting"]["cell by load"]


def test_the_verdict_is_about_balance_and_names_the_gain_in_time_on_drops():
    rows = [("even", 1.0, 1.0, 0.9), ("drops", 2.0, 1.8, 1.5)]
    gains = pd.DataFrame(rows, columns=["density", "predicted gain", "kernel", "with sorting"])
    note = load_balance.note(GPU, gains)
    assert note.endswith("in time on cuda the force kernel alone gains 1.80, with lists and sorting 1.50")


def _particles_in(cells) -> SimpleNamespace:
    """Particles in the middles of the given cells of a box of 4 x 4 x 4: two warps."""
    cells = np.array(cells)
    middles = np.column_stack([cells % 4, cells // 4 % 4, cells // 16]) + 0.5
    return SimpleNamespace(position=middles, cells=Cells((4.0, 4.0, 4.0)))


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


def test_a_worse_balance_refutes_the_claim_and_one_within_the_scatter_is_a_tie():
    claim = claims.load("dpd")["dpd-062"]
    assert judge(claim, Evidence(0.9, scatter=0.02)).verdict is Verdict.NOT_REPRODUCED
    assert judge(claim, Evidence(0.99, scatter=0.02)).verdict is Verdict.TIE


def test_times_are_shown_in_milliseconds():
    times = pd.DataFrame({"strategy": ["cell"], "seconds": [0.25], "kernel": [0.125], "sorting": [0.0]})
    shown = load_balance.in_milliseconds(times).iloc[0]
    assert (shown["all (ms)"], shown["forces (ms)"], shown["sorting (ms)"]) == (250.0, 125.0, 0.0)


def test_more_workers_than_cells_leave_some_without_work():
    many = SimpleNamespace(name="threads", workers=4)
    assert useful_share(np.ones(2), np.arange(2), many) == pytest.approx(0.5)
