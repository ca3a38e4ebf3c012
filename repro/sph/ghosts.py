"""Ghost particles in the walls and in the air around the fluid, after Schechter and Bridson 2012.

They fill up the sums of particles near a boundary, which would miss half of their neighbours (ACM Trans. Graph. 31,
article 61).

In the walls: layers on the lattice of the fluid, as thick as the support. They have the fluid's velocity along the
wall, averaged as in XSPH (Monaghan, J. Comput. Phys. 82 (1989) 1), and none across it, so that the fluid slips; and the
fluid's density, continued at rest to their depth (Adami and others, J. Comput. Phys. 231 (2012) 7057, equation 27): a
copy would leave the lowest layer without support for its weight. With equation 4 they mirror it (solid_boundary.py).

In the air: relaxed Poisson-disc samples around the fluid (air.py). They have the fluid's velocity and no pressure:
density rho0. They act where densities are by equation 3. There is room for as many as the tank can hold; those that are
not needed wait in a corner of the box that no particle reaches.
"""

from typing import NamedTuple

import numpy as np

from repro.errors import InputError
from repro.particles.cells import cell_number
from repro.particles.position import Units, vectors

from .equations import device_factory, make_pressure_term, make_xsph_mean
from .pair import AIR, OBSTACLE, UNUSED, Position, make_extrapolation_pair, vector_of, within_support
from .state import Species
from .strategies.search import make_locate, make_sum_around
from .system import System

#: how the density near boundaries is treated: ghosts, no ghosts, or no ghosts and no density below rho0
BOUNDARIES = ("ghosts", "none", "clamped")


class Sites(NamedTuple):
    """Places in m for ghosts, (count, 3), and their kinds: bits of the axes beyond a wall, or OBSTACLE."""

    position: np.ndarray
    kind: np.ndarray


def wall_sites(system: System) -> Sites:
    """The lattice's sites in the walls; raises InputError if it does not fit the tank."""
    spacing, layers = system.resolution.spacing, system.layers
    shape = [round(side / spacing) for side in system.tank]
    for axis, side, n in zip("xyz", system.tank, shape, strict=True):
        if abs(n * spacing - side) > 1e-6 * side:
            raise InputError(f"tank side {axis} = {side:g} m is no whole number of spacings of {spacing:g} m")
    axes = [np.arange(-layers, n + layers) for n in shape]
    if not system.walls.lid:
        axes[2] = axes[2][axes[2] < shape[2]]
    index = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    beyond = (index < 0) | (index >= shape)
    position, kind = (index + 0.5) * spacing, beyond @ np.array([1, 2, 4], np.int32)
    return Sites(position[kind > 0], kind[kind > 0])


def obstacles(system: System) -> Sites:
    """The system's obstacles, which stand still and have the fluid's pressure, as a wall."""
    return Sites(system.obstacles, np.full(len(system.obstacles), OBSTACLE, np.int32))


def air_sites(system: System, position: np.ndarray, room: int) -> Sites:
    """Ghosts at places (count, 3) in m in the air, and so many in all: those that are not used rest in a corner."""
    rest = np.full((room - len(position), 3), -system.margin)
    kind = np.repeat(np.array([UNUSED, AIR], np.int32), (len(rest), len(position)))
    return Sites(np.concatenate([rest, position]), kind)


def make_ghosts(device, real, system: System, sites: Sites) -> Species:
    """Ghosts on the device in the order of their cells, with a first-index array, without velocity and pressure.

    They do not move by themselves: both velocities are one.
    """
    r, cells = Units(real).of(sites.position + system.margin, system.box), system.cells
    cell = cells.of_units(r)
    order, count = np.argsort(cell, kind="stable"), len(cell)
    starts = np.searchsorted(cell[order], np.arange(cells.count + 1)).astype(np.int32)
    u, s, term = device.zeros(3 * count, real), device.zeros(count, real), device.zeros(count, real)
    table = sites.kind[order], starts, np.arange(count, dtype=np.int32)
    kind, starts, members = map(device.to_device, table)
    return Species(vectors(device, r[order]), u, u, s, term, kind, count, starts, members, starts)


def make_no_ghosts(device, real, system: System) -> Species:
    """A species without particles, of which every cell is empty."""
    numbers, kind = device.zeros(3, real), device.zeros(1, np.int32)
    r, starts = device.zeros(3, Units(real).whole), device.zeros(system.cells.count + 1, np.int32)
    return Species(r, *[numbers] * 4, kind, 0, starts, kind, starts)


@device_factory
def make_extrapolation(real, kernel, search, walk):
    """What ghosts take over from the fluid around them, one item a ghost: its velocity, and in walls its pressure.

    They lie in the order of their cells. Those of a cell without fluid around it, most of a tank's, are passed over,
    and on a CPU without a look at each.
    """
    pair_term, locate = within_support(real, make_extrapolation_pair(real, kernel)), make_locate(real)
    total = make_sum_around(real, pair_term, walk)
    term, mean, zero, zeros = make_pressure_term(real), make_xsph_mean(real), real(0), (np.float64(0),) * 5
    occupied = search.occupied

    def extrapolate(x, n, fluid, ghosts, p, cells):
        u, count, last, near = ghosts.u, ghosts.count, -1, False
        for i in range(x, x + n):
            kind, position = ghosts.kind[i], vector_of(ghosts.r, i, count)
            cell = locate(position, i, count, cells)
            number = cell_number(cell, cells)
            if number != last:
                last, near = number, occupied(cell, fluid, cells)
            if near and kind != UNUSED:
                sums = total(zeros, Position(position), cell, fluid, p, cells)
                u[i] = zero if kind & 1 else mean(sums[1], sums[0])
                u[count + i] = zero if kind & 2 else mean(sums[2], sums[0])
                u[2 * count + i] = zero if kind & 4 else mean(sums[3], sums[0])
                ghosts.s[i] = zero if kind == AIR else mean(sums[4], sums[0])
                ghosts.term[i] = term(ghosts.s[i], p.stiffness)

    return extrapolate
