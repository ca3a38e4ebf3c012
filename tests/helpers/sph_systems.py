"""Water that several tests of the sph solver begin with."""

from functools import cache
from math import pi

import numpy as np

from repro.parallel import device_function
from repro.sph.fluid import Fluid, Resolution
from repro.sph.kernels import SmoothingKernel
from repro.sph.system import System


def shaken(seed=1, *, tank=(6, 5, 7), water=(5, 5, 5), speed=0.3, kernel="wendland c2") -> System:
    """A column of particles, each a little off the lattice, with velocities; no number of the fluid is like another."""
    spacing, generator = 0.02, np.random.default_rng(seed)
    index = np.stack(np.meshgrid(*(np.arange(n) for n in water), indexing="ij"), -1).reshape(-1, 3)
    position = (index + 0.5 + generator.uniform(-0.2, 0.2, index.shape)) * spacing
    velocity = generator.normal(0, speed, index.shape)
    # so far off the lattice, equation 3 finds fluid with a faster sound
    step = 3e-5
    fluid = Fluid(density=880.0, stiffness=1.3e6, viscosity=0.07, gravity=8.2, diffusion=0.13)
    sides = tuple(n * spacing for n in tank)
    return System(fluid, Resolution(spacing, kernel=kernel), sides, position, velocity, step)


def quintic_spline() -> SmoothingKernel:
    """The spline M6 (Schoenberg, Quart. Appl. Math. 4 (1946) 45), of support 3 h, as a user writes it in a file of his
    own; 66 at its middle.
    """
    return SmoothingKernel(_quintic_spline, support=3.0, norm=1 / (120 * pi))


@cache
def _quintic_spline(real):
    zero, one, two, three, five, six, fifteen = map(real, (0, 1, 2, 3, 5, 6, 15))
    thirty, fifty, hundred_and_twenty = map(real, (30, 50, 120))

    @device_function
    def shape(q):
        a, b, c = max(three - q, zero), max(two - q, zero), max(one - q, zero)
        return a * a * a * a * a - six * b * b * b * b * b + fifteen * c * c * c * c * c

    @device_function
    def slope(q):
        if q < one:
            # w' over q without a division: of 66 - 60 q^2 + 30 q^4 - 10 q^5
            return (hundred_and_twenty - fifty * q) * q * q - hundred_and_twenty
        a, b = max(three - q, zero), max(two - q, zero)
        return -(five * a * a * a * a - thirty * b * b * b * b) / q

    return shape, slope
