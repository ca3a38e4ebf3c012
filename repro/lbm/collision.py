"""Collision operators on a run of nodes: collide(s, n, even_rate, odd_rate, fx, fy, fz), in place in `s`.

`even_rate` is 1/tau, which sets the viscosity nu = (tau - 1/2)/3 (porous paper, equation 2.7).
"""

from repro.parallel import inline

from .equilibrium import equilibrium_of, moments_of
from .forcing import VELOCITY_SHARE, force_term_of
from .lattice import Lattice


def bgk(lattice: Lattice, dtype, forcing: str | None):
    """One relaxation time for all populations; porous paper, equation 2.6. `odd_rate` is not used."""
    q, share = lattice.q, VELOCITY_SHARE.get(forcing, 0.0)
    one, forced, kept = dtype(1), forcing is not None, dtype(share)
    moments = moments_of(lattice, dtype, share)
    equilibrium = equilibrium_of(lattice, dtype)
    even, odd = force_term_of(lattice, dtype)

    @inline
    def collide(s, n, even_rate, odd_rate, fx, fy, fz):
        moments(s, n, fx, fy, fz)
        for i in range(q):
            for lane in range(n):
                ux, uy, uz = s[q + 1, lane], s[q + 2, lane], s[q + 3, lane]
                s[i, lane] += even_rate * (equilibrium(i, s[q, lane], ux, uy, uz) - s[i, lane])
                if forced:
                    term = even(i, ux, uy, uz, fx, fy, fz) + odd(i, fx, fy, fz)
                    s[i, lane] += (one - kept * even_rate) * term

    return collide


def trt(lattice: Lattice, dtype, forcing: str | None):
    """Two relaxation times, for the even and the odd part of each pair of opposite populations.

    Ginzburg, Verhaeghe, d'Humieres, Commun. Comput. Phys. 3 (2008) 427. The even rate sets the viscosity; the product
    of (1/even_rate - 1/2) and (1/odd_rate - 1/2), the "magic parameter", sets where a bounce-back wall lies.
    """
    q, share = lattice.q, VELOCITY_SHARE.get(forcing, 0.0)
    one, half, forced, kept = dtype(1), dtype(0.5), forcing is not None, dtype(share)
    moments = moments_of(lattice, dtype, share)
    equilibrium = equilibrium_of(lattice, dtype)
    even, odd = force_term_of(lattice, dtype)

    @inline
    def collide(s, n, even_rate, odd_rate, fx, fy, fz):
        moments(s, n, fx, fy, fz)
        for lane in range(n):
            rest = equilibrium(0, s[q, lane], s[q + 1, lane], s[q + 2, lane], s[q + 3, lane])
            s[0, lane] += even_rate * (rest - s[0, lane])
            if forced:
                term = even(0, s[q + 1, lane], s[q + 2, lane], s[q + 3, lane], fx, fy, fz)
                s[0, lane] += (one - kept * even_rate) * term
        for pair in range(q // 2):
            i = 2 * pair + 1
            o = i + 1
            for lane in range(n):
                ux, uy, uz = s[q + 1, lane], s[q + 2, lane], s[q + 3, lane]
                there = equilibrium(i, s[q, lane], ux, uy, uz) - s[i, lane]
                back = equilibrium(o, s[q, lane], ux, uy, uz) - s[o, lane]
                symmetric = even_rate * half * (there + back)
                antisymmetric = odd_rate * half * (there - back)
                if forced:
                    symmetric += (one - kept * even_rate) * even(i, ux, uy, uz, fx, fy, fz)
                    antisymmetric += (one - kept * odd_rate) * odd(i, fx, fy, fz)
                s[i, lane] += symmetric + antisymmetric
                s[o, lane] += symmetric - antisymmetric

    return collide


COLLISIONS = {"bgk": bgk, "trt": trt}
