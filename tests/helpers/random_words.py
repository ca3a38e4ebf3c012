"""Many random words at once, from the generator that kernels use, and the same shares of 1 as numbers."""

import numpy as np

from repro.particles.random import ROUNDS, tea, uniform


def words(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of 32-bit words."""
    number = np.arange(count, dtype=np.uint32)
    return tea(ROUNDS)(number, np.zeros(count, np.uint32), 250, seed, 0)


def units(count: int, real=np.float64, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of numbers in (0, 1]."""
    first, second = words(count, seed)
    # the plain Python of `uniform` takes arrays in double precision only
    return tuple(uniform(np.float64)(word.astype(float)).astype(real) for word in (first, second))
