"""A collision is each process as often as the cross-sections say, and its numbers are its own."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.pic_systems import gauss_residual, net_charge
from helpers.plain import PlainDevice
from scipy.stats import kstest

from repro.parallel.operations import add_alone
from repro.particles.random import ROUNDS, Stream, tea
from repro.pic.air import bremsstrahlung, collisions, elastic, event_numbers, infinite_air, ionisation, transport
from repro.pic.air.collision_tables import COLUMNS, TOTAL, Collisions, make_look_ahead, make_slow_down, tables
from repro.pic.air.collisions import make_collide
from repro.pic.air.event_numbers import (
    ANGLES,
    CHOICE,
    MOST_EVENTS,
    REJECTION,
    event_words,
    make_segment_depth,
    secondary_id,
    stream_of,
)
from repro.pic.air.kinematics import energy_of
from repro.pic.air.medium import Air
from repro.pic.air.processes import HEATS, NAMES, NOTHING, PROCESSES, RADIATES, SETS_FREE, number_of
from repro.pic.air.tallies import EVENTS, NO_EVENTS, STOPS, TALLIES, in_units, make_add_tallies, make_count_event
from repro.pic.constants import CHARGE, LIGHT, MASS, REST_ENERGY
from repro.pic.mesh import Mesh
from repro.pic.particle_source import SOURCE_STREAM
from repro.pic.simulation import Simulation
from repro.pic.state import DEFERRED, EMPTY, make_particles
from repro.pic.system import Electrons, System

ELASTIC, IONISATION, RADIATION = map(number_of, (elastic, ionisation, bremsstrahlung))

DEVICE, COUNT = PlainDevice(), 4000


def alone(made, *processes, often=1.0):
    """Tables in which these processes alone have candidates, so many times as often."""
    rows = made.rows.reshape(-1, COLUMNS).copy()
    each = np.diff(rows[:, : len(PROCESSES)], axis=1, prepend=0) * [
        often * (process in processes) for process in PROCESSES
    ]
    rows[:, : len(PROCESSES)] = np.cumsum(each, axis=1)
    # with what a segment may slow an electron down
    majorant = 1.5 * np.maximum(rows[:-1, TOTAL], rows[1:, TOTAL]) + 1e-3
    return made._replace(rows=rows.ravel(), majorant=majorant.astype(rows.dtype))


def key_of(i, seed=1, step=0):
    return np.uint32(i), np.uint32(0), np.uint32(seed), np.uint32(step)


def make_event(real):
    """What kernels do at a candidate: the process, both momenta after it, and the depth to the next one."""
    collide, depth = make_collide(real), make_segment_depth(real)

    def event_of(u, majorant, key, event, made):
        return *collide(u, majorant, key, event, made), depth(key, event)

    return event_of


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("energy", [1e4, 1e7])
def test_each_process_happens_as_often_as_its_cross_section(energy, real):
    collisions = Collisions(cut=2e3)
    made, collide = tables(collisions, DEVICE, real), make_event(real)
    tau, cut = energy / REST_ENERGY, 2e3 / REST_ENERGY
    u = tuple(real(np.sqrt(tau * (tau + 2)) * part) for part in (0.36, -0.48, 0.8))
    majorant = make_look_ahead(real)(real(tau), made)[0]
    found = [collide(u, majorant, key_of(i), 1, made) for i in range(COUNT)]
    expected = {
        ELASTIC: elastic.cross_section(tau, collisions.air),
        IONISATION: ionisation.cross_section(tau, cut, collisions.air),
        RADIATION: bremsstrahlung.cross_section(tau, cut, collisions.air),
    }
    processes = np.array([process for process, *_ in found])
    for process, size in expected.items():
        share = size / float(majorant)
        # 2e-4 is what interpolation may change
        assert abs(np.mean(processes == process) - share) < 5 * np.sqrt(share * (1 - share) / COUNT) + 2e-4
    depths = np.array([depth for *_, depth in found], float)
    assert kstest(depths, "expon").pvalue > 1e-6


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_collision_conserves_what_its_process_conserves(real):
    made, collide, rounding = tables(Collisions(), DEVICE, real), make_event(real), 40 * float(np.finfo(real).eps)
    u = tuple(real(part) for part in (2.0, -1.0, 1.5))
    before, energy = np.array(u, float), float(energy_of(real(7.25)))
    seen = set()
    # many more ionisations and photons than there are
    for majorant in (real(1.5e3), real(1e3)):
        for i in range(1000):
            process, after, secondary, _ = collide(u, majorant, key_of(i, step=7), 3, made)
            seen.add(process)
            after, secondary = np.array(after, float), np.array(secondary, float)
            left, given = (float(energy_of(np.float64(v @ v))) for v in (after, secondary))
            if process == IONISATION:
                assert after + secondary == pytest.approx(before, abs=rounding)
                assert left + given == pytest.approx(energy, abs=rounding)
                assert Collisions().cut / REST_ENERGY * (1 - rounding) <= given <= left * (1 + rounding)
                continue
            assert not secondary.any()
            if process == RADIATION:
                assert np.cross(after, before) == pytest.approx(np.zeros(3), abs=10 * rounding)
                assert after @ before >= 0
                assert left <= energy - Collisions().cut / REST_ENERGY * (1 - rounding) + rounding
            else:
                assert left == pytest.approx(energy, abs=rounding)
                assert (after == before).all() == (process == NOTHING)
    assert seen >= {NOTHING, ELASTIC, IONISATION}


def test_a_photon_leaves_the_direction_and_takes_energy():
    # with a majorant below the photons' cross-section each candidate is one
    made, collide = tables(Collisions(), DEVICE, np.float64), make_event(np.float64)
    made = alone(made, bremsstrahlung)
    u = (1.0, 2.0, -2.0)
    for i in range(100):
        process, after, secondary, _ = collide(u, 1e-9, key_of(i), 1, made)
        assert process == RADIATION
        assert secondary == (0, 0, 0)
        share = after[0]
        assert 0 <= share < 1
        assert after == pytest.approx((share, 2 * share, -2 * share))


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_free_paths_are_exponential_though_the_cross_section_changes_on_the_way(real):
    """The true optical depth up to a collision, integrated with the formulas, is -ln(xi)."""
    collisions = Collisions()
    made, collide = tables(collisions, DEVICE, real), make_event(real)
    ahead, slowed, born = make_look_ahead(real), make_slow_down(real), make_segment_depth(real)
    grid = np.geomspace(1.05e3, 2e4, 4001) / REST_ENERGY
    sigma = elastic.cross_section(grid, collisions.air) + ionisation.cross_section(
        grid, float(made.cut), collisions.air
    )
    each = sigma / collisions.restricted_stopping(grid)
    passed = np.concatenate([[0], np.cumsum(np.diff(grid) * (each[1:] + each[:-1]) / 2)])
    # scatterers so rare that an electron meets eight on its way down: it loses energy in between
    rarer = passed[-1] / 8
    rows = made.rows.reshape(-1, COLUMNS).copy()
    rows[:, : len(PROCESSES)] /= real(rarer)
    made = made._replace(rows=rows.ravel(), majorant=made.majorant / real(rarer))
    depths = []
    for i in range(3000):
        tau, depth, event, process = real(grid[-1]), born(key_of(i), 0), 0, NOTHING
        while process == NOTHING and tau > grid[0]:
            majorant, stopping, longest = ahead(tau, made)
            path = min(depth / majorant, longest)
            tau = slowed(tau, stopping, path, made)
            due, depth = path < longest, depth - majorant * path
            if due:
                event += 1
                u = (real(np.sqrt(tau * (tau + 2))), real(0), real(0))
                process, _, _, depth = collide(u, majorant, key_of(i), event, made)
        depths.append((passed[-1] - np.interp(float(tau), grid, passed)) / rarer)
    assert sigma[0] > 4 * sigma[-1]
    assert kstest(depths, "expon").pvalue > 1e-6


def test_streams_of_events_are_no_others_and_all_different():
    assert SOURCE_STREAM == Stream.SOURCE
    events = [(event, purpose) for event in (0, 1, 2, 500, MOST_EVENTS) for purpose in range(4)]
    found = {int(stream_of(event, purpose)) for event, purpose in events}
    assert len(found) == len(events)
    assert {stream & 255 for stream in found} == {Stream.COLLISION}
    # by particle, stream, seed and step
    assert event_words((1, 2, 3, 4), 5, ANGLES) == tea(ROUNDS)(1, 2, stream_of(5, ANGLES), 3, 4)
    # the number of one event more has 33 bits
    assert (4 * (MOST_EVENTS + 1)) * 256 == 2**32


def test_secondaries_have_ids_of_their_own():
    found = {tuple(map(int, secondary_id(key_of(i), event))) for i in range(300) for event in (1, 2, 3)}
    assert len(found) == 900
    # as 64 bits: positive, and far above all that are counted
    assert all(2**62 <= (high << 32) + low < 2**63 for low, high in found)


def test_transfers_are_rejected_as_often_as_mollers_law_says():
    # without other cross-sections every candidate is a transfer; near the cut a fifth of them is rejected
    collisions, tau, cut = Collisions(), 5e3 / REST_ENERGY, 1e3 / REST_ENERGY
    made, collide = tables(collisions, DEVICE, np.float64), make_event(np.float64)
    made = alone(made, ionisation)
    u = (float(np.sqrt(tau * (tau + 2))), 0.0, 0.0)
    found = [collide(u, 1e-9, key_of(i), 1, made)[0] for i in range(COUNT)]
    share = ionisation.cross_section(tau, cut, collisions.air) / ionisation.candidates(tau, cut, collisions.air)
    assert share < 0.9
    assert abs(np.mean(np.array(found) == IONISATION) - share) < 5 * np.sqrt(share * (1 - share) / COUNT)
    assert set(found) == {NOTHING, IONISATION}


def test_processes_are_numbered_from_one_and_say_what_they_leave():
    assert [number_of(process) for process in PROCESSES] == list(range(1, 1 + len(PROCESSES)))
    assert NAMES[ELASTIC - 1] == "elastic"
    assert {process.ENERGY for process in PROCESSES} <= {None, "lost", "radiated"}
    assert (SETS_FREE >> IONISATION & 1, RADIATES >> RADIATION & 1) == (1, 1)
    for mask in (SETS_FREE, RADIATES, HEATS):
        assert not any(mask >> number & 1 for number in (NOTHING, ELASTIC))


def test_tallies_have_a_place_for_each_process_and_nothing_beside_theirs():
    sums, count_event, events = np.zeros(TALLIES + 1, np.int64), make_count_event(), NO_EVENTS
    for process in (NOTHING, IONISATION, ELASTIC, IONISATION, RADIATION, IONISATION):
        events = count_event(events, process)

    def add(array, place, value):
        array[place] += value

    make_add_tallies(add)(sums, 5, 6, 7, events, 8)
    seen = {ELASTIC: 1, IONISATION: 3, RADIATION: 1}
    assert sums.tolist() == [5, 6, 7, *(seen.get(number_of(process), 0) for process in PROCESSES), 8, 0]
    assert (3, 3 + len(PROCESSES)) == (EVENTS, STOPS)


def test_tallies_are_told_in_joules_and_numbers_by_their_names():
    told = in_units(np.arange(1, TALLIES + 1), 2.0**20)
    # a unit is so much of an electron, and its energy is counted in 1 / 4096 of it
    joule = MASS * LIGHT**2 / 2**20 * 4096
    names = ["lost", "radiated", "left over", *NAMES, "stops"]
    assert list(told) == names
    expected = [joule, 2 * joule, 3 * joule, *range(4, TALLIES + 1)]
    assert list(told.values()) == pytest.approx(expected)
    assert all(isinstance(told[name], int) for name in names[3:])


def seen(happens, after, secondary) -> dict:
    """What an event has done to an electron that flew along z, and to its secondary."""
    vectors = np.array([after, secondary], float)
    size = np.linalg.norm(vectors, axis=1)
    return {
        "happens": happens,
        "energy": size.tolist(),
        "angle": (vectors[:, 2] / np.maximum(size, 1e-99)).tolist(),
        "azimuth": np.arctan2(vectors[:, 1], vectors[:, 0]).tolist(),
    }


#: what changes with each word of an event; a word that is in none changes nothing
WORDS = {
    elastic: {(ANGLES, 0): {"angle"}, (ANGLES, 1): {"azimuth"}, (REJECTION, 0): {"happens"}, (REJECTION, 1): {"angle"}},
    ionisation: {(ANGLES, 0): {"energy", "angle"}, (ANGLES, 1): {"azimuth"}, (REJECTION, 0): {"happens"}},
    bremsstrahlung: {(ANGLES, 0): {"energy"}},
}


@pytest.mark.parametrize("process", PROCESSES, ids=NAMES)
def test_each_word_of_an_event_has_one_purpose(process, monkeypatch):
    words, tau = {purpose: [np.uint32(2**31), np.uint32(2**30)] for purpose in range(4)}, 2.0
    monkeypatch.setattr(process, "event_words", lambda key, event, purpose: words[purpose])
    outcome, u2 = process.make_outcome(np.float64), tau * (tau + 2)

    def found() -> dict:
        return seen(*outcome((0.0, 0.0, np.sqrt(u2)), u2, tau, key_of(3), 1, 1e3 / REST_ENERGY))

    usual = found()
    assert usual["happens"]
    for purpose in words:
        for place in (0, 1):
            before, words[purpose][place] = words[purpose][place], np.uint32(2**32 - 1 - 2**24 * (purpose == ANGLES))
            now = found()
            changed = {name for name, value in now.items() if value != pytest.approx(usual[name], rel=1e-9)}
            assert ({"happens"} if "happens" in changed else changed) == WORDS[process].get((purpose, place), set())
            words[purpose][place] = before


def test_a_process_and_the_next_depth_are_chosen_by_words_of_their_own(monkeypatch):
    made, words = tables(Collisions(), DEVICE, np.float64), [np.uint32(0), np.uint32(2**31)]
    for module in (collisions, event_numbers):
        monkeypatch.setattr(module, "event_words", lambda key, event, purpose: words if purpose == CHOICE else None)
    depth = make_segment_depth(np.float64)
    assert depth(key_of(1), 1) == pytest.approx(np.log(2))
    words[1] = np.uint32(2**29)
    assert depth(key_of(1), 1) == pytest.approx(np.log(8))
    # one of its own, which no other test gets out of the cache
    collide, majorant = make_collide.__wrapped__(np.float64), 1e9
    # far above the cross-section nearly all candidates are none
    words[0] = np.uint32(2**32 - 1)
    assert collide((0.0, 0.0, 1.0), majorant, key_of(1), 1, made)[0] == NOTHING


def flown(system, steps, monkeypatch, process, often) -> Simulation:
    """A run in plain Python in which only one process has candidates, so many times as often."""
    monkeypatch.setattr(transport, "tables", lambda *which: alone(tables(*which), process, often=often))
    simulation = Simulation(system, DEVICE, precision="double")
    simulation.step(steps)
    return simulation


def test_electrons_that_cross_faces_collide_and_lose_energy_as_the_formulas_say(monkeypatch):
    # a cell every half of a free path, so that depths are drawn anew at faces
    count, energy, spacing = 25, 1e5, (2e-7, 2.5e-7, 1.5e-7)
    tau, air = energy / REST_ENERGY, Collisions(Air(density=870.0))
    u, dt, steps = np.sqrt(tau * (tau + 2)), 3e-16, 50
    way = np.random.default_rng(4).normal(size=(count, 3))
    momentum = u * way / np.linalg.norm(way, axis=1)[:, None]
    mesh = Mesh((4, 3, 5), spacing)
    electrons = Electrons(np.full((count, 3), 3e-7), momentum, np.linspace(1, 3, count))
    system = System(mesh, dt, electrons, self_field=False, air=air, capacity=200)
    simulation = flown(system, steps, monkeypatch, elastic, 1)
    told, path = simulation.tallies(), u / (1 + tau) * LIGHT * dt * steps
    expected = count * path * elastic.cross_section(tau, air.air)
    assert expected > 100
    assert abs(told["elastic"] - expected) < 5 * np.sqrt(expected)
    lost = path * float(air.restricted_stopping(tau)) * electrons.weight.sum()
    # they have become slower by half a per cent on the way
    assert told["lost"] == pytest.approx(lost * MASS * LIGHT**2, rel=0.01)


def test_an_electron_that_has_many_segments_and_meets_no_face_is_turned_in_all_of_them(monkeypatch):
    """In dense air they are short: in one step as in two, of which each has fewer than it may meet faces."""
    mesh, air, dt = Mesh((2, 2, 2), (1.0,) * 3), Collisions(Air(density=870.0), cut=2e4, stop=2e4), 1.5e-10
    electrons, ends = Electrons([[0.3, 0.3, 0.3]], [[12.0, 0.0, 0.0]], [1.0]), []
    field = (0.0, 0.0, 0.9 * MASS / (CHARGE * dt))
    for steps in (1, 2):
        # the tables are changed for each run
        with monkeypatch.context() as patch:
            system = System(mesh, dt / steps, electrons, magnetic=field, self_field=False, air=air, capacity=9)
            x, y, _ = flown(system, steps, patch, ionisation, 0.0).particles()["momentum"][0]
        ends.append((np.hypot(x, y), np.arctan2(y, x)))
    assert ends[0] == pytest.approx(ends[1], rel=1e-3)
    # it loses a sixteenth in each segment, so there were more than 32 of them
    assert 16 * np.log(11.04 / (np.sqrt(1 + x**2 + y**2) - 1)) > 40


def test_a_secondary_is_all_that_its_collision_says_and_leaves_an_ion():
    layout, target = Mesh((3, 4, 5), (1.0,) * 3).layout, make_particles(DEVICE, np.float64, 6)
    target.event[:] = 7
    charges, key = np.zeros(layout.nodes, np.int64), key_of(9, seed=2, step=5)
    cell = 1 + 2 * layout.row + 3 * layout.plane
    electron = transport.Electron(cell, (0.25, 0.5, 0.125), (9.0, 9.0, 9.0), 9.0, 0.375, 9)
    put = transport.make_put_secondary(np.float64, add_alone)
    context = SimpleNamespace(charges=charges, unit=2.0**40, layout=layout)
    put(target, 4, 6, 3.0, electron, (1.0, -2.0, 3.0), key, 11, context)
    found = {name: values.reshape(-1, 6)[:, 4].tolist() for name, values in target._asdict().items()}
    low, high = map(int, secondary_id(key, 11))
    assert found == {
        "cell": [DEFERRED - cell],
        "place": [0.25, 0.5, 0.125],
        "u": [1, -2, 3],
        "weight": [3],
        "ids": [high << 32 | low],
        "left": [0.375],
        "event": [0],
    }
    assert charges.sum() == 3 * 2**40
    assert charges[cell] == 3 * 2**40 * 0.75 * 0.5 * 0.875
    assert (np.delete(target.cell, 4) == EMPTY).all()


def test_what_secondaries_take_is_not_radiated(monkeypatch):
    count, length = 50, 1e-3
    often = 1 / (length * ionisation.cross_section(2.0, 1e3 / REST_ENERGY, Air()))
    monkeypatch.setattr(infinite_air, "tables", lambda *which: alone(tables(*which), ionisation, often=often))
    found = infinite_air.fly(Collisions(), np.full(count, 2 * REST_ENERGY), DEVICE, length=length)
    assert found["collisions"][:, IONISATION - 1].sum() > 20
    assert not found["radiated"].any()


def test_a_secondary_flies_for_what_is_left_of_the_step_from_where_it_was_set_free(monkeypatch):
    """It has the weight of the electron that freed it, and leaves an ion: Gauss' law holds."""
    count, tau, air = 150, 3.0, Collisions(cut=4e5)
    u, mesh, dt = np.sqrt(15.0), Mesh((4, 5, 3), (1e-4, 1.1e-4, 1.2e-4)), 1.8e-13
    begin, weight = np.array([1.5e-4, 2.7e-4, 1.3e-4]), np.arange(1.0, count + 1)
    electrons = Electrons(np.tile(begin, (count, 1)), np.tile([u, 0, 0], (count, 1)), weight)
    system = System(mesh, dt, electrons, self_field=False, air=air, capacity=400)
    # one of three electrons frees another one
    often = 0.5 / (ionisation.candidates(tau, air.cut / REST_ENERGY, air.air) * LIGHT * dt)
    simulation = flown(system, 1, monkeypatch, ionisation, often)
    found, told = simulation.particles(), simulation.tallies()
    new = found["ids"] >= count
    assert new.sum() == told["ionisation"] > 20
    assert set(found["weight"][new]) <= set(weight)
    assert len(set(found["weight"][new])) > 0.8 * new.sum()
    way = (found["position"][new] - begin + np.array(mesh.length) / 2) % mesh.length - np.array(mesh.length) / 2
    speed = found["momentum"][new] / np.sqrt(1 + (found["momentum"][new] ** 2).sum(1))[:, None]
    across = np.linalg.norm(speed[:, 1:], axis=1)
    left = np.linalg.norm(way[:, 1:], axis=1) / (across * LIGHT * dt)
    assert ((left > 0) & (left < 1)).all()
    assert 0.3 < left.mean() < 0.7
    along = ((1 - left) * u / (1 + tau) + left * speed[:, 0]) * LIGHT * dt
    # but for the few that a second event or a secondary of theirs has set free
    assert np.mean(np.abs(along - way[:, 0]) < 1e-3 * LIGHT * dt) > 0.75
    assert abs(net_charge(simulation)[:-1, :-1, :-1].sum()) < 1e-6


def test_charge_is_conserved_at_every_node_where_electrons_are_set_free_and_stop(monkeypatch):
    count, air = 40, Collisions(Air(density=100.0), cut=2e3, stop=2e3)
    mesh, dt = Mesh((3, 4, 2), (1e-5, 1.1e-5, 1.2e-5)), 1.5e-14
    numbers = np.random.default_rng(6)
    momentum = 0.2 * (way := numbers.normal(size=(count, 3))) / np.linalg.norm(way, axis=1)[:, None]
    electrons = Electrons(numbers.random((count, 3)) * mesh.length, momentum, numbers.uniform(1, 2, count))
    system = System(mesh, dt, electrons, air=air, capacity=300)
    often = 0.2 / (ionisation.candidates(0.0198, air.cut / REST_ENERGY, air.air) * 0.2 * LIGHT * dt)
    simulation = flown(system, 4, monkeypatch, ionisation, often)
    told = simulation.tallies()
    assert min(told["ionisation"], told["stops"]) > 5
    assert simulation.count == count + told["ionisation"] - told["stops"]
    assert np.abs(gauss_residual(simulation)).max() < 1e-9
    assert np.abs(net_charge(simulation)).max() > 0.01


def test_tracks_say_where_the_first_collision_was_and_what_photons_took(monkeypatch):
    energy, count, length, collisions = 1e7, 400, 1e-3, Collisions(cut=1e6)
    tau = energy / REST_ENERGY
    # half a photon an electron, and nothing else that happens
    often = 0.5 / (length * bremsstrahlung.cross_section(tau, 1e6 / REST_ENERGY, collisions.air))
    monkeypatch.setattr(infinite_air, "tables", lambda *which: alone(tables(*which), bremsstrahlung, often=often))
    found = infinite_air.fly(collisions, np.full(count, energy), DEVICE, length=length, precision="double")
    photons = found["collisions"][:, RADIATION - 1]
    assert not np.delete(found["collisions"], RADIATION - 1, axis=1).any()
    assert abs(np.mean(photons == 0) - np.exp(-0.5)) < 5 * np.sqrt(np.exp(-0.5) / count)
    assert ((found["first"] > 0) == (found["radiated"] > 0)).all()
    assert ((found["first"] > 0) == (photons > 0)).all()
    assert (found["first"] <= length).all()
    # the first of two is the earlier one: a third of the way on average, and half of it where there is one
    for number, share in ((1, 1 / 2), (2, 1 / 3)):
        first = found["first"][photons == number] / length
        assert abs(first.mean() - share) < 5 * 0.3 / np.sqrt(len(first))
    single = found["radiated"][photons == 1]
    assert 1e6 <= single.min() < single.max() <= energy
    # with the spectrum 1/k
    assert single.mean() == pytest.approx((energy - 1e6) / np.log(10), rel=0.2)
    # straight on, and all else is the continuous loss
    np.testing.assert_allclose(found["place"], np.tile([length, 0, 0], (count, 1)), atol=1e-12)
    lost = length * float(collisions.restricted_stopping(tau)) * REST_ENERGY
    flying = found["energy"] > 1e6
    rest = energy - found["energy"] - found["radiated"]
    np.testing.assert_allclose(rest[flying], lost, rtol=0.25)
