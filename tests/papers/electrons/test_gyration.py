"""The notebook on gyration: its measures find what is put into them, and its sentences say what was found."""

import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainDevice
from scipy.integrate import solve_ivp

from repro.errors import InputError
from repro.papers.electrons.gyration import crossed, orbits
from repro.papers.electrons.gyration.pushers import propagated
from repro.parallel import select
from repro.pic import exact
from repro.pic.constants import CHARGE, LIGHT, MASS


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
    assert len(found) == 10
    assert found["turns"].iloc[-1] == pytest.approx(3, abs=0.1)
    assert found[["radius", "energy"]].abs().max().max() < 1e-13
    assert found["phase"].abs().max() < 1e-12
    assert found["Boris"].iloc[-1] == pytest.approx(-(0.5**2) / 12 * found["turns"].iloc[-1] * 2 * np.pi, rel=0.05)


def test_orbits_are_summed_up_by_energy_and_precision():
    def turns(energy, precision):
        size = energy if precision == "double" else 10 * energy
        rows = {"radius": [0.0, -size, 0], "phase": [2 * size, 0.0, 1], "energy": [3 * size, 1, 0]}
        return pd.DataFrame(rows | {"Boris": [-4 * size, 1, 0], "steps": [5, 9, 12]})

    kinds = [(energy, precision) for precision in ("double", "single") for energy in (1e3, 2e3)]
    table = orbits.summary({kind: turns(*kind) for kind in kinds})
    assert table["energy (keV)"].tolist() == [1, 2, 1, 2]
    assert table["precision"].tolist() == ["double"] * 2 + ["single"] * 2
    assert table["steps"].tolist() == [12] * 4
    errors = table[["radius error", "phase error", "energy error", "phase error of Boris"]].to_numpy()
    np.testing.assert_allclose(errors, np.outer([1e3, 2e3, 1e4, 2e4], [1, 2, 3, 4]))


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
    taken = []

    class Simulation:
        time = 0.0

        def __init__(self, system, device, precision):
            start = system.electrons
            self.doubled = {"position": start.position, "momentum": start.momentum, "ids": np.array([0, 2, 2])}

        def step(self, count):
            taken.append(count)

        def particles(self):
            return self.doubled

    monkeypatch.setattr(orbits, "Simulation", Simulation)
    found = orbits.leaks(3, 0.5, 20, None)["double"]
    assert (found["counted"], found["lost"]) == (3, 1)
    assert taken == [20, 20]


def test_the_solver_drifts_with_e_over_b_and_boris_does_not():
    runs = {(0.5, 0.0): crossed.drift(0.5, 0.0, 300, select("serial"), looks=60)}
    assert runs[0.5, 0.0]["step"].tolist() == list(range(0, 301, 5))
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


def test_what_a_step_does_without_a_force_is_measured_against_the_start(monkeypatch):
    """By hand: gamma 5, u_x = sqrt(24); the first of three steps turns and speeds up, all move with 0.7 c."""
    calls = []

    def push(u, electric, magnetic):
        calls.append((electric, magnetic))
        return ((4.0, -3.0, 0.0) if len(calls) == 1 else (5.0, 1.0, 0.0)), (0.7, 0.2, 0.1)

    monkeypatch.setattr(crossed, "PUSHERS", {"made up": push})
    # 2.9 steps of 2 rad / gamma are one swing in its own frame
    row = crossed.force_free([2.0], 5.0, 2.9 * 2 / (10 * np.pi)).iloc[0]
    assert len(calls) == 3
    assert row["angle"] == pytest.approx(np.arctan(3 / 4))
    assert row["energy"] == pytest.approx(np.sqrt(27) / 5 - 1)
    assert row["drift"] == pytest.approx(0.7 / np.sqrt(24 / 25) - 1)
    # the electric force is v x B's opposite
    electric, magnetic = calls[0]
    assert (electric, magnetic) == ((0.0, pytest.approx(2 * np.sqrt(24)), 0.0), (0.0, 0.0, 10.0))


def test_an_order_is_that_of_the_two_smallest_steps_and_of_no_rounding():
    table = pd.DataFrame({"pusher": "made up", "turn": [0.4, 0.1, 0.2], "angle": [9.0, 0.01, 0.08]})
    assert crossed.order(table, "made up") == pytest.approx(3)
    assert np.isnan(crossed.order(table.assign(angle=[9.0, 0.9e-9, 0.08]), "made up"))
    assert not np.isnan(crossed.order(table.assign(angle=[9.0, 1.1e-9, 0.08]), "made up"))
    both = pd.concat([table.assign(pusher="Boris", angle=[9, 0.01, 0.04]), table.assign(pusher="splitting")])
    found = crossed.orders(both)
    assert (found["boris"], found["ours"], found["holds"]) == (pytest.approx(2), pytest.approx(3), False)


def test_a_drift_is_looked_at_from_its_beginning_in_the_way_of_light_of_a_step(monkeypatch):
    class Simulation:
        """Moves 0.25 of light's way a step along x from wherever; u_y is a tenth of the step's number."""

        def __init__(self, system, device, precision):
            self.steps, self.length = 0, LIGHT * system.dt

        def start(self):
            pass

        def step(self, count):
            self.steps += count

        def particles(self):
            place, u = self.length * (7 + 0.25 * self.steps), 0.1 * self.steps
            return {"position": np.array([[place, 9e9, 9e9]]), "momentum": np.array([[9e9, u, 9e9]])}

    monkeypatch.setattr(crossed, "Simulation", Simulation)
    table = crossed.drift(0.3, 0.5, 20, None, looks=4)
    assert table["step"].tolist() == [0, 5, 10, 15, 20]
    np.testing.assert_allclose(table["x"], 0.25 * table["step"], atol=1e-12)
    # v_x = c (p_y / B~ + ...): the centre lies u_y / B~ behind, and B~ is 0.2
    np.testing.assert_allclose(table["centre"], (0.25 - 0.1 / 0.2) * table["step"], atol=1e-12)
    np.testing.assert_allclose(table["theory"], 0.3 * table["step"])


def test_drifts_of_the_others_are_means_of_five_times_as_many_steps(monkeypatch):
    calls = []

    def push(u, electric, magnetic):
        calls.append((u, electric, magnetic))
        return u, (0.4, 9.0, 9.0)

    monkeypatch.setattr(crossed, "PUSHERS", dict.fromkeys(("Boris", "Vay", "Higuera and Cary"), push))
    run = pd.DataFrame({"step": [0, 2, 4], "centre": [0.0, 9.0, 1.5], "theory": [0.0, 8.0, 1.2]})
    (row,) = crossed.drift_table({(0.3, 0.7): run}).to_dict("records")
    assert (row["E / (c B)"], row["momentum / (m c)"]) == (0.3, 0.7)
    assert row["solver"] == pytest.approx(1.5 / 1.2 - 1)
    assert row["Boris"] == row["Vay"] == row["Higuera and Cary"] == pytest.approx(0.4 / 0.3 - 1)
    assert len(calls) == 3 * 20
    u, electric, magnetic = calls[0]
    assert (electric, magnetic) == ((0.0, 0.3 * 0.2, 0.0), (0.0, 0.0, 0.2))
    # leapfrogs know the momentum half a step before
    np.testing.assert_allclose(u, propagated((0.7, 0, 0), electric, magnetic, -0.5)[0])


@pytest.mark.parametrize(("share", "momentum"), [(0.5, 0.0), (0.3, -1.5), (0.8, 2.0)])
def test_an_electron_drifts_within_its_box_along_the_drift(share, momentum):
    """Its way is integrated; B turns one at rest by 0.2 in a step, in which light goes half a cell."""
    steps, fields = 90, ((0.0, 0.2 * share, 0.0), (0.0, 0.0, 0.2))
    system = crossed.drifting(share, momentum, steps)
    (begin, side), cell = system.electrons.position[0, :2], system.mesh.spacing[0]
    assert (side, cell) == (2 * cell, pytest.approx(2 * LIGHT * system.dt))

    def rates(_, y):
        velocity = y[:3] / np.sqrt(1 + y[:3] @ y[:3])
        return [*(-np.array(fields[0]) - np.cross(velocity, fields[1])), velocity[0]]

    ways = solve_ivp(rates, (0, steps), [momentum, 0, 0, 0], max_step=1, rtol=1e-6).y[3] * LIGHT * system.dt
    room = min(ways) + begin, system.mesh.length[0] - begin - max(ways)
    assert min(room) > cell
    # the box is no longer than a few orbits more than the way
    across = 4 / (1 - share**2) * np.sqrt(1 + momentum**2) / 0.2 * 0.5 * cell
    assert max(room) < 3.2 * across + 10 * cell
    assert CHARGE * system.magnetic[2] * system.dt / MASS == pytest.approx(0.2)
    assert system.electric[1] == pytest.approx(share * LIGHT * system.magnetic[2])


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
        (orbits.leaks, (0, 0.5, 20, None), "particles of the crowd = 0: must be a whole number from 1 to 100000000$"),
        (orbits.leaks, (40, 0.5, 0, None), "steps of the crowd = 0: must be a whole number from 1 to 1000000$"),
        (
            crossed.drift,
            (2.0, 0.0, 100, None),
            r"drift over c = 2\.0: must be a number above 0 and below 1, in c, at which the electric force would win",
        ),
        (crossed.drift, (0.5, 0.0, -1, None), "steps of the drift = -1: must be a whole number from 1 to 1000000$"),
        (crossed.force_free, ([0.1], 0.5, 1.0), r"gamma = 0\.5: must be a number above 1"),
        (
            crossed.force_free,
            ([0.0], 5.0, 1.0),
            r"turn without a force = 0\.0: must be a number from 0\.0001 to 3\.14159, in radians",
        ),
        (crossed.drifting, (0.5, np.nan, 9), "momentum of the drift = nan: must be a number, in m c"),
        (
            crossed.drifting,
            (0.5, 0.0, 10**6),
            "0.5 c and a momentum of 0 m c for 1000000 steps: its way and its orbit need 250064 cells, at",
        ),
        (crossed.drifting, (0.999, 1e3, 9), "a momentum of 1000 m c for 9 steps: .* take fewer steps, a smaller"),
        (crossed.force_free, ([0.1], 5.0, -1.0), "rounds = -1.0: must be a number of at least 1e-30"),
    ],
)
def test_what_no_orbit_has_is_refused(measure, arguments, line):
    with pytest.raises(InputError, match=line):
        measure(*arguments)


def test_both_fields_of_a_drift_lie_across_it():
    """E along y and B along z alone, or the drift were not along x; and it begins along x."""
    system = crossed.drifting(0.3, 0.7, 20)
    assert (system.electric[0], system.electric[2]) == (0, 0)
    assert system.magnetic[:2] == (0, 0)
    assert system.electrons.momentum.tolist() == [[0.7, 0.0, 0.0]]
    np.testing.assert_allclose(exact.drift(system.electric, system.magnetic), (0.3 * LIGHT, 0, 0), rtol=1e-12)


def test_a_mean_over_many_turns_has_no_part_of_a_turn_left():
    turn = 2 * np.pi * np.arange(400) / 400 * 9.37
    assert crossed._mean(0.25 + np.cos(turn)) == pytest.approx(0.25, abs=1e-6)
    assert abs(np.mean(0.25 + np.cos(turn)) - 0.25) > 1e-3
