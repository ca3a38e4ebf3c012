"""Two particles in the arrays of their species: how far apart, and what one adds to the other's sums.

Sums over neighbours are taken in double precision and in one order; what is added is in the precision of the state.
`me` is a particle's position (x, y, z) and what else the sum needs of it. Plain Python's square root is in double
precision: it is rounded at once, as a kernel does. What ghosts in solids add stands in solids.py.
"""

from functools import cache
from math import sqrt

from numpy import float64, uint32

from repro.parallel import fma, inline
from repro.particles.position import periodic_difference

from .equations import diffusion_term, divergence_terms, momentum_term, viscous_term

#: kinds of ghosts beside the bits of the axes along which they lie beyond a wall
AIR, UNUSED, OBSTACLE = 8, 16, 32


@cache
def separation(real):
    """Returns apart(me, j, species, p): the vector from particle j to the position `me` in smoothing lengths, and its
    square.
    """
    difference = periodic_difference(real)

    @inline
    def apart(me, j, species, p):
        r, count = species.r, species.count
        ex = difference(me[0], r[j]) * p.unit_x
        ey = difference(me[1], r[uint32(count + j)]) * p.unit_y
        ez = difference(me[2], r[uint32(2 * count + j)]) * p.unit_z
        return (ex, ey, ez), fma(ex, ex, fma(ey, ey, ez * ez))

    return apart


@inline
def vector_of(values, j, count):
    """Three components of particle j."""
    return values[j], values[uint32(count + j)], values[uint32(2 * count + j)]


@inline
def minus(a, b):
    """The difference of two vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@cache
def density_visit(real, kernel):
    """Adds W / norm h^3, equation 3, of fluid or of a ghost that is used. me = position; found = (sum,)."""
    apart, shape = separation(real), kernel(real)[0]

    @inline
    def visit(found, me, j, species, p):
        _, square = apart(me, j, species, p)
        if square < p.reach and species.kind[j] != UNUSED:
            return (found[0] + float64(shape(real(sqrt(square)))),)
        return found

    return visit


@inline
def halfway(e, du, p):
    """A pair where it was at the middle of the step, which makes the time step symmetric, and its square."""
    x, y, z = fma(-p.half_step, du[0], e[0]), fma(-p.half_step, du[1], e[1]), fma(-p.half_step, du[2], e[2])
    return (x, y, z), fma(x, x, fma(y, y, z * z))


@cache
def divergence_visit(real, kernel):
    """Adds to equation 4's sum, axis by axis. me = (position, velocity at the middle of the step, and for solids).

    found = (three of the sum, and what ghosts in solids add).
    """
    apart, slope = separation(real), kernel(real)[1]

    @inline
    def visit(found, me, j, species, p):
        e, square = apart(me, j, species, p)
        if square < p.reach:
            du = minus((me[3], me[4], me[5]), vector_of(species.v, j, species.count))
            e, square = halfway(e, du, p)
            x, y, z = divergence_terms(e, du, slope(real(sqrt(square))))
            return found[0] + float64(x), found[1] + float64(y), found[2] + float64(z), *found[3:]
        return found

    return visit


@cache
def momentum_visit(real, kernel):
    """Adds to equation 6's sum, with artificial viscosity. me = (position, velocity, own term, and for solids).

    found = (three of the sum, and what ghosts in solids add).
    """
    apart, slope, viscous = separation(real), kernel(real)[1], viscous_term(real)

    @inline
    def visit(found, me, j, species, p):
        e, square = apart(me, j, species, p)
        if square < p.reach and species.kind[j] != UNUSED:
            du = minus((me[3], me[4], me[5]), vector_of(species.u, j, species.count))
            push = momentum_term(me[6], species.term[j], viscous(e, du, square, p.viscosity), slope(real(sqrt(square))))
            return (
                found[0] + float64(push * e[0]),
                found[1] + float64(push * e[1]),
                found[2] + float64(push * e[2]),
                *found[3:],
            )
        return found

    return visit


@cache
def diffusive_visit(real, kernel):
    """As `momentum_visit`, and adds to the sum of density diffusion, which needs the same pressures and slope.

    found = (three of equation 6's sum, what ghosts in solids add, diffusion).
    """
    apart, slope, viscous = separation(real), kernel(real)[1], viscous_term(real)

    @inline
    def visit(found, me, j, species, p):
        e, square = apart(me, j, species, p)
        if square < p.reach:
            du = minus((me[3], me[4], me[5]), vector_of(species.u, j, species.count))
            f, other = slope(real(sqrt(square))), species.term[j]
            push = momentum_term(me[6], other, viscous(e, du, square, p.viscosity), f)
            return (
                found[0] + float64(push * e[0]),
                found[1] + float64(push * e[1]),
                found[2] + float64(push * e[2]),
                found[3],
                found[4],
                found[5],
                found[6] + float64(diffusion_term(me[6], other, p.weight, e[2], f)),
            )
        return found

    return visit


@cache
def nearest_visit(real):
    """The square of the distance of the nearest particle in smoothing lengths. found = (least,)."""
    apart = separation(real)

    @inline
    def visit(found, me, j, species, p):
        _, square = apart(me, j, species, p)
        return (min(found[0], square),)

    return visit


@cache
def extrapolation_visit(real, kernel):
    """Adds to the kernel's sum, and weighted with it velocity and condensation at the height of `me`.

    found = (weight, three of velocity, condensation).
    """
    apart, shape = separation(real), kernel(real)[0]

    @inline
    def visit(found, me, j, species, p):
        e, square = apart(me, j, species, p)
        if square < p.reach:
            w = shape(real(sqrt(square)))
            u = vector_of(species.u, j, species.count)
            level = fma(-p.hydrostatic, e[2], species.s[j])
            return (
                found[0] + float64(w),
                found[1] + float64(w * u[0]),
                found[2] + float64(w * u[1]),
                found[3] + float64(w * u[2]),
                found[4] + float64(w * level),
            )
        return found

    return visit
