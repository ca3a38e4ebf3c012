"""What is solved: two fluids that repel each other in the pores of an image (porous paper, section 2.4).

Two-component Shan-Chen model with explicit forcing: Porter, Coon, Kang, Moulton, Carey, Phys. Rev. E 86 (2012) 036701.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from repro.declared import Each, Number, OneOf, checked
from repro.errors import InputError

from ..lattice import D3Q19
from ..model import TIME, VECTOR, InPores, Model, Problem
from ..parameters import Grid, in_precision
from .forces import STENCILS, STRENGTH, links_of

COLLISIONS = ("bgk", "mrt")

#: beyond every use, against slips of the pen: the paper's largest is 0.27, and a mixture at 0.5 diverges within 30
#: steps (tests/lbm/test_two_fluids.py); what diverges below it is stopped by the run
LARGEST_INTERACTION = 0.5

#: of an ideal mixture, 0, and of fluids that repel each other
INTERACTION = Number(0, LARGEST_INTERACTION)

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

Vector = tuple[float, float, float]


class Fluid(NamedTuple):
    """What a collision takes of one fluid: relaxation rates of even, of odd populations and of the momentum, and the
    acceleration by the body force."""

    even: float
    odd: float
    momentum: float
    ax: float
    ay: float
    az: float


class Coupling(NamedTuple):
    """g, and the potentials g_ks rho_s by which the solid acts on each fluid."""

    g: float
    wall_a: float
    wall_b: float


class Parameters(NamedTuple):
    """All that an update takes beside its arrays."""

    grid: Grid
    a: Fluid
    b: Fluid
    coupling: Coupling


@dataclass(frozen=True, eq=False)
@checked
class TwoFluids(InPores):
    """Two fluids, a and b, in the pores of an image, in lattice units; the wall is half-way between the nodes.

    What runs follows from one number: over two nodes, on both sides of a pore, a potential may differ by 2/9 = 0.222
    and hardly more (`STEEPEST`). Between phases of density rho it differs by up to g rho; beside a wall by
    |g_ks rho_s| and, where the other fluid wets it, by |g_ks rho_s - g rho|. To a wall with wetting (0, 0) both fluids
    are drawn as to a vacuum; g rho / 2 for both is as neutral and twice as far from the limit, because contact angles
    follow the difference of the two. Seen on 24 x 24 nodes at rho = 1 and relaxation times of 1, over 1000 steps:

        start                                  runs to g = (walls at wetting (0, 0) / (g/2, g/2) / (0.08, -0.08))
        phases in equilibrium                  0.23 / 0.25 / 0.15
        nodes of one fluid or the other        0.18 / 0.18 / 0.10
        g rho of phases that can be in equilibrium at all: to 0.275; the fluids mix below 1/9 = 0.11

    Raises InputError for what cannot work.
    """

    #: where the wall of a voxel lies, as in `porous.problem`
    walls = "half-way"

    #: g of equation 2.12: how strongly the fluids repel each other
    interaction: Annotated[float, INTERACTION]
    #: g_as and g_bs: how strongly the solid repels each fluid; see above for what is neutral
    wetting: Annotated[tuple[float, float], Each(Number(), 2)] = (0.0, 0.0)
    #: tau of each fluid, equation 2.7
    relaxation_times: Annotated[tuple[float, float], Each(TIME, 2)] = (1.0, 1.0)
    #: body force on each fluid over its density
    accelerations: Annotated[tuple[Vector, Vector], Each(VECTOR, 2)] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    #: "bgk", or "mrt" with rates of their own for the momentum and for the odd moments beyond it
    collision: Annotated[str, OneOf(COLLISIONS)] = "bgk"
    #: key of forces.STENCILS
    stencil: Annotated[str, OneOf(STENCILS)] = "isotropic-4"
    #: rho_s
    solid_density: Annotated[float, Number(0)] = 1.0

    def __post_init__(self):
        self._check_pores()
        if self.collision == "mrt" and self.lattice is not D3Q19:
            raise InputError(f"collision 'mrt' is for D3Q19, not {self.lattice.name}: choose bgk")
        for acceleration in self.accelerations:
            # its own checks
            Problem(Model(self.lattice, self.boundaries, forcing="luo"), self.shape, 1.0, force=acceleration)
        for name, wetting in zip("ab", self.wetting, strict=True):
            if abs(wetting * self.solid_density) > LARGEST_INTERACTION:
                raise InputError(
                    f"wetting {wetting} of fluid {name}: times the solid's density at most {LARGEST_INTERACTION}"
                )

    @property
    def layers(self) -> int:
        """Of solid behind a closed face: as many nodes as the stencil is wide."""
        return max(max(e) for e, _ in links_of(self.stencil))

    @property
    def viscosities(self) -> tuple[float, float]:
        """Kinematic viscosity of each fluid, equation 2.7."""
        return tuple((tau - 0.5) / 3 for tau in self.relaxation_times)

    def pressure(self, density_a, density_b):
        """Equation 2.19: (rho_a + rho_b)/3 + 6 g rho_a rho_b."""
        return (density_a + density_b) / 3 + STRENGTH * self.interaction * density_a * density_b

    def parameters(self, dtype) -> Parameters:
        """What the kernels take."""
        walls = [g * self.solid_density for g in self.wetting]
        fluids = (in_precision(Fluid, self._fluid(k), dtype) for k in (0, 1))
        coupling = in_precision(Coupling, (self.interaction, *walls), dtype)
        return Parameters(Grid.packed(self.stored_shape), *fluids, coupling)

    def _fluid(self, k: int) -> Fluid:
        rate = 1 / self.relaxation_times[k]
        if self.collision == "bgk":
            return Fluid(rate, rate, rate, *self.accelerations[k])
        odd = 1 / (0.5 + self.magic / (self.relaxation_times[k] - 0.5))
        return Fluid(rate, odd, MOMENTUM_RATE, *self.accelerations[k])


#: rate of the momenta with "mrt". The viscosity does not depend on it, only how fast one fluid diffuses through the
#: other: with the rates of the viscosity (equation 2.15) traces of the more viscous fluid drag at the thinner one
MOMENTUM_RATE = 1.0


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
