"""A fluid on several ranks is that of one rank, bit for bit, however the box is cut."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.rank_fluids import facts, scattered
from helpers.rank_threads import on_ranks
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from repro.dpd import checkpoint
from repro.dpd.observables import pressure, temperature
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import STRATEGIES
from repro.dpd.walls import Walls
from repro.errors import CapacityError, CheckError, DivergenceError, InputError
from repro.parallel.ranks.launch import launch
from repro.parallel.ranks.world import Alone
from repro.particles.local_cells import NO_ID

PROGRAM = Path(__file__).parents[1] / "helpers" / "rank_fluids.py"


def simulation_of(system, ranks, **options):
    return Simulation(system, PlainDevice(), ranks=ranks, strategy="sorted cells", block=4, **options)


def across_a_corner():
    """Two of the particles meet where eight blocks do."""
    system = scattered((4.0, 4.0, 4.0), 24)
    system.position[:2], system.velocity[:2] = [[1.9] * 3, [2.1] * 3], 0
    return system


@st.composite
def systems(draw):
    """Few particles in small boxes: slow or so fast that most cross, in all of the box or in a corner, with walls."""
    box = tuple(draw(st.sampled_from([3.0, 3.9, 4.0, 5.7, 6.2])) for _ in "xyz")
    walls = draw(st.booleans())
    more = {"frozen": 5, "walls": Walls(0.5, box[2] - 0.5), "drive": 2.0} if walls else {}
    speed, share = draw(st.sampled_from([0.5, 5.0])), draw(st.sampled_from([1.0, 1.0, 0.4]))
    return scattered(box, 16, seed=draw(st.integers(0, 9)), speed=speed, share=share, **more)


@settings(max_examples=5)
@example(across_a_corner(), 8, "single")
@example(scattered((9.0, 3.0, 3.0), 20, share=0.3), 3, "double")
@given(systems(), st.sampled_from([2, 3, 4, 8]), st.sampled_from(["single", "double"]))
def test_a_fluid_has_the_bits_of_one_rank_however_the_box_is_cut(system, ranks, precision):
    """And no particle is lost or doubled, and none has its momentum from nowhere."""

    def run(rank):
        simulation = simulation_of(system, rank, precision=precision)
        simulation.step(2)
        means = [temperature(simulation)] + ([pressure(simulation)] if system.moving == system.count else [])
        return simulation.particles(), means

    try:
        (found, means), *others = on_ranks(ranks, run)
    except InputError as error:
        assert "each needs 2 x 2 x 2 of its own" in str(error)  # noqa: PT017  too small for so many
        assume(False)
    expected, alike = run(None)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, strict=True)
    assert all(particles is None for particles, _ in others)
    for each in (means, *(means for _, means in others)):
        assert each == pytest.approx(alike, rel=1e-12)
    if system.moving == system.count:
        momentum, rounding = found["velocity"].sum(0) - system.velocity.sum(0), 1e-4 if precision == "single" else 1e-12
        np.testing.assert_allclose(momentum, 0, atol=rounding)


def test_ranks_over_mpi_have_the_bits_of_one_rank_and_its_means(tmp_path):
    expected = facts(Alone(), 20, tmp_path)
    for ranks in (2, 4):
        found = json.loads(launch(ranks, str(PROGRAM), [20, tmp_path], timeout=200))
        assert list(found) == list(expected)
        for name, (*digests, means) in expected.items():
            assert found[name][:2] == digests, name
            assert found[name][2] == pytest.approx(means, rel=1e-11, nan_ok=True)


def test_what_ranks_write_is_what_one_rank_writes_and_any_number_of_ranks_continues(tmp_path):
    system = scattered((4.5, 6.0, 4.0), 50, speed=3.0)

    def first(rank, name):
        simulation = simulation_of(system, rank)
        simulation.step(2)
        checkpoint.save(simulation, tmp_path / f"{name}.h5")
        checkpoint.write_xyz(simulation, tmp_path / f"{name}.xyz")

    def second(rank, name):
        simulation = checkpoint.load(tmp_path / f"{name}.h5", PlainDevice(), ranks=rank)
        assert simulation.steps == 2
        simulation.step(2)
        return simulation.particles()

    first(None, "alone")
    on_ranks(3, partial(first, name="three"))
    assert (tmp_path / "alone.xyz").read_text() == (tmp_path / "three.xyz").read_text()
    expected = second(None, "alone")
    for found in (
        second(None, "three"),
        on_ranks(2, partial(second, name="three"))[0],
        on_ranks(4, partial(second, name="alone"))[0],
    ):
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, strict=True)


def refusals(system, ranks, **options) -> list:
    """What is said on each rank against a simulation, made and looked at after a step."""

    def run(rank):
        try:
            simulation = Simulation(system, PlainDevice(), ranks=rank, **options)
            simulation.step(1)
        except (InputError, ArithmeticError) as error:
            return error
        return None

    return on_ranks(ranks, run)


@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"sorted cells"}))
def test_a_strategy_whose_sums_know_the_cut_is_refused_with_the_one_that_runs(strategy):
    for error in refusals(scattered((4, 4, 4), 9), 2, strategy=strategy):
        with pytest.raises(InputError, match=f"^strategy '{strategy}' is for one rank: 'sorted cells' runs on 2$"):
            raise error


def test_the_fastest_strategy_of_ranks_is_one_that_runs_on_them():
    assert refusals(scattered((4, 4, 4), 9), 2) == [None, None]


def test_blocks_thinner_than_two_cells_are_refused_in_one_line():
    for box, ranks, use in (((3.9, 3, 3), 2, 1), ((4, 5.5, 3), 6, 4)):
        size = " x ".join(str(int(side)) for side in box)
        words = f"^{ranks} ranks for {size} cells: each needs 2 x 2 x 2 of its own, so use {use}$"
        for error in refusals(scattered(box, 9), ranks):
            with pytest.raises(InputError, match=words):
                raise error


def test_more_particles_than_there_is_room_for_end_the_run_on_all_ranks():
    system = scattered((8, 3, 3), 50, speed=0.0)
    # all at once come near to the other rank, where at first no particle was
    system.position[:, 0], system.velocity[:, 0] = 2.65, 8.5
    for error in refusals(system, 2, room=1.0):
        with pytest.raises(
            CapacityError, match=r"^rank \d had 50 particles near another rank, and room for (\d+): start"
        ):
            raise error
    assert refusals(system, 2, room=8.0) == [None, None]


def test_a_particle_that_crosses_all_of_its_neighbour_ends_the_run_on_all_ranks():
    system = scattered((12, 3, 3), 90, speed=0.0)
    system.position[0], system.velocity[0, 0] = (2.5, 1, 1), -80
    for error in refusals(system, 2):
        with pytest.raises(DivergenceError, match="^1 particles moved by more than a cell in a step: use a smaller"):
            raise error


def test_a_lost_particle_is_noticed_on_all_ranks():
    def run(rank):
        simulation = simulation_of(scattered((4, 4, 4), 20), rank)
        simulation.step(1)
        if rank.rank == 1:
            simulation.state.ids[np.argmin(simulation.state.ids)] = NO_ID
        with pytest.raises(CheckError, match="^19 particles on all ranks, of 20: some were lost or doubled$"):
            simulation.look()
        with pytest.raises(InputError, match="^a system is made of the particles of one rank"):
            simulation.as_it_is()

    on_ranks(2, run)
