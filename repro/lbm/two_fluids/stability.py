"""How steep the potentials of two fluids may be: what a start is warned of, and what helps where fluids diverge."""

import numpy as np

from .forces import STRENGTH

#: largest difference of a potential over two nodes. It accelerates a fluid by a = STRENGTH/2 times as much, and at rest
#: w rho (1 - 3/2 a) of it leaves against that (equation 2.16 with a relaxation time of 1): less than nothing beyond
STEEPEST = 4 / (3 * STRENGTH)

#: what no start has outlived in trials (see `TwoFluids`): traces of a fluid bear a little more. And g rho beyond which
#: no flat interface is at rest (exact.lattice_interface)
_FATAL, _PARTED = 0.24, 0.28

#: what helps where fluids diverge
ADVICE = (
    f"populations become negative where a potential differs by more than {STEEPEST:.3f} over two nodes: keep g rho "
    "below, the wetting of both fluids near g rho / 2, and start from phases in equilibrium (see TwoFluids)"
)


def doom(problem, density_a, density_b) -> str:
    """Why fluids of such densities, of shape (nz, ny, nx) and 0 in solid, will diverge; nothing if they may not.

    Where they are beyond the spinodal, 3 STRENGTH g sqrt(rho_a rho_b) > 1, they part, and a node will hold one of them.
    """
    g, solid = problem.interaction, problem.stored.solid
    behind = [(0, more - extent) for more, extent in zip(solid.shape, problem.solid.shape, strict=True)]
    a, b = (np.pad(density, behind) for density in (density_a, density_b))
    parting, total, steepest = 3 * STRENGTH * g * np.sqrt(a * b) > 1, a + b, 0.0
    if (parted := g * total[parting].max(initial=0.0)) > _PARTED:
        return f"g rho = {parted:.3g} in a mixture that parts: beyond {_PARTED} no interface is at rest"
    for weight, other in zip(problem.wetting, (b, a), strict=True):
        for density in (other, np.where(parting, total, other)):
            potential = np.where(solid, weight * problem.solid_density, g * density)
            for axis in range(3):
                across = np.roll(potential, -1, axis) - np.roll(potential, 1, axis)
                steepest = max(steepest, float(np.abs(across[~solid]).max()))
    return f"a potential differs by {steepest:.3f} over two nodes" if steepest > _FATAL else ""
