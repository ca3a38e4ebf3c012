"""The particles on a device: flat arrays, component k of particle i at k * count + i. SI units.

Positions are whole numbers in the periodic box around the tank (see `particles.position`).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from repro.particles.position import Units, vectors

from .system import System


class Species(NamedTuple):
    """What a kernel knows of one type of particles, in the order of their cells or with a table of them."""

    #: positions
    r: object
    #: velocities at the middle of a step
    v: object
    #: velocities at its end, foreseen for the viscosity
    u: object
    #: condensations (rho - rho0) / rho0
    s: object
    #: p / (1 + s)^2 in Pa
    term: object
    #: 0 fluid; of ghosts the axes along which they lie beyond a wall, one bit each; AIR, or UNUSED while fluid is near
    kind: object
    count: int
    #: the particles of cell c are the places starts[c] to starts[c + 1], and there the numbers in members
    starts: object
    members: object
    #: the neighbours of each particle of the fluid, as bits, if a search caches them; otherwise anything
    cached_neighbours: object


class Numbers(NamedTuple):
    """What every kernel needs to know of fluid and resolution."""

    #: length of a coordinate's unit in smoothing lengths
    unit_x: float
    unit_y: float
    unit_z: float
    #: square of the support in smoothing lengths
    reach: float
    stiffness: float
    #: rho0 alpha c
    viscosity: float
    #: condensation that a smoothing length of water adds at rest
    hydrostatic: float
    #: rho0 g h: pressure in Pa that a smoothing length of water adds at rest
    weight: float
    #: acceleration in m/s2 of what is a smoothing length beyond a wall
    hardness: float
    #: half a time step in smoothing lengths a metre per second
    half_step: float
    #: spacings in a smoothing length
    spacings: float
    #: what the sums of equations 3, 4 (over one step) and 6 are multiplied by, in double precision
    density: float
    divergence: float
    acceleration: float
    gravity: float
    #: what the sum of density diffusion over one step is multiplied by
    diffusion: float
    #: one over the sum of -x dw/dx over a lattice
    inverse_slope: float
    #: what a neighbour's difference in velocity is multiplied by for XSPH, as the sum of equation 6 counts
    xsph: float


def numbers(system: System, real) -> Numbers:
    """The numbers in type `real`, those that multiply sums in double precision."""
    fluid, resolution = system.fluid, system.resolution
    h, rho, c, slope = resolution.smoothing_length, fluid.density, fluid.sound_speed, resolution.lattice_slope
    return Numbers(
        *(real(unit / h) for unit in Units(real).lengths(system.box)),
        reach=real(resolution.smoothing_kernel.support**2),
        stiffness=real(fluid.stiffness),
        viscosity=real(rho * fluid.viscosity * c),
        hydrostatic=real(fluid.gravity * h / c**2),
        weight=real(rho * fluid.gravity * h),
        hardness=real((c / resolution.spacing) ** 2 * h),
        half_step=real(system.dt / 2 / h),
        spacings=real(resolution.ratio),
        density=np.float64(1 / resolution.lattice_sum),
        divergence=np.float64(system.dt / (h * slope)),
        acceleration=np.float64(1 / (rho * h * slope)),
        gravity=np.float64(fluid.gravity),
        diffusion=np.float64(2 * fluid.diffusion * system.dt / (rho * c * h * slope)),
        inverse_slope=np.float64(1 / slope),
        xsph=real(fluid.xsph / system.dt * rho * h * slope / resolution.lattice_sum),
    )


@dataclass
class State:
    """Arrays of the fluid on the device as in `Species`, with accelerations `a` and 32-bit `ids`.

    With density "rate", the change of the condensation in a time step is a fourth component of `a`, and that in the
    step before a second one of `s`.
    """

    count: int
    r: object
    v: object
    u: object
    s: object
    term: object
    kind: object
    a: object
    ids: object

    @property
    def carried(self) -> tuple:
        """What is read between two places, and a search that sorts must bring along."""
        arrays = self.r, self.v, self.u, self.s
        return (*arrays, self.term) if len(self.a) > 3 * self.count else arrays

    def species(self, starts, members) -> Species:
        """For kernels, with the table of cells."""
        return Species(self.r, self.v, self.u, self.s, self.term, self.kind, self.count, starts, members, starts)


def make_state(device, real, system: System, condensation: np.ndarray, share=None, *, with_rate: bool = False) -> State:
    """The system's particles with ids in its order; with a `share`, see `ranks`, those that are here."""
    velocity, count = system.velocity.astype(real), share.room if share else system.count
    whole, s = Units(real).of(system.position + system.margin, system.box), condensation.astype(real)
    if share:
        share.enter(device, whole)
    put = share.on_device if share else vectors
    return State(
        count,
        r=put(device, whole),
        v=put(device, velocity),
        u=put(device, velocity),
        s=put(device, np.stack([s, np.zeros_like(s)], 1) if with_rate else s),
        term=device.zeros(count, real),
        kind=device.zeros(count, np.int32),
        a=device.zeros((4 if with_rate else 3) * count, real),
        ids=put(device, np.arange(system.count, dtype=np.int32)),
    )
