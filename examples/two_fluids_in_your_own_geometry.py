"""Two fluids that do not mix, in pores that you draw yourself: here a channel with a post in its middle.

    python examples/two_fluids_in_your_own_geometry.py [STEPS]

The pores start with both fluids at random. The fluids separate, and the one that the solid attracts covers it.
"""

import sys

import numpy as np

from repro.lbm import PoreSpace, TwoFluidFlow, TwoFluids, wetting
from repro.parallel import select


def channel_with_post(height=26, length=40, radius=6) -> np.ndarray:
    """The mask of the solid, shape (nz, ny, nx): two plates along x and a round post; one layer of nodes is 2-D."""
    y, x = np.mgrid[:height, :length]
    solid = np.hypot(x - length / 2 + 0.5, y - height / 2 + 0.5) < radius
    solid[[0, -1]] = True
    return solid[None]


def separate(solid: np.ndarray, attraction: float, steps: int, seed=1):
    """Fluids a and b after `steps` from a random start; the solid attracts b and repels a by `attraction`."""
    problem = TwoFluids(
        PoreSpace(solid),
        # how strongly the fluids repel each other, in lattice units
        interaction=0.15,
        # how strongly the solid repels each of them
        wetting=(attraction, -attraction),
    )
    flow = TwoFluidFlow(problem, select("serial"), precision="double")
    # each node starts with one fluid and a trace of the other: densities have to be positive
    is_a = np.random.default_rng(seed).random(solid.shape) < 0.5
    flow.set_densities(np.where(is_a, 0.97, 0.03), np.where(is_a, 0.03, 0.97))
    before = flow.masses()
    flow.step(steps)
    return flow, before


def main(steps=400) -> dict[float, float]:
    """The share of the solid's surface that fluid a covers, by how strongly the solid attracts the other one."""
    solid, covered = channel_with_post(), {}
    for attraction in (-0.02, 0.0, 0.02):
        flow, before = separate(solid, attraction, steps)
        density_a, density_b, velocity = flow.fields()
        seen = wetting(density_a, density_b, solid)
        lost = max(abs(now / then - 1) for now, then in zip(flow.masses(), before, strict=True))
        covered[attraction] = seen.covered
        print(
            f"attraction {attraction:+.2f}: fluid a covers {100 * seen.covered:.0f} % of the solid, in "
            f"{seen.clusters[0]} pieces; largest velocity {np.abs(velocity).max():.1e}, mass lost {lost:.0e}"
        )
    return covered


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
