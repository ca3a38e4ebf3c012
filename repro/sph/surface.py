"""The water's surface from its particles: a colour field on a grid, and marching cubes.

The colour of a point is the share of the space around it that particles fill: the sum of V_b W(x - x_b) with a Wendland
kernel one spacing wide. V_b is a particle's volume on the lattice, one spacing cubed. So the colour's mean depends on
the number of particles, not on their arrangement, and the surface of a half space is where it is one half. Walls are
mirrors, so that water fills the tank to them.

The volume 1 / sum_c W(x_b - x_c) that a particle has room for, which others take for V_b, depends on the arrangement:
water stretched along its surface by a quarter, at the same density, would end 0.08 spacings too low, and for a dam that
has broken that is some percent of its volume. Only particles that the kernel would not show, in drops and jets of one,
are given such a volume.

What is left: the surface of a ball lies too deep by the kernel's variance along an axis, 4/15 of a spacing squared,
over the radius.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from skimage.measure import marching_cubes

from repro.errors import require

from .system import System

#: the kernel's radius, and the distance between nodes, in spacings
REACH, STEP = 2.0, 0.5

#: the colour of the surface
LEVEL = 0.5

#: Width of the kernel that tells who is alone, in spacings, and its sum below which a particle is: half a space of
#: particles gives more, a sheet of one layer about as much. A jet of single particles then keeps its volume.
_WIDER, _ALONE = 1.3, 0.55

#: nodes along an axis that a particle colours, and particles that are taken at once
_WIDTH, _AT_ONCE = int(2 * REACH / STEP), 4096

#: a step of Taubin's smoothing, and the one back that keeps the volume: longer waves than some 2 pi / sqrt(0.02) / 3
#: edges pass
_SHRINK, _GROW = 0.6307, -0.6388


class Surface(NamedTuple):
    """A closed mesh in m: corners (n, 3), triangles (m, 3) of their numbers, and normals at the corners, outwards."""

    corners: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray

    @property
    def volume(self) -> float:
        """What the mesh encloses in m3, by Gauss's theorem."""
        a, b, c = (self.corners[self.triangles[:, k]] for k in range(3))
        return float(np.einsum("nk,nk->", a, np.cross(b, c)) / 6)

    @property
    def area(self) -> float:
        """Of all triangles in m2."""
        return float(np.linalg.norm(_areas(self.corners, self.triangles), axis=1).sum())


def reconstruct(position: np.ndarray, system: System) -> Surface:
    """The surface of particles at `position` (count, 3) in m in the system's tank, where it ends.

    Raises InputError if there is no particle in the tank.
    """
    spacing = system.resolution.spacing
    field = colour(position, system)
    require(field.max() > LEVEL, f"{system.name}: there is no water in the tank")
    # a layer of nothing around closes the surface, at the walls
    corners, triangles, _, _ = marching_cubes(np.pad(field, 1), LEVEL, gradient_direction="ascent")
    corners = np.clip((corners.astype(float) - 1) * STEP * spacing, 0, system.tank)
    return _with_normals(corners, triangles)


def colour(position: np.ndarray, system: System) -> np.ndarray:
    """The colour at the nodes of a grid over the tank: half a spacing apart, the first and the last on walls."""
    spacing = system.resolution.spacing
    shape = np.rint(np.array(system.tank) / spacing / STEP).astype(int) + 1
    place, original = _mirrored(np.asarray(position, float) / spacing, np.array(system.tank) / spacing)
    # V_b in spacings cubed: one, and more for particles that are alone
    volume = np.maximum(1, _ALONE / _sums(place / _WIDER) * _WIDER**3)[original]
    # room for all that a particle colours beyond a wall
    field = np.zeros(shape + 4 * _WIDTH, np.float32)
    for first in range(0, len(place), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        _add(field, place[some], volume[some])
    return field[tuple(slice(2 * _WIDTH, 2 * _WIDTH + n) for n in shape)]


def _mirrored(place: np.ndarray, tank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places in spacings with the mirror images of those near walls behind them, and whose image each is."""
    reach = REACH * _WIDER
    # what has left the tank is not drawn
    place = place[((place > -REACH) & (place < tank + REACH)).all(1)]
    original = np.arange(len(place))
    for axis, end in product(range(3), (0, 1)):
        image = place.copy()
        image[:, axis] = 2 * end * tank[axis] - image[:, axis]
        near = np.abs(image[:, axis] - end * tank[axis]) < reach
        place, original = np.concatenate([place, image[near]]), np.concatenate([original, original[near]])
    return place, original


def _shape(square):
    """Wendland's kernel one spacing wide, normalised, of squared distances in spacings."""
    q = np.sqrt(square)
    return 21 / (16 * np.pi) * np.maximum(1 - q / REACH, 0) ** 4 * (2 * q + 1)


def _sums(place: np.ndarray) -> np.ndarray:
    """The kernel's sum at each place."""
    tree = cKDTree(place)
    pairs = tree.query_pairs(REACH, output_type="ndarray")
    weights = _shape(((place[pairs[:, 0]] - place[pairs[:, 1]]) ** 2).sum(1))
    both = sum(np.bincount(pairs[:, k], weights, len(place)) for k in range(2))
    return _shape(0.0) + both


def _add(field: np.ndarray, place: np.ndarray, volume: np.ndarray) -> None:
    """Add some particles to the field."""
    nodes = np.floor(place / STEP).astype(int)[:, :, None] + np.arange(1 - _WIDTH // 2, 1 + _WIDTH // 2)
    square = _over_axes(((nodes * STEP - place[:, :, None]) ** 2).astype(np.float32))
    shares = volume.astype(np.float32)[:, None, None, None] * _shape(square)
    strides = np.array(field.strides) // field.itemsize
    flat = _over_axes((nodes + 2 * _WIDTH) * strides[:, None])
    # most of the field is far from these particles
    first, last = flat.min(), flat.max() + 1
    field.reshape(-1)[first:last] += np.bincount((flat - first).ravel(), shares.ravel(), last - first)


def _over_axes(parts: np.ndarray) -> np.ndarray:
    """Sums over all choices of one of the values (count, 3, n) along each axis: (count, n, n, n)."""
    return parts[:, 0, :, None, None] + parts[:, 1, None, :, None] + parts[:, 2, None, None, :]


def smoothed(surface: Surface, system: System, rounds: int) -> Surface:
    """The mesh without what single particles impress on it: `rounds` of Taubin's smoothing (Proc. SIGGRAPH 1995, 351).

    What touches a wall goes on to touch it.
    """
    corners, count = surface.corners.copy(), len(surface.corners)
    walls = np.hstack([corners <= 0, corners >= system.tank])
    ends = np.concatenate([surface.triangles[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
    # the wet wall would draw the line where the surface meets it
    ends = ends[~(walls[ends[:, 0]] & walls[ends[:, 1]]).any(1)]
    near = csr_array((np.ones(len(ends)), ends.T), (count, count))
    number = (near + near.T).sum(1)
    free = ~(walls[:, :3] | walls[:, 3:]) & (number > 0)[:, None]
    mean = csr_array((1 / np.maximum(number, 1), (range(count), range(count)))) @ (near + near.T)
    for share in [_SHRINK, _GROW] * rounds:
        corners += np.where(free, share * (mean @ corners - corners), 0)
    return _with_normals(np.clip(corners, 0, system.tank), surface.triangles)


def roughness(surface: Surface, system: System) -> float:
    """Root mean square in spacings of how far the free surface lies from what 50 rounds of smoothing leave of it.

    That takes away waves of a few spacings: what particles impress on the surface, not what the water does. Corners on
    walls do not count.
    """
    away = ((surface.corners > 0) & (surface.corners < system.tank)).all(1)
    moved = np.einsum("nk,nk->n", smoothed(surface, system, 50).corners - surface.corners, surface.normals)[away]
    return float(np.sqrt(np.mean(moved**2)) / system.resolution.spacing) if away.any() else 0.0


def _areas(corners: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals of triangles, as long as their areas."""
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a) / 2


def _with_normals(corners: np.ndarray, triangles: np.ndarray) -> Surface:
    """Normals at the corners are means over the triangles around, weighted with their areas."""
    areas, normals = _areas(corners, triangles), np.zeros_like(corners)
    for k in range(3):
        np.add.at(normals, triangles[:, k], areas)
    return Surface(corners, triangles, normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300))
