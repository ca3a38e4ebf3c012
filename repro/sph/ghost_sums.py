"""What ghosts take from the fluid around them, as bodies of kernels: one item a ghost.

Ghosts lie in the order of their cells. Those of a cell without fluid around it, most of a tank's, are passed over, and
on a CPU without a look at each.
"""

from functools import cache

from numpy import float64

from repro.parallel import device_function
from repro.particles.cells import cell_number

from .equations import make_xsph_mean, pressure_term
from .pair import AIR, UNUSED, Position, make_extrapolation_pair, vector_of
from .strategies.search import make_locate, make_sum_around


@cache
def make_extrapolation(real, kernel, search, walk):
    """What the ghosts take over from the fluid around them: its velocity, and in walls its pressure."""
    total, locate = make_sum_around(real, make_extrapolation_pair(real, kernel), walk), make_locate(real)
    mean, zero, zeros = make_xsph_mean(real), real(0), (float64(0),) * 5
    occupied = search.occupied

    @device_function
    def extrapolate(x, n, fluid, ghosts, p, cells):
        u, count, last, near = ghosts.u, ghosts.count, -1, False
        for i in range(x, x + n):
            kind, position = ghosts.kind[i], vector_of(ghosts.r, i, count)
            cell = locate(position, i, count, cells)
            number = cell_number(cell, cells)
            if number != last:
                last, near = number, occupied(cell, fluid, cells)
            if near and kind != UNUSED:
                sums = total(zeros, Position(position), cell, fluid, p, cells)
                u[i] = zero if kind & 1 else mean(sums[1], sums[0])
                u[count + i] = zero if kind & 2 else mean(sums[2], sums[0])
                u[2 * count + i] = zero if kind & 4 else mean(sums[3], sums[0])
                ghosts.s[i] = zero if kind == AIR else mean(sums[4], sums[0])
                ghosts.term[i] = pressure_term(ghosts.s[i], p.stiffness)

    return extrapolate
