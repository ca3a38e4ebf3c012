"""Ghost particles in the walls and in the air around the fluid, after Schechter and Bridson 2012.

They fill up the sums of particles near a boundary, which would miss half of their neighbours (ACM Trans. Graph. 31,
article 61).

In the walls: layers on the lattice of the fluid, as thick as the support, where Schechter and Bridson have relaxed
Poisson-disc samples. They have the fluid's velocity along the wall, averaged as in XSPH (Monaghan, J. Comput. Phys. 82
(1989) 1), and none across it, so that the fluid slips; and the fluid's density, continued at rest to their depth (Adami
and others, J. Comput. Phys. 231 (2012) 7057, equation 27): a copy would leave the lowest layer without support for its
weight. With equation 4 they mirror it (solid_boundary.py).

In the air: relaxed Poisson-disc samples around the fluid (air.py). They have the fluid's velocity and no pressure:
density rho0. They act where densities are by equation 3. There is room for as many as the tank can hold; those that are
not needed wait in a corner of the box that no particle reaches.
"""

from typing import NamedTuple

import numpy as np

from repro.errors import InputError
from repro.particles.position import Units

from .pair import AIR, OBSTACLE, UNUSED
from .state import Species
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
    # a byte a site: most of a large tank's are not in its walls
    bits = [((axis < 0) | (axis >= n)) * np.int8(1 << k) for k, (axis, n) in enumerate(zip(axes, shape, strict=True))]
    kind = bits[0][:, None, None] | bits[1][:, None] | bits[2]
    position = (np.argwhere(kind) - layers + 0.5) * spacing
    return Sites(position, kind[kind > 0].astype(np.int32))


def obstacles(system: System) -> Sites:
    """The system's obstacles, which stand still and have the fluid's pressure, as a wall."""
    return Sites(system.obstacles, np.full(len(system.obstacles), OBSTACLE, np.int32))


def make_ghosts(device, real, system: System, sites: Sites) -> Species:
    """Ghosts on the device, in the order of their cells."""
    return _on_device(device, real, *_by_cells(real, system, sites.position + system.margin, sites.kind))


def make_no_ghosts(device, real, system: System) -> Species:
    """A species without particles, of which every cell is empty."""
    numbers, kind = device.zeros(3, real), device.zeros(1, np.int32)
    r, starts = device.zeros(3, Units(real).whole), device.zeros(system.cells.count + 1, np.int32)
    return Species(r, *[numbers] * 4, kind, 0, starts, kind, starts)


def make_air(device, real, system: System, count: int, search) -> Species:
    """Room for `count` ghosts in the air, none of them used, with the table that a search walks."""
    return search.static(device, _on_device(device, real, *_air_table(real, system, np.zeros((0, 3)), count)))


def place_air(device, real, air: Species, system: System, position: np.ndarray, search) -> None:
    """Put ghosts at `position` (n, 3) in m and all others of `air` away, in the arrays that kernels are bound to."""
    r, kind, starts, members = _air_table(real, system, position, air.count)
    tables = (device.to_device(array) for array in (starts, members))
    table = search.static(device, air._replace(**dict(zip(("starts", "members"), tables, strict=True))))
    air.r[:], air.kind[:] = device.to_device(r), device.to_device(kind)
    air.starts[:], air.members[:] = table.starts, table.members


def _air_table(real, system: System, position: np.ndarray, count: int):
    """`_by_cells` of so many ghosts in the air, of which those that are not at a `position` in m rest in a corner."""
    rest, used = np.zeros((count - len(position), 3)), position + system.margin
    kind = np.repeat(np.array([UNUSED, AIR], np.int32), (len(rest), len(used)))
    return _by_cells(real, system, np.concatenate([rest, used]), kind)


def _by_cells(real, system: System, position: np.ndarray, kind: np.ndarray):
    """Positions, kinds and first-index array of ghosts at places in m in the box, in the order of their cells."""
    r, cells = Units(real).of(position, system.box), system.cells
    cell = cells.of_units(r)
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(cells.count + 1)).astype(np.int32)
    return np.ascontiguousarray(r[order].T).ravel(), kind[order], starts, np.arange(len(kind), dtype=np.int32)


def _on_device(device, real, *table) -> Species:
    """Ghosts by `_by_cells` without velocity and pressure; they do not move by themselves: both velocities are one."""
    count = len(table[1])
    u, s, term = device.zeros(3 * count, real), device.zeros(count, real), device.zeros(count, real)
    r, kind, starts, members = map(device.to_device, table)
    return Species(r, u, u, s, term, kind, count, starts, members, starts)
