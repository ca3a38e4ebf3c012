"""What a particle sums up over its neighbours, fluid and ghosts, as bodies of kernels: one item a particle."""

from functools import cache

from numpy import float64

from repro.parallel import fma, inline
from repro.particles.cells import cell_along
from repro.particles.position import upper_bits

from .equations import pressure_term, xsph_mean
from .pair import (
    AIR,
    UNUSED,
    density_visit,
    divergence_visit,
    extrapolation_visit,
    momentum_visit,
    nearest_visit,
    vector_of,
)


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


@inline
def _nobody(found, me, at, species, p, cells):
    return found


@cache
def summation_body(real, kernel, walk, least):
    """Condensation by equation 3 into `s`, clamped to at least `least` unless that is None, and the pressure term."""
    total, at, term, zero = walk(real, density_visit(real, kernel)), located(real), pressure_term(real), float64(0)
    floor = real(-1 if least is None else least)

    @inline
    def density(x, n, fluid, walls, air, s, p, cells):
        for i in range(x, x + n):
            me = vector_of(fluid.r, i, fluid.count)
            where = at(me, cells)
            found = total((zero,), me, where, fluid, p, cells)
            found = total(found, me, where, walls, p, cells)
            found = total(found, me, where, air, p, cells)
            s[i] = max(real(fma(p.density, found[0], float64(-1))), floor)
            fluid.term[i] = term(s[i], p.stiffness)

    return density


@cache
def continuity_body(real, kernel, walk, least):
    """Condensation by equation 4 over `steps` time steps (one, or none at the start), as in `summation_body`."""
    over_fluid = walk(real, divergence_visit(real, kernel, walls=False))
    over_walls = walk(real, divergence_visit(real, kernel, walls=True))
    at, term, zero = located(real), pressure_term(real), float64(0)
    floor = real(-1 if least is None else least)

    @inline
    def density(x, n, fluid, walls, steps, p, cells):
        s = fluid.s
        for i in range(x, x + n):
            position, velocity = vector_of(fluid.r, i, fluid.count), vector_of(fluid.v, i, fluid.count)
            where, me = at(position, cells), position + velocity
            found = over_fluid((zero,), me, where, fluid, p, cells)
            found = over_walls(found, me, where, walls, p, cells)
            s[i] = max(real(fma(steps * p.divergence, found[0], float64(s[i]))), floor)
            fluid.term[i] = term(s[i], p.stiffness)

    return density


@cache
def momentum_body(real, kernel, walk, with_air):
    """Accelerations by equation 6 with artificial viscosity and gravity, into `a`.

    Air pushes only where it counts in the density (equation 3). In equation 4 it goes with the fluid and adds nothing;
    if it pushed all the same, the pressure's work would not be what the compression takes, and the energy would grow.
    """
    total, at, zero = walk(real, momentum_visit(real, kernel)), located(real), float64(0)
    over_air = total if with_air else _nobody

    @inline
    def momentum(x, n, fluid, walls, air, a, p, cells):
        count = fluid.count
        for i in range(x, x + n):
            position = vector_of(fluid.r, i, count)
            me = (*position, *vector_of(fluid.u, i, count), fluid.term[i])
            where = at(position, cells)
            found = total((zero, zero, zero), me, where, fluid, p, cells)
            found = total(found, me, where, walls, p, cells)
            found = over_air(found, me, where, air, p, cells)
            a[i] = real(p.acceleration * found[0])
            a[count + i] = real(p.acceleration * found[1])
            a[2 * count + i] = real(fma(p.acceleration, found[2], -p.gravity))

    return momentum


@cache
def air_body(real, walk):
    """Which sites in the air hold a ghost: those with no fluid nearer than `gap` (squared, in smoothing lengths)."""
    total, at = walk(real, nearest_visit(real)), located(real)

    @inline
    def sample(x, n, fluid, air, gap, p, cells):
        for i in range(x, x + n):
            me = vector_of(air.r, i, air.count)
            found = total((p.reach,), me, at(me, cells), fluid, p, cells)
            air.kind[i] = AIR if gap <= found[0] < p.reach else UNUSED

    return sample


@cache
def extrapolation_body(real, kernel, walk):
    """What the ghosts take over from the fluid around them: its velocity, and at solids its pressure."""
    total, at, term = walk(real, extrapolation_visit(real, kernel)), located(real), pressure_term(real)
    mean, zero, none = xsph_mean(real), real(0), float64(0)

    @inline
    def extrapolate(x, n, fluid, ghosts, p, cells):
        u, count = ghosts.u, ghosts.count
        for i in range(x, x + n):
            kind, me = ghosts.kind[i], vector_of(ghosts.r, i, count)
            if kind != UNUSED:
                found = total((none, none, none, none, none), me, at(me, cells), fluid, p, cells)
                u[i] = zero if kind & 1 else mean(found[1], found[0])
                u[count + i] = zero if kind & 2 else mean(found[2], found[0])
                u[2 * count + i] = zero if kind & 4 else mean(found[3], found[0])
                ghosts.s[i] = zero if kind == AIR else mean(found[4], found[0])
                ghosts.term[i] = term(ghosts.s[i], p.stiffness)

    return extrapolate
