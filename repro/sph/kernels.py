"""Smoothing kernels in three dimensions: W(r) = norm / h^3 w(q) with q = r / h, zero from the support on.

A further kernel is one entry of KERNELS, made in any file; Resolution and the cases then take its name.
"""

from collections.abc import Callable
from functools import cache
from math import pi
from typing import NamedTuple

import numba
import numpy as np
from numba.core.errors import NumbaError

from repro.declared import Above, Kind
from repro.errors import InputError, require
from repro.parallel import device_function, fma


class SmoothingKernel(NamedTuple):
    """A smoothing kernel, on any scale: `norm` makes the integral over all space one."""

    #: shape(real) makes two functions of q for numbers of type `real`: w(q), and w'(q) / q, with which the gradient is
    #: norm / h^5 w'(q) / q r without a division by r. Both are finite, and zero from the support on.
    shape: Callable
    #: radius of the support in smoothing lengths
    support: float
    #: one over the integral of w over all space
    norm: float


@cache
def cubic_spline(real):
    """w and w'/q of the cubic spline M4 (Monaghan and Lattanzio, Astron. Astrophys. 149 (1985) 135)."""
    zero, one, two = real(0), real(1), real(2)
    quarter, three_quarters, nine_quarters, three = map(real, (0.25, 0.75, 2.25, 3))

    @device_function
    def shape(q):
        # the outer piece on all of the support, less what it has too much in the inner one
        outer, inner = max(two - q, zero), max(one - q, zero)
        return fma(quarter * outer * outer, outer, -inner * inner * inner)

    @device_function
    def slope(q):
        if q < one:
            return fma(nine_quarters, q, -three)
        outer = max(two - q, zero)
        return -three_quarters * outer * outer / q

    return shape, slope


@cache
def wendland_c2(real):
    """w and w'/q of Wendland's C2 kernel (Adv. Comput. Math. 4 (1995) 389): (1 - q/2)^4 (2 q + 1)."""
    zero, half, one, two, five = map(real, (0, 0.5, 1, 2, 5))

    @device_function
    def shape(q):
        a = max(fma(-half, q, one), zero)
        return a * a * a * a * fma(two, q, one)

    @device_function
    def slope(q):
        a = max(fma(-half, q, one), zero)
        return -five * a * a * a

    return shape, slope


#: every kernel by its name
KERNELS = {
    "cubic spline": SmoothingKernel(cubic_spline, support=2.0, norm=1 / pi),
    "wendland c2": SmoothingKernel(wendland_c2, support=2.0, norm=21 / (16 * pi)),
}

#: panels of the support for the check of a kernel
_PANELS = 240


def _functions(name: str, kernel: SmoothingKernel) -> tuple[Callable, Callable]:
    """Shape and slope in double precision; InputError unless both are known at q = 0 and to numba."""
    pair = kernel.shape(float)
    both = isinstance(pair, tuple) and len(pair) == 2 and all(map(callable, pair))
    require(both, f"kernel '{name}': shape(real) must give two functions of q, w and w'(q) / q")
    for what, function, compiled in zip(("shape", "slope"), pair, kernel.shape(np.float64), strict=True):
        try:
            value = function(0.0)
        except ZeroDivisionError:
            value = float("inf")
        require(np.isfinite(value), f"kernel '{name}': its {what} at q = 0 must be finite: divide by no q there")
        # those of this module are known to compile
        require(kernel.shape.__module__ == __name__ or _compiles(compiled), f"kernel '{name}': its {what} {_UNKNOWN}")
    return pair


#: what is wrong with a function that numba cannot call
_UNKNOWN = "must be a @device_function that numba compiles: arithmetic and comparisons of q"


def _compiles(function: Callable) -> bool:
    try:
        numba.njit(lambda q: function(q)).compile((numba.float64,))
    except NumbaError:
        return False
    return True


@cache
def require_kernel(name: str, kernel: SmoothingKernel) -> None:
    """Raise InputError unless the kernel is normalised, with the slope of its shape, and zero from its support on."""
    Kind(SmoothingKernel).check(f"kernel '{name}'", kernel)
    for what in ("support", "norm"):
        Above(0).check(f"kernel '{name}': {what}", getattr(kernel, what))
    shape, slope = _functions(name, kernel)
    step, end = kernel.support / _PANELS, kernel.support
    q = step * (np.arange(_PANELS) + 0.5)
    middle, low, high = (np.array([shape(value) for value in q + shift]) for shift in (0, -step / 2, step / 2))
    # Simpson's rule in each panel
    integral = 4 * np.pi * step / 6 * (4 * middle * q**2 + low * (q - step / 2) ** 2 + high * (q + step / 2) ** 2).sum()
    if not abs(kernel.norm * integral - 1) < 1e-5:
        raise InputError(f"kernel '{name}': norm = {kernel.norm:g}: one over its integral is {1 / integral:g}")
    difference = (high - low) / step - q * np.array([slope(value) for value in q])
    if not np.abs(difference).max() < 1e-3 * np.abs(middle).max():
        worst = q[np.abs(difference).argmax()]
        raise InputError(f"kernel '{name}': its slope at q = {worst:g} is not w'(q) / q of its shape w")
    if any(value(far * end) != 0 for value in (shape, slope) for far in (1, 1.01, 2)):
        raise InputError(f"kernel '{name}': shape and slope must be zero from its support on, q = {end:g}")
