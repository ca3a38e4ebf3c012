"""Electrons of a source gain what the field gives them, from the moment of their birth."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.random_words import words

from repro.parallel.launch_sequence import in_turn
from repro.particles.random import ROUNDS, Stream, tea
from repro.pic.constants import LIGHT
from repro.pic.maxwell.fields import field_units
from repro.pic.mesh import Mesh
from repro.pic.particle_source import make_direction
from repro.pic.simulation import Simulation
from repro.pic.state import FRESH
from repro.pic.subdomain import Subdomain
from repro.pic.system import Electrons, Source, System

STEP = 1e-12


def particles(steps: int, gain: float, **source) -> dict[str, np.ndarray]:
    """Electrons of a source in a field along x that takes `gain` of their momentum over m c in each step."""
    mesh, field = Mesh((2, 2, 2), (1e-3,) * 3), gain * field_units(STEP)[0]
    source = Source(energy=1e5, weight=1.0, **source)
    system = System(mesh, STEP, source=source, electric=(field, 0, 0), self_field=False, capacity=20)
    simulation = Simulation(system, PlainDevice(), precision="double")
    simulation.step(steps)
    return simulation.particles()


def momenta(steps: int, **source) -> np.ndarray:
    """Momenta along x, over m c, in a field that takes 0.2 in each step."""
    return particles(steps, 0.2, **source)["momentum"][:, 0]


def test_electrons_of_the_start_gain_as_much_in_the_first_step_as_in_any_other():
    first, second, third = (momenta(steps, start=4) for steps in range(3))
    np.testing.assert_allclose(second - first, -0.2, rtol=1e-12)
    np.testing.assert_allclose(third - second, -0.2, rtol=1e-12)


def test_electrons_born_within_a_step_gain_the_share_that_is_left_of_it():
    # an electron's direction does not depend on the field, so the momentum without one is known
    gained = momenta(1, per_step=6) - momenta(0, start=6)
    assert len(set(gained)) == 6
    assert ((gained > -0.2) & (gained < 0)).all()
    assert gained.mean() == pytest.approx(-0.1, abs=4 * 0.2 / np.sqrt(12 * 6))
    # without a field they go straight on, as far as in that share, from where those of the start are
    free, start = particles(1, 0.0, per_step=6), particles(0, 0.0, start=6)
    way = (free["position"] - start["position"] + 1e-3) % 2e-3 - 1e-3
    speed = free["momentum"] / np.sqrt(1 + (free["momentum"] ** 2).sum(1, keepdims=True))
    np.testing.assert_allclose(way, speed * LIGHT * STEP * gained[:, None] / -0.2, atol=1e-15)
    np.testing.assert_allclose(momenta(2, per_step=6)[:6] - momenta(1, per_step=6), -0.2, rtol=1e-12)


def test_directions_are_unit_vectors_each_as_likely_as_another():
    found = np.array([make_direction(np.float64)(*pair) for pair in zip(*words(4000), strict=True)])
    np.testing.assert_allclose((found**2).sum(1), 1, rtol=1e-12)
    # even along each axis, from -1 to 1: of the mean 0 and the variance 1/3, and its square of the variance 4/45
    assert np.abs(found.mean(0)).max() < 4 / np.sqrt(3 * 4000)
    assert np.abs((found**2).mean(0) - 1 / 3).max() < 4 * np.sqrt(4 / 45 / 4000)


def added(simulation, at_start: bool = False) -> dict[str, np.ndarray]:
    """What the source adds in one launch, as it is in the arrays: place in cells of the whole box, u, weight ..."""
    particles, mesh, begin = simulation.particles_on_device, simulation.subdomain.mesh, int(simulation.used[0])
    particles.event[:] = 7
    in_turn(*simulation.bind_source(simulation.source_target, at_start=at_start).values())
    part = slice(begin, min(int(simulation.used[0]), simulation.subdomain.room))
    place = particles.place.reshape(3, -1)[:, part].T
    names = ("weight", "ids", "left", "event")
    return {
        "cell": mesh.cells(particles.cell[part]),
        "place": place,
        "u": particles.u.reshape(3, -1)[:, part].T,
        **{name: getattr(particles, name)[part] for name in names},
    }


def filled(count: int, capacity: int = 5000) -> System:
    """A box of unequal sides with layers along one of them, a given electron, and a source of so many a step."""
    mesh = Mesh((9, 4, 7), (1e-3, 2e-3, 1.5e-3), ("absorbing", "periodic", "conducting"), layers=2)
    given = Electrons([[3e-3, 1e-3, 1e-3]], [[0.0, 0.0, 0.0]], [2.0])
    source = Source(1e5, 3.0, start=count, per_step=count, seed=9)
    return System(mesh, STEP, given, source, self_field=False, capacity=capacity)


@pytest.mark.parametrize("at_start", [True, False])
def test_a_source_fills_what_does_not_absorb_and_nothing_it_draws_hangs_on_another(at_start):
    count = 1500
    simulation = Simulation(filled(count), PlainDevice(lanes=500), precision="double")
    found = added(simulation, at_start)
    share = (found["cell"] - [2, 0, 0] + found["place"]) / [5, 4, 7]
    assert ((share >= 0) & (share < 1)).all()
    np.testing.assert_allclose(share.mean(0), 0.5, atol=4 / np.sqrt(12 * count))
    np.testing.assert_allclose(share.var(0), 1 / 12, atol=4 / np.sqrt(180 * count))
    columns = [*share.T, *found["u"].T] if at_start else [*share.T, *found["u"].T, found["left"]]
    correlated = np.corrcoef(columns) - np.eye(len(columns))
    assert np.abs(correlated).max() < 5 / np.sqrt(count)
    assert (found["event"] == 0).all()
    assert (found["weight"] == 3).all()
    if at_start:
        assert (found["left"] == FRESH).all()
    else:
        assert abs(found["left"].mean() - 0.5) < 4 / np.sqrt(12 * count)
        assert ((found["left"] > 0) & (found["left"] <= 1)).all()


def test_numbers_go_on_through_all_steps_and_each_names_other_electrons():
    simulation = Simulation(filled(4), PlainDevice())
    start, *steps = [added(simulation, at_start) for at_start in (True, False, False)]
    # one electron is given
    assert start["ids"].tolist() == [1, 2, 3, 4]
    assert [step["ids"].tolist() for step in steps] == [[5, 6, 7, 8], [9, 10, 11, 12]]
    # so late that numbers have more than 32 bits, of which the lower ones are those of the first step
    simulation.resume(2**30)
    late = added(simulation)
    assert late["ids"].tolist() == [number + 2**32 for number in steps[0]["ids"]]
    places = np.concatenate([each["place"] for each in (start, *steps, late)])
    assert len(np.unique(places)) == places.size
    other = replace(filled(4), source=replace(filled(4).source, seed=10))
    assert (added(Simulation(other, PlainDevice()), at_start=True)["place"] != start["place"]).all()


def test_all_that_is_drawn_is_by_the_number_of_the_electron_and_the_seed_of_its_source():
    simulation = Simulation(filled(40), PlainDevice(), precision="double")
    found = added(simulation)
    ids = found["ids"].astype(np.uint32)
    with np.errstate(over="ignore"):
        drawn = [tea(ROUNDS)(ids, 0 * ids, int(Stream.SOURCE), 9, k) for k in range(3)]
    (along_x, along_y), (along_z, polar), (azimuth, left) = drawn
    share = (found["cell"] - [2, 0, 0] + found["place"]) / [5, 4, 7]
    np.testing.assert_allclose(share, np.transpose([along_x, along_y, along_z]) / 2**32, atol=1e-9)
    np.testing.assert_array_equal(found["left"], left / 2**32 + 2.0**-33)
    ways = [make_direction(np.float64)(*pair) for pair in zip(polar, azimuth, strict=True)]
    size = Source(1e5, 1.0).momentum
    np.testing.assert_allclose(found["u"], size * np.array(ways), rtol=1e-12)


def test_a_source_adds_what_there_is_room_for_and_counts_one_more():
    simulation = Simulation(filled(4, capacity=9), PlainDevice())
    assert len(added(simulation)["ids"]) == len(added(simulation)["ids"]) == 4
    assert added(simulation)["ids"].tolist() == [13]
    # the box is full, and one too many was counted
    assert simulation.used[0] == 10
    assert len(added(simulation)["ids"]) == 0
    assert simulation.used[0] == 10


def test_parts_of_a_box_have_the_electrons_that_are_born_there():
    """Each rank draws all of them, and takes those of its cells."""
    system, parts = filled(60), []
    whole = added(Simulation(system, PlainDevice()), at_start=True)
    for rank in range(2):
        simulation = Simulation(system, PlainDevice())
        # along y, where it is periodic
        simulation.subdomain = Subdomain(system, SimpleNamespace(rank=rank, count=2), PlainDevice())
        target = simulation.source_target
        layout = simulation.subdomain.mesh.layout
        context = target.context._replace(layout=layout, charges=np.zeros(layout.nodes, np.int64))
        fields = target.fields._replace(electric=np.zeros(3 * layout.nodes, np.float32))
        target = target._replace(context=context, fields=fields)
        in_turn(*simulation.bind_source(target, at_start=True).values())
        particles = simulation.particles_on_device
        here = slice(0, int(simulation.used[0]))
        cells = simulation.subdomain.mesh.cells(particles.cell[here]) + np.array(simulation.subdomain.first)
        assert simulation.subdomain.own(cells).all()
        parts.append((particles.ids[here].copy(), cells))
    ids, cells = (np.concatenate(each) for each in zip(*parts, strict=True))
    assert min(len(part) for part, _ in parts) > 10
    np.testing.assert_array_equal(np.sort(ids), whole["ids"])
    np.testing.assert_array_equal(cells[np.argsort(ids)], whole["cell"])
