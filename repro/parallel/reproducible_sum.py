"""Sums whose bits do not depend on the order of the numbers, so neither on how ranks share them.

Demmel, Nguyen, "Parallel reproducible summation", IEEE Trans. Comput. 64 (2015) 2060, in its simplest form: all numbers
are counted in units of a share of the largest, in whole numbers, whose sum is exact.
"""

from collections.abc import Callable
from math import frexp, isfinite, ldexp, nan

import numpy as np

#: bits of the two whole numbers that a number becomes: 2^36 of them have a sum of less than 2^63
_BITS = 26

#: numbers that are counted at once
_PORTION = 1 << 22


def reproducible_sum(values, xp, most: Callable[[float], float], total: Callable[[np.ndarray], np.ndarray]) -> float:
    """The sum of a row of numbers on all ranks, in double precision; nan where one of them is not finite.

    most(number) and total(array of int64) are the largest and the sum of all ranks'. A number counts up to 2^-53 of the
    largest.
    """
    largest = most(float(abs(values).max()) if len(values) else 0.0)
    if not largest or not isfinite(largest):
        return 0.0 if largest == 0 else nan
    # the largest lies between 2^(power - 1) and 2^power
    power = frexp(largest)[1]
    counts = np.zeros(2, np.int64)
    for first in range(0, len(values), _PORTION):
        scaled = values[first : first + _PORTION].astype(np.float64) * 2.0**-power * 2.0**_BITS
        whole = xp.rint(scaled)
        rest = xp.rint((scaled - whole) * 2.0 ** (_BITS + 1))
        counts += [int(whole.astype(np.int64).sum()), int(rest.astype(np.int64).sum())]
    high, low = total(counts)
    return ldexp((int(high) << (_BITS + 1)) + int(low), power - 2 * _BITS - 1)
