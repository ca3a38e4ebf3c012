"""Ghost particles in the walls and in the air around the fluid, after Schechter and Bridson 2012.

They fill up the sums of particles near a boundary, which would miss half of their neighbours (ACM Trans. Graph. 31,
article 61).

In the walls: layers on the lattice of the fluid, as thick as the support. They have the fluid's velocity along the
wall, averaged as in XSPH (Monaghan, J. Comput. Phys. 82 (1989) 1), and none across it, so that the fluid slips; and the
fluid's density, continued at rest to their depth (Adami and others, J. Comput. Phys. 231 (2012) 7057, equation 27): a
copy would leave the lowest layer without support for its weight. With equation 4 they mirror it (solid_boundary.py).

In the air: sites of the lattice with no fluid nearer than the gap and some within the support. They have the fluid's
velocity and no pressure: density rho0. The sites are fixed and only their use changes, on the device: a new random
sample in each step would need another number of particles each time.
"""

from typing import NamedTuple

import numpy as np

from repro.errors import InputError
from repro.parallel.launch_sequence import in_turn
from repro.particles.position import Units, vectors
from repro.particles.radix_sort import RadixSort

from .pair import OBSTACLE, UNUSED
from .state import Species
from .system import System

#: how the density near boundaries is treated: ghosts, no ghosts, or no ghosts and no density below rho0
BOUNDARIES = ("ghosts", "none", "clamped")

#: distance in spacings below which fluid leaves no room for a ghost in the air
GAP = 0.85


class Sites(NamedTuple):
    """Places in m for ghosts, (count, 3), and their kinds: bits of the axes beyond a wall, or UNUSED in the air."""

    position: np.ndarray
    kind: np.ndarray


def lattice(system: System) -> list[Sites]:
    """The sites in the walls and those in the tank; raises InputError if the lattice does not fit the tank."""
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
    walls = kind > 0
    return [Sites(position[walls], kind[walls]), Sites(position[~walls], np.full_like(kind[~walls], UNUSED))]


def obstacles(system: System) -> Sites:
    """The system's obstacles, which stand still and have the fluid's pressure, as a wall."""
    return Sites(system.obstacles, np.full(len(system.obstacles), OBSTACLE, np.int32))


def make_ghosts(device, real, system: System, sites: Sites) -> Species:
    """Ghosts on the device, in the order of their cells."""
    r, count = Units(real).of(sites.position + system.margin, system.box), len(sites.kind)
    sort = RadixSort(device, system.cells, count, real)
    in_turn(*sort.update(vectors(device, r)).values())
    order, members = device.to_host(sort.members), device.to_device(np.arange(count, dtype=np.int32))
    u, s, term = device.zeros(3 * count, real), device.zeros(count, real), device.zeros(count, real)
    # ghosts do not move by themselves: both velocities are one
    kind, starts = device.to_device(sites.kind[order]), sort.starts
    return Species(vectors(device, r[order]), u, u, s, term, kind, count, starts, members, starts)


def make_no_ghosts(device, real, system: System) -> Species:
    """A species without particles, of which every cell is empty."""
    numbers, kind = device.zeros(3, real), device.zeros(1, np.int32)
    r, starts = device.zeros(3, Units(real).whole), device.zeros(system.cells.count + 1, np.int32)
    return Species(r, *[numbers] * 4, kind, 0, starts, kind, starts)
