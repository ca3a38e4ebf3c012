"""The experiment on fields without compiled code: pulses, tables and figures."""

import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.papers.electrons.fields import continuity, dispersion, figures, reflection
from repro.papers.electrons.fields.reflection import Pulse
from repro.pic.constants import LIGHT
from repro.pic.deposition import units_of_weight
from repro.pic.maxwell.fields import current_factors
from repro.pic.mesh import Mesh

WAVES = pd.DataFrame(
    {
        "wavelength": [5, 5],
        "angle": [0.0, 90.0],
        "measured": [0.95, 0.96],
        "theory": [0.95, 0.96],
        "error": [1e-15, 0.0],
    }
)
LAYERS = pd.DataFrame({"angle": [0.0, 45.0] * 2, "layers": [5, 5, 10, 10], "reflection": [-30.0, -35.0, -80.0, -85.0]})
CHARGE = pd.DataFrame(
    {"precision": ["single", "double"], "segments": [100, 100], "residual": [1e-7, 1e-15], "limit": [1e-6, 1e-14]}
)


def test_a_pulse_meets_the_layers_at_the_angle_of_its_period():
    assert Pulse(12).angle == 0
    assert Pulse(12, 24).angle == pytest.approx(30)
    # it has gone when the run ends, and had not come when it began
    pulse = Pulse(12, 24)
    assert abs(pulse.at(0)) < 1e-3
    assert abs(pulse.at(pulse.steps)) < 1e-3


@pytest.mark.parametrize("period", [1, 24])
def test_a_run_is_as_long_as_the_pulse_and_its_way_to_the_layers_and_back(period):
    # it lasts nine wavelengths, and twelve cells lie between the source and the layers
    pulse = Pulse(12, period)
    way = (2 * 12 + 4 * 12) / np.cos(np.radians(pulse.angle))
    assert pulse.steps * 0.99 / np.sqrt(3) == pytest.approx(9 * 12 + way, abs=1)


def test_the_field_at_the_source_is_half_of_what_a_sheet_of_current_leaves_in_a_step():
    """The other half goes to the other side, both with the speed of light."""
    pulse = Pulse(16)
    found = reflection.record(pulse, PlainDevice(), np.float64, 2 * (reflection.GAP + 10), 10)
    step = reflection.COURANT / np.sqrt(3)
    mesh = Mesh((1, 1, 1), (1e-3,) * 3)
    a_step = reflection._ELECTRONS * current_factors(mesh, step * 1e-3 / LIGHT)[2]
    expected = np.array([pulse.at(n) for n in range(pulse.steps)]) * a_step / (2 * step)
    assert np.abs(found).max() == pytest.approx(np.abs(expected).max(), rel=0.03)
    assert found @ expected > 0.95 * np.linalg.norm(found) * np.linalg.norm(expected)


def test_measured_waves_are_those_of_the_dispersion_relation(monkeypatch):
    monkeypatch.setattr(dispersion, "PERIODS", ((1, 0), (0, 1)))
    monkeypatch.setattr(dispersion, "STEPS", 4)
    monkeypatch.setattr(dispersion, "FAMILY", 1)
    table = dispersion.directions([4], PlainDevice(), np.float64)
    assert table["angle"].tolist() == [0, 90]
    assert table["error"].abs().max() < 1e-12
    # four cells a wave: sin(omega dt / 2) = (c dt / dx) sin(pi / 4)
    step = dispersion.COURANT / np.sqrt(3)
    expected = 2 * np.arcsin(step * np.sin(np.pi / 4)) / (step * np.pi / 2)
    np.testing.assert_allclose(table["theory"], expected)
    np.testing.assert_allclose(dispersion.theory(4, [0, 90]), expected)


def test_segments_conserve_charge_to_the_limit_that_is_given():
    table = continuity.sums([50])
    assert (table["residual"] <= table["limit"]).all()
    single, double = (continuity.single_segments(real, 50) for real in (np.float32, np.float64))
    assert single.shape == double.shape == (50,)
    # rounding in single precision shows, and no more than that
    assert 1e-9 < single.max() < 1e-6
    assert double.max() < 1e-13


def test_the_error_of_a_segment_is_its_largest_over_its_own_charge(monkeypatch):
    moved = np.array([0.5, 2.0]), None, None, None
    errors = np.zeros((2, 2, 5))
    # the corners of the first cell, and of the third
    errors[1, 0, 1], errors[0, 1, 0], errors[0, 1, 2] = -3, 1, 4
    unit = units_of_weight(4.0)
    monkeypatch.setattr(continuity, "_moved", lambda *_: moved)
    monkeypatch.setattr(continuity, "continuity_errors", lambda *_: errors * unit)
    assert continuity.single_segments(np.float64, 2).tolist() == [3 / 0.5, 4 / 2]


def test_a_sum_loses_at_most_what_the_segments_around_the_fullest_node_do():
    cells = np.random.default_rng(3).integers(0, [8, 3, 2], (40, 3))
    # the eight cells around a node, through the ends of the box
    around = [
        sum(int((((node - cell) % continuity.CELLS) <= 1).all()) for cell in cells)
        for node in np.ndindex((continuity.CELLS,) * 3)
    ]
    assert continuity._most(cells) == max(around)


def test_each_end_of_a_box_reflects_half_of_what_an_endless_one_does_not_have(monkeypatch):
    pulse, endless, made = Pulse(12), np.array([0.0, 2.0, -4.0, 1.0]), []

    def record(pulse, device, real, cells, layers):
        made.append((cells, layers))
        return endless + (np.array([0.0, 0.0, 0.3, -0.8]) if cells < pulse.steps else 0)

    monkeypatch.setattr(reflection, "record", record)
    assert reflection.reflected(pulse, None, None, [5, 8]) == pytest.approx({5: 0.1, 8: 0.1})
    # light comes to no end of the first box and back; the pulse has as long a way to the layers of all others
    assert made[0][0] >= pulse.steps
    assert made[1:] == [(2 * (reflection.GAP + 5), 5), (2 * (reflection.GAP + 8), 8)]


def test_figures_show_what_is_in_the_tables():
    for figure, arrays in (
        figures.dispersion(WAVES),
        figures.reflection(LAYERS),
        figures.continuity({"single": np.array([1e-8]), "double": np.array([1e-15])}, CHARGE),
    ):
        assert len(figure.axes) == 2
        assert all(len(values) for values in arrays.values())


def test_decibels_are_of_amplitudes():
    assert reflection.decibels(0.01) == pytest.approx(-40)


@pytest.mark.parametrize(
    ("measure", "arguments", "line"),
    [
        (Pulse, (-1,), "cells of a pulse = -1: must be a number of at least 1e-30"),
        (Pulse, (12, 0), "period of a pulse = 0: must be a whole number from 1 to 65535$"),
        (Pulse, (12, 12), "period of a pulse = 12: 1, or more than the 12 cells of its wavelength"),
        (
            dispersion.directions,
            ([1.5], None, None),
            "cells of a wavelength = 1.5: must be a whole number from 2 to 2000$",
        ),
        (continuity.single_segments, (np.float64, 40_000), "segments = 40000: must be a whole number from 1 to 32000"),
        (continuity.sums, ([0.5],), "segments of a sum = 0.5: must be a whole number from 1 to 100000000$"),
    ],
)
def test_waves_and_segments_that_cannot_be_are_refused(measure, arguments, line):
    with pytest.raises(InputError, match=line):
        measure(*arguments)


def test_every_pulse_is_reflected_by_every_number_of_layers(monkeypatch):
    shares = {0.0: {5: 0.1, 8: 0.01}, 30.0: {5: 0.2, 8: 0.02}}
    asked = []

    def reflected(pulse, device, real, layers):
        asked.append((device, real, layers))
        return shares[round(pulse.angle, 9)]

    monkeypatch.setattr(reflection, "reflected", reflected)
    table = reflection.table([Pulse(12), Pulse(12, 24)], "here", np.float64, [5, 8])
    assert asked == [("here", np.float64, [5, 8])] * 2
    assert table["layers"].tolist() == [5, 8] * 2
    assert table["angle"].tolist() == pytest.approx([0, 0, 30, 30])
    assert table["reflection"].tolist() == pytest.approx([-20, -40, -20 + 20 * np.log10(2), -40 + 20 * np.log10(2)])


def test_a_pulse_is_sent_between_as_many_layers_as_are_asked_for(monkeypatch):
    made = []

    class Enough(Exception):
        """The box is known."""

    def fields(device, real, mesh, dt, unit):
        made.append((mesh.shape, mesh.layers, mesh.boundaries, dt))
        raise Enough

    monkeypatch.setattr(reflection, "Fields", fields)
    for layers in (5, 8):
        with pytest.raises(Enough):
            reflection.record(Pulse(12, 24), None, np.float64, 40, layers)
    # light goes as far as the limit lets it but for a hundredth
    dt = 0.99 * 1e-3 / LIGHT / np.sqrt(3)
    box = (40, 24, 1), ("absorbing", "periodic", "periodic")
    assert made == [(box[0], layers, box[1], pytest.approx(dt)) for layers in (5, 8)]


def test_all_waves_of_a_family_are_as_long_in_a_square_box():
    assert {np.hypot(*periods) for periods in dispersion.PERIODS} == {dispersion.FAMILY}
    angles = [np.degrees(np.arctan2(y, x)) for x, y in dispersion.PERIODS]
    assert angles == sorted(set(angles))


def test_what_counts_as_rounding_is_a_few_units_in_the_last_place():
    for name, most in (("single", 10), ("double", 50)):
        assert 4 < continuity.ROUNDING[name] / np.finfo(continuity.REALS[name]).eps < most


def test_cutting_shares_leaves_a_unit_of_each_segment_at_five_places(monkeypatch):
    """The largest charge of a node is 50 before and 80 after; seven segments meet in the fullest node."""
    charges = np.array([3.0, -50.0]), np.array([80.0, 2.0])
    monkeypatch.setattr(continuity, "_moved", lambda *_: (None, *charges, None))
    monkeypatch.setattr(continuity, "_most", lambda cells: 7)
    monkeypatch.setattr(continuity, "continuity_residual", lambda mesh, before, after, currents: before.max())
    table = continuity.sums([4])
    assert table["limit"].tolist() == pytest.approx([5 * 7 / 80] * 2)
    assert table["residual"].tolist() == [3.0, 3.0]
    monkeypatch.setattr(continuity, "_moved", lambda *_: (None, 1e18 * charges[0], charges[1], None))
    assert continuity.sums([4])["limit"].tolist() == [1e-6, 1e-14]
