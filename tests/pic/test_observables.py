"""What is measured of a run: energies, charge, continuity and Gauss' law, on numbers that are known."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.pic_fields import UNIT, advance, made

from repro.errors import InputError
from repro.pic import observables
from repro.pic.constants import CHARGE, LIGHT, MASS, PERMEABILITY, PERMITTIVITY
from repro.pic.deposition import EDGES, make_deposit
from repro.pic.mesh import Mesh

SPACING = (1e-3, 1.3e-3, 0.8e-3)
BOXES = [("periodic",) * 3, ("conducting",) * 3, ("conducting", "periodic", "conducting")]


@pytest.mark.parametrize("boundaries", BOXES)
def test_the_energy_of_uniform_fields_is_their_density_times_the_volume(boundaries):
    mesh, grid = Mesh((3, 4, 2), SPACING, boundaries), (3, 3, 5, 4)
    electric, magnetic = np.full(grid, 2e5), np.full(grid, 3e-3)
    expected = 3 * np.prod(mesh.length) * (PERMITTIVITY / 2 * 2e5**2 + 3e-3**2 / (2 * PERMEABILITY))
    # a uniform field has no curl, but for the step down to the conductor, which is beyond the nodes
    assert observables.field_energy(mesh, 1e-13, electric, magnetic) == pytest.approx(expected)


def test_slow_electrons_have_half_of_m_v_squared_and_fast_ones_p_c():
    rest = MASS * LIGHT**2
    assert observables.kinetic_energy(np.array([[0, 1e-10, 0]]), np.array([3.0])) == pytest.approx(
        1.5e-20 * rest, rel=1e-15
    )
    assert observables.kinetic_energy(np.array([[1e8, 0, 0]]), np.array([1.0])) == pytest.approx(1e8 * rest, rel=1e-7)


def test_the_kinetic_energy_is_gamma_less_one_for_each_electron_that_a_particle_stands_for():
    # gamma^2 = 1 + 0.09 + 0.16 + 1.44 and 1 + 0.0225
    momentum, weight = np.array([[0.3, -0.4, 1.2], [0, 0.15, 0]]), np.array([2.0, 5.0])
    expected = 2 * (np.sqrt(2.69) - 1) + 5 * (np.sqrt(1.0225) - 1)
    assert observables.kinetic_energy(momentum, weight) / (MASS * LIGHT**2) == pytest.approx(expected)


def test_an_electron_shares_its_charge_among_the_corners_of_its_cell():
    mesh = Mesh((3, 4, 2), SPACING)
    position = np.array([[2.25, 1.5, 1]]) * SPACING
    sums = observables.charge_sums(mesh, position, np.array([8.0]), UNIT, 0)
    density = observables.charge_density(mesh, sums, UNIT)
    number = -density * mesh.cell_volume / CHARGE
    assert number[1, 1, 2] == number[1, 2, 2] == pytest.approx(3)
    # the other end of the cell is the first node of the next box, and the last of this
    assert number[1, 1, 3] == number[1, 1, 0] == number[1, 2, 0] == pytest.approx(1)
    assert number[:-1, :-1, :-1].sum() == pytest.approx(8)
    # in a box with walls nodes on them have a part of a cell only
    walled = Mesh((3, 4, 2), SPACING, ("conducting",) * 3)
    at_corner = observables.charge_sums(walled, np.zeros((1, 3)), np.ones(1), UNIT, 0)
    assert observables.charge_density(walled, at_corner, UNIT)[0, 0, 0] == pytest.approx(-8 * CHARGE / mesh.cell_volume)


@pytest.mark.parametrize(
    "boundaries", [*BOXES, ("periodic", "conducting", "absorbing"), ("periodic", "periodic", "conducting")]
)
def test_the_density_of_all_nodes_times_what_belongs_to_them_is_all_of_the_charge(boundaries):
    mesh, numbers = Mesh((3, 4, 5), SPACING, boundaries, layers=1), np.random.default_rng(5)
    position, weight = numbers.random((30, 3)) * mesh.length, numbers.uniform(1, 2, 30)
    # both ends of the box, and as far beyond them as rounding goes
    position[0], position[1] = -1e-10 * np.array(mesh.length), (1 + 1e-10) * np.array(mesh.length)
    density = observables.charge_density(mesh, observables.charge_sums(mesh, position, weight, UNIT, 0), UNIT)
    shares = []
    for cells, boundary in zip(mesh.shape, boundaries, strict=True):
        share = np.ones(cells + 1)
        # half a cell before a wall, and a node of a periodic axis once
        share[[0, -1]] = (1, 0) if boundary == "periodic" else (0.5, 0.5)
        shares.append(share)
    total = np.einsum("zyx,x,y,z", density, *shares) * mesh.cell_volume
    assert total == pytest.approx(-weight.sum() * CHARGE)
    for axis, boundary in enumerate(boundaries):
        if boundary == "periodic":
            np.testing.assert_array_equal(*(density.take(end, 2 - axis) for end in (0, -1)))
    for far in (-1e-6, 1 + 1e-6):
        with pytest.raises(InputError, match="position: 1 electrons are outside the box"):
            observables.charge_sums(mesh, np.array([[1e-3, far * mesh.length[1], 1e-3]]), np.ones(1), UNIT, 0)


def crossing(mesh, start, end, wraps) -> list[tuple]:
    """The segments of straight ways from start to end in cells: (cell, place at its start, place at its end) each."""
    found = []
    for a, b in zip(start, end, strict=True):
        faces = [
            (np.arange(np.ceil(min(p, q)), np.floor(max(p, q)) + 1) - p) / (q - p) for p, q in zip(a, b, strict=True)
        ]
        times = np.unique(np.concatenate([[0.0, 1.0], *faces]))
        for t, later in pairwise(times):
            cell = np.floor(a + (b - a) * (t + later) / 2).astype(int)
            places = [np.clip(a + (b - a) * time - cell, 0, 1) for time in (t, later)]
            found.append((mesh.nodes((cell % mesh.shape if wraps else cell)[None])[0], *places))
    return found


def moved(mesh, wraps):
    """Charges before and after random ways through random faces, and the sums of the currents."""
    numbers = np.random.default_rng(3)
    start = numbers.uniform(0.05, 0.95, (40, 3)) * mesh.shape
    end = start + numbers.uniform(-1.5, 1.5, start.shape)
    if not wraps:
        end = np.clip(end, 0.01, np.array(mesh.shape) - 0.01)
    weight = numbers.uniform(0.5, 2, len(start))
    currents = np.zeros(EDGES * mesh.layout.nodes, np.int64)

    def add(sums, index, value):
        sums[index] += value

    deposit = make_deposit(np.float64, add)
    for a, b, w in zip(start, end, weight, strict=True):
        for cell, first, last in crossing(mesh, [a], [b], wraps):
            deposit(currents, EDGES * cell, first, last, w * UNIT)
    ends = (start, end % mesh.shape if wraps else end)
    return *(observables.charge_sums(mesh, x * mesh.spacing, weight, UNIT, 0) for x in ends), currents


@pytest.mark.parametrize("boundary", ["periodic", "conducting"])
def test_currents_carry_exactly_the_charge_that_moves(boundary):
    mesh = Mesh((3, 4, 5), SPACING, (boundary,) * 3)
    before, after, currents = moved(mesh, boundary == "periodic")
    assert np.abs(after - before).max() > 0.1 * np.abs(before).max()
    assert observables.continuity_residual(mesh, before, after, currents) < 1e-11
    # one segment of one electron that is missing shows
    lost = currents.copy()
    lost[np.flatnonzero(lost)[0]] = 0
    assert observables.continuity_residual(mesh, before, after, lost) > 1e-4


@pytest.mark.parametrize(("before", "after"), [(0, 5), (2, 5), (5, 2)])
def test_the_residual_of_continuity_is_over_the_larger_charge_of_both_ends_of_a_step(before, after):
    mesh, charges = Mesh((3, 4, 5), SPACING, ("conducting",) * 3), np.zeros((2, 5 * 6 * 7), np.int64)
    charges[:, mesh.nodes([(1, 2, 3)])[0]] = before, after
    still = np.zeros(12 * 5 * 6 * 7, np.int64)
    assert observables.continuity_residual(mesh, *charges, still) == abs(after - before) / 5
    # and of no charge at all it is none
    assert observables.continuity_residual(mesh, *(0 * charges), still) == 0


def test_gauss_law_holds_if_currents_carry_the_charge():
    mesh = Mesh((3, 4, 5), SPACING)
    before, after, currents = moved(mesh, wraps=True)
    fields = made(mesh)
    advance(fields, 1, currents)
    # the field began without charges: those at the start are there twice, once at rest with the other sign
    density = observables.charge_density(mesh, after - before, UNIT)
    electric = fields.on_host()["electric"]
    assert observables.gauss_residual(mesh, electric, density) < 1e-10
    assert observables.gauss_residual(mesh, electric, 1.01 * density) > 0.009


def test_the_residual_of_gauss_law_is_over_the_charge_of_inner_nodes():
    mesh = Mesh((3, 4, 5), SPACING, ("conducting", "periodic", "conducting"))
    density, electric = np.zeros((6, 5, 4)), np.zeros((3, 6, 5, 4))
    # most of it is on a wall, where the law is not asked
    density[0, 1, 1], density[2, 2, 1], density[3, 2, 2] = 9.0, 2.0, -0.5
    assert observables.gauss_residual(mesh, electric, density) == 1
    # three quarters of the charge make a field along y, which ends on a node that has none
    electric[1, 2, 2, 1] = 0.75 * 2.0 * SPACING[1] / PERMITTIVITY
    assert observables.gauss_residual(mesh, electric, density) == pytest.approx(0.75)


FIELD, SUMS = np.zeros((3, 4, 5, 3)), np.zeros(120, np.int64)


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        (
            "field_energy",
            (1e-13, FIELD[:, 1:], FIELD),
            r"electric field = .* of the shape \(3, 3, 5, 3\): must be .* of the shape \(3, 4, 5, 3\)",
        ),
        ("field_energy", (1e-13, FIELD, FIELD[:, :1]), r"magnetic field = .* of the shape \(3, 1, 5, 3\): must be"),
        ("field_energy", (0, FIELD, FIELD), "dt = 0: must be a number of at least 1e-30"),
        (
            "charge_sums",
            (np.full((1, 3), np.nan), np.ones(1), 1.0, 0),
            "position = .*3 not finite: must be finite numbers",
        ),
        ("charge_sums", (np.ones((1, 3)), np.ones(1), 1.0, 0), "position: 1 electrons are outside the box"),
        ("charge_sums", (np.zeros((2, 3)), np.ones(1), 1.0, 0), r"weight = .* of the shape \(1,\): must be .* \(2,\)"),
        ("charge_sums", (np.zeros((1, 3)), np.ones(1), 0.0, 0), "unit = 0.0: must be a number of at least 1e-30"),
        (
            "charge_density",
            (SUMS[1:], 1.0),
            r"charges = .* of the shape \(119,\): must be .* of the shape \(120,\)",
        ),
        (
            "electron_flow",
            (SUMS,),
            r"currents = .* of the shape \(120,\): must be .* of the shape \(1440,\)",
        ),
        (
            "continuity_errors",
            (SUMS, SUMS[1:], np.zeros(1440, np.int64)),
            r"charges after = .* of the shape \(119,\): must be .* of the shape \(120,\)",
        ),
        ("divergence", (None,), "electric field = None: must be an array"),
        (
            "gauss_residual",
            (FIELD, FIELD),
            r"density = .* of the shape \(3, 4, 5, 3\): must be .* of the shape \(4, 5, 3\)",
        ),
        ("gauss_residual", (FIELD, FIELD[0]), "density: no charge on any inner node"),
    ],
)
def test_what_does_not_fit_the_mesh_is_refused(name, arguments, line):
    with pytest.raises(InputError, match=line):
        getattr(observables, name)(Mesh((2, 4, 3), (1e-3,) * 3), *arguments)


@pytest.mark.parametrize("momentum", [np.ones(3), np.ones((2, 2)), "fast"])
def test_an_energy_is_that_of_momenta_along_three_axes(momentum):
    with pytest.raises(InputError, match=r"momentum .*: must be finite numbers of the shape \(count, 3\)"):
        observables.kinetic_energy(momentum, np.ones(2))


def test_nodes_on_walls_and_in_layers_are_left_out_of_gauss_law():
    mesh = Mesh((9, 4, 5), SPACING, ("absorbing", "periodic", "conducting"), layers=2)
    assert observables.inner_nodes(mesh) == (slice(1, 5), slice(0, 4), slice(2, 8))


def test_cells_have_their_numbers_and_numbers_their_cells():
    mesh = Mesh((3, 4, 2), SPACING)
    cells = np.array([[0, 0, 0], [2, 0, 1], [1, 3, 0], [2, 3, 1]])
    # x fastest, in rows of 3 and planes of 4, each with a guard at either end
    np.testing.assert_array_equal(mesh.nodes(cells), 1 + cells[:, 0] + 5 * (1 + cells[:, 1]) + 30 * (1 + cells[:, 2]))
    np.testing.assert_array_equal(mesh.cells(mesh.nodes(cells)), cells)
