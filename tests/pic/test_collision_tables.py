"""Tables are the formulas within their interpolation, and the majorant is one."""

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.pic.air.collision_tables import (
    Collisions,
    between,
    make_find_part,
    make_look_ahead,
    make_slow_down,
    tables,
)
from repro.pic.air.processes import PROCESSES
from repro.pic.constants import REST_ENERGY

DEVICE = PlainDevice()


@pytest.fixture(scope="module", params=[np.float32, np.float64])
def real(request):
    return request.param


@pytest.fixture(scope="module", params=[(1e3, 1e3, 2e7), (200.0, 5e4, 3e6)], ids=["cut at the end", "cut at 50 keV"])
def collisions(request):
    stop, cut, highest = request.param
    return Collisions(stop=stop, cut=cut, highest=highest)


def rates(tau, made):
    """The cumulative cross-sections of the candidates."""
    part, place = make_find_part(type(tau))(tau, made)
    return [between(made.rows, part, column, place) for column in range(len(PROCESSES))]


def test_tables_are_the_formulas(collisions, real):
    made = tables(collisions, DEVICE, real)
    ahead = make_look_ahead(real)
    tau = np.geomspace(collisions.stop, collisions.highest, 1999) / REST_ENERGY
    tau = tau.astype(real).clip(real(collisions.stop / REST_ENERGY))
    exact = collisions.rows(tau.astype(float))
    found = np.array([[*rates(value, made), ahead(value, made)[1]] for value in tau])
    assert found == pytest.approx(exact, rel=2e-4)


def test_a_process_begins_where_it_can_happen(collisions, real):
    made = tables(collisions, DEVICE, real)
    cut = collisions.cut / REST_ENERGY
    for share in (0.5, 0.9, 0.999):
        elastic, ionisation, radiation, *_ = rates(real(2 * share * cut), made)
        assert ionisation == elastic
        if share * 2 < 1:
            assert radiation == ionisation
    elastic, ionisation, radiation, *_ = rates(real(2.1 * cut), made)
    assert elastic < ionisation < radiation


def test_majorant_is_no_less_than_the_cross_section_in_any_segment_that_is_allowed(collisions, real):
    made = tables(collisions, DEVICE, real)
    ahead, slowed = make_look_ahead(real), make_slow_down(real)
    for value in np.geomspace(collisions.stop * 1.0001, collisions.highest, 997) / REST_ENERGY:
        tau = real(value)
        majorant, stopping, longest = ahead(tau, made)
        for share in (0, 0.3, 0.7, 1):
            after = slowed(tau, stopping, real(share) * longest, made)
            # in which it loses a sixteenth of its energy
            assert float(tau - after) == pytest.approx(share * float(tau) / 16, rel=0.08, abs=4e-7 * float(tau))
            assert rates(after, made)[-1] <= majorant * (1 + 2 * np.finfo(real).eps)
        # and it is not so large that most candidates are rejected
        assert majorant < 1.15 * rates(tau, made)[-1]


def test_tables_end_just_above_their_highest_energy(collisions, real):
    """An electron that has it is known, whatever rounding makes of it."""
    made, eps = tables(collisions, DEVICE, real), float(np.finfo(np.float32).eps)
    highest = collisions.highest / REST_ENERGY
    assert highest * (1 + 20 * eps) < float(made.highest) < highest * (1 + 1e-4)
    assert float(made.stop) * REST_ENERGY == pytest.approx(collisions.stop, rel=eps)
    assert float(made.cut) * REST_ENERGY == pytest.approx(collisions.cut, rel=eps)


def test_midpoint_rule_follows_the_loss(real):
    collisions = Collisions()
    made, ahead, slowed = tables(collisions, DEVICE, real), make_look_ahead(real), make_slow_down(real)
    # down from 20 keV by the longest segments, against the integral of ds = dT / S
    tau, path = real(2e4 / REST_ENERGY), 0.0
    while tau > real(1.5e3 / REST_ENERGY):
        _, stopping, longest = ahead(tau, made)
        tau, path = slowed(tau, stopping, longest, made), path + float(longest)
    grid = np.geomspace(float(tau), 2e4 / REST_ENERGY, 20001)
    exact = np.trapezoid(1 / collisions.restricted_stopping(grid), grid)
    assert path == pytest.approx(exact, rel=1e-3)


def test_parts_of_an_octave_lie_side_by_side(real):
    made, find = tables(Collisions(), DEVICE, real), make_find_part(real)
    # from below the first
    tau = np.geomspace(5e2, 2e7, 20000).astype(real) / real(REST_ENERGY)
    places = np.array([sum(map(float, find(value, made))) for value in tau])
    assert (np.diff(places) >= 0).all()
    assert np.diff(places).max() < 0.2
    # beyond the ends there is no extrapolation
    assert find(real(1e-9), made) == (0, 0)
    assert find(real(1e3), made) == (made.parts - 1, 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stop": 100}, "stop = 100: must be a number of at least 200, in eV"),
        ({"stop": float("nan")}, "stop = nan: must be a number of at least 200, in eV"),
        ({"cut": "1 keV"}, "cut = '1 keV': must be a number of at least 1e-30, in eV"),
        ({"highest": None}, r"highest = None: must be a number from 1e-30 to 2e\+07, in eV"),
        ({"air": "dry"}, "air = 'dry': must be of the kind Air"),
        ({"stop": 2e3}, "cut = 1000 eV: from 2000 eV"),
        ({"cut": 1.5e7}, r"cut = 1.5e\+07 eV: .* to 1e\+07 eV"),
        ({"highest": 1e9}, r"highest = 1000000000\.0: must be a number from 1e-30 to 2e\+07, in eV"),
    ],
)
def test_energies_that_the_tables_cannot_hold_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        Collisions(**wrong)


def test_electrons_outside_the_tables_are_refused():
    with pytest.raises(InputError, match=r"electrons of 500 to 3e\+07 eV: collisions are known from 1000 to 2e\+07 eV"):
        Collisions().require_energies([500, 3e7])
    with pytest.raises(InputError):
        Collisions().require_energies([float("nan")])
    Collisions().require_energies([1e3, 2e7])
    # as few as one, and cut, stop and half of the highest energy may be one
    Collisions(stop=2e3, cut=2e3, highest=4e3).require_energies([2e3])


def test_events_that_take_more_than_electrons_lose_are_refused(collisions, real, monkeypatch):
    whole = Collisions.restricted_stopping
    monkeypatch.setattr(Collisions, "restricted_stopping", lambda self, tau: whole(self, tau) - whole(self, 0.1))
    with pytest.raises(InputError, match=r"at \d+.* eV events take more energy than electrons lose") as line:
        tables(collisions, DEVICE, real)
    # from 0.1 m c^2 on, to the next of the 64 nodes of an octave
    worst = float(str(line.value).split()[1]) / (0.1 * REST_ENERGY)
    assert 1 - 1e-3 < worst < 1 + 1 / 60
