"""Water on several ranks is that of one rank, bit for bit, however the tank is cut; nobody is lost or doubled."""

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.nccl_group import OnDevice, connected
from helpers.plain import PlainDevice
from helpers.rank_threads import on_ranks
from helpers.rank_waters import all_of, end_of, held
from helpers.sph_systems import shaken
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from repro.errors import DivergenceError, InputError
from repro.parallel.ranks.launch import launch
from repro.parallel.ranks.nccl import GpuMessages
from repro.parallel.ranks.world import Alone
from repro.sph import checkpoint
from repro.sph.checkpoint import restore, save
from repro.sph.simulation import Simulation
from repro.sph.strategies import PAIRS_ONCE, STRATEGIES
from repro.sph.system import Walls

PROGRAM = Path(__file__).parents[1] / "helpers" / "rank_waters.py"

pytestmark = pytest.mark.filterwarnings("ignore:tank. fluid .* hangs from it:UserWarning")

#: steps that the dam takes to break over the cuts
STEPS = 300


def test_a_dam_that_breaks_over_the_cuts_has_the_bits_of_one_rank_over_mpi_and_after_a_restart_on_fewer(tmp_path):
    (tmp_path / "alone").mkdir()
    expected = end_of(tmp_path / "alone", STEPS, Alone())
    # the second begins where the first one was half-way
    for ranks in (4, 2):
        found = json.loads(launch(ranks, str(PROGRAM), [tmp_path, STEPS], timeout=300))
        assert found["bits"] == expected["bits"]
        assert sum(found["held"]) == expected["held"][0]
        assert sum(found["entered"]) > 5
        for name in ("energy", "front"):
            assert found[name] == pytest.approx(expected[name], rel=1e-12)
    assert end_of(tmp_path, STEPS, Alone())["bits"] == expected["bits"]


@st.composite
def waters(draw):
    """A few particles anywhere in a small tank, in walls of one layer or without ghosts, some beside an obstacle."""
    tank = draw(st.tuples(*[st.integers(2, 4)] * 2, st.integers(4, 6)))
    water = tuple(draw(st.integers(1, min(n, 2))) for n in tank)
    system = shaken(draw(st.integers(0, 9)), tank=tank, water=water, speed=4)
    # wherever cells end
    room = (np.array(tank) - water) * system.resolution.spacing
    shift = room * draw(st.tuples(*[st.floats(0, 1)] * 3))
    obstacles = np.zeros((0, 3))
    if (
        draw(st.booleans())
        and (far := np.array(system.tank) - 0.005)[0] - system.position[:, 0].max() > shift[0] + 0.01
    ):
        obstacles = far[None]
    system = replace(system, position=system.position + shift, obstacles=obstacles, walls=Walls(layers=1))
    density, boundary = draw(st.sampled_from(CHOICES))
    return system, {"density": density, "boundary": boundary, "precision": draw(st.sampled_from(["single", "double"]))}


CHOICES = [
    ("continuity", "ghosts"),
    ("continuity", "none"),
    ("rate", "ghosts"),
    ("rate", "clamped"),
    ("summation", "none"),
    ("summation", "clamped"),
]

#: in walls with the fluid's velocity, and beside an obstacle that has the fluid's pressure
ALL = replace(shaken(3, tank=(3, 3, 5), water=(2, 2, 3), speed=4), walls=Walls(layers=1))
BESIDE = replace(ALL, obstacles=np.array([[0.051, 0.012, 0.01]]))


@settings(max_examples=8)
@example((ALL, {"density": "continuity"}), 8)
@example((BESIDE, {"density": "rate"}), 3)
@example((BESIDE, {"density": "summation", "boundary": "none"}), 4)
@given(waters(), st.sampled_from([2, 3, 4, 6]))
def test_water_has_the_bits_of_one_rank_however_the_tank_is_cut(case, ranks):
    system, options = case

    def run(rank):
        simulation = Simulation(system, PlainDevice(), ranks=rank, **options)
        simulation.advance(3)
        return all_of(simulation), held(simulation)

    try:
        found = on_ranks(ranks, run)
    except InputError as error:
        assert "of its own, so use" in str(error)  # noqa: PT017  too small for so many
        assume(False)
    (expected, ids), ((whole, _), *others) = run(None), found
    assert sorted(np.concatenate([each for _, each in found])) == ids.tolist()
    assert {values is None for each, _ in others for values in each.values()} == {True}
    for name, values in expected.items():
        np.testing.assert_array_equal(whole[name], values, strict=True, err_msg=name)
        assert np.isfinite(values).all()


class Gpu(PlainDevice):
    """A device whose arrays stay where they are."""

    xp, upload, download = None, None, None

    @staticmethod
    def zeros(shape, dtype):
        return np.zeros(shape, dtype).view(OnDevice)


def test_connected_gpus_give_the_bits_of_one_rank(monkeypatch):
    connected(monkeypatch)

    def run(rank):
        if rank:
            rank.gpus = GpuMessages(rank)
        simulation = Simulation(ALL, Gpu() if rank else PlainDevice(), ranks=rank)
        simulation.advance(2)
        return all_of(simulation)

    found, _ = on_ranks(2, run)
    for name, values in run(None).items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def crossing():
    """Two particles beside the middle of a long tank, where two ranks are cut, of which each goes to the other side."""
    system = replace(shaken(tank=(3, 3, 14), water=(1, 1, 2)), walls=Walls(layers=1))
    side = system.box[2] / system.cells.shape[2]
    cut = round(system.box[2] / 2 / side) * side - system.margin
    position = np.array([[0.03, 0.03, cut - 1e-4], [0.03, 0.03, cut + 0.015]])
    return replace(system, position=position, velocity=np.array([[0.0, 0.0, 8.0], [0.0, 0.0, 8.0]]), time_step=3e-5)


def test_who_crosses_the_cut_goes_on_there():
    system = crossing()

    def run(rank):
        simulation = Simulation(system, PlainDevice(), ranks=rank, boundary="none")
        found = [held(simulation)]
        for _ in range(2):
            simulation.step(1)
            found.append(held(simulation))
        return found

    first, second = on_ranks(2, run)
    assert [ids.tolist() for ids in first] == [[0], [], []]
    assert [ids.tolist() for ids in second] == [[1], [0, 1], [0, 1]]


def refusal(system, ranks, **options):
    """What is said against a run."""
    try:
        Simulation(system, PlainDevice(), ranks=ranks, **options)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("strategy", sorted({*STRATEGIES, *PAIRS_ONCE} - {"sorted cells"}))
def test_a_search_that_cannot_keep_the_order_of_sums_is_refused_with_the_one_that_can(strategy):
    said = on_ranks(2, lambda rank: refusal(ALL, rank, strategy=strategy))
    assert said == [f"strategy '{strategy}' is for one rank: 'sorted cells' runs on 2"] * 2


def test_what_is_for_one_rank_is_refused_in_one_line():
    said = on_ranks(2, lambda rank: refusal(ALL, rank, density="summation"))
    air = "ghosts in the air are sown for one rank: on 2 use density 'continuity' or 'rate', or boundary 'none'"
    assert said == [f"tank: {air} or 'clamped'"] * 2
    assert refusal(ALL, Alone(), density="summation") is None
    assert refusal(ALL, 2) == "ranks = 2: must be the ranks of a run, see repro.parallel.ranks.world.world(), or None"

    def sums(rank):
        with pytest.raises(InputError, match=r"^the density by equation 3 is found on one rank: restore a checkpoint"):
            Simulation(ALL, PlainDevice(), boundary="none", ranks=rank).summed_condensation()

    on_ranks(2, sums)


def test_blocks_thinner_than_the_support_on_both_sides_are_refused_before_anything_starts():
    shape = " x ".join(map(str, ALL.cells.shape))
    ranks = 1 + int(np.prod([n // 2 for n in ALL.cells.shape]))
    most = ranks - 1
    said = on_ranks(2, lambda rank: refusal(ALL, Many(rank, ranks)))
    assert said == [f"{ranks} ranks for {shape} cells: each needs 2 x 2 x 2 of its own, so use {most}"] * 2
    assert refusal(ALL, Many(None, most)) is None


class Many:
    """Says that there are many ranks, and is the first one."""

    rank, gpus = 0, None

    def __init__(self, _, count):
        self.count = count


def test_all_ranks_hear_of_what_one_of_them_has_found():
    def run(rank, spoil, words):
        simulation = Simulation(ALL, PlainDevice(), ranks=rank, boundary="none")
        simulation.advance(1)
        spoil(simulation, rank.rank)
        with pytest.raises(DivergenceError, match=words) as raised:
            simulation.look()
        return str(raised.value)

    def through(simulation, rank):
        simulation._excursion[7] = 0.5 * rank

    def lost(simulation, rank):
        # one that went too far for its rank's neighbours is nobody's
        simulation._share.marks[np.flatnonzero(simulation._share.marks == 2)[:1]] = 0

    def crowd(simulation, rank):
        simulation._share._particles._peaks[:] = 1000 * rank

    def full(simulation, rank):
        simulation._share._used[1] = rank

    for spoil, words in (
        (through, "^tank: particle 7 was through a wall between steps 0 and 1, 0.5 m outside"),
        (lost, "^tank: 2 particles went further than a cell in a step: use a time step below 3e-05 s$"),
        (crowd, r"^tank: rank 1: \d+ particles fill what is near rank 0, and there were 1000: water is not so dense"),
        (full, r"^tank: rank 1: \d+ particles and copies of others fill it, and there were more: water is not so"),
    ):
        said = on_ranks(2, lambda rank, spoil=spoil, words=words: run(rank, spoil, words))
        assert said[0] == said[1]


def test_a_checkpoint_of_three_ranks_goes_on_on_two(tmp_path):
    def begin(rank):
        simulation = Simulation(ALL, PlainDevice(), ranks=rank, density="rate", boundary="none")
        simulation.advance(2)
        save(simulation, tmp_path / "run.h5")

    def go_on(rank):
        simulation = Simulation(ALL, PlainDevice(), ranks=rank, density="rate", boundary="none")
        restore(simulation, tmp_path / "run.h5")
        simulation.advance(2)
        return all_of(simulation)

    alone = Simulation(ALL, PlainDevice(), density="rate", boundary="none")
    alone.advance(4)
    on_ranks(3, begin)
    found, _ = on_ranks(2, go_on)
    for name, values in all_of(alone).items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_no_rank_goes_on_before_a_checkpoint_is_written_or_where_it_cannot_be(tmp_path, monkeypatch):
    written = checkpoint.written
    monkeypatch.setattr(checkpoint, "written", lambda *arguments: time.sleep(0.1) or written(*arguments))

    def run(rank):
        simulation = Simulation(crossing(), PlainDevice(), ranks=rank, boundary="none")
        save(simulation, tmp_path / "run.h5")
        there = (tmp_path / "run.h5").exists()
        with pytest.raises(InputError, match="it is a folder, and no file"):
            save(simulation, tmp_path)
        return there

    assert on_ranks(2, run) == [True, True]


def test_excursions_are_those_of_all_ranks():
    def run(rank):
        simulation = Simulation(ALL, PlainDevice(), ranks=rank, boundary="none")
        simulation._excursion[3 + rank.rank] = 0.25
        return simulation.excursions()

    for found in on_ranks(2, run):
        assert np.flatnonzero(found).tolist() == [3, 4]


def test_more_particles_than_a_block_has_room_for_are_refused():
    simulation = Simulation(ALL, PlainDevice(), ranks=Many(None, 2), boundary="none")
    share = simulation._share
    share.room = 1
    with pytest.raises(InputError, match=r"^tank: 12 particles on rank 0, which 1 fill$"):
        share.enter(simulation.device, np.repeat(simulation.by_id(simulation.state.r)[0][:1], 12, axis=0))
