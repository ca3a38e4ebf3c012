"""What ghosts in walls and obstacles add to equations 4 and 6: to each particle they are its own mirror image.

Across its wall, a ghost comes towards the particle that looks at it as fast as that towards the wall, and has that
particle's pressure, continued at rest to its own height. Its share of equation 4 is 2 u_a . grad W, and of equation 6
2 p_a grad W and the weight of the water between the two. So how much a wall has compressed a particle depends on
nothing but where that is, and the wall's force is what this takes: a wall makes no energy. With ghosts that stand still
it is soft, and the first layer of fluid has three quarters of the compression; with the mean pressure of the fluid
around a ghost, and any faster approach, waves at the wall grow.

Nearer than half a spacing the two rise as one over the distance (as Morris and others 1997 let the ghost's velocity
rise, section 3.3): fluid that spreads along a wall comes nearer and nearer to it, and must not sink through it.

Fluid that spreads far enough sinks into a wall all the same, because its pressure depends on its motion and not on its
place. What is beyond the wall is pushed back by a spring, as by Monaghan's boundary forces (J. Comput. Phys. 110 (1994)
399, section 3), but not before.

Along its wall a ghost does nothing, nor does one beyond two walls, in an edge: where ghosts end, they would push. What
is missing there is a share of the neighbourhood, which the ghosts beside an axis tell (the sum of their x dW/dx over
that of a lattice): what all others give along the axis is divided by what they are. So fluid slips and falls freely
along a wall, water at rest is in balance on the lattice up to edges and corners, and uniform dilation has one rate.

An obstacle has no axes: its particles push along the line that joins them with the fluid's.
"""

from functools import cache
from math import sqrt

from numpy import float64

from repro.parallel import device_function, fma
from repro.particles.position import periodic_difference

from .equations import divergence_terms, viscous_term
from .integrate import make_way_back
from .pair import OBSTACLE, halfway, minus, plus, scaled, separation, vector_of

#: share of a neighbourhood below which it is taken for no less: that of a corner of three walls
_LEAST = float64(0.125)

#: Distance from a wall in spacings below which a particle is taken for no nearer. The nearer, the stiffer is the wall:
#: at a sixteenth of a spacing a particle swings faster than Courant's time step can follow, at an eighth it does not.
_NEAREST = 1 / 4


@cache
def make_wall_proximity(real):
    """How near the three lower walls are to a particle, then the three upper ones: near(position, velocity, faces, p).

    It is two for a particle half a spacing away or further, and rises as one over the distance from there to the wall.
    `faces` are the walls' positions; with a velocity, distances are those half a step before.
    """
    difference, one, half, least = periodic_difference(real), real(1), real(0.5), real(_NEAREST)

    @device_function
    def near_wall(away, p):
        return one / min(max(away * p.spacings, least), half)

    @device_function
    def near(position, velocity, faces, p):
        return (
            near_wall(fma(-p.half_step, velocity[0], difference(position[0], faces[0]) * p.unit_x), p),
            near_wall(fma(-p.half_step, velocity[1], difference(position[1], faces[1]) * p.unit_y), p),
            near_wall(fma(-p.half_step, velocity[2], difference(position[2], faces[2]) * p.unit_z), p),
            near_wall(fma(p.half_step, velocity[0], difference(faces[3], position[0]) * p.unit_x), p),
            near_wall(fma(p.half_step, velocity[1], difference(faces[4], position[1]) * p.unit_y), p),
            near_wall(fma(p.half_step, velocity[2], difference(faces[5], position[2]) * p.unit_z), p),
        )

    return near


@cache
def make_wall_spring(real):
    """Acceleration in m/s2 of what is beyond a wall, back to it: spring(position, faces, p).

    The spring is as hard as the fluid between two neighbours: it swings with the sound's speed over a spacing.
    """
    way_back = make_way_back(real)

    @device_function
    def spring(position, faces, p):
        return (
            p.hardness * way_back(position[0], faces[0], faces[3], p.unit_x),
            p.hardness * way_back(position[1], faces[1], faces[4], p.unit_y),
            p.hardness * way_back(position[2], faces[2], faces[5], p.unit_z),
        )

    return spring


@device_function
def _facing(e, kind, near):
    """The part of a vector along which a ghost of a kind acts, times how strongly."""
    zero = type(e[0])(0)
    if kind == OBSTACLE:
        return scaled(type(e[0])(2), e)
    return (
        e[0] * (near[0] if e[0] > zero else near[3]) if kind == 1 else zero,
        e[1] * (near[1] if e[1] > zero else near[4]) if kind == 2 else zero,
        e[2] * (near[2] if e[2] > zero else near[5]) if kind == 4 else zero,
    )


@device_function
def _beside(e, slope, kind):
    """x dW/dx of a ghost along the axes that it lies beside, where it does nothing."""
    zero, (x, y, z) = type(slope)(0), divergence_terms(e, e, slope)
    return x if kind & 6 else zero, y if kind & 5 else zero, z if kind & 3 else zero


@cache
def make_solid_divergence(real, kernel):
    """What a ghost adds to equation 4, axis by axis; sums = (three of it, three of x dW/dx beside an axis)."""
    (_, slope), apart = kernel.shape(real), separation(real)

    @device_function
    def pair_term(sums, target, j, species, p):
        e, square = apart(target.position, j, species, p)
        if square < p.reach:
            v, kind = target.velocity, species.kind[j]
            e, square = halfway(e, v, p)
            f = slope(real(sqrt(square)))
            divergence = divergence_terms(_facing(e, kind, target.proximity), v, f)
            return *plus(sums[:3], divergence), *plus(sums[3:], _beside(e, f, kind))
        return sums

    return pair_term


@cache
def make_solid_momentum(real, kernel):
    """What a ghost adds to equation 6, with artificial viscosity.

    sums = (three of the acceleration, three of x dW/dx beside an axis, what fluid adds besides).
    """
    (_, slope), apart, half = kernel.shape(real), separation(real), real(0.5)

    @device_function
    def pair_term(sums, target, j, species, p):
        e, square = apart(target.position, j, species, p)
        if square < p.reach:
            du = minus(target.velocity, vector_of(species.u, j, species.count))
            f, kind = slope(real(sqrt(square))), species.kind[j]
            x, y, z = _facing(e, kind, target.proximity)
            # half of what is between the two, because `_facing` counts twice
            push, drag = -f * fma(half * p.weight, e[2], target.term), -f * viscous_term(e, du, square, p.viscosity)
            force = fma(push, x, drag * e[0]), fma(push, y, drag * e[1]), fma(push, z, drag * e[2])
            return *plus(sums[:3], force), *plus(sums[3:], _beside(e, f, kind))
        return sums

    return pair_term


@cache
def make_solid_rate(real, kernel):
    """What a ghost adds to equations 4 and 6 at the same places and velocities.

    sums = (three of the acceleration, three of x dW/dx beside an axis, diffusion, three of the divergence).
    """
    (_, slope), apart, work = kernel.shape(real), separation(real), make_solid_momentum(real, kernel)

    @device_function
    def pair_term(sums, target, j, species, p):
        e, square = apart(target.position, j, species, p)
        if square < p.reach:
            facing = _facing(e, species.kind[j], target.proximity)
            divergence = divergence_terms(facing, target.velocity, slope(real(sqrt(square))))
            return *work(sums[:7], target, j, species, p), *plus(sums[7:], divergence)
        return sums

    return pair_term


@device_function
def kernel_corrected(total, beside, p):
    """A sum along an axis, had the ghosts beside it done as all others did."""
    return total / max(fma(beside, p.inverse_slope, float64(1)), _LEAST)
