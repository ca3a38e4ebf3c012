"""The notebook on gyration: its measures find what is put into them, and its sentences say what was found."""

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.papers.electrons.gyration import crossed, orbits
from repro.pic import exact


def test_errors_of_an_orbit_are_those_that_were_put_into_it(monkeypatch):
    radius_error, phase_error = 3e-4, -2e-3

    def wrong(system, particles, time):
        _, u = exact.helix([[0, 0, 0]], system.electrons.momentum, system.magnetic, time)
        ahead = u[0] / np.linalg.norm(u)
        outward = -np.cross(orbits.AXIS, ahead)
        radius = exact.gyration_radius(np.linalg.norm(u), np.linalg.norm(system.magnetic))
        there = (1 + radius_error) * (np.cos(phase_error) * outward + np.sin(phase_error) * ahead)
        return radius * (there - outward)[None]

    monkeypatch.setattr(orbits, "deviation", wrong)
    found = orbits.turns(1e5, 0.5, 1, PlainDevice(), "double")
    np.testing.assert_allclose(found["radius"], radius_error, rtol=1e-9)
    np.testing.assert_allclose(found["phase"], phase_error, rtol=1e-9)


def test_an_orbit_is_followed_around_and_its_energy_kept():
    found = orbits.turns(1e5, 0.5, 3, PlainDevice(), "double")
    assert found["turns"].iloc[-1] == pytest.approx(3, abs=0.1)
    assert found[["radius", "energy"]].abs().max().max() < 1e-13
    assert found["phase"].abs().max() < 1e-12
    assert found["Boris"].iloc[-1] == pytest.approx(-(0.5**2) / 12 * found["turns"].iloc[-1] * 2 * np.pi, rel=0.05)


def test_a_fast_electron_turns_by_less():
    slow, fast = (orbits.one_electron(energy, 0.5) for energy in (1e4, 1e7))
    assert fast.dt < 2 * slow.dt
    assert fast.dt > slow.dt


def test_crossings_are_counted_as_many_as_electrons_meet():
    system = orbits.crowd(30, 0.5)
    place, _ = exact.helix(system.electrons.position, system.electrons.momentum, system.magnetic, 0)
    cell, met = np.floor(place / system.mesh.spacing), 0
    # so finely that nobody meets two faces along an axis between two looks
    for step in range(1, 2001):
        place, _ = exact.helix(
            system.electrons.position, system.electrons.momentum, system.magnetic, 100 * system.dt * step / 2000
        )
        now = np.floor(place / system.mesh.spacing)
        met, cell = met + np.abs(now - cell).sum(), now
    assert orbits.crossings(system, 100) == pytest.approx(met, rel=0.03)


def test_a_crowd_is_where_its_helices_are():
    found = orbits.leaks(40, 0.5, 20, PlainDevice())
    for precision, most in (("double", 1e-12), ("single", 1e-4)):
        assert found[precision]["counted"] == 40
        assert found[precision]["lost"] == 0
        assert found[precision]["distance"].max() < most


def test_a_particle_that_is_there_twice_stands_for_none_that_is_lost(monkeypatch):
    class Simulation:
        time = 0.0

        def __init__(self, system, device, precision):
            start = system.electrons
            self.doubled = {"position": start.position, "momentum": start.momentum, "ids": np.array([0, 2, 2])}

        def step(self, count):
            pass

        def particles(self):
            return self.doubled

    monkeypatch.setattr(orbits, "Simulation", Simulation)
    found = orbits.leaks(3, 0.5, 20, None)["double"]
    assert (found["counted"], found["lost"]) == (3, 1)


def test_the_solver_drifts_with_e_over_b_and_boris_does_not():
    runs = crossed.drifts([0.5], [0.0], 300, PlainDevice())
    table = crossed.drift_table(runs)
    assert abs(table["solver"].item()) < 1e-12
    assert abs(table["Boris"].item()) > 1e-4


def test_where_no_force_acts_errors_are_those_of_theory():
    table = crossed.force_free([0.02, 0.01], 5.0, 0.7)
    for name in ("Boris", "splitting"):
        row = table[(table["pusher"] == name) & (table["turn"] == 0.01)].iloc[0]
        assert row["angle"] == pytest.approx(float(crossed.largest_angle(name, 0.01, 5.0)), rel=0.002)
        assert crossed.order(table, name) == pytest.approx(2, abs=0.1)
    assert crossed.orders(table)["holds"]
    assert table.loc[table["pusher"] == "Vay", "angle"].max() < crossed.ROUNDING


@pytest.mark.parametrize(
    ("measure", "arguments", "line"),
    [
        (orbits.turns, (-1e3, 0.5, 1, None, "double"), "energy = -1000.0: must be a number of at least 1e-30"),
        (
            orbits.turns,
            (1e5, 5.0, 1, None, "double"),
            r"turn = 5\.0: must be a number from 1e-30 to 1, in radians a step",
        ),
        (orbits.turns, (1e5, 0.5, 0, None, "double"), "count of turns = 0: must be a number of at least 1e-30"),
        (orbits.leaks, (0, 0.5, 20, None), "particles of the crowd = 0: must be a whole number from 1"),
        (orbits.leaks, (40, 0.5, 0, None), "steps of the crowd = 0: must be a whole number from 1"),
        (
            crossed.drift,
            (2.0, 0.0, 100, None),
            r"drift over c = 2\.0: must be a number above 0 and below 1, in c, at which the electric force would win",
        ),
        (crossed.drift, (0.5, 0.0, -1, None), "steps of the drift = -1: must be a whole number from 1"),
        (crossed.force_free, ([0.1], 0.5, 1.0), r"gamma = 0\.5: must be a number above 1"),
        (
            crossed.force_free,
            ([0.0], 5.0, 1.0),
            r"turn without a force = 0\.0: must be a number from 0\.0001 to 3\.14159, in radians",
        ),
        (crossed.force_free, ([0.1], 5.0, -1.0), "rounds = -1.0: must be a number of at least 1e-30"),
    ],
)
def test_what_no_orbit_has_is_refused(measure, arguments, line):
    with pytest.raises(InputError, match=line):
        measure(*arguments)
