"""Equations of one particle or one pair, against what they must be by theory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from repro.sph.equations import (
    GAMMA,
    divergence_terms,
    make_xsph_mean,
    momentum_term,
    pressure_term,
    tait,
    viscous_term,
)
from repro.sph.fluid import Fluid, Resolution

#: the paper's, in Pa
STIFFNESS = 1119e3

components = some.tuples(*[some.floats(-2, 2)] * 3)


def test_the_papers_stiffness_is_a_sound_speed_of_88_5_metres_a_second():
    assert Fluid(stiffness=STIFFNESS, density=1000.0).sound_speed == pytest.approx(88.5, abs=0.05)


@given(s=some.floats(-0.3, 0.3))
def test_pressure_is_taits(s):
    assert tait(s, STIFFNESS) == pytest.approx(STIFFNESS * ((1 + s) ** GAMMA - 1), rel=1e-9, abs=1e-6)


@given(height=some.floats(1e-4, 10))
def test_pressure_keeps_its_digits_in_single_precision(height):
    # the condensation under so much water, by the sound speed; single precision of rho would be wrong by half a Pa
    s = np.float32(1000 * 9.81 * height / (GAMMA * STIFFNESS))
    exact = STIFFNESS * np.expm1(GAMMA * np.log1p(float(s)))
    assert tait(s, np.float32(STIFFNESS)) == pytest.approx(exact, rel=1e-6)


@given(s=some.floats(-0.1, 0.1))
def test_the_pressure_term_is_pressure_over_density_squared(s):
    density = 1000 * (1 + s)
    assert pressure_term(s, STIFFNESS) / 1000**2 == pytest.approx(tait(s, STIFFNESS) / density**2, rel=1e-12)


def lattice(resolution: Resolution):
    """Vectors in smoothing lengths to a particle of the lattice from its neighbours, and the kernel's slope there."""
    _, slope = resolution.smoothing_kernel.shape(float)
    n = resolution.layers
    index = np.stack(np.meshgrid(*[np.arange(-n, n + 1)] * 3), -1).reshape(-1, 3)
    for e in index[index.any(1)] / resolution.ratio:
        yield e, slope(np.linalg.norm(e))


def lattice_viscosity(resolution: Resolution, strain: np.ndarray) -> float:
    """Kinematic viscosity over alpha h c: the power that viscosity takes per mass is 2 nu strain : strain."""
    power = 0.0
    for e, slope in lattice(resolution):
        du = strain @ e
        power += momentum_term(0.0, 0.0, viscous_term(e, du, e @ e, 1.0), slope) * (e @ du) / 2
    return -power / resolution.lattice_slope / (2 * (strain**2).sum())


@pytest.mark.parametrize("ratio", [1.0, 1.3, 2.0])
def test_viscosity_of_half_of_the_pairs_is_alpha_h_c_over_20_on_the_lattice(ratio):
    resolution, diagonal = Resolution(0.01, ratio), np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    along, across = (20 * lattice_viscosity(resolution, s) for s in (np.diag([1.0, -1.0, 0.0]), diagonal))
    # the mean over all directions of a tensor of cubic symmetry; the softening takes a percent
    assert (2 * along + 3 * across) / 5 == pytest.approx(0.99, abs=0.005)
    if ratio == 1.3:
        assert (along, across) == pytest.approx((1.15, 0.88), abs=0.01)


@pytest.mark.parametrize(("ratio", "modulus"), [(1.3, 0.064), (1.5, 0.036), (1.7, -0.015), (2.0, 0.014)])
def test_a_lattice_under_pressure_resists_strain_the_less_the_more_neighbours_there_are(ratio, modulus):
    """Bent like a shear wave along (1, 1, 0), it goes back with the shear modulus times the curvature."""
    resolution, small, found = Resolution(0.01, ratio), 1e-4, np.zeros(3)
    _, slope = resolution.smoothing_kernel.shape(float)
    wave, shift = np.array([1, 1, 0]) / np.sqrt(2), np.array([1, -1, 0]) / np.sqrt(2)
    for e, _ in lattice(resolution):
        moved = e - small * (e @ wave) ** 2 / 2 * shift
        found += momentum_term(1.0, 1.0, 0.0, slope(np.linalg.norm(moved))) * moved
    assert found @ shift / resolution.lattice_slope / small == pytest.approx(modulus, abs=0.001)


@given(e=components, du=components)
def test_viscosity_acts_only_on_particles_that_approach_and_takes_energy(e, du):
    square, along = np.dot(e, e), np.dot(e, du)
    found = viscous_term(e, du, square, 100.0)
    assert found >= 0
    if along > 1e-12:
        assert found == 0
    elif along < -1e-12:
        assert found == pytest.approx(-100.0 * along / (square + 0.01))


@given(own=some.floats(-1e4, 1e4), other=some.floats(-1e4, 1e4), viscous=some.floats(0, 1e3))
def test_the_momentum_term_is_the_same_for_both_particles_of_a_pair(own, other, viscous):
    # e changes its sign, so that the accelerations are opposite and momentum is kept
    assert momentum_term(own, other, viscous, -1.0) == momentum_term(other, own, viscous, -1.0)


@given(e=components, du=components, slope=some.floats(-3, 0))
def test_the_divergence_is_velocity_times_gradient_axis_by_axis(e, du, slope):
    assert divergence_terms(e, du, slope) == pytest.approx(slope * np.array(e) * du, abs=1e-12)


def test_pressure_pushes_apart():
    # the slope of a kernel is negative
    assert momentum_term(1.0, 1.0, 0.0, -1.0) > 0


@given(values=some.lists(some.floats(-5, 5), min_size=1, max_size=8), data=some.data())
def test_the_xsph_mean_lies_between_the_neighbours_values(values, data):
    weights = data.draw(some.lists(some.floats(1e-3, 1), min_size=len(values), max_size=len(values)))
    found = make_xsph_mean(float)(np.float64(np.dot(weights, values)), np.float64(sum(weights)))
    assert min(values) - 1e-9 <= found <= max(values) + 1e-9


def test_the_xsph_mean_of_no_neighbour_is_zero():
    assert make_xsph_mean(float)(np.float64(0), np.float64(0)) == 0
