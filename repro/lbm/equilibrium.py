"""Density, velocity and equilibrium of a run of nodes (porous paper, equations 2.2 and 2.8).

All functions work on the scratch array of a run, `s[row, lane]`: rows 0 .. q-1 hold the populations, minus their
weights, row q the density minus one, rows q+1 .. q+3 the velocity. Storing f_i - w_i keeps float32 accurate, because
the populations differ from the weights in the third digit.
"""

from repro.parallel import inline

from .lattice import Lattice


def scratch_rows(lattice: Lattice) -> int:
    """Rows of the scratch array that one run of nodes needs."""
    return lattice.q + 4


def equilibrium_of(lattice: Lattice, dtype):
    """Returns equilibrium(i, density_deviation, ux, uy, uz), minus the weight w_i; equation 2.8."""
    one, half, three, three_halves = dtype(1), dtype(0.5), dtype(3), dtype(1.5)
    weights = tuple(map(dtype, lattice.weights))
    cx, cy, cz = (tuple(map(dtype, component)) for component in lattice.components)

    @inline
    def equilibrium(i, deviation, ux, uy, uz):
        along = three * (cx[i] * ux + cy[i] * uy + cz[i] * uz)
        speed = three_halves * (ux * ux + uy * uy + uz * uz)
        return weights[i] * (deviation + (one + deviation) * (along + half * along * along - speed))

    return equilibrium


def moments_of(lattice: Lattice, dtype, force_share: float):
    """Returns moments(s, n, fx, fy, fz): fills the rows of density and velocity from the populations.

    The velocity is (sum_i c_i f_i + force_share F)/density; 1/2 before a collision, -1/2 after it gives the fluid's.
    """
    q, one, zero, share = lattice.q, dtype(1), dtype(0), dtype(force_share)
    cx, cy, cz = (tuple(map(dtype, component)) for component in lattice.components)

    @inline
    def moments(s, n, fx, fy, fz):
        for lane in range(n):
            s[q, lane] = zero
            s[q + 1, lane] = share * fx
            s[q + 2, lane] = share * fy
            s[q + 3, lane] = share * fz
        for i in range(q):
            for lane in range(n):
                s[q, lane] += s[i, lane]
                s[q + 1, lane] += cx[i] * s[i, lane]
                s[q + 2, lane] += cy[i] * s[i, lane]
                s[q + 3, lane] += cz[i] * s[i, lane]
        for lane in range(n):
            volume = one / (one + s[q, lane])
            s[q + 1, lane] *= volume
            s[q + 2, lane] *= volume
            s[q + 3, lane] *= volume

    return moments
