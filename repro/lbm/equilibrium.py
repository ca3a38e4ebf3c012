"""Density, velocity and equilibrium of a run of nodes (porous paper, equations 2.2 and 2.8).

All functions work on the scratch array of a run, `s[row, k]`: rows 0 .. q-1 hold the populations, minus their
weights, row q the density minus one, rows q+1 .. q+3 the velocity. Storing f_i - w_i keeps float32 accurate, because
the populations differ from the weights in the third digit. Opposite populations, rows 2p+1 and 2p+2, are treated
together: what is even in c_i is the same for both, what is odd changes its sign, so each is computed once.
"""

from functools import cache

from repro.parallel import device_function

from .lattice import Lattice

#: the share of a body force in the velocity of the equilibrium, which alone tells the schemes apart. Both add
#: w_i [3 (c_i - u) + 9 (c_i . u) c_i] . F, whose zeroth moment is 0, first F and second u F + F u:
#: "luo" as it stands, with u = sum_i c_i f_i / density (Luo, Phys. Rev. E 62 (2000) 4982, the second-moment form of the
#: porous paper, section 5.4); "guo" times 1 - 1/(2 tau), with u shifted by F/(2 density) (Guo, Zheng, Shi, Phys. Rev. E
#: 65 (2002) 046308). Even in c_i is w_i [(3 c_i . u)(3 c_i . F) - 3 u . F], odd w_i 3 c_i . F
VELOCITY_SHARE = {"luo": 0.0, "guo": 0.5}


def scratch_rows(lattice: Lattice) -> int:
    """Rows of the scratch array that one run of nodes needs: populations, density, velocity, and one to work in."""
    return lattice.q + 5


def pair_constants(lattice: Lattice, dtype):
    """(weights, c_x, c_y, c_z) of the first population of each opposite pair, typed so that nothing is promoted."""
    numbers = (lattice.weights, *lattice.components)
    return tuple(tuple(dtype(value) for value in row[1::2]) for row in numbers)


@cache
def make_moments(lattice: Lattice, dtype, force_share: float):
    """Fills the rows of density and velocity from the populations, moments(s, n, force).

    The velocity is (sum_i c_i f_i + force_share F)/density; 1/2 before a collision, -1/2 after it gives the fluid's.
    """
    q, pairs, one, share = lattice.q, lattice.q // 2, dtype(1), dtype(force_share)
    _, cx, cy, cz = pair_constants(lattice, dtype)

    @device_function
    def moments(s, n, force):
        fx, fy, fz = force
        for k in range(n):
            s[q, k] = s[0, k]
            s[q + 1, k] = share * fx
            s[q + 2, k] = share * fy
            s[q + 3, k] = share * fz
        for pair in range(pairs):
            i, kx, ky, kz = 2 * pair + 1, cx[pair], cy[pair], cz[pair]
            for k in range(n):
                difference = s[i, k] - s[i + 1, k]
                s[q, k] += s[i, k] + s[i + 1, k]
                s[q + 1, k] += kx * difference
                s[q + 2, k] += ky * difference
                s[q + 3, k] += kz * difference
        for k in range(n):
            volume = one / (one + s[q, k])
            s[q + 1, k] *= volume
            s[q + 2, k] *= volume
            s[q + 3, k] *= volume

    return moments


@device_function
def even(weight, density_fluctuation, three_cu, three_halves_u2):
    """The even part of equation 2.8 minus the weight, for the first of a pair; see `plain.equilibrium`.

    It takes rho - 1, 3 c_i . u and 3/2 u . u.
    """
    one, half = type(weight)(1), type(weight)(0.5)
    density = one + density_fluctuation
    isotropic = weight * (density_fluctuation - density * three_halves_u2)
    return isotropic + half * weight * density * (three_cu * three_cu)


@device_function
def odd(weight, density_fluctuation, three_cu):
    """The odd part of equation 2.8, see `even`."""
    return weight * (type(weight)(1) + density_fluctuation) * three_cu
