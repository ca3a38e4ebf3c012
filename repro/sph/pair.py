"""What a particle adds to another one's sums; what ghosts in solids add to equations 4 and 6 stands in solid_boundary.

A pair term is pair_term(sums, target, j, species, p): the sums over the neighbours of a `Target`, with particle j of a
species if that is within the support. Sums are taken in double precision and in one order; what is added is in the
precision of the state. Plain Python's square root is in double precision: it is rounded at once, as a kernel does.
"""

from functools import cache
from math import sqrt
from typing import NamedTuple

from numpy import float64, uint32

from repro.parallel import device_function, fma
from repro.particles.position import periodic_difference

from .equations import diffusion_term, divergence_terms, momentum_term, viscous_term

#: kinds of ghosts beside the bits of the axes along which they lie beyond a wall
AIR, UNUSED, OBSTACLE = 8, 16, 32


class Position(NamedTuple):
    """The particle whose sums are taken, of which nothing but its position matters."""

    position: tuple


class Target(NamedTuple):
    """The particle whose sums are taken, how near walls are (see solid_boundary), and its p / (1 + s)^2 in Pa."""

    position: tuple
    velocity: tuple
    proximity: tuple
    term: float


@cache
def separation(real, index=uint32):
    """The vector (x_a - x_b) / h from particle j to a position, and its square: apart(position, j, species, p).

    j is of type `index`.
    """
    difference = periodic_difference(real)

    @device_function
    def apart(position, j, species, p):
        r, count = species.r, index(species.count)
        ex = difference(position[0], r[j]) * p.unit_x
        ey = difference(position[1], r[index(count + j)]) * p.unit_y
        ez = difference(position[2], r[index(index(count + count) + j)]) * p.unit_z
        return (ex, ey, ez), fma(ex, ex, fma(ey, ey, ez * ez))

    return apart


@device_function
def vector_of(values, j, count):
    """Three components of particle j."""
    return values[j], values[uint32(count + j)], values[uint32(2 * count + j)]


@device_function
def minus(a, b):
    """The difference of two vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@device_function
def scaled(factor, vector):
    """A vector times a factor."""
    return factor * vector[0], factor * vector[1], factor * vector[2]


@device_function
def plus(sums, vector):
    """Sums with a vector added to the first three of them."""
    return sums[0] + float64(vector[0]), sums[1] + float64(vector[1]), sums[2] + float64(vector[2]), *sums[3:]


@device_function
def halfway(e, du, p):
    """A pair where it was at the middle of the step, which makes the time step symmetric, and its square."""
    x, y, z = fma(-p.half_step, du[0], e[0]), fma(-p.half_step, du[1], e[1]), fma(-p.half_step, du[2], e[2])
    return (x, y, z), fma(x, x, fma(y, y, z * z))


@cache
def make_density_pair(real, kernel):
    """W / norm h^3 of equation 3, of fluid and of ghosts in use, of a `Position`; sums = (W,)."""
    (shape, _), apart = kernel.shape(real), separation(real)

    @device_function
    def pair_term(sums, target, j, species, p):
        _, square = apart(target.position, j, species, p)
        if square < p.reach and species.kind[j] != UNUSED:
            return (sums[0] + float64(shape(real(sqrt(square)))),)
        return sums

    return pair_term


@cache
def make_divergence_pair(real, kernel):
    """The divergence of equation 4 axis by axis, with velocities at the middle of the step; sums = (x, y, z, ...)."""
    (_, slope), apart = kernel.shape(real), separation(real)

    @device_function
    def pair_term(sums, target, j, species, p):
        e, square = apart(target.position, j, species, p)
        if square < p.reach:
            du = minus(target.velocity, vector_of(species.v, j, species.count))
            e, square = halfway(e, du, p)
            return plus(sums, divergence_terms(e, du, slope(real(sqrt(square)))))
        return sums

    return pair_term


@cache
def make_momentum_pair(real, kernel):
    """The acceleration of equation 6 with both viscosities, of ghosts in use; sums = (x, y, z, ...).

    XSPH, m W (u_b - u_a) / rho times epsilon a step, is spread over the step as an acceleration.
    """
    (shape, slope), apart = kernel.shape(real), separation(real)

    @device_function
    def pair_term(sums, target, j, species, p):
        e, square = apart(target.position, j, species, p)
        if square < p.reach and species.kind[j] != UNUSED:
            q, du = real(sqrt(square)), minus(target.velocity, vector_of(species.u, j, species.count))
            factor = momentum_term(target.term, species.term[j], viscous_term(e, du, square, p.viscosity), slope(q))
            (x, y, z), drawn = scaled(factor, e), -p.xsph * shape(q)
            return plus(sums, (fma(drawn, du[0], x), fma(drawn, du[1], y), fma(drawn, du[2], z)))
        return sums

    return pair_term


@cache
def make_diffusive_pair(real, kernel):
    """Equation 6 with artificial viscosity, and density diffusion, which needs the same pressures and slope.

    sums = (x, y, z, three that solids add to, diffusion).
    """
    (_, slope), apart = kernel.shape(real), separation(real)

    @device_function
    def pair_term(sums, target, j, species, p):
        e, square = apart(target.position, j, species, p)
        if square < p.reach:
            # in this order the list is a tenth faster on one core
            f = slope(real(sqrt(square)))
            diffusion = diffusion_term(target.term, species.term[j], p.weight, e[2], f)
            du = minus(target.velocity, vector_of(species.u, j, species.count))
            factor = momentum_term(target.term, species.term[j], viscous_term(e, du, square, p.viscosity), f)
            return *plus(sums[:6], scaled(factor, e)), sums[6] + float64(diffusion)
        return sums

    return pair_term


@cache
def make_rate_pair(real, kernel):
    """What `make_diffusive_pair` adds, and the divergence of equation 4 axis by axis at the same places and velocities.

    sums = (x, y, z, three that solids add to, diffusion, three of the divergence).
    """
    (_, slope), apart, work = kernel.shape(real), separation(real), make_diffusive_pair(real, kernel)

    @device_function
    def pair_term(sums, target, j, species, p):
        e, square = apart(target.position, j, species, p)
        if square < p.reach:
            du = minus(target.velocity, vector_of(species.u, j, species.count))
            divergence = divergence_terms(e, du, slope(real(sqrt(square))))
            return *work(sums[:7], target, j, species, p), *plus(sums[7:], divergence)
        return sums

    return pair_term


@cache
def make_extrapolation_pair(real, kernel):
    """The kernel, and weighted with it velocity and condensation at the height of a `Position`.

    sums = (weight, three of velocity, condensation).
    """
    (shape, _), apart = kernel.shape(real), separation(real)

    @device_function
    def pair_term(sums, target, j, species, p):
        e, square = apart(target.position, j, species, p)
        if square < p.reach:
            w, u = shape(real(sqrt(square))), vector_of(species.u, j, species.count)
            level = fma(-p.hydrostatic, e[2], species.s[j])
            weighted = plus(sums[1:], scaled(w, u))
            return sums[0] + float64(w), *weighted[:3], weighted[3] + float64(w * level)
        return sums

    return pair_term
