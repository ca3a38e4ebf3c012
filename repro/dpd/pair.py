"""A pair of particles in the arrays of a state: how far apart, and which force.

The numbers that every pair needs come as one tuple (or array) `p`, in the order of `constants`; a distance comes as
(dx, dy, dz, square), the vector to the first particle and its length squared.
"""

from functools import cache
from math import sqrt

from numpy import uint32

from repro.parallel import fma, inline
from repro.particles.position import Units, periodic_difference

from .fluid import Fluid
from .forces import pair_force

#: what `p` holds: equation 1's a, equation 2's gamma, sigma / sqrt(dt), and the length of a coordinate's unit
REPULSION, FRICTION, NOISE, UNIT_X, UNIT_Y, UNIT_Z = range(6)


def constants(fluid: Fluid, box, real) -> tuple:
    """The numbers that every pair needs, in type `real`."""
    return (real(fluid.repulsion), real(fluid.friction), real(fluid.noise), *Units(real).lengths(box))


@cache
def separation(real):
    """Returns apart(x, y, z, j, particles, p): the distance from particle j to (x, y, z)."""
    difference = periodic_difference(real)

    @inline
    def apart(x, y, z, j, particles, p):
        r, count = particles.r, particles.count
        # an unsigned index is never counted from the end, which saves a GPU half of the candidates' instructions
        dx = difference(x, r[uint32(j)]) * p[UNIT_X]
        dy = difference(y, r[uint32(count + j)]) * p[UNIT_Y]
        dz = difference(z, r[uint32(2 * count + j)]) * p[UNIT_Z]
        return dx, dy, dz, fma(dx, dx, fma(dy, dy, dz * dz))

    return apart


@cache
def force_on_first(real):
    """Returns force(distance, du, dv, dw, deviate, p): the force's components, and r . F of the pair.

    Two particles at the same place have no line of centres, and so no force.
    """
    one, least = real(1), real(1e-18)

    @inline
    def force(distance, du, dv, dw, deviate, p):
        dx, dy, dz, square = distance
        length = sqrt(max(square, least))
        inverse = one / length
        approach = fma(dx, du, fma(dy, dv, dz * dw)) * inverse
        along = pair_force(length, approach, deviate, p[REPULSION], p[FRICTION], p[NOISE], one)
        scaled = along * inverse
        return scaled * dx, scaled * dy, scaled * dz, along * length

    return force


@cache
def interacting(real, noise):
    """Returns interact(distance, number, velocity, j, particles, key, p, words).

    It gives the force of j on a particle with its r . F, four numbers, and the random words. The particle is given by
    its id `number` and its velocity; `key` is (seed, step).
    """
    force = force_on_first(real)

    @inline
    def interact(distance, number, velocity, j, particles, key, p, words):
        u, ids, count = particles.u, particles.ids, particles.count
        deviate, words = noise(number, ids[uint32(j)], key, words)
        ui, vi, wi = velocity
        du, dv, dw = ui - u[uint32(j)], vi - u[uint32(count + j)], wi - u[uint32(2 * count + j)]
        return force(distance, du, dv, dw, deviate, p), words

    return interact


@inline
def take_from(f, j, count, gx, gy, gz):
    """The reaction: take a force from that on particle j."""
    f[uint32(j)] -= gx
    f[uint32(count + j)] -= gy
    f[uint32(2 * count + j)] -= gz


@inline
def add_to(sums, i, count, fx, fy, fz, share):
    """Add a particle's force and its r . F to the sums."""
    sums.f[i] += fx
    sums.f[count + i] += fy
    sums.f[2 * count + i] += fz
    sums.virial[i] += share


@cache
def meeting(real, noise):
    """Returns meet(i, j, particles, key, p, words): the same for particle i, and zero where there is no force.

    That is beyond the cutoff radius and between two frozen particles.
    """
    apart, interact, one, zero = separation(real), interacting(real, noise), real(1), real(0)

    @inline
    def meet(i, j, particles, key, p, words):
        r, u, ids, count, moving = particles.r, particles.u, particles.ids, particles.count, particles.moving
        distance = apart(r[i], r[count + i], r[2 * count + i], j, particles, p)
        if distance[3] >= one or (ids[i] >= moving and ids[j] >= moving):
            return (zero, zero, zero, zero), words
        velocity = u[i], u[count + i], u[2 * count + i]
        return interact(distance, ids[i], velocity, j, particles, key, p, words)

    return meet


@cache
def adding(real, noise, add):
    """Returns both(i, j, sums, particles, key, p, words): adds the force to both particles, r . F to the first."""
    meet = meeting(real, noise)

    @inline
    def both(i, j, sums, particles, key, p, words):
        f, count = sums.f, particles.count
        (fx, fy, fz, share), words = meet(i, j, particles, key, p, words)
        if share != 0:
            add(f, i, fx)
            add(f, count + i, fy)
            add(f, 2 * count + i, fz)
            add(f, j, -fx)
            add(f, count + j, -fy)
            add(f, 2 * count + j, -fz)
            add(sums.virial, i, share)
        return words

    return both
