"""Smoothing kernels: what makes them kernels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from repro.sph.kernels import KERNELS, NORMS, SUPPORT

names = pytest.mark.parametrize("name", KERNELS)


@names
def test_the_integral_over_all_space_is_one(name):
    shape, _ = KERNELS[name](float)
    # Gauss-Legendre in each piece is exact for polynomials
    nodes, weights = np.polynomial.legendre.leggauss(8)
    integral = 0.0
    for low, high in ((0.0, 1.0), (1.0, 2.0)):
        q = low + (high - low) * (nodes + 1) / 2
        values = np.array([shape(value) for value in q])
        integral += (high - low) / 2 * (weights * values * 4 * np.pi * q**2).sum()
    assert NORMS[name] * integral == pytest.approx(1, abs=1e-14)


@names
@given(q=some.floats(1e-3, SUPPORT - 1e-5))
def test_the_gradient_is_the_slope_of_the_shape(name, q):
    shape, slope = KERNELS[name](float)
    step = 1e-5
    difference = (shape(q + step) - shape(q - step)) / (2 * step)
    # a central difference is exact to step^2, and to a step where the cubic spline's pieces meet
    assert slope(q) * q == pytest.approx(difference, abs=1e-8 if abs(q - 1) > step else 1e-4)


@names
@given(q=some.floats(SUPPORT, 1e3))
def test_a_kernel_and_its_gradient_vanish_outside_the_support(name, q):
    shape, slope = KERNELS[name](float)
    assert shape(q) == slope(q) == 0


@names
@given(q=some.floats(0, SUPPORT * 0.999))
def test_a_kernel_is_positive_and_falls(name, q):
    shape, slope = KERNELS[name](float)
    assert shape(q) > 0 > slope(q)


@names
@given(q=some.floats(0, 3, width=32))
def test_single_precision_is_the_same_formula_to_rounding(name, q):
    exact, rounded = KERNELS[name](float), KERNELS[name](np.float32)
    for one, other in zip(exact, rounded, strict=True):
        found = other(np.float32(q))
        assert type(found) is np.float32
        assert found == pytest.approx(one(q), abs=1e-6)
