"""Laws that the loops of the thermodynamics notebook must find, on runs of a second."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repro.dpd.averages import Field
from repro.dpd.cases import Bulk
from repro.dpd.fluid import Fluid
from repro.dpd.observables import Estimate, reverse_viscosity
from repro.dpd.simulation import Simulation
from repro.errors import InputError
from repro.papers.dpd.thermodynamics import checks as thermo_checks
from repro.papers.dpd.thermodynamics import equilibrium as thermodynamics
from repro.papers.dpd.thermodynamics import transport
from repro.papers.dpd.thermodynamics.equilibrium import Length
from repro.parallel import select
from repro.study.notebooks import Project

SERIAL = select("serial")
TINY = Length(side=4.0, samples=40, settle=1.0)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    runs = [thermodynamics.temperatures(SERIAL, [0.02], [0.65], TINY, seed=seed) for seed in (1, 1, 2)]
    pd.testing.assert_frame_equal(runs[0], runs[1], check_exact=True)
    assert runs[0]["kT"][0] != runs[2]["kT"][0]


def test_without_repulsion_the_pressure_is_rho_kt():
    row = thermodynamics.pressures(SERIAL, [0.0], [4.0], TINY, seed=1).iloc[0]
    assert abs(row["excess"]) < 4.5 * row["excess error"]
    assert row["excess error"] < 0.5
    assert np.isnan(row["alpha"])


def test_repulsion_keeps_particles_apart_and_an_ideal_gas_does_not():
    table = thermodynamics.structure(SERIAL, [0.0, 18.75], TINY, largest=1.5, bins=5, every=50)
    ideal, soft = (rows["g"].to_numpy() for _, rows in table.groupby("a"))
    assert ideal == pytest.approx(1, abs=0.2)
    assert soft[0] < 0.5 * ideal[0]


def test_deviations_as_large_as_their_errors_are_one():
    table = pd.DataFrame({"g": [1.1, 0.9, 0.0], "error": [0.1, 0.1, 0.0]})
    assert thermodynamics.deviation_from_one(table) == pytest.approx(1)


def test_particles_that_feel_nothing_fly_straight_around_the_box():
    fluid = Fluid(density=0.5, repulsion=0.0, sigma=1e-6)
    simulation = Simulation(Bulk((4.0,) * 3, fluid).system(), SERIAL, strategy="linked", precision="double")
    speed = (simulation.particles()["velocity"] ** 2).sum(1).mean()
    time, squares = transport.square_displacements(simulation, frames=20)
    assert time[-1] == pytest.approx(4.0)
    assert squares == pytest.approx(speed * time**2, rel=1e-4)


class _Gliding:
    """Particles that fly straight on, each at its own speed, and the steps that were asked for."""

    def __init__(self, velocity, box=(4.0,) * 3):
        self.system, self.velocity, self.steps = SimpleNamespace(box=box, fluid=Fluid(dt=0.1)), np.array(velocity), 0

    def step(self, count, *, every=1):
        self.steps += count

    def particles(self):
        return {"position": np.mod(0.1 * self.steps * self.velocity, self.system.box)}


def test_a_series_has_one_value_each_so_many_steps():
    found = thermodynamics.series(_Gliding([[1.0, 0, 0]]), {"time": lambda run: run.steps}, 3, every=7)
    assert found["time"].tolist() == [7, 14, 21]


def test_square_displacements_stand_beside_the_time_that_they_took():
    run = _Gliding([[1.0, 0, 0], [0, 2.0, -2.0]])
    run.step(30)
    time, squares = transport.square_displacements(run, 6, every=5)
    # from now on, on average over squares of the speeds of 1 and 8, twice around the box
    np.testing.assert_allclose(time, 0.5 * np.arange(1, 7))
    np.testing.assert_allclose(squares, 4.5 * time**2)


def test_diffusion_is_a_sixth_of_the_late_slope_of_the_square(monkeypatch):
    time = np.linspace(0.2, 8, 40)
    slopes = iter([1.0, 3.0])
    # fast at first, as long as velocities are remembered
    monkeypatch.setattr(transport, "settled", lambda *a, **k: None)
    monkeypatch.setattr(
        transport, "square_displacements", lambda *a: (time, np.where(time > 4, 6 * next(slopes) * time + 5, time**2))
    )
    table, _ = transport.diffusions(None, [0.0], TINY, span=8.0, origins=2, seed=1)
    assert (table["D"][0], table["error"][0]) == pytest.approx((2.0, 1.0))


def test_the_friction_rate_of_an_ideal_gas_is_exact():
    found = transport.friction_rate(SERIAL, Length(8.0, 1), seed=1, states=4)
    assert abs(found.value - 2 * np.pi * 4.5 * 4 / 45) < 6 * found.error  # six: an error from four states
    assert found.error < 0.1


def test_the_velocity_autocorrelation_begins_at_one_and_decays():
    table = transport.velocity_memory(SERIAL, TINY, last=0.5, origins=2, seed=1)
    assert table["memory"].iloc[0] == pytest.approx(1 - 2.5 * 0.025, abs=0.05)
    assert table["memory"].iloc[-1] < 0.6


def test_the_profile_of_reverse_flow_has_the_viscosity_that_it_was_made_with():
    system, z = Bulk((4, 4, 8), drive=0.05).system(), (np.arange(20) + 0.5) * 0.4
    velocity, many = transport.reverse_profile(z, 8.0, 4.0 * 0.05 / 1.7), np.full((1, 20), 4.0)
    field = Field(np.ones(1), z, many, velocity[None], 0 * many, many, samples=1)
    assert reverse_viscosity(field, system).value == pytest.approx(1.7, rel=1e-9)
    assert velocity.sum() == pytest.approx(0, abs=1e-12)


def test_the_force_drives_the_lower_half_forward_and_the_upper_half_back():
    flow = transport.Reverse((4.0, 4.0, 6.0), blocks=2, block=0.5, settle=1.0)
    found, profile = transport.reverse_flow(SERIAL, Fluid(), 0.5, flow)
    lower = profile["z"] < 3
    assert profile["velocity"][lower].mean() > 0.3 > -0.3 > profile["velocity"][~lower].mean()
    assert 0.5 < found.value < 2


def test_a_reverse_flow_settles_and_is_averaged_block_by_block(monkeypatch):
    """Two blocks with parabolas of the viscosities 1.5 and 2.5."""
    fluid, flow, made = Fluid(), transport.Reverse((4.0, 4.0, 8.0), blocks=2, block=1.0, settle=3.0), []
    z, many, found_in = (np.arange(16) + 0.5) / 2, np.full((1, 16), 4.0), iter([1.5, 2.5])

    class Run:
        def __init__(self, system, device, **options):
            made.append((system.count, system.drive, device, options))

        def step(self, count, *, every, observers=()):
            made.append((count, every, observers))

    def averages(simulation, *, rows):
        assert rows == 16
        take = lambda: Field(np.ones(1), z, many, profile(next(found_in))[None], 0 * many, many, 1)  # noqa: E731
        return SimpleNamespace(take=take)

    def profile(viscosity):
        return transport.reverse_profile(z, 8.0, 4.0 * 0.05 / viscosity)

    monkeypatch.setattr(transport, "Simulation", Run)
    monkeypatch.setattr(transport, "Averages", averages)
    found, table = transport.reverse_flow("here", fluid, 0.05, flow, seed=3, strategy="any")
    assert found == pytest.approx((2.0, 0.5))
    first, settling, *blocks = made
    assert first == (4 * 128, 0.05, "here", {"seed": 3, "strategy": "any"})
    assert settling == (flow.steps(fluid, 3.0), thermodynamics.EVERY, ())
    assert [block[:2] for block in blocks] == [(flow.steps(fluid, 1.0), thermodynamics.EVERY)] * 2
    assert [len(observers) for *_, observers in blocks] == [1, 1]
    assert table["z"].tolist() == z.tolist()
    assert table["velocity"].to_numpy() == pytest.approx((profile(1.5) + profile(2.5)) / 2)
    assert table["error"].to_numpy() == pytest.approx(np.abs(profile(1.5) - profile(2.5)) / 2)
    # one parabola of the mean viscosity
    assert table["fit"].to_numpy() == pytest.approx(profile(2.0))


def test_the_error_of_a_mean_is_the_scatter_over_the_root_of_the_number():
    assert transport.mean_of([1.0, 3.0]) == Estimate(2.0, 1.0)
    with pytest.raises(InputError, match="at least two"):
        transport.mean_of([1.0])


def test_linear_response_compares_the_weakest_with_the_strongest_drive():
    rows = [(0.0, 0.1, 1.0, 0.03, 1.1, 1.0), (0.0, 0.2, 1.2, 0.04, 1.1, 2.0), (0.0, 0.15, 9.0, 0.01, 1.1, 1.5)]
    table = pd.DataFrame(rows, columns=["a", "drive", "viscosity", "error", "theory", "fastest"])
    checked = thermo_checks.table_of(thermo_checks.of_viscosity(table))
    assert list(checked["measured"]) == [1.0, pytest.approx(0.2)]
    assert checked["error"][1] == pytest.approx(0.05)
    assert list(checked["exact"]) == [False, True]
    assert list(checked["holds"]) == [True, False]
    # one drive is not compared with itself
    assert len(thermo_checks.of_viscosity(table[:1])) == 1


def test_an_exact_law_holds_within_three_errors_and_a_theory_that_is_off_has_no_verdict():
    found = ((1.1, 0.04), (1.1, 0.03), (0.9, 0.04), (0.9, 0.03), (np.nan, 0.03))
    rows = [("exact", value, error, 1.0, True) for value, error in found]
    table = thermo_checks.table_of([*rows, ("fit", 1.5, 0.01, 1.0, False)])
    assert list(table["holds"]) == [True, False, True, False, False, True]
    assert list(thermo_checks.exact_laws(table)["off"][:4]) == pytest.approx([2.5, 10 / 3, -2.5, -10 / 3])
    assert thermo_checks.theories(table)["off (%)"].tolist() == pytest.approx([50.0])


def test_a_second_code_stands_beside_the_papers_fluid():
    other = pd.read_csv(Project.default().data / "reference" / "dpd_values.csv", comment="#")
    temperature = pd.DataFrame({"lambda": [0.5, 0.65], "dt": [0.02] * 2, "kT": [1.01, 1.0], "error": [0.001] * 2})
    pressure = pd.DataFrame({"a": [0.0, 18.75], "rho": [4.0] * 2, "p": [4.0, 32.7], "error": [0.01, 0.02]})
    diffusion = pd.DataFrame({"a": [0.0], "D": [0.53], "error": [0.01]})
    found = thermo_checks.beside_other_code(temperature, pressure, diffusion, other).set_index("quantity")
    assert found.loc["kT", ["value", "ours", "our error"]].tolist() == [1.0109, 1.01, 0.001]
    assert found.loc["pressure", "ours"] == 32.7
    assert np.isnan(found.loc["self-diffusion", "ours"])


def test_a_fluid_settles_for_its_time_and_its_seed_is_that_of_its_particles_and_its_noise(monkeypatch):
    """8 units of time are 400 steps of 0.02, and no fewer than one sample."""
    made = []

    class Run:
        def __init__(self, system, device, *, seed):
            made.append((system.name, device, seed))

        def step(self, count, *, every):
            made.append((count, every))

    monkeypatch.setattr(thermodynamics, "Simulation", Run)
    monkeypatch.setattr(
        thermodynamics,
        "Bulk",
        lambda box, fluid: SimpleNamespace(system=lambda seed: SimpleNamespace(name=(box, seed))),
    )
    thermodynamics.settled(Fluid(dt=0.02), Length(5.0, 9, settle=8.0), "here", seed=7)
    assert made == [(((5.0,) * 3, 7), "here", 7), (400, thermodynamics.EVERY)]
    thermodynamics.settled(Fluid(dt=0.02), Length(5.0, 9, settle=0.01), "here")
    assert made[2:] == [(((5.0,) * 3, 1), "here", 1), (thermodynamics.EVERY,) * 2]


def test_every_quantity_begins_from_a_fluid_of_its_own_parameters_and_seed(monkeypatch):
    asked = []

    class Enough(Exception):
        """What was asked for is known."""

    def settled(fluid, length, device, *, seed):
        asked.append((fluid.repulsion, fluid.density, length, device, seed))
        raise Enough

    for module in (thermodynamics, transport):
        monkeypatch.setattr(module, "settled", settled)
    runs = [
        lambda: thermodynamics.pressures("here", [6.0], [3.0], TINY, seed=7),
        lambda: thermodynamics.structure("here", [6.0], TINY, seed=7),
        lambda: transport.diffusions("here", [6.0], TINY, span=8.0, origins=2, seed=7),
        lambda: transport.velocity_memory("here", TINY, origins=2, seed=7),
    ]
    for run in runs:
        with pytest.raises(Enough):
            run()
    assert asked == [(6.0, 3.0, TINY, "here", 7), *[(6.0, 4.0, TINY, "here", 7)] * 2, (0.0, 4.0, TINY, "here", 7)]
