"""The paper's water, masses and gradients on its lattice, and the longest time steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from repro.sph.fluid import Fluid, Resolution, time_steps
from repro.sph.kernels import KERNELS


def test_the_fluid_is_the_papers_water():
    fluid = Fluid()
    assert (fluid.density, fluid.stiffness, fluid.gravity) == (1000.0, 1119e3, 9.81)


@pytest.fixture(scope="module", params=[*KERNELS, None])
def kernel(request, own_kernel):
    """Every kernel, and a user's own."""
    return request.param or own_kernel


@given(ratio=some.floats(1, 2))
@settings(max_examples=30)
def test_particles_of_the_mass_on_the_lattice_have_the_fluids_density(kernel, ratio):
    resolution = Resolution(0.01, ratio, kernel)
    shape, _ = KERNELS[kernel].shape(float)
    n = int(KERNELS[kernel].support * ratio) + 1
    index = np.stack(np.meshgrid(*[np.arange(-n, n + 1)] * 3), -1).reshape(-1, 3)
    total = sum(shape(q) for q in np.linalg.norm(index, axis=1) / ratio) * KERNELS[kernel].norm
    assert resolution.mass(1000.0) * total / resolution.smoothing_length**3 == pytest.approx(1000)
    # a sum over the lattice is nearly the integral
    assert resolution.mass(1000.0) == pytest.approx(1000 * 0.01**3, rel=0.04)


@given(ratio=some.floats(1.2, 2))
@settings(max_examples=30)
def test_a_linear_field_has_its_gradient_on_the_lattice(kernel, ratio):
    resolution = Resolution(0.01, ratio, kernel)
    _, slope = KERNELS[kernel].shape(float)
    n = int(KERNELS[kernel].support * ratio) + 1
    index = np.stack(np.meshgrid(*[np.arange(-n, n + 1)] * 3), -1).reshape(-1, 3) / ratio
    f = np.array([slope(q) for q in np.linalg.norm(index, axis=1)])
    # the sum over neighbours of equations 4 and 6, for a field that rises by one in a smoothing length along y
    found = (f * index[:, 1] ** 2).sum() / -resolution.lattice_slope
    assert found == pytest.approx(1, rel=1e-12)
    # which the integral gives by itself
    assert resolution.lattice_slope / resolution.lattice_sum == pytest.approx(1, abs=0.04)


def test_the_limits_of_the_time_step_are_the_published_ones():
    fluid, resolution = Fluid(viscosity=0.2), Resolution(0.01, 1.3)
    h, c = 0.013, np.sqrt(7 * 1119e3 / 1000)
    limits = time_steps(fluid, resolution, 2.0)
    assert limits["Courant"] == pytest.approx(0.25 * h / (c + 2))
    assert limits["force"] == pytest.approx(0.25 * np.sqrt(h / 9.81))
    assert limits["viscous"] == pytest.approx(0.125 * h**2 / (3 * 0.2 * h * c / 20))
    # the coefficient of density diffusion is delta h c
    assert limits["diffusive"] == pytest.approx(0.125 * h**2 / (0.1 * h * c))
    assert set(time_steps(Fluid(viscosity=0, gravity=0, diffusion=0), resolution, 2.0)) == {"Courant"}
    # sound in compressed fluid: c^2 = dp/drho of equation 5
    dense = time_steps(fluid, resolution, 2.0, acceleration=1e5, condensation=0.1)
    assert dense["Courant"] == pytest.approx(0.25 * h / (c * 1.1**3 + 2))
    assert dense["force"] == pytest.approx(0.25 * np.sqrt(h / 1e5))
