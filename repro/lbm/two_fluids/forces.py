"""The force between two fluids: differences of a potential over a node's neighbours (porous paper, section 2.4).

    F_k = -rho_k 6 grad phi_k,   phi_k = g rho_other in the fluid and g_ks rho_s in the solid

(equation 2.20 with psi = rho and c_0 = 6): the potential of the wall stands where the density of the other fluid would
stand, so the solid costs neither a branch nor an array. The isotropic stencils are those of Sbragaglia et al., Phys.
Rev. E 75 (2007) 026702; on one layer of nodes they are those of two dimensions.
"""

from functools import cache
from itertools import product

from repro.parallel import inline

from ..layout import unsigned

#: weights of grad psi = sum_e w(|e|^2) psi(x + e) e, by |e|^2
STENCILS = {
    "central": {1: 1 / 2},
    "isotropic-4": {1: 1 / 6, 2: 1 / 12},
    "isotropic-6": {1: 2 / 15, 2: 1 / 15, 3: 1 / 60, 4: 1 / 120},
    "isotropic-8": {1: 4 / 45, 2: 1 / 21, 3: 2 / 105, 4: 5 / 504, 5: 1 / 315, 6: 1 / 630, 8: 1 / 5040},
}

#: c_0 of equation 2.20
STRENGTH = 6.0


def links_of(stencil: str) -> list[tuple[tuple[int, int, int], float]]:
    """(e, STRENGTH w) of one of each pair of opposite neighbours, with e later in memory than -e."""
    weights = STENCILS[stencil]
    found = [(e, weights.get(sum(c * c for c in e))) for e in product((-2, -1, 0, 1, 2), repeat=3)]
    return [(e, STRENGTH * weight) for e, weight in found if weight and e[::-1] > (0, 0, 0)]


@inline
def beside(position, step, count):
    """Where a step of at most two nodes leads on a periodic axis."""
    there = position + step
    there += count if there < 0 else 0
    there -= count if there >= count else 0
    # on one layer every step leads back
    return there if count > 1 else 0


@cache
def gradient_of(stencil: str, dtype):
    """Returns gradient(s, n, row, x, y, z, grid, phi): six times grad phi of a run of nodes, rows row .. row + 2."""
    links = links_of(stencil)
    count = len(links)
    ex, ey, ez = (tuple(e[axis] for e, _ in links) for axis in range(3))
    wx, wy, wz = (tuple(dtype(weight * e[axis]) for e, weight in links) for axis in range(3))
    zero = dtype(0)

    @inline
    def gradient(s, n, row, x, y, z, grid, phi):
        nx, ny, nz = grid
        for lane in range(n):
            s[row, lane] = zero
            s[row + 1, lane] = zero
            s[row + 2, lane] = zero
        for k in range(count):
            ahead = nx * (beside(y, ey[k], ny) + ny * beside(z, ez[k], nz))
            behind = nx * (beside(y, -ey[k], ny) + ny * beside(z, -ez[k], nz))
            for lane in range(n):
                there, back = beside(x + lane, ex[k], nx), beside(x + lane, -ex[k], nx)
                difference = phi[unsigned(ahead + there)] - phi[unsigned(behind + back)]
                s[row, lane] += wx[k] * difference
                s[row + 1, lane] += wy[k] * difference
                s[row + 2, lane] += wz[k] * difference

    return gradient
