"""Equations 3, 4 and 6 of the sph paper summed over all pairs in NumPy, from the formulas as they are printed."""

import numpy as np

from repro.sph.equations import GAMMA


def kernel_values(distance, system):
    """W and its derivative along the distance, in SI units; distances of any shape."""
    h, kernel = system.resolution.smoothing_length, system.resolution.smoothing_kernel
    norm, (shape, slope) = kernel.norm, kernel.shape(float)
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
    places = np.concatenate([position, ghosts])
    return system.mass * pairs(position, places, system)[1].sum(1)


def exact_gradients(system):
    """What equations 4 and 6 are divided by: the sum of -x m W'/rho0 over a whole lattice, which should be one."""
    spacing = system.resolution.spacing
    reach = int(system.resolution.support / spacing) + 1
    index = np.stack(np.meshgrid(*[np.arange(-reach, reach + 1)] * 3), -1).reshape(-1, 3) * spacing
    _, _, gradient = pairs(np.zeros((1, 3)), index, system)
    # the gradient is that at the middle, so that -x becomes x
    return system.mass / system.fluid.density * (index[:, 0] * gradient[0, :, 0]).sum()


def facing(beyond):
    """Axes, (count, 3) of bools, along which a ghost acts: the one across its wall, none in an edge."""
    return beyond & (beyond.sum(1) == 1)[:, None]


def strength(position, ghosts, system):
    """How often a ghost counts across its wall, by axis: twice, and more for a particle within half a spacing of it."""
    spacing, tank = system.resolution.spacing, np.array(system.tank)
    distance = np.where(ghosts < 0, position[:, None], tank - position[:, None]) / spacing
    beyond = (ghosts < 0) | (ghosts > tank)
    return facing(beyond) / np.clip(distance, 1 / 4, 1 / 2)


def there(position, ghosts, system):
    """The share of the neighbourhood in which something acts along each axis: not the ghosts beside it."""
    beyond = (ghosts < 0) | (ghosts > system.tank)
    beside = np.stack([beyond[:, [1, 2]].any(1), beyond[:, [0, 2]].any(1), beyond[:, [0, 1]].any(1)], -1)
    apart, _, gradient = pairs(position, ghosts, system)
    return 1 + system.mass / system.fluid.density * (apart * gradient * beside).sum(1) / exact_gradients(system)


def density_rate(position, velocity, ghosts, system):
    """Equation 4; a ghost comes as fast towards the particle that looks at it, across its wall."""
    _, _, gradient = pairs(position, position, system)
    rate = ((velocity[:, None] - velocity) * gradient).sum(1)
    _, _, gradient = pairs(position, ghosts, system)
    rate += (strength(position, ghosts, system) * velocity[:, None] * gradient).sum(1)
    return system.mass * (rate / there(position, ghosts, system)).sum(1) / exact_gradients(system)


def acceleration_with_pressures(position, velocity, rho, ghosts, ghost_velocity, ghost_rho, system):
    """Equation 6 with Becker and Teschner's viscosity (their equation 11, rho0 for the mean density), gravity, and XSPH
    spread over a time step.
    """
    fluid = system.fluid
    places, u = np.concatenate([position, ghosts]), np.concatenate([velocity, ghost_velocity])
    rho_b = np.concatenate([rho, ghost_rho])
    p_a, p_b = (fluid.stiffness * ((r / fluid.density) ** GAMMA - 1) for r in (rho, rho_b))
    apart, w, gradient = pairs(position, places, system)
    factor = (p_a / rho**2)[:, None] + p_b / rho_b**2 + drag(apart, velocity, u, system)
    found = -system.mass * (factor[..., None] * gradient).sum(1) / exact_gradients(system)
    smoothed = system.mass / fluid.density * (w[..., None] * (u - velocity[:, None])).sum(1)
    return found + fluid.xsph / system.dt * smoothed - np.array([0, 0, fluid.gravity])


def acceleration(position, velocity, rho, walls, wall_velocity, system):
    """The same, where across its wall a ghost has the pressure of the particle that looks at it, and that of the water
    between the two; what the ghosts beside an axis are missing in the neighbourhood, all others stand for.
    """
    fluid = system.fluid
    term = fluid.stiffness * ((rho / fluid.density) ** GAMMA - 1) / rho**2
    apart, _, gradient = pairs(position, position, system)
    factor = term[:, None] + term + drag(apart, velocity, velocity, system)
    found = (factor[..., None] * gradient).sum(1)
    apart, _, gradient = pairs(position, walls, system)
    weight = fluid.gravity * apart[..., 2] / fluid.density
    found += ((term[:, None] + weight / 2)[..., None] * gradient * strength(position, walls, system)).sum(1)
    found += (drag(apart, velocity, wall_velocity, system)[..., None] * gradient).sum(1)
    found /= there(position, walls, system)
    return -system.mass * found / exact_gradients(system) - np.array([0, 0, fluid.gravity])


def drag(apart, velocity, others, system):
    """Artificial viscosity's share of the factor of grad W."""
    fluid, h = system.fluid, system.resolution.smoothing_length
    approach = ((velocity[:, None] - others) * apart).sum(-1)
    nu = fluid.viscosity * h * fluid.sound_speed / fluid.density
    return np.where(approach < 0, -nu * approach / ((apart**2).sum(-1) + 0.01 * h * h), 0)
