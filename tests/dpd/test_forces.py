"""Every strategy, on every device, gives the forces that the equations give by hand."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import forces_by_hand as by_hand
from helpers.plain import PlainDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from repro.dpd.cases import Poiseuille
from repro.dpd.fluid import Fluid
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import STRATEGIES, runs_on, sorted_cells
from repro.dpd.system import System, in_cell_order
from repro.errors import InputError
from repro.parallel import select

#: forces of order 100 in single precision, positions to 1e-9 of the box
TOLERANCE = {"single": 3e-5, "double": 1e-10}


@some.composite
def few_particles(draw):
    """Two to five particles near each other or across an edge of the smallest box, some of them frozen."""
    count = draw(some.integers(2, 5))
    box = draw(some.sampled_from([(3.0, 3.0, 3.0), (3.5, 4.25, 5.0)]))
    centre = draw(some.sampled_from([0.0, 0.5, 1.0]))
    # on a grid of a hundredth: nearer together, a pair's direction is rounded with its positions
    offset = some.lists(some.integers(-70, 70), min_size=3, max_size=3)
    position = np.array([draw(offset) for _ in range(count)]) / 100
    position = np.mod(centre * np.array(box) + position, box)
    velocity = np.array([draw(some.lists(some.floats(-3, 3), min_size=3, max_size=3)) for _ in range(count)])
    moving = draw(some.integers(1, count))
    velocity[moving:] = 0
    # a time step that keeps the noise in proportion, so that rounding is seen
    return System(Fluid(dt=0.04), box, np.clip(position, 0, box), velocity, moving)


def found_forces(system, device, strategy, precision, **options):
    simulation = Simulation(system, device, strategy=strategy, precision=precision, **options)
    simulation.start()
    return simulation.particles()["force"]


def check_against_hand(system, device, strategy, precision):
    # room for the few particles in a cell and in a block: a simulated GPU has a thread of Python for each place
    found = found_forces(system, device, strategy, precision, seed=9, capacity=8, block=8)[: system.moving]
    expected = by_hand.forces(system, seed=9)[: system.moving]
    assert np.abs(found - expected).max() < TOLERANCE[precision] * max(1, np.abs(expected).max() / 100)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(system=few_particles())
def test_forces_on_few_particles_are_those_by_hand(device, strategy, precision, system):
    if not runs_on(strategy, device):
        with pytest.raises(InputError):
            found_forces(system, device, strategy, precision)
        return
    check_against_hand(system, device, strategy, precision)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_forces_of_a_flow_between_walls_are_those_by_hand(threads, strategy):
    device = threads if runs_on(strategy, threads) else None
    if device is None:
        pytest.skip(f"'{strategy}' runs on one core")
    system = Poiseuille(3, 3, 4).system()
    found = found_forces(system, device, strategy, "double", capacity=64)
    expected = by_hand.forces(system) + np.array([system.drive, 0, 0])
    np.testing.assert_allclose(found[: system.moving], expected[: system.moving], atol=1e-11)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_pair_forces_conserve_momentum_to_rounding(threads, strategy):
    if not runs_on(strategy, threads):
        pytest.skip(f"'{strategy}' runs on one core")
    generator = np.random.default_rng(4)
    position, velocity = generator.uniform(0, 4, (300, 3)), generator.normal(0, 1, (300, 3))
    system = System(Fluid(), (4.0, 4.0, 4.0), position, velocity, 300)
    force = found_forces(system, threads, strategy, "double", capacity=64)
    assert np.abs(force.sum(0)).max() < 1e-11
    # the linear generators give each pair one number as well, where each pair is met once
    if STRATEGIES[strategy].TRAITS.linear:
        force = found_forces(system, threads, strategy, "double", capacity=64, rounds=0)
        assert np.abs(force.sum(0)).max() < 1e-11


def test_the_order_and_the_place_of_the_particles_do_not_matter(threads):
    system = Poiseuille(3, 3, 4).system()
    whole = found_forces(system, threads, "planes", "double")
    moved = replace(system, position=np.mod(system.position + np.array([1.2, 2.9, 0]), system.box))
    np.testing.assert_allclose(found_forces(moved, threads, "planes", "double"), whole, atol=1e-10)


def test_two_particles_at_one_place_have_no_force_and_no_nan(device):
    system = System(Fluid(), (3.0, 3.0, 3.0), np.full((2, 3), 1.5), np.zeros((2, 3)), 2)
    for strategy in STRATEGIES:
        if runs_on(strategy, device):
            assert (found_forces(system, device, strategy, "single") == 0).all()


def test_in_cell_order_the_particles_are_the_same_and_lie_cell_after_cell():
    # cells of side 1, x fastest: 4, 4, 26 and 0 of the fluid, 26 and 4 of the frozen
    place = np.array([[1.5, 1.5, 0], [1.2, 1.3, 0], [2.5, 2.5, 2.5], [0.5, 0, 0], [2.1, 2.2, 2.3], [1.1, 1.9, 0.9]])
    velocity = np.arange(18.0).reshape(6, 3)
    system = in_cell_order(System(Fluid(), (3.0, 3.0, 3.0), place, velocity, 4, drive=0.5))
    order = [3, 0, 1, 2, 5, 4]
    np.testing.assert_array_equal(system.position, place[order])
    np.testing.assert_array_equal(system.velocity, velocity[order])
    assert (system.moving, system.drive, system.box) == (4, 0.5, (3.0, 3.0, 3.0))


def test_the_serial_program_takes_its_numbers_from_one_sequence_pair_after_pair():
    # two pairs in two cells: 0 and 2, which are met from 0 and from 2
    position = np.array([[0.2, 0.2, 0.2], [0.5, 0.3, 0.2], [1.8, 1.8, 1.8], [1.9, 1.6, 1.8]])
    system = System(Fluid(repulsion=0.0), (3.0, 3.0, 3.0), position, np.zeros((4, 3)), 4)
    simulation = Simulation(system, select("serial"), strategy="linked", precision="double", rounds=0, seed=5)
    simulation.forces.run()
    words = [5]
    for _ in range(4):
        words.append((69069 * words[-1] + 1234567) % 2**32)
    assert simulation.state.sequence[0] == words[-1]
    force, found = simulation.particles()["force"], []
    for first, second in ((0, 1), (2, 3)):
        e = position[first] - position[second]
        r = np.linalg.norm(e)
        found.append(abs(force[first] @ e / r) / (3.0 / np.sqrt(0.02) * (1 - r)))
    # Box and Muller's transform of both pairs of words, in the order of the core's work
    u = (np.array(words[1:]) + 0.5) / 2**32
    expected = np.abs(np.sqrt(-2 * np.log(u[::2])) * np.cos(2 * np.pi * u[1::2]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_strategy_that_needs_a_pairs_number_in_any_order_refuses_linear_generators(threads):
    for strategy in ("planes", "sorted cells", "particle, full stencil"):
        with pytest.raises(InputError, match=f"'{strategy}' meets pairs in any order.*choose TEA"):
            Simulation(Poiseuille(3, 3, 4).system(), threads, strategy=strategy, rounds=0)


@pytest.mark.parametrize("neighbours", [31, 32, 33, 64, 65, 100])
def test_a_particle_may_have_more_neighbours_than_a_threads_list_holds(device, neighbours):
    """A crowd in two cells beside each other, all within the cutoff radius of all; lists hold 32 at a time."""
    generator = np.random.default_rng(neighbours)
    position = generator.uniform((0.8, 1.2, 1.2), (1.3, 1.6, 1.6), (neighbours + 1, 3))
    velocity = generator.normal(0, 1, position.shape)
    system = System(Fluid(), (3.0, 3.0, 3.0), position, velocity, len(position))
    found = found_forces(system, device, "sorted cells", "double")
    np.testing.assert_allclose(found, by_hand.forces(system), atol=1e-9)


@pytest.mark.parametrize("box", [(3, 3, 4), (4, 3, 5)])
def test_threads_that_share_the_rows_of_few_particles_find_the_bits_of_one_thread(monkeypatch, box):
    """Of forces, virials and a trajectory, with frozen particles and rows over the periodic edge."""
    system, found = Poiseuille(*box).system(), []
    for few in (0, system.moving, system.moving + 1):
        monkeypatch.setattr(sorted_cells, "FEW", few)
        simulation = Simulation(system, PlainDevice(), strategy="sorted cells", seed=3)
        assert ("add up" in simulation.parts) == (few > system.moving)
        simulation.advance(2)
        found.append(simulation.particles() | {"virial": simulation.state.virial})
    for other in found[1:]:
        for what, values in found[0].items():
            np.testing.assert_array_equal(other[what], values, err_msg=what)
    # where sums in double precision are what counts, their order stays
    double = Simulation(system, PlainDevice(), strategy="sorted cells", precision="double")
    assert "add up" not in double.parts
