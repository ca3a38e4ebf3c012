"""Momentum u = p / (m c), kinetic energy tau = T / (m c^2) and speed beta of an electron, without cancellation."""

from functools import cache
from math import sqrt

from repro.parallel import device_function, fma
from repro.parallel.elementary import half_turn_sine


@device_function
def energy_of(u2):
    """Kinetic energy gamma - 1 from the square of the momentum, exact for slow electrons."""
    one = type(u2)(1)
    return u2 / (one + sqrt(one + u2))


@device_function
def with_energy(u, u2, tau):
    """The momentum along u, whose square is u2 > 0, of an electron of energy tau >= 0."""
    factor = sqrt(tau * (tau + type(tau)(2)) / u2)
    return factor * u[0], factor * u[1], factor * u[2]


@cache
def make_deflection(real):
    """The vector u of length `size`, turned by a polar and an azimuthal angle: turned(u, size, mu1, turn).

    mu1 is 1 - cos(polar angle), which keeps its digits for the small angles of fast electrons, and `turn` the azimuth
    as a share of a full turn. The two directions across u are those of Duff et al. (2017, J. Comput. Graph. Tech. 6,
    1): they need no trigonometry and have no pole.
    """
    half_sine = half_turn_sine(real)
    zero, half, one, two = real(0), real(0.5), real(1), real(2)

    @device_function
    def turned(u, size, mu1, turn):
        x, y, z = u[0] / size, u[1] / size, u[2] / size
        side = one if z >= zero else -one
        a = -one / (side + z)
        b = x * y * a
        across = size * sqrt(mu1 * (two - mu1))
        # of 2 pi (turn - 1/2), by a series
        s = half_sine(turn - half)
        cosine, sine = fma(-two * s, s, one), two * s * sqrt(max(fma(-s, s, one), zero))
        p, q = across * cosine, across * sine
        return (
            fma(p, fma(side * x * x, a, one), fma(q, b, fma(-mu1, u[0], u[0]))),
            fma(p, side * b, fma(q, fma(y * y, a, side), fma(-mu1, u[1], u[1]))),
            fma(p, -side * x, fma(q, -y, fma(-mu1, u[2], u[2]))),
        )

    return turned
