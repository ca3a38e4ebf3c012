"""A collision is each process as often as the cross-sections say, and its numbers are its own."""

import numpy as np
import pytest
from helpers.plain import PlainDevice
from scipy.stats import kstest

from repro.particles.random import Stream
from repro.pic.air import bremsstrahlung, elastic, ionisation
from repro.pic.air.collision_tables import Collisions, looking_ahead, slowing, tables
from repro.pic.air.collisions import COLLISION, MOST_EVENTS, _stream, child_id, colliding, segment_depth
from repro.pic.air.kinematics import kinetic
from repro.pic.air.processes import ELASTIC, IONISATION, NOTHING, RADIATION
from repro.pic.births import BIRTH
from repro.pic.constants import REST_ENERGY

DEVICE, COUNT = PlainDevice(), 4000


def key_of(i, seed=1, step=0):
    return np.uint32(i), np.uint32(0), np.uint32(seed), np.uint32(step)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("energy", [1e4, 1e7])
def test_each_process_happens_as_often_as_its_cross_section(energy, real):
    collisions = Collisions(cut=2e3)
    made, collide = tables(collisions, DEVICE, real), colliding(real)
    tau, cut = energy / REST_ENERGY, 2e3 / REST_ENERGY
    u = tuple(real(np.sqrt(tau * (tau + 2)) * part) for part in (0.36, -0.48, 0.8))
    majorant = looking_ahead(real)(real(tau), made)[0]
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
    made, collide, rounding = tables(Collisions(), DEVICE, real), colliding(real), 40 * float(np.finfo(real).eps)
    u = tuple(real(part) for part in (2.0, -1.0, 1.5))
    before, energy = np.array(u, float), float(kinetic(real)(real(7.25)))
    seen = set()
    # many more ionisations and photons than there are
    for majorant in (real(1.5e3), real(1e3)):
        for i in range(1000):
            process, after, secondary, _ = collide(u, majorant, key_of(i, step=7), 3, made)
            seen.add(process)
            after, secondary = np.array(after, float), np.array(secondary, float)
            left, given = (float(kinetic(np.float64)(np.float64(v @ v))) for v in (after, secondary))
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
    # without other cross-sections, and with a majorant below the photons', there is nothing else
    made, collide = tables(Collisions(), DEVICE, np.float64), colliding(np.float64)
    made = made._replace(rows=(made.rows.reshape(-1, 4) * [0, 0, 1, 1]).ravel())
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
    made, collide = tables(collisions, DEVICE, real), colliding(real)
    ahead, slowed, born = looking_ahead(real), slowing(real), segment_depth(real)
    grid = np.geomspace(1.05e3, 2e4, 4001) / REST_ENERGY
    sigma = elastic.cross_section(grid, collisions.air) + ionisation.cross_section(
        grid, float(made.cut), collisions.air
    )
    each = sigma / collisions.restricted_stopping(grid)
    passed = np.concatenate([[0], np.cumsum(np.diff(grid) * (each[1:] + each[:-1]) / 2)])
    # scatterers so rare that an electron meets eight on its way down: it loses energy in between
    rarer = passed[-1] / 8
    rows = made.rows.reshape(-1, 4) / np.array([rarer, rarer, rarer, 1], real)
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
    assert {COLLISION} & {BIRTH, *Stream} == set()
    events = [(event, purpose) for event in (0, 1, 2, 500, MOST_EVENTS) for purpose in range(4)]
    found = {int(_stream(event, purpose)) for event, purpose in events}
    assert len(found) == len(events)
    assert {stream & 255 for stream in found} == {COLLISION}


def test_secondaries_have_ids_of_their_own():
    child = child_id()
    found = {tuple(map(int, child(key_of(i), event))) for i in range(300) for event in (1, 2, 3)}
    assert len(found) == 900
    # as 64 bits: positive, and far above all that are counted
    assert all(2**62 <= (high << 32) + low < 2**63 for low, high in found)


def test_transfers_are_rejected_as_often_as_mollers_law_says():
    # without other cross-sections every candidate is a transfer; near the cut a fifth of them is rejected
    collisions, tau, cut = Collisions(), 5e3 / REST_ENERGY, 1e3 / REST_ENERGY
    made, collide = tables(collisions, DEVICE, np.float64), colliding(np.float64)
    made = made._replace(rows=(made.rows.reshape(-1, 4) * [0, 1, 1, 1]).ravel())
    u = (float(np.sqrt(tau * (tau + 2))), 0.0, 0.0)
    found = [collide(u, 1e-9, key_of(i), 1, made)[0] for i in range(COUNT)]
    share = ionisation.cross_section(tau, cut, collisions.air) / ionisation.candidates(tau, cut, collisions.air)
    assert share < 0.9
    assert abs(np.mean(np.array(found) == IONISATION) - share) < 5 * np.sqrt(share * (1 - share) / COUNT)
    assert set(found) == {NOTHING, IONISATION}
