"""The particles on a device: flat arrays, component k of particle i at k * count + i. SI units.

Positions are whole numbers in the periodic box around the tank (see `particles.position`).
"""

from collections import namedtuple
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
    #: 0 fluid; of ghosts the axes along which they lie beyond a wall, one bit each; AIR, UNUSED, OBSTACLE
    kind: object
    count: int
    #: the particles of cell c are the places starts[c] to starts[c + 1], and there the numbers in members
    starts: object
    members: object
    #: the neighbours of each particle of the fluid, as bits, if a search caches them; otherwise anything
    cached_neighbours: object


#: what every kernel needs to know of fluid and resolution, see `numbers`
Numbers = namedtuple(
    "Numbers",
    "unit_x unit_y unit_z reach stiffness viscosity hydrostatic weight hardness half_step spacings "
    "density divergence acceleration gravity diffusion inverse_slope xsph",
)


def numbers(system: System, real) -> Numbers:
    """The numbers in type `real`, those that multiply sums in double precision."""
    fluid, resolution = system.fluid, system.resolution
    h, rho, c, slope = resolution.smoothing_length, fluid.density, fluid.sound_speed, resolution.lattice_slope
    return Numbers(
        # length of a coordinate's unit in smoothing lengths
        *(real(unit / h) for unit in Units(real).lengths(system.box)),
        # square of the support in smoothing lengths
        reach=real(resolution.smoothing_kernel.support**2),
        stiffness=real(fluid.stiffness),
        # rho0 alpha c
        viscosity=real(rho * fluid.viscosity * c),
        # condensation that a smoothing length of water adds at rest, and the pressure in Pa
        hydrostatic=real(fluid.gravity * h / c**2),
        weight=real(rho * fluid.gravity * h),
        # acceleration in m/s2 of what is a smoothing length beyond a wall
        hardness=real((c / resolution.spacing) ** 2 * h),
        # half a time step in smoothing lengths a metre per second
        half_step=real(system.dt / 2 / h),
        # spacings in a smoothing length
        spacings=real(resolution.ratio),
        # what the sums of equations 3, 4 (over one step) and 6 are multiplied by
        density=np.float64(1 / resolution.lattice_sum),
        divergence=np.float64(system.dt / (h * slope)),
        acceleration=np.float64(1 / (rho * h * slope)),
        gravity=np.float64(fluid.gravity),
        # what the sum of density diffusion over one step is multiplied by
        diffusion=np.float64(2 * fluid.diffusion * system.dt / (rho * c * h * slope)),
        # one over the sum of -x dw/dx over a lattice
        inverse_slope=np.float64(1 / slope),
        # what a neighbour's difference in velocity is multiplied by for XSPH, as the sum of equation 6 counts
        xsph=real(fluid.xsph / system.dt * rho * h * slope / resolution.lattice_sum),
    )


class State(namedtuple("State", (*Species._fields[:7], "a", "ids"))):
    """The fluid on the device: arrays and their count as in `Species`, accelerations `a` and 32-bit `ids`."""

    def species(self, starts, members) -> Species:
        """For kernels, with the table of cells."""
        return Species(*self[:7], starts, members, starts)


def make_state(device, real, system: System, condensation: np.ndarray) -> State:
    """The system's particles with ids in its order."""
    count, velocity = system.count, system.velocity.astype(real)
    return State(
        r=vectors(device, Units(real).of(system.position + system.margin, system.box)),
        v=vectors(device, velocity),
        u=vectors(device, velocity),
        s=device.to_device(condensation.astype(real)),
        term=device.zeros(count, real),
        kind=device.zeros(count, np.int32),
        count=count,
        a=device.zeros(3 * count, real),
        ids=device.to_device(np.arange(count, dtype=np.int32)),
    )
