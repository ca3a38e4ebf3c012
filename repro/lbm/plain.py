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


def driven_step(lattice: Lattice, f, solid, relaxation_time: float, force):
    """A `step` of a fluid on which a force per volume, (3,), acts.

    A node gains w_i (3 (c_i - u).F + 9 (c_i.u)(c_i.F)): the second-moment form of Luo, which section 5.4(2) names.
    """
    c, weights = np.array(lattice.velocities, float), np.reshape(lattice.weights, (-1, 1, 1, 1))
    arrived = stream(lattice, f, solid)
    _, u = moments(lattice, arrived)
    along = np.reshape(c @ force, (-1, 1, 1, 1))
    push = weights * (3 * (along - np.tensordot(force, u, 1)) + 9 * np.tensordot(c, u, 1) * along)
    return bgk_collision(lattice, arrived, relaxation_time) + push


def mrt_collision(f, even_rate: float, odd_rate: float, collision: str = "mrt"):
    """Populations on D3Q19 after f + M^-1 S M (f_eq - f) (equations 2.9 and 2.10).

    S has the rates of "mrt-dhumieres" where they do not follow from the viscosity, else those of even and odd moments.
    """
    rows = moment_matrix(D3Q19)
    rates = [fixed_rate(name, collision) or (odd_rate if name[0] in "jqm" else even_rate) for name in rows]
    matrix = np.array(list(rows.values()))
    operator = np.linalg.inv(matrix) @ np.diag(rates) @ matrix
    return f + np.tensordot(operator, equilibrium(D3Q19, *moments(D3Q19, f)) - f, 1)


def repulsion(lattice: Lattice, rho, solid, g: float, wetting):
    """Force per volume on each of two fluids, (2, 3, nz, ny, nx), from their densities (2, nz, ny, nx).

    F_k(x) = -rho_k(x) sum_i 18 w_i phi_k(x + c_i) c_i with phi_k = g rho_other in the pores, and g_ks rho_s, `wetting`,
    in the solid: equation 2.12 with the weights, 1 and 1/2 on D3Q19, that make the sum six times a gradient.
    """
    phi = np.where(solid, np.reshape(wetting, (2, 1, 1, 1)), g * rho[::-1])
    gradient = np.zeros((2, 3, *rho.shape[1:]))
    for c, weight in zip(lattice.velocities, lattice.weights, strict=True):
        ahead = np.roll(phi, [-step for step in c[::-1]], axis=(1, 2, 3))
        gradient += 18 * weight * np.multiply.outer(c, ahead).swapaxes(0, 1)
    return -rho[:, None] * gradient


def mixture(lattice: Lattice, f, solid, forces: tuple, weights):
    """Densities of two fluids, (2, ...), the force on each, (2, 3, ...), and a common velocity, from f as it arrives.

    sum_k w_k (j_k + F_k/2) / sum_k w_k rho_k, with j_k the momentum of the populations: equation 2.18 with `weights` of
    1, 2.15 with 1/tau_k. `forces` are g, the wetting g_ks rho_s of each fluid, and its body force over its density.
    """
    g, wetting, accelerations = forces
    # nothing is read from solid; 1 spares a division by zero
    rho = np.where(solid, 1.0, f.sum(1))
    force = repulsion(lattice, rho, solid, g, wetting) + rho[:, None] * np.reshape(accelerations, (2, 3, 1, 1, 1))
    # equation 2.17
    momentum = np.einsum("ia,ki...->ka...", np.array(lattice.velocities, float), f) + force / 2
    return rho, force, np.tensordot(weights, momentum, 1) / np.tensordot(weights, rho, 1)


def two_fluid_step(lattice: Lattice, f, solid, relaxation_times, forces: tuple):
    """Populations of two fluids, (2, q, nz, ny, nx), one time step later in a periodic box with solid (equation 2.16).

    `forces` as of `mixture`.
    """
    c, rates = np.array(lattice.velocities, float), 1 / np.array(relaxation_times)
    rho, force, u_eq = mixture(lattice, f, solid, forces, rates)
    later = np.empty_like(f)
    for k in (0, 1):
        f_eq = equilibrium(lattice, rho[k], u_eq)
        # 3 F_k . (c_i - u_eq) f_eq / rho_k (equation 2.14)
        push = 3 * (np.tensordot(c, force[k], 1) - (force[k] * u_eq).sum(0)) * f_eq / rho[k]
        later[k] = stream(lattice, f[k] + rates[k] * (f_eq - f[k] - push / 2) + push, solid)
    return later
