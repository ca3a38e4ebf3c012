"""The project's collision on NumPy arrays, and what to draw for it."""

import numpy as np
from hypothesis import strategies as st

from repro.lbm.collision import make_collision
from repro.lbm.equilibrium import scratch_rows

#: values of order one, some tens of operations on each
ROUNDING = 1e-14

forces = st.tuples(*[st.floats(-0.01, 0.01)] * 3)
relaxation_times = st.floats(0.501, 5.0)
seeds = st.integers(0, 2**32 - 1)


def random_populations(lattice, seed, lanes=3):
    """Populations (q, lanes) some per cent from the equilibrium at rest."""
    w = np.array(lattice.weights)[:, None]
    return w * (1 + 0.2 * np.random.default_rng(seed).uniform(-1, 1, (lattice.q, lanes)))


def collided(lattice, f, even_rate, odd_rate, force=(0.0, 0.0, 0.0), forcing=None, dtype=np.float64, *, by="trt"):
    """Populations after the project's collision."""
    w = np.array(lattice.weights)[:, None]
    scratch = np.full((scratch_rows(lattice), f.shape[1]), np.nan, dtype)
    scratch[: lattice.q] = f - w
    rates, force = tuple(map(dtype, (even_rate, odd_rate))), tuple(map(dtype, force))
    make_collision(lattice, dtype, forcing, by)(scratch, f.shape[1], rates, force)
    return scratch[: lattice.q] + w
