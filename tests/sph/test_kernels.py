"""Smoothing kernels: what makes them kernels, of all that are registered, and of a user's own."""

import numpy as np
import pytest
from helpers.sph_systems import quintic_spline
from hypothesis import given
from hypothesis import strategies as some
from scipy.integrate import quad

from repro.errors import InputError
from repro.parallel import device_function
from repro.sph.fluid import Resolution
from repro.sph.kernels import KERNELS, SmoothingKernel, wendland_c2

EVERY = KERNELS | {"a user's own": quintic_spline()}
names = pytest.mark.parametrize("name", EVERY)
#: of the support
shares = some.floats(1e-3, 1 - 1e-5)


@names
def test_the_integral_over_all_space_is_one(name):
    (shape, _), end = EVERY[name].shape(float), EVERY[name].support
    # pieces meet at whole smoothing lengths
    integral, _ = quad(lambda q: shape(q) * 4 * np.pi * q**2, 0, end, points=np.arange(1, end), epsabs=0, epsrel=1e-13)
    assert EVERY[name].norm * integral == pytest.approx(1, rel=1e-12)


@names
@given(share=shares)
def test_the_gradient_is_the_slope_of_the_shape(name, share):
    (shape, slope), q, step = EVERY[name].shape(float), share * EVERY[name].support, 1e-5
    difference = (shape(q + step) - shape(q - step)) / (2 * step)
    # a central difference is exact to step^2, and to a step where pieces meet
    meets = abs(q - round(q)) <= step
    assert slope(q) * q == pytest.approx(difference, abs=(1e-4 if meets else 1e-8) * shape(0.0))


@names
@given(beyond=some.floats(1, 1e3))
def test_a_kernel_and_its_gradient_vanish_outside_the_support(name, beyond):
    shape, slope = EVERY[name].shape(float)
    q = beyond * EVERY[name].support
    assert shape(q) == slope(q) == 0


@names
@given(share=some.floats(0, 0.999))
def test_a_kernel_is_positive_and_falls(name, share):
    shape, slope = EVERY[name].shape(float)
    q = share * EVERY[name].support
    assert shape(q) > 0 > slope(q)


@names
@given(share=some.floats(0, 1.5, width=32))
def test_single_precision_is_the_same_formula_to_rounding(name, share):
    exact, rounded = EVERY[name].shape(float), EVERY[name].shape(np.float32)
    q = np.float32(share * EVERY[name].support)
    for one, other in zip(exact, rounded, strict=True):
        found = other(q)
        assert type(found) is np.float32
        # Of the largest value, which is at the origin. A spline of three pieces is the difference of powers that are
        # up to seven times as large.
        rounding = 1e-6 if EVERY[name].support <= 2 else 4e-6
        assert found == pytest.approx(one(float(q)), abs=rounding * abs(one(0.0)))


def bent_by(share):
    """Wendland's shape with a slope that is off by a share."""

    def bent(real):
        shape, slope = wendland_c2(real)
        return shape, device_function(lambda q: slope(q) * (1 + share))

    return bent


def cut(real):
    """Constant up to the support and there, too."""
    return device_function(lambda q: real(q <= 1)), device_function(lambda q: real(0))


def back_again(real):
    """Wendland's, with a slope of its own a little beyond the support, where its shape is zero."""
    shape, slope = wendland_c2(real)
    return shape, device_function(lambda q: slope(q) + real(q > 1.005 * 2) * real(q < 1.02 * 2))


def singular(real):
    """Wendland's, whose slope is divided by q everywhere, as one writes it down at first."""
    shape, slope = wendland_c2(real)
    return shape, device_function(lambda q: slope(q) * q / q)


def undeclared(real):
    """Wendland's from functions that numba does not know."""
    shape, slope = wendland_c2(real)
    return (lambda q: shape(q)), (lambda q: slope(q))


def alone(real):
    """A shape without a slope."""
    return wendland_c2(real)[0]


WENDLAND = KERNELS["wendland c2"]


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ((wendland_c2, 2.0, 1.0), "must be of the kind SmoothingKernel"),
        (WENDLAND._replace(norm="1"), "norm = '1': must be a number above 0"),
        (WENDLAND._replace(support=0.0), "support = 0.0: must be a number above 0"),
        (WENDLAND._replace(shape=alone), r"shape\(real\) must give two functions of q"),
        (WENDLAND._replace(shape=singular), "its slope at q = 0 must be finite: divide by no q there"),
        (WENDLAND._replace(shape=undeclared), "its shape must be a @device_function that numba compiles"),
        (KERNELS["wendland c2"]._replace(norm=0.5), "norm = 0.5: one over its integral is 0.417782"),
        (KERNELS["wendland c2"]._replace(support=1.0), "norm = 0.417782: one over its integral is"),
        (WENDLAND._replace(norm=1.000012 * WENDLAND.norm), "norm = 0.417787: one over its integral is 0.417782"),
        # q times the slope is at most 1.05
        (WENDLAND._replace(shape=bent_by(0.0011)), "its slope at q = 0.49.* is not w'"),
        (SmoothingKernel(cut, 1.0, 3 / (4 * np.pi)), "shape and slope must be zero from its support on, q = 1"),
        (WENDLAND._replace(shape=back_again), "shape and slope must be zero from its support on, q = 2"),
    ],
)
def test_what_is_no_kernel_is_refused_in_one_line(monkeypatch, kernel, words):
    monkeypatch.setitem(KERNELS, "wrong", kernel)
    with pytest.raises(InputError, match=f"kernel 'wrong'.* {words}") as error:
        Resolution(0.01, 1.3, "wrong")
    assert "\n" not in str(error.value)


def test_a_kernel_is_normalised_to_a_hundred_thousandth_and_its_slope_right_to_a_thousandth(monkeypatch):
    near = WENDLAND._replace(norm=1.000008 * WENDLAND.norm, shape=bent_by(0.0008))
    monkeypatch.setitem(KERNELS, "near", near)
    assert Resolution(0.01, 1.3, "near").smoothing_kernel is near
