"""Systems that the tests of the solver share, so that each kernel is compiled once."""

import numpy as np
import pytest

from repro.sph.fluid import Fluid, Resolution
from repro.sph.system import System


def shaken(seed=1, *, tank=(6, 5, 7), water=(5, 5, 5), kernel="wendland c2", speed=0.3) -> System:
    """A column of particles, each a little off the lattice, with velocities."""
    spacing, generator = 0.02, np.random.default_rng(seed)
    index = np.stack(np.meshgrid(*(np.arange(n) for n in water), indexing="ij"), -1).reshape(-1, 3)
    position = (index + 0.5 + generator.uniform(-0.2, 0.2, index.shape)) * spacing
    velocity = generator.normal(0, speed, index.shape)
    return System(Fluid(), Resolution(spacing, kernel=kernel), tuple(n * spacing for n in tank), position, velocity)


@pytest.fixture(scope="session")
def shaken_water():
    """125 particles in a corner of a tank, with some air around."""
    return shaken()
