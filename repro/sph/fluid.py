"""The fluid, how finely it is resolved, and the time steps that this allows. SI units."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import ceil, sqrt
from typing import Annotated

from repro.declared import Above, Number, OneOf, checked

from .equations import GAMMA
from .kernels import KERNELS, SmoothingKernel, require_kernel

#: smoothing length over spacing: with less a particle has no neighbours, with more too many
RATIO = Number(1, 4)

#: viscosity of particles off the lattice over that on it, about, see `Fluid.viscosity`
DISORDER = 3


@dataclass(frozen=True)
@checked
class Fluid:
    """Water as the paper has it (section 1.2), with Becker and Teschner's artificial viscosity."""

    #: rho0 in kg/m3
    density: Annotated[float, Above(0, "kg/m3")] = 1000.0
    #: B of the Tait equation in Pa
    stiffness: Annotated[float, Above(0, "Pa")] = 1119e3
    #: alpha of the artificial viscosity; Becker and Teschner take 0.08 to 0.5. It acts between particles that approach,
    #: half of all: on the lattice the kinematic viscosity is alpha h c / 20, as a mean over all directions of strain
    #: (at ratio 1.3 1.15 of it along the axes, 0.88 along diagonals). A flow that has broken the lattice has about
    #: three times as much at ratio 1.3 and less than twice at 2, because particles meet that the strain alone would
    #: not bring together: a vortex of 0.02 c in a box 12 spacings wide, alpha 0.1, without gravity, fades by 2.2 to 3.5
    #: (1.3) and 1.6 to 1.9 (2) times that, between 0.6 and 0.05 of its start
    viscosity: Annotated[float, Number(0)] = 0.1
    #: g in m/s2, against z
    gravity: Annotated[float, Number(0, unit="m/s2")] = 9.81
    #: delta of density diffusion in equation 4 (Molteni and Colagrossi 2009), which is not the paper's: with zero,
    #: layers of water at rest alternate by up to a tenth of the pressure
    diffusion: Annotated[float, Number(0)] = 0.1
    #: epsilon of Schechter and Bridson's viscosity, by XSPH: the share of the way to the neighbours' mean velocity that
    #: a particle's own goes in a step; with equation 3 only
    xsph: Annotated[float, Number(0, 1)] = 0.0

    @property
    def sound_speed(self) -> float:
        """c in m/s: c^2 = dp/drho = gamma B / rho0."""
        return sqrt(GAMMA * self.stiffness / self.density)


@dataclass(frozen=True)
@checked
class Resolution:
    """Distance between neighbours on the lattice on which particles begin (m), and the smoothing kernel over it."""

    spacing: Annotated[float, Above(0, "m")]
    #: smoothing length over spacing; with a support of 2 h 1.3 gives about 74 neighbours, 2 about 268. Particles under
    #: pressure that are on a lattice resist strain along its axes: the kernel's sums give a shear modulus of 6.4 % of
    #: the pressure at ratio 1.3, 3.6 % at 1.5, -1.5 % at 1.7 and 1.4 % at 2. Water that sloshes has a period so much
    #: off linear theory: 4.6 % short at 1.3 (5.5 % at finer spacing), 2.1 % short at 1.5, 1.7 % long at 1.7, 1.4 % long
    #: at 2. Measured in a tank 16 x 4 spacings of 0.01 m wide and 8 deep (24 x 4 and 12), its first standing wave begun
    #: with 0.02 m/s, stiffness 20 kPa, viscosity 0.02: a damped cosine fitted to the wave over 2.2 periods
    ratio: Annotated[float, RATIO] = 1.3
    #: Wendland's keeps particles apart. With the cubic spline, which pushes less the nearer they are, energy grew in
    #: bursts after the impact of a dam break.
    kernel: Annotated[str, OneOf(KERNELS)] = "wendland c2"

    def __post_init__(self):
        require_kernel(self.kernel, self.smoothing_kernel)

    @property
    def smoothing_kernel(self) -> SmoothingKernel:
        """Its shape, its support and its norm."""
        return KERNELS[self.kernel]

    @property
    def smoothing_length(self) -> float:
        """h in m."""
        return self.ratio * self.spacing

    @property
    def support(self) -> float:
        """Radius in m beyond which particles do not meet."""
        return self.smoothing_kernel.support * self.smoothing_length

    @property
    def layers(self) -> int:
        """Layers of the lattice that are together as thick as the support."""
        return ceil(self.support / self.spacing)

    @cached_property
    def lattice_sum(self) -> float:
        """The sum of the kernel's shape over the whole cubic lattice."""
        shape, _ = self.smoothing_kernel.shape(float)
        return sum(shape(sqrt(x * x + y * y + z * z)) for x, y, z in self._lattice)

    @cached_property
    def lattice_slope(self) -> float:
        """The sum of -x dw/dx over the whole cubic lattice, w the kernel's shape and x in smoothing lengths.

        The integral over all space is that of w itself. The lattice's sum is 0.97 of `lattice_sum` at ratio 1.3:
        equations 4 and 6 divide by it, so that a uniform divergence and a linear pressure are exact on the lattice.
        """
        _, slope = self.smoothing_kernel.shape(float)
        return -sum(slope(sqrt(x * x + y * y + z * z)) * x * x for x, y, z in self._lattice)

    @property
    def _lattice(self):
        """The sites of a lattice around the origin, in smoothing lengths."""
        reach = int(self.smoothing_kernel.support * self.ratio) + 1
        return product([n / self.ratio for n in range(-reach, reach + 1)], repeat=3)

    def mass(self, density: float) -> float:
        """Mass of a particle in kg with which equation 3 gives exactly `density` on the whole lattice.

        It is density times spacing^3 to some percent at ratio 1 and less at larger ones; the Tait equation would answer
        the difference with tens of kilopascals.
        """
        return density * self.smoothing_length**3 / (self.smoothing_kernel.norm * self.lattice_sum)


def time_steps(
    fluid: Fluid, resolution: Resolution, speed: float, acceleration: float = 0.0, condensation: float = 0.0
) -> dict[str, float]:
    """The longest time steps in s by name: Courant's, the force's, the viscosity's (Morris and others 1997, eq. 14 to
    16) and by the same rule density diffusion's, for particles as fast as `speed` in m/s and accelerated as much in
    m/s2, or by gravity.

    Compressed fluid has a faster sound: c^2 = dp/drho goes with (1 + s)^(gamma - 1). The kinematic viscosity is that of
    particles off the lattice, 3 alpha h c / 20, see `Fluid.viscosity`: they diverge at 1.14 of the limit and not at 1.
    Monaghan's alpha h c / 10 (2005, section 8) is of a viscosity between all pairs, ours acts where they approach.
    """
    h, strongest = resolution.smoothing_length, max(acceleration, fluid.gravity)
    c = fluid.sound_speed * (1 + condensation) ** ((GAMMA - 1) / 2)
    limits = {"Courant": 0.25 * h / (c + speed)}
    if strongest > 0:
        limits["force"] = 0.25 * sqrt(h / strongest)
    if fluid.viscosity > 0:
        limits["viscous"] = 0.125 * h * h / (DISORDER * fluid.viscosity * h * c / 20)
    if fluid.diffusion > 0:
        limits["diffusive"] = 0.125 * h * h / (fluid.diffusion * h * c)
    return limits
