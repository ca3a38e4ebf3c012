"""Elementary functions that round alike on every device: series in fused operations, for strict kernels."""

from functools import cache
from math import factorial, floor, log, pi, sqrt

import numpy as np

from .jit import device_function
from .operations import fma


@cache
def polynomial(coefficients):
    """Returns value(x) of a polynomial, the coefficient of the highest power first, in fused operations."""

    @device_function
    def value(x):
        total = coefficients[0]
        for coefficient in coefficients[1:]:
            total = fma(total, x, coefficient)
        return total

    return value


@cache
def half_turn_sine(real):
    """Returns sine(f) = sin(pi f) for f from -1/2 to 1/2, to rounding, by its series.

    The libraries' functions take any angle, for which a GPU keeps a slow way and the memory it needs, and they round
    as they like; with a series all devices compute the same bits.
    """
    terms = 6 if real is np.float32 else 12
    series = polynomial(
        tuple(real((-1) ** k * pi ** (2 * k + 1) / factorial(2 * k + 1)) for k in reversed(range(terms)))
    )

    @device_function
    def sine(f):
        return series(f * f) * f

    return sine


@cache
def logarithm(real):
    """Returns logarithm(u) = ln u for a normal number u > 0, to rounding, by a series like the sine's.

    u = 2^k m with m from sqrt(1/2) to sqrt(2), and ln m = 2 artanh((m - 1) / (m + 1)).
    """
    whole, digits, terms = (np.int32, 23, 5) if real is np.float32 else (np.int64, 52, 11)
    series = polynomial(tuple(real(2 / (2 * k + 1)) for k in reversed(range(terms))))
    root, one, ln2 = real(sqrt(0.5)).view(whole), real(1), real(log(2))

    @device_function
    def natural(u):
        bits = real(u).view(whole)
        power = whole(whole(bits - root) >> digits)
        m = whole(bits - (power << digits)).view(real)
        s = (m - one) / (m + one)
        return fma(real(power), ln2, series(s * s) * s)

    return natural


@cache
def exponential(real):
    """Returns power(x) = e^x to rounding, for results that are normal numbers, by its series.

    x = n ln 2 + r with |r| <= ln 2 / 2, and 2^n is put together from its bits.
    """
    whole, digits, bias, terms = (np.int32, 23, 127, 8) if real is np.float32 else (np.int64, 52, 1023, 14)
    series = polynomial(tuple(real(1 / factorial(k)) for k in reversed(range(terms))))
    inverse, half = real(1 / log(2)), real(0.5)
    # ln 2 in two parts, of which the first has so few digits that its product with n is exact
    high = real(0.693145751953125)
    low = real(log(2) - float(high))

    @device_function
    def power(x):
        n = floor(fma(x, inverse, half))
        count = real(n)
        r = fma(-count, low, fma(-count, high, x))
        return series(r) * whole((whole(n) + whole(bias)) << whole(digits)).view(real)

    return power
