"""A collision is each process as often as the cross-sections say, and its numbers are its own."""

import numpy as np
import pytest
from helpers.plain import PlainDevice
from scipy.stats import kstest

from repro.particles.random import Stream
from repro.pic.air import bremsstrahlung, elastic, ionisation
from repro.pic.air.collision_tables import COLUMNS, Collisions, make_look_ahead, make_slow_down, tables
from repro.pic.air.collisions import make_collide
from repro.pic.air.event_numbers import MOST_EVENTS, make_segment_depth, secondary_id, stream_of
from repro.pic.air.kinematics import energy_of
from repro.pic.air.processes import HEATS, NAMES, NOTHING, PROCESSES, RADIATES, SETS_FREE, number_of
from repro.pic.air.tallies import EVENTS, NO_EVENTS, STOPS, TALLIES, make_add_tallies, make_count_event
from repro.pic.constants import REST_ENERGY
from repro.pic.particle_source import SOURCE_STREAM

ELASTIC, IONISATION, RADIATION = map(number_of, (elastic, ionisation, bremsstrahlung))

DEVICE, COUNT = PlainDevice(), 4000


def alone(made, *processes):
    """Tables in which these processes alone have candidates."""
    rows = made.rows.reshape(-1, COLUMNS).copy()
    each = np.diff(rows[:, : len(PROCESSES)], axis=1, prepend=0) * [process in processes for process in PROCESSES]
    rows[:, : len(PROCESSES)] = np.cumsum(each, axis=1)
    return made._replace(rows=rows.ravel())


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
