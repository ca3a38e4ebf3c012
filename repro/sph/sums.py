"""What a particle sums up over its neighbours of all kinds, as bodies of kernels: one item a particle."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from numpy import float64

from repro.parallel import fma, inline
from repro.particles.cells import cell_along
from repro.particles.position import upper_bits

from .equations import pressure_term
from .pair import density_visit, divergence_visit, momentum_visit, vector_of
from .solids import nearness, solid_divergence, solid_momentum, whole


class Adds(NamedTuple):
    """What a kind of particles adds to the sums, as makers of visits, or None."""

    #: equation 3, and equation 6 with it
    density: Callable | None
    force: Callable | None
    #: equation 4, and equation 6 with it
    divergence: Callable | None
    work: Callable | None


#: Every kind of particles: a further one is one line here, and its species among the neighbours of `Simulation`.
#: Equation 3 counts solids where they stand, and their ghosts push with the fluid's mean pressure; mirrored as for
#: equation 4 they would do more work than they take. Air pushes only where it counts in the density. In equation 4 it
#: goes with the fluid and adds nothing; if it pushed all the same, the energy would grow.
KINDS = {
    "fluid": Adds(density_visit, momentum_visit, divergence_visit, momentum_visit),
    "walls": Adds(density_visit, momentum_visit, solid_divergence, solid_momentum),
    "air": Adds(density_visit, momentum_visit, None, None),
    "obstacles": Adds(density_visit, momentum_visit, solid_divergence, solid_momentum),
}


@cache
def over(real, kernel, walk, equation, kinds):
    """Returns total(found, me, at, species, p, cells): the sum over particles of all kinds, species[k] of kinds[k].

    `equation` is a field of `Adds`. The compiler unrolls it: a kind is one call of the walk after the other.
    """
    if not kinds:
        return _nobody
    make, rest = getattr(KINDS[kinds[0]], equation), over(real, kernel, walk, equation, kinds[1:])
    first = walk(real, make(real, kernel)) if make else _skipped

    @inline
    def total(found, me, at, species, p, cells):
        return rest(first(found, me, at, species[0], p, cells), me, at, species[1:], p, cells)

    return total


@inline
def _nobody(found, me, at, species, p, cells):
    return found


@inline
def _skipped(found, me, at, species, p, cells):
    return found


@cache
def located(real):
    """Returns at(me, cells): the cell of a position as (cx, cy, cz)."""
    upper = upper_bits(real)

    @inline
    def at(me, cells):
        return (
            cell_along(upper(me[0]), cells[0]),
            cell_along(upper(me[1]), cells[1]),
            cell_along(upper(me[2]), cells[2]),
        )

    return at


@cache
def summation_body(real, kernel, walk, kinds, least):
    """Condensation by equation 3 into `s`, clamped to at least `least` unless that is None, and the pressure term."""
    total, at = over(real, kernel, walk, "density", kinds), located(real)
    term, zero, floor = pressure_term(real), float64(0), real(-1 if least is None else least)

    @inline
    def density(x, n, s, p, cells, fluid, *others):
        for i in range(x, x + n):
            me = vector_of(fluid.r, i, fluid.count)
            found = total((zero,), me, at(me, cells), (fluid, *others), p, cells)
            s[i] = max(real(fma(p.density, found[0], float64(-1))), floor)
            fluid.term[i] = term(s[i], p.stiffness)

    return density


@cache
def continuity_body(real, kernel, walk, kinds, least):
    """Adds to the condensation by equation 4 over `steps` time steps (one, or none at the start).

    Pressure is that of a condensation of at least `least`, unless that is None. What is kept is not clamped: fluid that
    is drawn apart and pressed together again would each time be denser than before.
    """
    total, at = over(real, kernel, walk, "divergence", kinds), located(real)
    term, near, zero, floor = pressure_term(real), nearness(real), float64(0), real(-1 if least is None else least)

    @inline
    def density(x, n, steps, faces, p, cells, fluid, *others):
        s = fluid.s
        for i in range(x, x + n):
            position, velocity = vector_of(fluid.r, i, fluid.count), vector_of(fluid.v, i, fluid.count)
            me, nothing = position + velocity + near(position, velocity, faces, p), (zero, zero, zero, zero, zero, zero)
            found = total(nothing, me, at(position, cells), (fluid, *others), p, cells)
            divergence = whole(found[0], found[3], p) + whole(found[1], found[4], p) + whole(found[2], found[5], p)
            s[i] = real(fma(steps * p.divergence, divergence, float64(s[i])))
            fluid.term[i] = term(max(s[i], floor), p.stiffness)

    return density


@cache
def momentum_body(real, kernel, walk, kinds, equation):
    """Accelerations by equation 6 with artificial viscosity and gravity, into `a`; `equation` as in `over`."""
    total, at = over(real, kernel, walk, equation, kinds), located(real)
    near, none, zero = nearness(real), real(0), float64(0)

    @inline
    def momentum(x, n, a, faces, p, cells, fluid, *others):
        count = fluid.count
        for i in range(x, x + n):
            position = vector_of(fluid.r, i, count)
            here = near(position, (none, none, none), faces, p)
            me = (*position, *vector_of(fluid.u, i, count), fluid.term[i], *here)
            nothing = (zero, zero, zero, zero, zero, zero)
            found = total(nothing, me, at(position, cells), (fluid, *others), p, cells)
            a[i] = real(p.acceleration * whole(found[0], found[3], p))
            a[count + i] = real(p.acceleration * whole(found[1], found[4], p))
            a[2 * count + i] = real(fma(p.acceleration, whole(found[2], found[5], p), -p.gravity))

    return momentum
