"""The equations as the porous paper prints them, on NumPy arrays: to read and to test the fast ones against.

Populations f are arrays (q, ...), the density (...), the velocity (3, ...).
"""

import numpy as np

from .lattice import D3Q19, Lattice
from .mrt import fixed_rate, moment_matrix


def moments(lattice: Lattice, f):
    """Density and velocity of populations: rho = sum_i f_i, rho u = sum_i c_i f_i (equation 2.2)."""
    rho = f.sum(0)
    return rho, np.tensordot(np.array(lattice.velocities, float).T, f, 1) / rho


def equilibrium(lattice: Lattice, rho, u):
    """Populations w_i rho (1 + 3 c_i.u + 9/2 (c_i.u)^2 - 3/2 u.u) of equation 2.8."""
    cu = np.tensordot(np.array(lattice.velocities, float), u, 1)
    return np.multiply.outer(np.array(lattice.weights), rho) * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (u * u).sum(0))


def bgk_collision(lattice: Lattice, f, relaxation_time: float):
    """Populations after f + (f_eq - f)/tau (equation 2.6)."""
    return f + (equilibrium(lattice, *moments(lattice, f)) - f) / relaxation_time


def stream(lattice: Lattice, f, solid):
    """Populations f(x - c_i) that arrive at x (equation 2.4) in a periodic box.

    f is an array (q, nz, ny, nx) and solid (nz, ny, nx). What would come from a solid node is the node's own opposite
    population: half-way bounce-back.
    """
    arrived = np.empty_like(f)
    for i, c in enumerate(lattice.velocities):
        behind, in_solid = (np.roll(field, c[::-1], axis=(0, 1, 2)) for field in (f[i], solid))
        arrived[i] = np.where(in_solid, f[lattice.opposite[i]], behind)
    return arrived


def step(lattice: Lattice, f, solid, relaxation_time: float):
    """Populations one time step later: they arrive, then all nodes collide (equations 2.3, 2.4 and 2.6)."""
    return bgk_collision(lattice, stream(lattice, f, solid), relaxation_time)


def mrt_collision(f, even_rate: float, odd_rate: float, collision: str = "mrt"):
    """Populations on D3Q19 after f + M^-1 S M (f_eq - f) (equation 2.9).

    S has the rates of "mrt-dhumieres" where they do not follow from the viscosity, else those of even and odd moments.
    """
    rows = moment_matrix(D3Q19)
    rates = [fixed_rate(name, collision) or (odd_rate if name[0] in "jqm" else even_rate) for name in rows]
    matrix = np.array(list(rows.values()))
    operator = np.linalg.inv(matrix) @ np.diag(rates) @ matrix
    return f + np.tensordot(operator, equilibrium(D3Q19, *moments(D3Q19, f)) - f, 1)
