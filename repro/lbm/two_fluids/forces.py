"""The force between two fluids: differences of a potential over a node's neighbours (porous paper, section 2.4).

    F_k = -rho_k 6 grad phi_k,   phi_k = g rho_other in the fluid and g_ks rho_s in the solid

(equation 2.20 with psi = rho and c_0 = 6): the potential of the wall stands where the density of the other fluid would
stand, so the solid costs neither a branch nor an array. The isotropic stencils are those of Sbragaglia et al., Phys.
Rev. E 75 (2007) 026702; on one layer of nodes they are those of two dimensions.
"""

from functools import cache
from itertools import product

from repro.parallel import device_function
from repro.parallel.unroll import each, unrolled

from ..lattice import D3Q19, Lattice
from ..layout import unsigned
from ..neighbours import sides

#: weights of grad psi = sum_e w(|e|^2) psi(x + e) e, by |e|^2
STENCILS = {
    "central": {1: 1 / 2},
    "isotropic-4": {1: 1 / 6, 2: 1 / 12},
    "isotropic-6": {1: 2 / 15, 2: 1 / 15, 3: 1 / 60, 4: 1 / 120},
    "isotropic-8": {1: 4 / 45, 2: 1 / 21, 3: 2 / 105, 4: 5 / 504, 5: 1 / 315, 6: 1 / 630, 8: 1 / 5040},
}

#: c_0 of equation 2.20
STRENGTH = 6.0


def links_of(stencil: str, lattice: Lattice = D3Q19) -> list[tuple[tuple[int, int, int], float]]:
    """(e, STRENGTH w) of one of each pair of opposite neighbours, with e later in memory than -e."""
    weights: dict[tuple[int, int, int], float] = {}
    for ex, ey, ez in product(range(-2, 3), repeat=3):
        if weight := STENCILS[stencil].get(ex * ex + ey * ey + ez * ez):
            e = (ex, ey, ez if lattice.dimensions == 3 else 0)
            weights[e] = weights.get(e, 0.0) + STRENGTH * weight
    return [(e, weight) for e, weight in weights.items() if e[::-1] > (0, 0, 0)]


@device_function
def _step(c, position, count, pitch):
    """Step in the flat index on a periodic axis by c nodes, at most two; on one layer every step leads back."""
    step = 0
    if c == -1 or c == 1:
        left, right = sides(position, count, pitch)
        step = left if c == -1 else right
    elif c != 0 and count > 1:
        turn = (position < 2) if c == -2 else (position >= count - 2)
        step = (c - (c // 2) * count if turn else c) * pitch
    return step


@device_function
def _difference(x, k, y, z, grid, phi, ex, ey, ez):
    """phi ahead at e less phi behind at -e."""
    nx, ny, nz, _ = grid
    here = x + k + nx * (y + ny * z)
    ahead = here + _step(ey, y, ny, nx) + _step(ez, z, nz, nx * ny)
    behind = here + _step(-ey, y, ny, nx) + _step(-ez, z, nz, nx * ny)
    # a run is uniform for neighbours, not for the next but one
    place = x if abs(ex) < 2 else x + k
    return phi[unsigned(ahead + _step(ex, place, nx, 1))] - phi[unsigned(behind + _step(-ex, place, nx, 1))]


def _make_terms(links, dtype) -> tuple:
    """What neighbours add to six times grad phi, term(s, row, x, k, y, z, grid, phi): each pair of opposite ones alone.

    All in one loop where they are many: 46 would take the compiler too long.
    """
    count = len(links)
    if 1 < count <= 9:
        return tuple(_make_terms([link], dtype)[0] for link in links)
    ex, ey, ez = (tuple(e[axis] for e, _ in links) for axis in range(3))
    wx, wy, wz = (tuple(dtype(weight * e[axis]) for e, weight in links) for axis in range(3))

    @device_function
    def term(s, row, x, k, y, z, grid, phi):
        for link in range(count):
            difference = _difference(x, k, y, z, grid, phi, ex[link], ey[link], ez[link])
            s[row, k] += wx[link] * difference
            s[row + 1, k] += wy[link] * difference
            s[row + 2, k] += wz[link] * difference

    return (term,)


@cache
def make_gradient(lattice: Lattice, stencil: str, dtype):
    """Six times grad phi of a run of nodes, rows row .. row + 2, gradient(s, n, row, x, y, z, grid, phi)."""
    terms, zero = _make_terms(links_of(stencil, lattice), dtype), dtype(0)

    @unrolled
    def gradient(s, n, row, x, y, z, grid, phi):
        for k in range(n):
            for axis in range(3):
                s[row + axis, k] = zero
            for term in each(terms):
                term(s, row, x, k, y, z, grid, phi)

    return gradient
