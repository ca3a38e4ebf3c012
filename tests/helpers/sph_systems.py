"""Water that several tests of the sph solver begin with."""

import numpy as np

from repro.sph.fluid import Fluid, Resolution
from repro.sph.system import System


def shaken(seed=1, *, tank=(6, 5, 7), water=(5, 5, 5), speed=0.3) -> System:
    """A column of particles, each a little off the lattice, with velocities."""
    spacing, generator = 0.02, np.random.default_rng(seed)
    index = np.stack(np.meshgrid(*(np.arange(n) for n in water), indexing="ij"), -1).reshape(-1, 3)
    position = (index + 0.5 + generator.uniform(-0.2, 0.2, index.shape)) * spacing
    velocity = generator.normal(0, speed, index.shape)
    # so far off the lattice, equation 3 finds fluid with a faster sound
    step = 3e-5
    return System(Fluid(), Resolution(spacing), tuple(n * spacing for n in tank), position, velocity, step)
