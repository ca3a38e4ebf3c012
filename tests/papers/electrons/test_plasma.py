"""The notebook on plasma: its waves are what they are called, its measures find what is put in."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.papers.electrons.plasma import loop, waves
from repro.papers.electrons.plasma.waves import Wave
from repro.pic import exact
from repro.pic.constants import CHARGE, LIGHT, MASS, PERMITTIVITY
from repro.pic.maxwell.fields import courant_limit
from repro.pic.mesh import Mesh


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_wave_has_its_density_its_length_and_as_many_electrons(diagonal):
    wave = Wave(6, 2, diagonal=diagonal, each=3, turn=0.2, amplitude=1e-3)
    system = wave.system()
    assert system.plasma_frequency * system.dt == pytest.approx(0.2)
    assert system.mesh.shape == ((12, 12, 1) if diagonal else (12, 1, 1))
    assert system.count == (36 * 36 if diagonal else 36)
    speed = system.electrons.momentum @ wave.direction
    assert np.abs(speed).max() == pytest.approx(1e-3, rel=0.15)
    # along its direction only, and back to where it was after a wavelength
    np.testing.assert_allclose(speed[:, None] * wave.direction, system.electrons.momentum, atol=1e-18)
    line = speed[system.electrons.position[:, 1] < 0.51e-3 if not diagonal else slice(0, None, 36)]
    np.testing.assert_allclose(line[:18], line[18:36], atol=1e-15)


def test_a_frequency_is_found_between_samples():
    time = np.arange(1, 400) * 0.03
    table = pd.DataFrame({"periods": time, "field": np.cos(2 * np.pi * 1.0123 * time + 0.4)})
    assert waves.frequency(table) == pytest.approx(1.0123, rel=2e-4)


def test_the_field_of_a_wave_swings_as_far_as_takes_the_electrons_momentum():
    wave = Wave(6, each=2, turn=0.2, amplitude=1e-3)
    found = waves.oscillation(wave, 1, PlainDevice())
    # m d(v) / dt = -e E, of which the integral over a quarter of a period is the momentum
    expected = 1e-3 * MASS * LIGHT * wave.system().plasma_frequency / CHARGE
    assert found["field"].abs().max() == pytest.approx(expected, rel=0.01)
    assert found["periods"].iloc[found["field"].abs().argmax()] % 0.5 == pytest.approx(0.25, abs=0.02)


def test_electrons_swing_as_many_cells_as_are_asked_for(monkeypatch):
    seen = {}

    def oscillation(wave, periods, device, precision, every):
        assert (wave.cells, periods, every) == (16, 1.5, 5)
        system = wave.system()
        # the way of an electron is its speed over the frequency
        seen[precision] = wave.amplitude * LIGHT / system.plasma_frequency / system.mesh.spacing[0]
        energies = {"electric": [1.0, 0.5, 0.5], "kinetic": [1.0, 1.0, 2.0]}
        # a drift is one whether energy grows or falls
        falls = -1 if precision == "single" else 1
        return pd.DataFrame({"periods": [0.5, 1.0, 1.5]} | {name: values[::falls] for name, values in energies.items()})

    monkeypatch.setattr(waves, "oscillation", oscillation)
    table = waves.energy_table(waves.energies([0.3], 1.5, None))
    assert seen == pytest.approx({"double": 0.3, "single": 0.3})
    # totals 2, 1.5 and 2.5 of which two make a period: 1.75, then 2
    assert table["spread"].tolist() == pytest.approx([2.5 / 1.5 - 1] * 2)
    assert table["periods"].tolist() == [1.5, 1.5]
    assert table["drift"].tolist() == pytest.approx([2 / 1.75 - 1, 1 - 1.75 / 2])


def test_a_plane_wave_oscillates_as_theory_has_it_along_the_axis_and_the_diagonal():
    found = waves.frequencies([Wave(4, each=2, turn=0.3), Wave(4, diagonal=True, each=1, turn=0.3)], 2, PlainDevice())
    assert found["from theory (%)"].abs().max() < 0.02
    assert found["deviation (%)"].iloc[0] == pytest.approx(100 * 0.3**2 / 24, rel=0.05)
    assert found["deviation (%)"].iloc[1] < -10
    assert waves.coarsest_oblique(found) == {"off": found["deviation (%)"].iloc[1], "cells": 4, "holds": True}
    assert waves.along_an_axis(found)["holds"]


def test_a_drift_is_that_of_means_over_a_period():
    time = np.arange(1, 500) * 0.05
    total = 2 + 0.01 * np.cos(4 * np.pi * time) + 0.002 * time
    table = pd.DataFrame({"periods": time, "electric": 0.25 * total, "kinetic": 0.75 * total})
    found = waves.drift(table)
    assert found.iloc[-1] == pytest.approx(0.001 * (time[-1] - 1), rel=0.02)


def test_what_comes_back_within_a_period_is_no_drift():
    time = np.arange(1, 65) / 16
    total = 2 + np.cos(2 * np.pi * time)
    found = waves.drift(pd.DataFrame({"periods": time, "electric": 0.25 * total, "kinetic": 0.75 * total}))
    assert found.index[0] == 1
    np.testing.assert_allclose(found, 0, atol=1e-14)


def test_of_oblique_waves_the_one_with_the_fewest_cells_is_looked_at():
    table = pd.DataFrame(
        {
            "direction": ["x", "diagonal", "diagonal", "diagonal"],
            "cells a wavelength": [4, 16, 6, 8],
            "deviation (%)": [0.1, -0.05, -7.0, -3.0],
        }
    )
    assert waves.coarsest_oblique(table) == {"off": -7.0, "cells": 6, "holds": True}


def test_residuals_count_as_rounding_or_not():
    rows = pd.DataFrame({"precision": "double", "step": [1, 100], "continuity": 5e-14, "gauss": [1e-13, 9e-13]})
    rows = rows.assign(count=5, absorbed=1, limit=1e-13)
    assert loop.kept(rows)
    assert not loop.kept(rows.assign(continuity=2e-13))
    assert not loop.kept(rows.assign(gauss=[2e-13, 9e-13]))


def test_what_whole_numbers_leave_is_the_scatter_of_so_many_shares():
    # each is off by 1 / sqrt(12) at random: one particle a cell has 64 shares at a node
    lost = np.random.default_rng(2).uniform(-0.5, 0.5, (20_000, 64)).sum(1)
    charge = np.array([-1000, 10])
    assert loop._whole(1.0, charge) == pytest.approx(6 * lost.std() / 1000, rel=0.05)
    assert loop._whole(4.0, charge) == pytest.approx(2 * loop._whole(1.0, charge))


def test_a_busy_box_keeps_its_charge_while_walls_absorb():
    table = loop.charges(3, 20, 6, PlainDevice(), every=3)
    assert all(loop.kept(rows) for _, rows in table.groupby("precision"))
    assert (table.groupby("precision")["absorbed"].last() > 0).all()


def test_bits_that_differ_are_counted():
    class Other(PlainDevice):
        """A device that loses a bit."""

        def to_host(self, array):
            found = np.array(array)
            if found.dtype == np.float32:
                found.view(np.int32)[0] ^= 1
            return found

    table = loop.bits(2, 10, 1, {"one": PlainDevice(), "other": Other(), "same": PlainDevice()})
    different = table.set_index(["precision", "device"])["different"]
    assert different["single", "same"] == different["double", "same"] == different["double", "other"] == 0
    assert different["single", "other"] > 0


def test_particles_that_one_device_alone_has_differ_in_all_their_numbers(monkeypatch):
    class Made:
        """A run that ends with as many particles as its device says."""

        fields = SimpleNamespace(on_host=lambda: {"electric": np.zeros(2)})

        def __init__(self, system, device, **options):
            self.count = device

        def step(self, steps):
            """Do nothing."""

        def particles(self):
            """Three numbers of each particle."""
            return {"position": np.zeros((self.count, 3))}

    monkeypatch.setattr(loop, "Simulation", Made)
    table = loop.bits(2, 10, 1, {"one": 5, "fewer": 4})
    assert table.set_index("device")["different"]["fewer"].tolist() == [12, 12]


def test_two_streams_begin_at_the_fastest_rate_and_a_growth_is_fitted():
    system = loop.streams(16, 4)
    gamma = np.sqrt(1 + 0.1**2)
    assert loop.rate(system) == pytest.approx(system.plasma_frequency / np.sqrt(8 * gamma**3), rel=2e-3)
    time = np.linspace(0, 12, 100)
    field = np.minimum(np.exp(0.97 * time), np.exp(0.97 * 10))
    assert loop.fitted(pd.DataFrame({"time": time, "field": field})) == pytest.approx(0.97, rel=1e-6)


@pytest.mark.parametrize("turn", [1e-3, 0.5])
def test_two_streams_go_through_each_other_at_even_distances(turn):
    """By hand: 48 in each beam of 0.3 m c, with one weak wave in the box, which is the one that grows fastest."""
    system = loop.streams(12, 4, 0.3, turn)
    place, u, mesh = system.electrons.position, system.electrons.momentum, system.mesh
    length = mesh.length[0]
    ahead, back = place[:48, 0], place[48:, 0]
    np.testing.assert_allclose(np.diff(ahead), length / 48)
    assert ahead[0] + ahead[-1] == pytest.approx(length)
    assert ahead.tolist() == back.tolist()
    assert np.unique(place[:, 1:]).tolist() == [mesh.spacing[1] / 2]
    wave = 0.3e-4 * np.sin(2 * np.pi * ahead / length)
    np.testing.assert_allclose(u[:, 0], [*(0.3 + wave), *(wave - 0.3)], rtol=1e-12)
    assert not u[:, 1:].any()
    gamma = np.sqrt(1.09)
    beam = 2 * np.pi / length * LIGHT * 0.3 / gamma * 2 / np.sqrt(3)
    assert system.plasma_frequency == pytest.approx(beam * np.sqrt(2 * gamma**3), rel=1e-6)
    # the smaller turn gives the step, or light
    assert system.dt == pytest.approx(min(turn / system.plasma_frequency, 0.9 * courant_limit(mesh)))


def test_a_growth_is_looked_at_from_time_to_time_in_its_own_unit(monkeypatch):
    """Made up: the wave's amplitude is its step, on a constant field, and a tenth of a beam's momentum is lost."""

    class Simulation:
        steps = 0

        def __init__(self, system, device, precision):
            self.system, self.fields = system, self
            self.weight = system.electrons.weight
            self.beam = np.abs(system.electrons.momentum[:, 0]).sum() / 2

        @property
        def time(self):
            return self.steps * self.system.dt

        def step(self, count):
            self.steps += count

        def on_host(self):
            electric = np.full((3, 2, 2, 17), 99.0)
            electric[0, 0, 0, :16] = 7 + self.steps * np.cos(2 * np.pi * (np.arange(16) + 0.5) / 16 + 0.3)
            return {"electric": electric}

        def particles(self):
            momentum = np.zeros((len(self.weight), 3))
            momentum[0] = -0.1 * self.beam, 9, 9
            return {"momentum": momentum, "weight": self.weight}

    monkeypatch.setattr(loop, "Simulation", Simulation)
    system = loop.streams(16, 2)
    unit = loop.rate(system) * system.dt
    table = loop.growth(16, 2, 11.5 * unit, None, every=3)
    np.testing.assert_allclose(table["time"], unit * np.array([3, 6, 9, 12]))
    np.testing.assert_allclose(table["field"], [3, 6, 9, 12])
    np.testing.assert_allclose(table["momentum"], -0.1)
    assert loop.growth(16, 2, 11.5 * unit, None)["time"].tolist() == pytest.approx([unit * 5, unit * 10, unit * 15])


def test_a_warm_plasma_is_followed_for_whole_periods_from_its_own_energy(monkeypatch):
    steps = []

    class Simulation:
        steps = 0

        def __init__(self, system, device, sort_every):
            assert sort_every == 50
            # heat in m c over the frequency: the Debye length is a third of a cell
            spread = system.electrons.momentum.std() if system.electrons else 0.06
            length = spread * LIGHT / system.plasma_frequency / system.mesh.spacing[0]
            assert length == pytest.approx(1 / 3, rel=0.1)
            assert system.plasma_frequency * system.dt == pytest.approx(0.1, rel=0.01)

        def step(self, count):
            self.steps += count
            steps.append(self.steps)

    # total energy in J, the field's share, momenta: the first look, and three periods
    looks = [(4.0, 0.1, np.array([0.1, 0.0, 0.0]))] * 2
    looks += [(4.4, 0.3, np.array([0.1, -0.2, 0.1])), (3.0, 0.2, np.array([0.15, 0.1, 0.0]))]
    totals = iter(looks)
    monkeypatch.setattr(loop, "Simulation", Simulation)
    monkeypatch.setattr(loop, "_totals", lambda simulation: next(totals))
    runs = loop.warm(8, [3], 2, None)
    table = runs[3]
    # a tenth of a radian a step
    assert steps == [0, 63, 126]
    assert table["energy"].tolist() == pytest.approx([0, 0.1, -0.25])
    assert table["field"].tolist() == [0.1, 0.3, 0.2]
    assert table["momentum"].tolist() == pytest.approx([0, 0.2, 0.1])
    (row,) = loop.warm_table(runs).to_dict("records")
    assert row == pytest.approx({"particles a cell": 3, "periods": 2, "field": 0.2, "energy": 0.25, "momentum": 0.2})


def test_a_growth_is_fitted_between_the_start_and_a_share_of_the_largest_field():
    bent = np.linspace(0, 12, 1201)
    log = 1.2 * bent - 0.03 * bent**2
    chosen = (bent >= 3) & (log <= log.max() + np.log(0.05))
    expected = np.polyfit(bent[chosen], log[chosen], 1)[0]
    table = pd.DataFrame({"time": bent, "field": np.exp(log)})
    assert loop.fitted(table) == pytest.approx(expected, rel=2e-3)
    assert loop.fitted(table, share=0.1) < 0.99 * expected < loop.fitted(table, first=2.0) * 0.99
    # faster before three times the inverse rate, slower from a twentieth of the largest on
    time = np.linspace(0, 12, 241)
    log = np.where(time < 3, 2 * (time - 3), 0.8 * (time - 3))
    slower = 0.8 * 5 + 0.3 * (time - 8)
    log = np.where(time > 8, slower, log)
    largest = np.exp(log[-1])
    assert np.exp(0.8 * 5) > 0.05 * largest
    table = pd.DataFrame({"time": time, "field": np.exp(log)})
    assert loop.fitted(table) == pytest.approx(0.8, rel=1e-6)
    assert loop.fitted(table, share=1 - 1e-9) < 0.75
    assert loop.fitted(table, first=0.0) > 0.9


def test_totals_are_those_of_field_and_electrons_and_momenta_a_share_of_their_sizes():
    """By hand: E of 1e5 V/m along x in a box of 24 mm^3, and electrons of 5 and of 1 m c, a billion and three."""
    mesh = Mesh((2, 3, 4), (1e-3,) * 3)
    fields = {"electric": np.zeros((3, *mesh.grid)), "magnetic": np.zeros((3, *mesh.grid))}
    fields["electric"][0] = 1e5
    particles = {"momentum": np.array([[3.0, 0, 4], [0, -1, 0]]), "weight": np.array([1e9, 3e9])}
    simulation = SimpleNamespace(system=SimpleNamespace(mesh=mesh, dt=1e-13), fields=SimpleNamespace())
    simulation.fields.on_host, simulation.particles = lambda: fields, lambda: particles
    energy, share, momentum = loop._totals(simulation)
    of_field = PERMITTIVITY / 2 * 1e10 * 24e-9
    kinetic = MASS * LIGHT**2 * 1e9 * (np.sqrt(26) - 1 + 3 * (np.sqrt(2) - 1))
    assert energy == pytest.approx(of_field + kinetic)
    assert share == pytest.approx(of_field / (of_field + kinetic))
    np.testing.assert_allclose(momentum, np.array([3, -3, 4]) / 8)


def test_electrons_that_meet_faces_do_not_keep_the_energy():
    cold = pd.DataFrame({"swing (cells)": [0.1, 1.0, 1.0], "drift": [1e-5, 0.02, 0.03]})
    assert waves.faces_matter(cold) == {"small": 1e-5, "large": 0.03, "holds": True}
    assert not waves.faces_matter(cold.assign(drift=1e-5))["holds"]


@pytest.mark.parametrize(
    ("measure", "arguments", "line"),
    [
        (waves.oscillation, (Wave(8), -1.0, None), r"periods = -1\.0: must be a number from 1 to 1e\+06"),
        (waves.oscillation, (Wave(1), 1.0, None), "cells of a wavelength = 1: must be a whole number from 2 to 65535$"),
        (waves.oscillation, (Wave(8, 0), 1.0, None), "mode = 0: must be a whole number from 1 to 65535$"),
        (waves.oscillation, (Wave(8, turn=0), 1.0, None), "turn = 0: must be a number of at least 1e-30"),
        (loop.warm, (3, [10], 0, None), "periods of a warm plasma = 0: must be a whole number from 1 to 1000000$"),
        (loop.streams, (32, 0), "particles of a cell in each stream = 0: must be a whole number from 1 to 1000000$"),
        (loop.streams, (7, 4), "cells of two streams = 7: must be a whole number from 8 to 65536$"),
        (loop.charges, (3, 20, 6, None, 7), "looks each 7 steps of 6: there is none"),
        (loop.require_looks, (3, 20, 6, 7), "looks each 7 steps of 6: there is none"),
        (loop.require_looks, (1, 20, 6, 3), "busy box of 1 cell along each axis: no node lies between .* choose 2 at"),
        (loop.require_looks, (3000, 20, 6, 3), "cells: numbers of currents have 31 bits"),
        (
            loop.counts,
            ("busy", [4, 100], loop.BUSY),
            r"busy = \[4, 100\]: 4 numbers, which are cells, part",
        ),
        (
            loop.counts,
            ("compared", [4, 1.5, 5], loop.COMPARED),
            "compared: particles = 1.5: must be a whole number from 1 to 100000000$",
        ),
    ],
)
def test_what_no_plasma_has_is_refused(measure, arguments, line):
    with pytest.raises(InputError, match=line):
        measure(*arguments)


@pytest.mark.parametrize(("cells", "third"), [(12, 4.0), (3, 2.0)])
def test_electrons_of_a_busy_box_go_round_in_a_third_of_it_and_in_two_cells_at_least(cells, third):
    system = loop.busy(cells, 200, 7)
    along_x, along_y, along_z = system.magnetic
    assert exact.gyration_radius(system.source.momentum, along_y) == pytest.approx(third * 1e-3)
    assert (along_x, along_z) == (0, along_y / 2)
    assert system.source.energy == 1e6
    assert system.mesh.boundaries == ("conducting", "periodic", "periodic")
    # the particles at the start are a plasma that turns by a fifth in a step
    density = 200 * system.source.weight / np.prod(system.mesh.length)
    assert exact.plasma_frequency(density) * system.dt == pytest.approx(0.2)
    # a fiftieth is born in a step, and there is room for all of them
    assert (system.source.start, system.source.per_step, system.capacity) == (200, 4, 200 + 4 * 8)
    assert loop.busy(cells, 20, 7).source.per_step == 1


def test_a_parameter_that_lists_how_much_happens_is_taken_as_it_is():
    assert loop.counts("busy", [4, 100, 6, 3], loop.BUSY) == (4, 100, 6, 3)


def test_a_wave_along_the_diagonal_has_its_phase_along_x_and_y_and_one_along_x_none_along_y():
    """A wavelength is so many cells along each axis of its direction."""
    length = 6e-3
    for diagonal in (False, True):
        wave = Wave(6, diagonal=diagonal)
        there = np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0], [0.0, length, 0.0], [0.0, 0.0, length]])
        turns = wave.phase(there) / (2 * np.pi)
        np.testing.assert_allclose(turns, [0, 1, float(diagonal), 0], atol=1e-12)
        assert np.linalg.norm(wave.direction) == pytest.approx(1)


def test_electrons_of_a_cell_along_x_begin_alike_and_those_along_the_diagonal_as_the_wave_is_where_they_are():
    straight = Wave(8, each=4, amplitude=1e-3).system().electrons
    u = straight.momentum[:, 0].reshape(8, 4)
    np.testing.assert_allclose(u, u[:, :1] @ np.ones((1, 4)), rtol=1e-9, atol=1e-18)
    # as in the middle of the cell
    np.testing.assert_allclose(u[:, 0], 1e-3 * np.sin(2 * np.pi * (np.arange(8) + 0.5) / 8), rtol=1e-9)
    wave = Wave(8, diagonal=True, each=2, amplitude=1e-3)
    oblique = wave.system().electrons
    np.testing.assert_allclose(
        oblique.momentum @ wave.direction, 1e-3 * np.sin(wave.phase(oblique.position)), rtol=1e-9, atol=1e-18
    )


def test_a_wave_is_weak_and_turns_by_a_tenth_in_a_step_with_four_electrons_a_cell():
    system = Wave(20).system()
    assert system.mesh.shape == (20, 1, 1)
    assert system.count == 80
    assert system.plasma_frequency * system.dt == pytest.approx(0.1)
    assert np.abs(system.electrons.momentum).max() == pytest.approx(1e-5, rel=0.02)
    # two streams, too, unless light would go too far
    slow = loop.streams(8, 2, momentum=0.9)
    assert slow.plasma_frequency * slow.dt == pytest.approx(0.1)
    assert loop.streams(64, 2).dt == pytest.approx(0.9 * courant_limit(loop.streams(64, 2).mesh))
