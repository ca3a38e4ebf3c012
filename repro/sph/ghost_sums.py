"""What ghosts find out of the fluid around them, as bodies of kernels: one item a ghost.

Ghosts lie in the order of their cells. Those of a cell without fluid around it, most of a tank's, are passed over, and
on a CPU without a look at each.
"""

from functools import cache

from numpy import float64

from repro.parallel import inline

from .equations import pressure_term, xsph_mean
from .pair import AIR, UNUSED, extrapolation_visit, nearest_visit, vector_of
from .strategies.lists import around, cell_number
from .sums import located


@cache
def air_body(real, walk, anyone):
    """Which sites in the air hold a ghost: those with no fluid nearer than `gap` (squared, in smoothing lengths)."""
    total, at = around(real, nearest_visit(real), walk), located(real)

    @inline
    def sample(x, n, fluid, air, gap, p, cells):
        last, near = -1, False
        for i in range(x, x + n):
            me = vector_of(air.r, i, air.count)
            where = at(me, cells)
            cell = cell_number(where, cells)
            if cell != last:
                last, near = cell, anyone(where, fluid, cells)
            kind = UNUSED
            if near and gap <= total((p.reach,), me, where, fluid, p, cells)[0] < p.reach:
                kind = AIR
            air.kind[i] = kind

    return sample


@cache
def extrapolation_body(real, kernel, walk, anyone):
    """What the ghosts take over from the fluid around them: its velocity, and in walls its pressure."""
    total, at = around(real, extrapolation_visit(real, kernel), walk), located(real)
    term, mean, zero, none = pressure_term(real), xsph_mean(real), real(0), float64(0)

    @inline
    def extrapolate(x, n, fluid, ghosts, p, cells):
        u, count, last, near = ghosts.u, ghosts.count, -1, False
        for i in range(x, x + n):
            kind, me = ghosts.kind[i], vector_of(ghosts.r, i, count)
            where = at(me, cells)
            cell = cell_number(where, cells)
            if cell != last:
                last, near = cell, anyone(where, fluid, cells)
            if near and kind != UNUSED:
                found = total((none, none, none, none, none), me, where, fluid, p, cells)
                u[i] = zero if kind & 1 else mean(found[1], found[0])
                u[count + i] = zero if kind & 2 else mean(found[2], found[0])
                u[2 * count + i] = zero if kind & 4 else mean(found[3], found[0])
                ghosts.s[i] = zero if kind == AIR else mean(found[4], found[0])
                ghosts.term[i] = term(ghosts.s[i], p.stiffness)

    return extrapolate
