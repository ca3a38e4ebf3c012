"""The one seam of pair physics: how far apart two particles are, their random number, and their law.

A `Pair` is three compiled functions, which every strategy takes. The numbers that every pair needs come as one tuple
(or array) `p`, in the order of `constants`; a distance comes as (dx, dy, dz, square), the vector to the first particle
and its length squared.
"""

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import NamedTuple

from numpy import uint32

from repro.parallel import device_function, fma
from repro.particles.position import Units, periodic_difference

from .fluid import Fluid
from .forces import UNIT_X, UNIT_Y, UNIT_Z, Law
from .noise import make_noise


class Pair(NamedTuple):
    """What a strategy must know of two particles."""

    #: the distance from particle j to a point: separation(x, y, z, j, particles, p)
    separation: Callable
    #: a Gaussian deviate: noise(first id, second id, key, words), see `noise`
    noise: Callable
    #: the force along the line of centres: law(distance, approach, deviate, p, one), see `forces`
    law: Callable


def make_pair(real, rounds: int, law: Law, *, running: bool = False) -> Pair:
    """The pair for numbers of type `real`, with the noise of `noise.make_noise`."""
    return Pair(make_separation(real), make_noise(real, rounds, running=running), law.along)


def constants(fluid: Fluid, box, real) -> tuple:
    """The numbers that every pair needs, in type `real`, see `forces.REPULSION`."""
    first = (real(fluid.repulsion), real(fluid.friction), real(fluid.noise))
    return (*first, *Units(real).lengths(box), *map(real, fluid.parameters))


@cache
def make_separation(real, index=uint32):
    """The distance from particle j to a point: separation(x, y, z, j, particles, p); places are of type `index`."""
    difference = periodic_difference(real)

    @device_function
    def separation(x, y, z, j, particles, p):
        r, count, j = particles.r, index(particles.count), index(j)
        # an unsigned index is never counted from the end, which saves a GPU half of the candidates' instructions
        dx = difference(x, r[j]) * p[UNIT_X]
        dy = difference(y, r[index(count + j)]) * p[UNIT_Y]
        dz = difference(z, r[index(index(count + count) + j)]) * p[UNIT_Z]
        return dx, dy, dz, fma(dx, dx, fma(dy, dy, dz * dz))

    return separation


@cache
def make_force(real, pair: Pair):
    """The force of particle j on another one: force(distance, number, velocity, j, particles, key, p, words).

    Four numbers, the force and r . F of the pair, and the thread's random words. The other particle is given by its id
    `number` and its velocity; `key` is (seed, step). Two particles at the same place have no line of centres, and so
    no force.
    """
    noise, law, one, least = pair.noise, pair.law, real(1), real(1e-18)

    @device_function
    def force(distance, number, velocity, j, particles, key, p, words):
        u, ids, count = particles.u, particles.ids, particles.count
        deviate, words = noise(number, ids[uint32(j)], key, words)
        ui, vi, wi = velocity
        du, dv, dw = ui - u[uint32(j)], vi - u[uint32(count + j)], wi - u[uint32(2 * count + j)]
        dx, dy, dz, square = distance
        length = sqrt(max(square, least))
        inverse = one / length
        along = law(length, fma(dx, du, fma(dy, dv, dz * dw)) * inverse, deviate, p, one)
        scaled = along * inverse
        return (scaled * dx, scaled * dy, scaled * dz, along * length), words

    return force


@device_function
def take_from(f, j, count, gx, gy, gz):
    """The reaction: take a force from that on particle j."""
    f[uint32(j)] -= gx
    f[uint32(count + j)] -= gy
    f[uint32(2 * count + j)] -= gz


@device_function
def add_to(sums, i, count, fx, fy, fz, share):
    """Add a particle's force and its r . F to the sums."""
    sums.f[i] += fx
    sums.f[count + i] += fy
    sums.f[2 * count + i] += fz
    sums.virial[i] += share


@cache
def make_add_to_both(add):
    """Adds a pair's force to both particles and r . F to the first, atomically: both(sums, i, j, count, g)."""

    @device_function
    def both(sums, i, j, count, g):
        f = sums.f
        add(f, i, g[0])
        add(f, count + i, g[1])
        add(f, 2 * count + i, g[2])
        add(f, j, -g[0])
        add(f, count + j, -g[1])
        add(f, 2 * count + j, -g[2])
        add(sums.virial, i, g[3])

    return both
