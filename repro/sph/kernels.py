"""Smoothing kernels in three dimensions: W(q) / h^3 with q = r / h, zero from q = 2 on.

A kernel is two functions of q without their norm: its shape w(q), and f(q) = w'(q) / q, with which the gradient is
norm / h^5 f(q) r without a division by r. The norm makes the integral over all space one.
"""

from functools import cache
from math import pi

from repro.parallel import fma, inline

#: radius of the support in smoothing lengths
SUPPORT = 2.0

#: the names of the kernels, and their norms
NORMS = {"cubic spline": 1 / pi, "wendland c2": 21 / (16 * pi)}


@cache
def cubic_spline(real):
    """Returns (w, f) of the cubic spline M4 (Monaghan and Lattanzio, Astron. Astrophys. 149 (1985) 135)."""
    zero, one, two = real(0), real(1), real(2)
    quarter, three_quarters, nine_quarters, three = map(real, (0.25, 0.75, 2.25, 3))

    @inline
    def shape(q):
        # the outer piece on all of the support, less what it has too much in the inner one
        outer, inner = max(two - q, zero), max(one - q, zero)
        return fma(quarter * outer * outer, outer, -inner * inner * inner)

    @inline
    def slope(q):
        if q < one:
            return fma(nine_quarters, q, -three)
        outer = max(two - q, zero)
        return -three_quarters * outer * outer / q

    return shape, slope


@cache
def wendland_c2(real):
    """Returns (w, f) of Wendland's C2 kernel (Adv. Comput. Math. 4 (1995) 389): (1 - q/2)^4 (2 q + 1)."""
    zero, half, one, two, five = map(real, (0, 0.5, 1, 2, 5))

    @inline
    def shape(q):
        a = max(fma(-half, q, one), zero)
        return a * a * a * a * fma(two, q, one)

    @inline
    def slope(q):
        a = max(fma(-half, q, one), zero)
        return -five * a * a * a

    return shape, slope


KERNELS = {"cubic spline": cubic_spline, "wendland c2": wendland_c2}
