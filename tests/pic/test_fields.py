"""Yee's scheme against its own exact waves, and what it keeps: energy, div B, the charge, the order of the axes."""

import numpy as np
import pytest
from helpers.pic_fields import UNIT, advance, made, random_currents, random_fields
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.pic import observables
from repro.pic.constants import CHARGE, PERMITTIVITY
from repro.pic.maxwell import waves
from repro.pic.maxwell.fields import Fields, courant_limit, current_factors, field_units
from repro.pic.mesh import Mesh

SPACING = (1e-3, 1.3e-3, 0.8e-3)
CLOSED = ("conducting",) * 3

#: rounding errors of so many steps in double precision, on numbers of order 1
ROUNDING = 1e-12


def frequency(mesh, mode) -> float:
    """Angular frequency of a standing wave that begins as `mode`, from its amplitude over 20 steps."""
    fields, amplitudes = made(mesh, electric=mode), []
    for _ in range(20):
        advance(fields, 1)
        amplitudes.append(float(np.sum(fields.on_host()["electric"][:, :-1, :-1, :-1] * mode[:, :-1, :-1, :-1])))
    return waves.measured_frequency(np.array(amplitudes), fields.dt)


@pytest.mark.parametrize("periods", [(1, 0, 0), (0, 2, 0), (1, 1, 1), (2, -1, 1)])
def test_plane_waves_oscillate_as_the_dispersion_relation_says(periods):
    mesh = Mesh((6, 5, 4), SPACING)
    wave_vector = 2 * np.pi * np.array(periods) / mesh.length
    direction = waves.transverse(mesh, wave_vector, (0.3, 0.5, 1.0))
    found = frequency(mesh, waves.plane_wave(mesh, wave_vector, direction))
    assert found == pytest.approx(waves.yee_frequency(mesh, 0.9 * courant_limit(mesh), wave_vector), rel=1e-10)


@pytest.mark.parametrize("halves", [(1, 1, 0), (0, 2, 1), (1, 2, 3)])
def test_a_conducting_box_rings_with_its_own_frequencies(halves):
    mesh = Mesh((5, 4, 6), SPACING, CLOSED)
    wave_vector = np.pi * np.array(halves) / mesh.length
    direction = waves.transverse(mesh, wave_vector, (0.3, 0.5, 1.0))
    found = frequency(mesh, waves.cavity_mode(mesh, wave_vector, direction))
    assert found == pytest.approx(waves.yee_frequency(mesh, 0.9 * courant_limit(mesh), wave_vector), rel=1e-10)


@pytest.mark.parametrize("boundaries", [("periodic",) * 3, CLOSED, ("periodic", "conducting", "periodic")])
def test_the_energy_of_a_field_in_vacuum_stays(boundaries):
    mesh = Mesh((5, 4, 3), SPACING, boundaries)
    fields = made(mesh, **random_fields(mesh))
    energies = []
    for _ in range(30):
        advance(fields, 1)
        energies.append(observables.field_energy(mesh, fields.dt, **fields.on_host()))
    assert np.ptp(energies) < ROUNDING * energies[0]


def divergences(mesh, fields) -> tuple[np.ndarray, np.ndarray]:
    """div E on the inner nodes in V/m^2, and div B in the cells in T/m."""
    found, cells = fields.on_host(), tuple(slice(0, cells) for cells in mesh.shape[::-1])
    fluxes = (np.diff(found["magnetic"][c], axis=-1 - c)[cells] / mesh.spacing[c] for c in range(3))
    return observables.divergence(mesh, found["electric"])[observables.inner_nodes(mesh)], sum(fluxes)


@pytest.mark.parametrize("boundaries", [("periodic",) * 3, ("conducting", "periodic", "conducting")])
def test_divergences_stay_as_they_are_without_charges(boundaries):
    mesh = Mesh((5, 4, 3), SPACING, boundaries)
    fields = made(mesh, **random_fields(mesh))
    before = divergences(mesh, fields)
    advance(fields, 20)
    for first, last, size in zip(before, divergences(mesh, fields), (1, 1 / 3e8), strict=True):
        assert np.abs(last - first).max() < ROUNDING * size / min(SPACING)


@pytest.mark.parametrize(("share", "stays"), [(0.999, True), (1.001, False)])
def test_waves_grow_only_beyond_the_courant_limit(share, stays):
    mesh = Mesh((4, 4, 4), SPACING)
    # the shortest wave of all is in it, which grows first: by exp(0.09) a step
    fields = made(mesh, share=share, **random_fields(mesh))
    advance(fields, 200)
    assert bool(np.abs(fields.on_host()["electric"]).max() < 100) is stays


def test_a_uniform_current_lowers_the_field_by_what_it_carries():
    mesh = Mesh((3, 4, 2), SPACING)
    fields = made(mesh)
    # in each cell three electrons move a fifth of a cell along x, which its four edges share
    sums = np.zeros((mesh.layout.nodes, 12), np.int64)
    sums[mesh.nodes(np.argwhere(np.ones(mesh.shape, bool))), :4] = round(3 * 0.2 * UNIT / 4)
    advance(fields, 1, sums.ravel())
    current = -CHARGE * 3 * 0.2 * SPACING[0] / (fields.dt * mesh.cell_volume)
    expected = np.zeros(3)
    # electrons that move up are a current down, which makes E grow
    expected[0] = -current * fields.dt / PERMITTIVITY
    assert expected[0] > 0
    np.testing.assert_allclose(
        fields.on_host()["electric"], np.broadcast_to(expected[:, None, None, None], (3, 3, 5, 4))
    )
    flow = observables.electron_flow(mesh, sums.ravel())[:, 1:, 1:, 1:] / UNIT
    np.testing.assert_allclose(flow[0], 3 * 0.2)
    assert not flow[1:].any()


def test_current_factors_are_those_of_maxwells_equations():
    mesh, dt = Mesh((3, 4, 2), SPACING), 1e-12
    expected = [CHARGE * dx / (mesh.cell_volume * PERMITTIVITY) for dx in SPACING]
    assert np.multiply(current_factors(mesh, dt), field_units(dt)[0]) == pytest.approx(expected)


def turned(array, times: int) -> np.ndarray:
    """A field (3, z, y, x) with x turned into y, y into z and z into x."""
    for _ in range(times):
        array = np.roll(np.moveaxis(array, 1, 3), 1, axis=0)
    return array


def rotated(mesh, times: int) -> Mesh:
    """The mesh with its axes turned."""
    shape, spacing, boundaries = (
        tuple(np.roll(part, times).tolist()) for part in (mesh.shape, mesh.spacing, mesh.boundaries)
    )
    return Mesh(shape, spacing, boundaries, layers=mesh.layers)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("boundaries", [("periodic", "conducting", "absorbing"), ("absorbing",) * 3])
def test_no_axis_is_different_from_the_others(boundaries, times):
    mesh, found = Mesh((6, 5, 7), SPACING, boundaries, layers=2), []
    dt, start, sums = 0.9 * courant_limit(mesh), random_fields(mesh), random_currents(mesh)
    for turns in (0, times):
        fields = Fields(PlainDevice(), np.float32, rotated(mesh, turns), dt, UNIT)
        fields.set(*(turned(start[name], turns) for name in ("electric", "magnetic")))
        cells = sums.reshape(*(n + 2 for n in mesh.shape[::-1]), 3, 4)
        for _ in range(turns):
            cells = np.roll(np.moveaxis(cells, 0, 2), 1, axis=3)
        advance(fields, 5, cells.ravel())
        found.append(fields.on_host())
    for name, first in found[0].items():
        np.testing.assert_array_equal(turned(first, times), found[1][name])


def test_every_device_computes_the_same_bits(device):
    # each launch fits into one block: the simulator takes those of the launch that was bound last for all
    mesh = Mesh((7, 2, 3), SPACING, ("absorbing", "periodic", "absorbing"), layers=1)

    def end(machine):
        fields = made(mesh, real=np.float32, device=machine, **random_fields(mesh))
        advance(fields, 2, random_currents(mesh))
        return fields.on_host()

    expected = end(PlainDevice())
    for name, values in end(device).items():
        np.testing.assert_array_equal(values, expected[name])


def test_what_is_set_is_what_is_there():
    mesh = Mesh((3, 4, 2), SPACING, ("periodic", "conducting", "conducting"))
    first = Fields(PlainDevice(), np.float64, mesh, 1e-12, UNIT)
    first.set(**random_fields(mesh))
    found = first.on_host()
    # E along a wall is none, and B beyond a wall is what it is before it
    assert not found["electric"][[0, 2]][:, :, [0, -1]].any()
    assert not found["electric"][[0, 1]][:, [0, -1]].any()
    np.testing.assert_array_equal(found["magnetic"][1, :, -1], found["magnetic"][1, :, -2])
    for values in found.values():
        np.testing.assert_array_equal(values[..., -1], values[..., 0])
    second = Fields(PlainDevice(), np.float64, mesh, 1e-12, UNIT)
    found["magnetic"][1, :, -1] += 1
    second.set(**found)
    again = second.on_host()
    for name in found:
        np.testing.assert_allclose(again[name][..., :-1], found[name][..., :-1], rtol=1e-15)


def test_of_a_field_that_is_set_only_what_lies_along_a_conductor_becomes_zero():
    mesh = Mesh((3, 4, 2), SPACING, ("periodic", "conducting", "conducting"))
    wanted = np.random.default_rng(1).uniform(1, 2, (3, 3, 5, 4))
    fields = Fields(PlainDevice(), np.float64, mesh, 1e-12, UNIT)
    fields.set(electric=wanted)
    wanted[0, :, [0, -1]] = wanted[2, :, [0, -1]] = 0
    wanted[:2, [0, -1]] = 0
    # the last node along x is the first again
    np.testing.assert_allclose(fields.on_host()["electric"][..., :-1], wanted[..., :-1], rtol=1e-15)


@pytest.mark.parametrize("shape", [(3, 2, 4, 5), (3,), (2, 2, 4, 3), (1, 2, 4, 3), (3, 4, 4, 3), (3, 2, 6, 4)])
def test_fields_that_do_not_fit_are_refused(shape):
    with pytest.raises(InputError, match=r"it must be \(3, 2, 4, 3\)"):
        made(Mesh((3, 4, 2), SPACING), electric=np.zeros(shape))


@pytest.mark.parametrize("shape", [(3, 1, 1, 1), (3, 1, 1, 3), (3, 2, 1, 4), (3, 1, 5, 3)])
def test_one_along_an_axis_is_the_same_value_on_all_its_nodes(shape):
    values = np.random.default_rng(3).uniform(1, 2, shape)
    sizes = [cells if n == 1 else n for n, cells in zip(shape, (3, 2, 4, 3), strict=True)]
    given, whole = (
        made(Mesh((3, 4, 2), SPACING), magnetic=field).on_host()["magnetic"]
        for field in (values, np.broadcast_to(values, sizes).copy())
    )
    np.testing.assert_array_equal(given, whole)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ("strong", "electric field = 'strong': must be finite numbers"),
        ([[1], [1, 2]], "electric field = .*: must be finite numbers"),
        (np.full((3, 2, 4, 3), 1j), "electric field = .*: must be finite numbers"),
        (np.full((3, 2, 4, 3), np.nan), "electric field = .*72 not finite: must be finite numbers"),
    ],
)
def test_fields_that_are_no_numbers_are_refused(values, line):
    with pytest.raises(InputError, match=line):
        made(Mesh((3, 4, 2), SPACING), electric=values)


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        (
            "yee_frequency",
            (1e-12, (1, 2)),
            r"wave vector = \(1, 2\): must be finite numbers of the shape \(3,\), in 1/m",
        ),
        ("yee_frequency", (0, (1, 2, 3)), "dt = 0: must be a number of at least 1e-30"),
        ("transverse", ((0, 0, 0), (1, 0, 0)), r"wave vector = \(0, 0, 0\) 1/m: one without a direction"),
        ("plane_wave", ("abc", (1, 0, 0)), "wave vector = 'abc': must be finite numbers"),
        ("cavity_mode", ((1, 1, 1), None), "direction = None: must be finite numbers"),
    ],
)
def test_waves_without_a_wave_vector_are_refused(name, arguments, line):
    with pytest.raises(InputError, match=line):
        getattr(waves, name)(Mesh((3, 4, 2), SPACING), *arguments)


def test_the_direction_across_a_wave_is_the_one_next_to_what_is_wanted():
    mesh, wave_vector = Mesh((6, 5, 4), SPACING), np.array([300.0, -500.0, 200.0])
    slopes = np.sin(wave_vector * SPACING / 2) / SPACING
    for towards in np.vstack([np.eye(3), -np.eye(3), [[1.0, 2.0, -3.0]]]):
        found = waves.transverse(mesh, wave_vector, towards)
        assert (found @ slopes, found @ found) == pytest.approx((0, 1), abs=1e-9)
        # what is left of it without its part along the slopes
        rest = towards - slopes * (towards @ slopes) / (slopes @ slopes)
        np.testing.assert_allclose(found, rest / np.linalg.norm(rest))


def test_a_frequency_may_be_found_where_some_amplitudes_are_zero():
    assert waves.measured_frequency([2.0, 0.0, -2.0, 0.0, 2.0], 0.5) == pytest.approx(np.pi)
    assert waves.measured_frequency(np.cos(0.3 * np.arange(6)), 2.0) == pytest.approx(0.15)


@pytest.mark.parametrize("amplitudes", [np.ones(2), np.zeros(5)])
def test_a_frequency_needs_three_amplitudes_that_are_not_all_zero(amplitudes):
    with pytest.raises(InputError, match=f"amplitudes: {len(amplitudes)} of them do not oscillate"):
        waves.measured_frequency(amplitudes, 1.0)


def test_a_part_of_a_divided_box_needs_its_neighbours():
    mesh = Mesh((3, 4, 2), SPACING, divided=((False, False), (True, True), (False, False)))
    with pytest.raises(InputError, match="exchange"):
        made(mesh)
