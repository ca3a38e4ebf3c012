"""The sums of equations 3, 4 and 6 over the neighbours of a particle: load, accumulate, store.

`sum_kernels` makes kernels of them. A row of cells adds a partial sum, and these are added up in the order of rows: the
bits are the same whichever thread sums.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from numpy import float64

from repro.parallel import device_function, fma

from . import pair, solid_boundary
from .equations import pressure_term
from .pair import Position, Target, vector_of
from .solid_boundary import kernel_corrected, make_wall_proximity, make_wall_spring
from .strategies.search import make_locate


class PairTerms(NamedTuple):
    """What a type of particles adds to the sums, as makers of pair terms, or None."""

    #: equation 3, and equation 6 with it
    density: Callable | None
    force: Callable | None
    #: equation 4, and equation 6 with it
    divergence: Callable | None
    work: Callable | None
    #: both in one sum
    rate: Callable | None


_EQUATION_3 = pair.make_density_pair, pair.make_momentum_pair
_FLUID = pair.make_divergence_pair, pair.make_diffusive_pair, pair.make_rate_pair
_SOLID = solid_boundary.make_solid_divergence, solid_boundary.make_solid_momentum, solid_boundary.make_solid_rate

#: Every type of particles: a further one is one line here, and its species among the neighbours of `Simulation`.
#: Equation 3 counts solids where they stand, and their ghosts push with the fluid's mean pressure; mirrored as for
#: equation 4 they would do more work than they take. Air pushes only where it counts in the density. In equation 4 it
#: goes with the fluid and adds nothing; if it pushed all the same, the energy would grow.
PARTICLE_TYPES = {
    "fluid": PairTerms(*_EQUATION_3, *_FLUID),
    "walls": PairTerms(*_EQUATION_3, *_SOLID),
    "air": PairTerms(*_EQUATION_3, None, None, None),
    "obstacles": PairTerms(*_EQUATION_3, *_SOLID),
}

#: numbers in the largest sum
LARGEST = 10


class NeighbourSum(NamedTuple):
    """One of the equations' sums, for particle i of the fluid."""

    #: load(i, faces, p, cells, fluid): the target of the pair terms, and its cell
    load: Callable
    #: field of `PairTerms` with what neighbours add
    equation: str
    #: numbers in double precision in a sum
    size: int
    #: store(i, sums, result, faces, p, fluid): what becomes of the sums, in the array `result` and those of the fluid
    store: Callable
    #: what a pair of the fluid adds to the sums of its other particle, over what it adds to those of the first one
    reaction: tuple[int, ...]


@cache
def summation(real, least) -> NeighbourSum:
    """Condensation by equation 3 into `result`, clamped to at least `least` unless that is None, and the pressure."""
    locate, floor = make_locate(real), real(-1 if least is None else least)

    @device_function
    def load(i, faces, p, cells, fluid):
        position = vector_of(fluid.r, i, fluid.count)
        return Position(position), locate(position, i, fluid.count, cells)

    @device_function
    def store(i, sums, result, faces, p, fluid):
        result[i] = max(real(fma(p.density, sums[0], float64(-1))), floor)
        fluid.term[i] = pressure_term(result[i], p.stiffness)

    return NeighbourSum(load, "density", 1, store, reaction=(1,))


@cache
def continuity(real, least) -> NeighbourSum:
    """Adds to the condensation `result` by equation 4 over a time step, and finds the pressure.

    Pressure is that of a condensation of at least `least`, unless that is None. What is kept is not clamped: fluid that
    is drawn apart and pressed together again would each time be denser than before.
    """
    locate, near, none = make_locate(real), make_wall_proximity(real), real(0)
    floor = real(-1 if least is None else least)

    @device_function
    def load(i, faces, p, cells, fluid):
        position, velocity = vector_of(fluid.r, i, fluid.count), vector_of(fluid.v, i, fluid.count)
        target = Target(position, velocity, near(position, velocity, faces, p), none)
        return target, locate(position, i, fluid.count, cells)

    @device_function
    def store(i, sums, result, faces, p, fluid):
        x, y = kernel_corrected(sums[0], sums[3], p), kernel_corrected(sums[1], sums[4], p)
        divergence = x + y + kernel_corrected(sums[2], sums[5], p)
        result[i] = real(fma(p.divergence, divergence, float64(result[i])))
        fluid.term[i] = pressure_term(max(result[i], floor), p.stiffness)

    return NeighbourSum(load, "divergence", 6, store, reaction=(1, 1, 1, 0, 0, 0))


@cache
def momentum(real, equation) -> NeighbourSum:
    """Accelerations by equation 6 with artificial viscosity, gravity and hard walls, into `result`.

    With the equation "work" instead of "force", density diffusion is added to the condensation: it needs the same
    neighbours' pressures. With "rate", the condensation's change by equation 4 and by diffusion over a time step
    becomes a fourth component of `result`.
    """
    diffusive, with_rate = equation == "work", equation == "rate"
    locate, near, spring, none = make_locate(real), make_wall_proximity(real), make_wall_spring(real), real(0)

    @device_function
    def load(i, faces, p, cells, fluid):
        position = vector_of(fluid.r, i, fluid.count)
        here = near(position, (none, none, none), faces, p)
        target = Target(position, vector_of(fluid.u, i, fluid.count), here, fluid.term[i])
        return target, locate(position, i, fluid.count, cells)

    @device_function
    def store(i, sums, result, faces, p, fluid):
        count = fluid.count
        x, y, z = spring(vector_of(fluid.r, i, count), faces, p)
        if diffusive:
            fluid.s[i] = real(fma(p.diffusion, sums[6], float64(fluid.s[i])))
        if with_rate:
            divergence = kernel_corrected(sums[7], sums[3], p) + kernel_corrected(sums[8], sums[4], p)
            divergence += kernel_corrected(sums[9], sums[5], p)
            result[3 * count + i] = real(fma(p.divergence, divergence, p.diffusion * sums[6]))
        result[i] = real(fma(p.acceleration, kernel_corrected(sums[0], sums[3], p), float64(x)))
        result[count + i] = real(fma(p.acceleration, kernel_corrected(sums[1], sums[4], p), float64(y)))
        result[2 * count + i] = real(fma(p.acceleration, kernel_corrected(sums[2], sums[5], p), float64(z) - p.gravity))

    size = {"force": 6, "work": 7, "rate": LARGEST}[equation]
    return NeighbourSum(load, equation, size, store, reaction=(-1, -1, -1, 0, 0, 0, -1, 1, 1, 1)[:size])
