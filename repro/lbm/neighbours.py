"""The neighbours of a node in the flat array, and the faces of the box that lie between."""

from functools import cache

from repro.parallel import device_function

from .lattice import Lattice


@device_function
def sides(position, count, pitch):
    """Steps in the flat index to the left and to the right neighbour on a periodic axis."""
    left = -pitch if position > 0 else (count - 1) * pitch
    right = pitch if position < count - 1 else (1 - count) * pitch
    return left, right


@device_function
def steps_of(x, y, z, grid):
    """The `sides` of a node along x, y and z."""
    nx, ny, nz, _ = grid
    return sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)


@device_function
def index_of(x, y, z, grid):
    """The place of a node in a row of an array, x fastest, and the length of a row."""
    nx, ny, _, row = grid
    return x + nx * (y + ny * z), row


def crossed_faces(lattice: Lattice, sign: int) -> tuple[int, ...]:
    """For each velocity the faces, as bits, through which a node on all of them is left along sign * c_i."""
    return tuple(
        sum(1 << (2 * axis + (sign * c > 0)) for axis, c in enumerate(velocity) if c) for velocity in lattice.velocities
    )


@cache
def make_offset(lattice: Lattice):
    """The step in the flat index to the node at sign * c_i, offset(i, sign, steps), see `steps_of`."""
    cx, cy, cz = lattice.components

    @device_function
    def offset(i, sign, steps):
        (xs, ys, zs), dx, dy, dz = steps, sign * cx[i], sign * cy[i], sign * cz[i]
        step = 0
        if dx != 0:
            step += xs[0] if dx == -1 else xs[1]
        if dy != 0:
            step += ys[0] if dy == -1 else ys[1]
        if dz != 0:
            step += zs[0] if dz == -1 else zs[1]
        return step

    return offset
