"""Equations 3, 4 and 6 of the sph paper summed over all pairs in NumPy, from the formulas as they are printed."""

import numpy as np

from repro.sph.equations import GAMMA
from repro.sph.kernels import KERNELS, NORMS


def kernel_values(distance, system):
    """W and its derivative along the distance, in SI units; distances of any shape."""
    h = system.resolution.smoothing_length
    shape, slope = KERNELS[system.resolution.kernel](float)
    norm = NORMS[system.resolution.kernel]
    q = distance / h
    w = np.vectorize(shape, otypes=[float])(q) * norm / h**3
    dw = np.vectorize(slope, otypes=[float])(q) * q * norm / h**4
    return w, dw


def pairs(here, there, system):
    """Vectors x_a - x_b, W and grad W of all pairs."""
    apart = here[:, None] - there
    distance = np.linalg.norm(apart, axis=-1)
    w, dw = kernel_values(distance, system)
    unit = apart / np.where(distance > 0, distance, 1)[..., None]
    return apart, w, dw[..., None] * unit


def density(position, ghosts, system):
    """Equation 3 with fluid and ghosts of one mass."""
    everyone = np.concatenate([position, ghosts])
    return system.mass * pairs(position, everyone, system)[1].sum(1)


def density_rate(position, velocity, ghosts, beyond, system):
    """Equation 4; a ghost slips: it moves with the particle but along the axes beyond the wall, (count, 3) of bools."""
    _, _, gradient = pairs(position, position, system)
    rate = ((velocity[:, None] - velocity) * gradient).sum((1, 2))
    _, _, gradient = pairs(position, ghosts, system)
    rate += (velocity[:, None] * beyond * gradient).sum((1, 2))
    return system.mass * rate


def acceleration(position, velocity, rho, ghosts, ghost_velocity, ghost_rho, system):
    """Equation 6 with Becker and Teschner's viscosity (their equation 11, rho0 for the mean density) and gravity."""
    fluid, h = system.fluid, system.resolution.smoothing_length
    everyone, u = np.concatenate([position, ghosts]), np.concatenate([velocity, ghost_velocity])
    rho_b = np.concatenate([rho, ghost_rho])
    p_a, p_b = (fluid.stiffness * ((r / fluid.density) ** GAMMA - 1) for r in (rho, rho_b))
    apart, _, gradient = pairs(position, everyone, system)
    approach = ((velocity[:, None] - u) * apart).sum(-1)
    square = (apart**2).sum(-1)
    nu = fluid.viscosity * h * fluid.sound_speed / fluid.density
    viscous = np.where(approach < 0, -nu * approach / (square + 0.01 * h * h), 0)
    factor = (p_a / rho**2)[:, None] + p_b / rho_b**2 + viscous
    found = -system.mass * (factor[..., None] * gradient).sum(1)
    return found - np.array([0, 0, fluid.gravity])
