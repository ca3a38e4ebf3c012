"""Where populations come from and go to, walls included: the one place that knows the faces of the box.

A population that leaves through a wall turns round at its node: that is the half-way wall, completes the corners of the
modified wall, and never comes back into the fluid at the others. A run of nodes never mixes wall nodes with others (the
kernels are launched with `edges`), so each decision is made once a run, and on the GPU once a thread, by choosing an
address instead of taking a branch.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from repro.parallel import device_function

from .boundaries import Boundaries
from .lattice import Lattice
from .layout import make_layout, unsigned
from .neighbours import crossed_faces, index_of, make_offset, steps_of
from .storage import read_half, write_half


@cache
def make_wall_gain(lattice: Lattice, dtype):
    """6 w_i c_i . u_wall, gain(i, wall): what a population gains that a moving wall sends back along i (density 1)."""
    six = dtype(6)
    weights = tuple(map(dtype, lattice.weights))
    cx, cy, cz = (tuple(map(dtype, component)) for component in lattice.components)

    @device_function
    def gain(i, wall):
        return six * weights[i] * (cx[i] * wall.x + cy[i] * wall.y + cz[i] * wall.z)

    return gain


@cache
def make_face_mask(lattice: Lattice, walls: tuple[bool, ...]):
    """(face_mask, crosses_face), which know the six faces as bits of an integer.

    face_mask(x, y, z, grid) are the walls at which a run of nodes lies, worked out once a run; crosses_face(i, sign,
    mask) says whether its neighbour at sign * c_i lies outside through one of them.
    """
    x_low, x_high, y_low, y_high, z_low, z_high = walls
    ahead, behind = crossed_faces(lattice, 1), crossed_faces(lattice, -1)

    @device_function
    def face_mask(x, y, z, grid):
        nx, ny, nz, _ = grid
        at_low = (1 if x_low and x == 0 else 0) + (4 if y_low and y == 0 else 0) + (16 if z_low and z == 0 else 0)
        at_x = 2 if x_high and x == nx - 1 else 0
        at_y = 8 if y_high and y == ny - 1 else 0
        return at_low + at_x + at_y + (32 if z_high and z == nz - 1 else 0)

    @device_function
    def crosses_face(i, sign, mask):
        return ((ahead[i] if sign == 1 else behind[i]) & mask) != 0

    return face_mask, crosses_face


def closed_faces(boundaries: Boundaries) -> tuple[bool, ...]:
    """Which faces are walls."""
    return tuple(not periodic for periodic in boundaries.has("periodic"))


@cache
def make_moving_wall_momentum(lattice: Lattice, boundaries: Boundaries, dtype, sign: int, *, corners: bool = True):
    """What populations gain that turn round at the moving wall, moving_wall_momentum(s, n, x, y, z, grid, wall).

    sign is -1 for those that come from beyond the wall, 1 for those that leave through it; corners=False leaves out
    what would come from beyond one wall and go beyond another. A link through the edge where the moving wall meets one
    at rest is at rest: if it moved, the flow would be off by an amount that falls only as the spacing.
    """
    q, toward, closed = lattice.q, dtype(-sign), closed_faces(boundaries)
    turning = ("half-way", "modified")
    moving = tuple(face == boundaries.moving and scheme in turning for face, scheme in enumerate(boundaries.faces))
    moves, gain = any(moving), make_wall_gain(lattice, dtype)
    mask_of, crosses = make_face_mask(lattice, closed)
    moving_mask_of, crosses_moving = make_face_mask(lattice, moving)
    resting = tuple(is_closed and not moves_here for is_closed, moves_here in zip(closed, moving, strict=True))
    resting_mask_of, crosses_resting = make_face_mask(lattice, resting)

    @device_function
    def moving_wall_momentum(s, n, x, y, z, grid, wall):
        moving_mask = moving_mask_of(x, y, z, grid)
        if moves and moving_mask != 0:
            mask = mask_of(x, y, z, grid)
            for k in range(n):
                # not all runs of nodes end where the box does
                still = resting_mask_of(x + k, y, z, grid)
                for i in range(q):
                    through = crosses_moving(i, sign, moving_mask) and not crosses_resting(i, sign, still)
                    if through and (corners or not crosses(i, -sign, mask)):
                        s[i, k] += toward * gain(i, wall)

    return moving_wall_momentum


class Streaming(NamedTuple):
    """How a run of nodes finds its populations and leaves them; all take (s, n, x, y, z, grid, array, wall)."""

    #: the populations stored at the nodes, completed at modified walls
    load: Callable
    #: the populations that stream in from the neighbours
    pull: Callable
    #: store the populations at their own nodes
    store: Callable
    #: stream the populations out to the neighbours
    push: Callable


@cache
def make_streaming(lattice: Lattice, boundaries: Boundaries, layout: str, dtype, half: bool = False) -> Streaming:
    """The four ways between a run of nodes and an array of populations, kept in half precision if `half` says so."""
    q, opposite, modified = lattice.q, lattice.opposite, "modified" in boundaries.faces
    (at, stride), offset = make_layout(lattice, layout), make_offset(lattice)
    face_mask, crosses_face = make_face_mask(lattice, closed_faces(boundaries))
    arriving, leaving = (make_moving_wall_momentum(lattice, boundaries, dtype, sign) for sign in (-1, 1))
    at_own_nodes = make_moving_wall_momentum(lattice, boundaries, dtype, -1, corners=False)

    @device_function
    def bounce_back(s, n, mask):
        # at modified walls what comes from beyond the wall is what arrives there
        if modified and mask != 0:
            for i in range(q):
                # in a corner some populations have no node on either side: those have turned round already
                if crosses_face(i, -1, mask) and not crosses_face(i, 1, mask):
                    for k in range(n):
                        s[i, k] = s[opposite[i], k]

    def make_read(streams: bool):
        gain = arriving if streams else at_own_nodes

        @device_function
        def read(s, n, x, y, z, grid, f, wall):
            here, size = index_of(x, y, z, grid)
            mask, steps = face_mask(x, y, z, grid), steps_of(x, y, z, grid)
            for i in range(q):
                base = at(i, here + offset(i, -1, steps) if streams else here, size)
                if streams and crosses_face(i, -1, mask):
                    base = at(opposite[i], here, size)
                # a branch that the compiler drops: without it, a function that does nothing changes the order of sums
                for k in range(n):
                    if half:
                        s[i, k] = read_half(f[unsigned(base + stride * k)])
                    else:
                        s[i, k] = f[unsigned(base + stride * k)]
            bounce_back(s, n, mask)
            if streams or modified:
                gain(s, n, x, y, z, grid, wall)

        return read

    def make_write(streams: bool):
        @device_function
        def write(s, n, x, y, z, grid, g, wall):
            here, size = index_of(x, y, z, grid)
            mask, steps = face_mask(x, y, z, grid), steps_of(x, y, z, grid)
            if streams:
                leaving(s, n, x, y, z, grid, wall)
            for i in range(q):
                base = at(i, here + offset(i, 1, steps) if streams else here, size)
                if streams and crosses_face(i, 1, mask):
                    base = at(opposite[i], here, size)
                for k in range(n):
                    if half:
                        g[unsigned(base + stride * k)] = write_half(s[i, k])
                    else:
                        g[unsigned(base + stride * k)] = s[i, k]

        return write

    return Streaming(make_read(False), make_read(True), make_write(False), make_write(True))
