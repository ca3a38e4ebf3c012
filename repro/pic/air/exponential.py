"""The exponential function that rounds alike on every device, by a series as those of `repro.parallel.elementary`."""

from functools import cache
from math import factorial, floor, log

import numpy as np

from repro.parallel import device_function, fma
from repro.parallel.elementary import polynomial


@cache
def make_exponential(real):
    """e^x to rounding, for results that are normal numbers: power(x).

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
