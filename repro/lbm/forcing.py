"""A body force in the collision.

Both schemes add w_i [3 (c_i - u) + 9 (c_i . u) c_i] . F, whose zeroth moment is 0, first F and second u F + F u:

- "luo": as it stands, with u = sum_i c_i f_i / density in the equilibrium (Luo, Phys. Rev. E 62 (2000) 4982, the
  second-moment form of the porous paper, section 5.4);
- "guo": times 1 - 1/(2 tau), with u shifted by F/(2 density) (Guo, Zheng, Shi, Phys. Rev. E 65 (2002) 046308).

So one number tells them apart: the share of the force in the velocity of the equilibrium.
"""

from repro.parallel import inline

from .lattice import Lattice

VELOCITY_SHARE = {"luo": 0.0, "guo": 0.5}


def force_term_of(lattice: Lattice, dtype):
    """Returns (even, odd): functions (i, ux, uy, uz, fx, fy, fz) with the parts of the term in c_i and -c_i."""
    three, nine = dtype(3), dtype(9)
    weights = tuple(map(dtype, lattice.weights))
    cx, cy, cz = (tuple(map(dtype, component)) for component in lattice.components)

    @inline
    def even(i, ux, uy, uz, fx, fy, fz):
        along_u = cx[i] * ux + cy[i] * uy + cz[i] * uz
        along_f = cx[i] * fx + cy[i] * fy + cz[i] * fz
        return weights[i] * (nine * along_u * along_f - three * (ux * fx + uy * fy + uz * fz))

    @inline
    def odd(i, fx, fy, fz):
        return weights[i] * three * (cx[i] * fx + cy[i] * fy + cz[i] * fz)

    return even, odd
