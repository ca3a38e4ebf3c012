"""What a particle sums up over its neighbours of all kinds; `gather` makes bodies of kernels of it."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from numpy import float64

from repro.parallel import fma, inline
from repro.particles.cells import cell_along
from repro.particles.position import cell_bits

from .equations import pressure_term
from .pair import density_visit, diffusive_visit, divergence_visit, momentum_visit, vector_of
from .solids import nearness, rebound, solid_divergence, solid_momentum, whole


class Adds(NamedTuple):
    """What a kind of particles adds to the sums, as makers of visits, or None."""

    #: equation 3, and equation 6 with it
    density: Callable | None
    force: Callable | None
    #: equation 4, and equation 6 with it
    divergence: Callable | None
    work: Callable | None


#: numbers in the largest sum
LARGEST = 7


class Sum(NamedTuple):
    """One of the equations' sums. All functions are for one particle, with the number i.

    A row of cells adds a partial sum, and these are added up in the order of rows: the bits are the same whoever sums.
    """

    #: ask(i, faces, p, cells, fluid): what visits need of the particle, and its cell
    ask: Callable
    #: add(found, me, at, row, species, p, cells): what all neighbours in a row of cells add
    add: Callable
    #: numbers in double precision in a sum
    size: int
    #: finish(i, found, target, faces, p, fluid): what becomes of the sum, in `target` and the fluid's arrays
    finish: Callable


#: Every kind of particles: a further one is one line here, and its species among the neighbours of `Simulation`.
#: Equation 3 counts solids where they stand, and their ghosts push with the fluid's mean pressure; mirrored as for
#: equation 4 they would do more work than they take. Air pushes only where it counts in the density. In equation 4 it
#: goes with the fluid and adds nothing; if it pushed all the same, the energy would grow.
KINDS = {
    "fluid": Adds(density_visit, momentum_visit, divergence_visit, diffusive_visit),
    "walls": Adds(density_visit, momentum_visit, solid_divergence, solid_momentum),
    "air": Adds(density_visit, momentum_visit, None, None),
    "obstacles": Adds(density_visit, momentum_visit, solid_divergence, solid_momentum),
}


@cache
def over(real, kernel, walk, equation, kinds):
    """Returns add(found, me, at, row, species, p, cells): what the particles of all kinds in a row of cells add.

    species[k] is of kinds[k], `equation` a field of `Adds`. The compiler unrolls it: a kind is one call of the walk
    after the other.
    """
    if not kinds:
        return _nobody
    make, rest = getattr(KINDS[kinds[0]], equation), over(real, kernel, walk, equation, kinds[1:])
    first = walk(real, make(real, kernel)) if make else _skipped

    @inline
    def add(found, me, at, row, species, p, cells):
        return rest(first(found, me, at, row, species[0], p, cells), me, at, row, species[1:], p, cells)

    return add


@inline
def _nobody(found, me, at, row, species, p, cells):
    return found


@inline
def _skipped(found, me, at, row, species, p, cells):
    return found


@cache
def located(real):
    """Returns at(me, cells): the cell of a position as (cx, cy, cz)."""
    upper = cell_bits(real)

    @inline
    def at(me, cells):
        return (
            cell_along(upper(me[0]), cells[0]),
            cell_along(upper(me[1]), cells[1]),
            cell_along(upper(me[2]), cells[2]),
        )

    return at


@cache
def summation(real, kernel, walk, kinds, least) -> Sum:
    """Condensation by equation 3 into `target`, clamped to at least `least` unless that is None, and the pressure."""
    at, term, floor = located(real), pressure_term(real), real(-1 if least is None else least)

    @inline
    def ask(i, faces, p, cells, fluid):
        me = vector_of(fluid.r, i, fluid.count)
        return me, (*at(me, cells), i, fluid.count)

    @inline
    def finish(i, found, target, faces, p, fluid):
        target[i] = max(real(fma(p.density, found[0], float64(-1))), floor)
        fluid.term[i] = term(target[i], p.stiffness)

    return Sum(ask, over(real, kernel, walk, "density", kinds), 1, finish)


@cache
def continuity(real, kernel, walk, kinds, least) -> Sum:
    """Adds to the condensation `target` by equation 4 over a time step, and finds the pressure.

    Pressure is that of a condensation of at least `least`, unless that is None. What is kept is not clamped: fluid that
    is drawn apart and pressed together again would each time be denser than before.
    """
    at, term, near, floor = located(real), pressure_term(real), nearness(real), real(-1 if least is None else least)

    @inline
    def ask(i, faces, p, cells, fluid):
        position, velocity = vector_of(fluid.r, i, fluid.count), vector_of(fluid.v, i, fluid.count)
        me = position + velocity + near(position, velocity, faces, p)
        return me, (*at(position, cells), i, fluid.count)

    @inline
    def finish(i, found, target, faces, p, fluid):
        divergence = whole(found[0], found[3], p) + whole(found[1], found[4], p) + whole(found[2], found[5], p)
        target[i] = real(fma(p.divergence, divergence, float64(target[i])))
        fluid.term[i] = term(max(target[i], floor), p.stiffness)

    return Sum(ask, over(real, kernel, walk, "divergence", kinds), 6, finish)


@cache
def momentum(real, kernel, walk, kinds, equation) -> Sum:
    """Accelerations by equation 6 with artificial viscosity, gravity and hard walls, into `target`.

    `equation` as in `over`. With "work" density diffusion is added to the condensation: it needs the same neighbours'
    pressures.
    """
    diffusive = equation == "work"
    at, near, none, push = located(real), nearness(real), real(0), rebound(real)

    @inline
    def ask(i, faces, p, cells, fluid):
        position = vector_of(fluid.r, i, fluid.count)
        here = near(position, (none, none, none), faces, p)
        me = (*position, *vector_of(fluid.u, i, fluid.count), fluid.term[i], *here)
        return me, (*at(position, cells), i, fluid.count)

    @inline
    def finish(i, found, target, faces, p, fluid):
        count = fluid.count
        x, y, z = push(vector_of(fluid.r, i, count), faces, p)
        if diffusive:
            fluid.s[i] = real(fma(p.diffusion, found[6], float64(fluid.s[i])))
        target[i] = real(fma(p.acceleration, whole(found[0], found[3], p), float64(x)))
        target[count + i] = real(fma(p.acceleration, whole(found[1], found[4], p), float64(y)))
        target[2 * count + i] = real(fma(p.acceleration, whole(found[2], found[5], p), float64(z) - p.gravity))

    return Sum(ask, over(real, kernel, walk, equation, kinds), LARGEST if diffusive else 6, finish)
