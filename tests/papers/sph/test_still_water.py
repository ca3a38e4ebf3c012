"""The experiment of still water without compiled code: errors, means over looks, and what is said of them."""

import numpy as np
import pandas as pd
import pytest

from repro.errors import InputError
from repro.papers.sph.still_water import runs
from repro.sph.cases import StillWater
from repro.sph.exact import rest_pressure
from repro.sph.fluid import Fluid
from repro.sph.observables import Profile

CASE = StillWater(column=(4, 4, 10), spacing=0.05, air=2, ratio=1.5)


def made(factor=1.0, drift=0.01, beyond=-0.4, energy=0.99, later=1.0) -> runs.Run:
    """Water whose pressure is `factor` times theory's, and whose drift grows `later` times in the second half."""
    system = CASE.system()
    height = (np.arange(10) + 0.5) * CASE.spacing
    profile = Profile(height, np.full(10, 16), factor * rest_pressure(system.depth - height, system.fluid))
    table = pd.DataFrame({"time": [0.0, 0.5, 1.0], "speed": [0.0, 2e-3, 1e-3], "drift": [0.0, drift / later, drift]})
    table = table.assign(worst=2 * table["drift"], energy=[1.0, energy, energy], settled=0.001, beyond=beyond)
    return runs.Run(CASE, system, table, profile)


def test_the_error_is_that_of_the_pressure_below_two_smoothing_lengths():
    run = made(1.013)
    # at the surface there is no pressure to divide by
    with np.errstate(all="raise"):
        assert run.error == pytest.approx(0.013)
    # two smoothing lengths are three spacings: of ten layers the upper three are not judged
    assert np.isfinite(run.errors).sum() == 7


def test_layers_are_averaged_with_the_weight_of_their_particles():
    system = CASE.system()
    one = Profile(np.array([0.02, 0.07]), np.array([1, 2]), np.array([100.0, 50.0]))
    # a layer that one particle alone was in counts, and one that none was in is left out
    other = Profile(np.array([0.03, 0.17]), np.array([3, 1]), np.array([200.0, 7.0]))
    found = runs._mean([one, other], system)
    np.testing.assert_array_equal(found.count, [4, 2, 1])
    np.testing.assert_allclose(found.pressure, [(100 + 3 * 200) / 4, 50, 7])
    np.testing.assert_allclose(found.height, [(0.02 + 3 * 0.03) / 4, 0.07, 0.17])


@pytest.mark.parametrize(("ratio", "layers"), [(1.0, 3), (1.3, 4), (1.5, 4), (2.0, 5)])
def test_water_so_shallow_that_no_pressure_can_be_judged_is_refused_before_it_runs(monkeypatch, ratio, layers):
    """Of so many layers one has its middle more than two smoothing lengths below the surface, of one less none has."""
    case = StillWater(column=(4, 4, layers), spacing=0.05, air=2, ratio=ratio)
    system = case.system()
    height = (np.arange(layers) + 0.5) * case.spacing
    profile = Profile(height, np.full(layers, 16), rest_pressure(system.depth - height, system.fluid))
    assert np.isfinite(runs.Run(case, system, None, profile).errors).sum() == 1
    monkeypatch.setattr(runs, "rest", lambda *_, **__: None)
    runs.boundaries(case, None, 1.0)
    with pytest.raises(InputError, match=f"no layer lies 2 smoothing lengths deep: choose {layers} layers"):
        runs.boundaries(StillWater(column=(4, 4, layers - 1), spacing=0.05, air=2, ratio=ratio), None, 1.0)


def test_every_treatment_of_the_boundaries_has_its_run_and_ghosts_one_without_diffusion(monkeypatch):
    monkeypatch.setattr(runs, "rest", lambda case, device, seconds, boundary="ghosts": (case.fluid.diffusion, boundary))
    found = runs.boundaries(CASE, None, 1.0)
    assert found.pop(runs.PLAIN) == (0.0, "ghosts")
    assert found == {runs.NAMES[name]: (CASE.fluid.diffusion, name) for name in ("ghosts", "none", "clamped")}


def test_a_gain_is_the_most_that_energy_was_ever_above_its_start():
    assert made(energy=1.001).gain == pytest.approx(0.001)
    assert made(energy=0.9).gain == 0


def test_what_is_seen_of_water_is_in_spacings_and_metres_a_second():
    system = CASE.system()
    position, velocity = system.position.copy(), np.zeros_like(system.position)
    # one of 160 particles sinks by 0.3 spacings and moves aside by 0.4, with 3 and 4 mm/s
    position[7] += np.array([0.4, 0.0, -0.3]) * CASE.spacing
    velocity[7] = [4e-3, 0.0, -3e-3]
    particles = {"position": position, "velocity": velocity, "condensation": np.zeros(system.count)}
    found = runs._look(particles, system)
    assert found["speed"] == pytest.approx(5e-3 / np.sqrt(system.count), rel=1e-5)
    assert found["drift"] == pytest.approx(0.5 / np.sqrt(system.count), rel=1e-5)
    assert found["worst"] == pytest.approx(0.5, rel=1e-5)
    assert found["settled"] == pytest.approx(0.3 / system.count, rel=1e-4)
    weight = system.mass * system.fluid.gravity
    assert found["energy"] == pytest.approx(weight * position[:, 2].sum(), rel=1e-6)
    # water is inside by half a spacing, but for one particle that is beyond by a quarter
    position[7] = [-0.25 * CASE.spacing, 0.1, 0.1]
    assert runs._look(particles, system)["beyond"] == pytest.approx(0.25)


def test_a_run_begins_with_the_water_as_it_was_and_averages_its_second_half(monkeypatch):
    taken, profiled = [], []

    class Simulation:
        steps = 0

        def __init__(self, system, device, boundary):
            self.boundary = boundary

        def start(self):
            taken.append(self.boundary)

        def step(self, count):
            self.steps += count

        def particles(self):
            return self.steps

    def profile(steps, system):
        profiled.append(steps)
        return Profile(np.array([0.02]), np.array([1]), np.array([1.0 * steps]))

    monkeypatch.setattr(runs, "Simulation", Simulation)
    monkeypatch.setattr(runs, "_look", lambda particles, system: {"energy": 1.0})
    monkeypatch.setattr(runs, "pressure_profile", profile)
    dt = CASE.system().dt
    lattice = CASE.system().position
    disturbed = runs.rest(CASE, None, 80 * dt, seed=3).system.position
    assert (disturbed == runs.displaced(CASE.system(), 3).position).all()
    assert (disturbed != lattice).any()
    taken.clear()
    profiled.clear()
    run = runs.rest(CASE, None, 80 * dt, boundary="mirror")
    assert (run.system.position == lattice).all()
    assert taken == ["mirror"]
    assert run.table["time"].tolist() == pytest.approx([2 * k * dt for k in range(41)])
    assert profiled == list(range(40, 81, 2))
    assert run.profile.pressure.tolist() == pytest.approx([60])


def test_the_table_of_boundaries_is_per_cent_millimetres_and_spacings_at_the_end():
    run = made(0.98, drift=0.02, energy=1.003)
    run.table["beyond"] = [-0.5, 0.3, -0.5]
    (row,) = runs.summary({"ghosts": run}).to_dict("records")
    expected = {"pressure error (%)": 2, "energy gained (%)": 0.3, "speed (mm/s)": 1, "drift (spacings)": 0.02}
    expected |= {"largest drift (spacings)": 0.04, "settled (spacings)": 0.001, "beyond a wall (spacings)": 0.3}
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    # no particle is less than not beyond a wall
    assert runs.summary({"ghosts": made()})["beyond a wall (spacings)"].item() == 0


def test_water_at_the_bottom_is_pressed_by_its_weight_and_by_its_own_compression():
    found, fluid = runs.bottom_pressure(CASE), CASE.fluid
    assert found["depth"] == pytest.approx(0.5)
    bottom = float(rest_pressure(0.5, fluid))
    assert found["bottom"] == pytest.approx(bottom / 1e3)
    assert found["more"] == pytest.approx(100 * (bottom - 1000 * 9.81 * 0.5) / (1000 * 9.81 * 0.5), rel=1e-3)
    assert found["holds"]


def test_speeds_are_told_in_the_middle_and_at_the_end():
    assert runs.unrest(made()) == {"half": pytest.approx(2), "last": pytest.approx(1), "holds": False}
    run = made()
    run.table["speed"] = [9.0, 1e-3, 3e-3]
    assert runs.unrest(run) == {"half": pytest.approx(1), "last": pytest.approx(3), "holds": True}
    assert runs.stays(made(drift=0.02, later=4.0)) == {"worst": pytest.approx(0.04), "holds": True}
    np.testing.assert_allclose(made().depth, 0.5 - (np.arange(10) + 0.5) * 0.05)


class Kept:
    """A record that keeps what it is handed."""

    def __init__(self):
        self.measured, self.reasons = {}, {}

    def measure(self, claim, value, **more):
        self.measured[claim] = value

    def not_measured(self, claim, reason):
        self.reasons[claim] = reason


def test_the_claim_is_measured_once_sound_has_crossed_the_water_often_enough():
    errors, kept = {"with ghosts": [0.01] * 3, "without ghosts": [0.9] * 3}, Kept()
    crossing = CASE.system().depth / CASE.fluid.sound_speed
    runs.record_claim(kept, errors, CASE, 19.9 * crossing)
    assert "20 times only" in kept.reasons[runs.CLAIM]
    runs.record_claim(kept, errors, CASE, 20.1 * crossing)
    assert kept.measured[runs.CLAIM] == errors


def test_pressure_is_better_with_ghosts_if_no_seed_says_otherwise():
    found = runs.better({"with ghosts": [0.01, 0.03], "without ghosts": [0.4, 0.6]})
    assert found == {"ours": pytest.approx(2), "others": pytest.approx(50), "times": pytest.approx(25), "holds": True}
    assert not runs.better({"with ghosts": [0.01, 0.5], "without ghosts": [0.4, 0.6]})["holds"]


def test_each_boundary_is_run_from_each_seed(monkeypatch):
    asked = []

    def rest(case, device, seconds, boundary, seed):
        asked.append((boundary, seed, seconds))
        return made(1 + 0.01 * seed)

    monkeypatch.setattr(runs, "rest", rest)
    found = runs.repeated(CASE, None, 0.3, [4, 7])
    assert asked == [(name, seed, 0.3) for name in ("ghosts", "none") for seed in (4, 7)]
    assert found["without ghosts"] == pytest.approx([0.04, 0.07])


def test_the_settings_are_those_of_the_solver():
    rows = runs.settings(CASE).set_index("quantity")["value"]
    assert rows["smoothing kernel"] == "wendland c2"
    assert float(rows["smoothing length h"]) == 1.5
    # 0.8 of a quarter, less what the flow adds to the sound
    assert 0.15 < float(rows["Courant factor c dt / h"]) < 0.2


def test_water_is_at_rest_when_it_slows_down_and_no_particle_has_gone_far():
    assert not runs.unrest(made())["holds"]
    assert runs.stays(made())["holds"]
    assert not runs.stays(made(drift=0.6))["holds"]
    assert not runs.stays(made(beyond=0.6))["holds"]


def test_the_settings_are_those_of_the_case_that_is_given():
    fluid = Fluid(density=880.0, viscosity=0.3, diffusion=0.2)
    case = StillWater(column=(3, 3, 4), spacing=0.05, ratio=1.7, kernel="cubic spline", fluid=fluid, time_step=1e-4)
    rows = runs.settings(case).set_index("quantity")["value"].to_dict()
    assert rows.pop("smoothing kernel") == "cubic spline"
    system = case.system()
    assert {name: float(value) for name, value in rows.items()} == pytest.approx(
        {
            "smoothing length h": 1.7, "radius of its support": 2.0, "artificial viscosity alpha": 0.3,
            "density diffusion delta": 0.2, "Courant factor c dt / h": 1e-4 * fluid.sound_speed / 0.085,
            "mass of a particle over rho0 spacing^3": system.mass / (880 * 0.05**3),
        }
    )  # fmt: skip


def test_water_stays_if_no_particle_went_as_far_as_a_spacing_or_beyond_half_of_one_in_a_wall():
    for drift, holds in ((0.4999, True), (0.5, False)):
        assert runs.stays(made(drift=drift)) == {"worst": pytest.approx(2 * drift), "holds": holds}
    for beyond, holds in ((0.5, True), (0.501, False)):
        assert runs.stays(made(beyond=beyond))["holds"] is holds
        run = made()
        run.table.loc[1, "beyond"] = beyond
        assert runs.stays(run)["holds"] is holds


def test_the_error_of_the_pressure_is_the_largest_of_the_deep_layers_above_theory_or_below():
    run = made()
    pressure = run.profile.pressure.copy()
    # the uppermost layers are not judged; the lowest one stands first
    pressure[[2, 4, 9]] *= [1.01, 0.97, 3.0]
    run = runs.Run(run.case, run.system, run.table, run.profile._replace(pressure=pressure))
    assert run.error == pytest.approx(0.03)
    np.testing.assert_allclose(run.errors[[0, 2, 4]], [0, 0.01, -0.03], atol=1e-12)
    shallow = runs.Run(run.case, run.system, run.table, Profile(*(part[-2:] for part in run.profile)))
    assert np.isnan(shallow.error)
