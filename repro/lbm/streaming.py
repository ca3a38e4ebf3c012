"""Where populations come from and go to, walls included: the one place that knows the faces of the box.

A population that leaves through a wall turns round at its node: that is the half-way wall, completes the corners of the
modified wall, and never comes back into the fluid at the others. A run of nodes never mixes wall nodes with others (the
kernels are launched with `edges`), so each decision is made once a run, and on the GPU once a thread, by choosing an
address instead of taking a branch.
"""

from functools import cache

from repro.parallel import inline

from .boundaries import Boundaries
from .lattice import Lattice
from .layout import layout_of, unsigned
from .neighbours import crossed_faces, offset_of, sides


@cache
def wall_term(lattice: Lattice, dtype):
    """6 w_i c_i . u_wall: what a population gains that a moving wall sends back in direction i (density 1)."""
    six = dtype(6)
    weights = tuple(map(dtype, lattice.weights))
    cx, cy, cz = (tuple(map(dtype, component)) for component in lattice.components)

    @inline
    def gain(i, wall):
        wx, wy, wz = wall
        return six * weights[i] * (cx[i] * wx + cy[i] * wy + cz[i] * wz)

    return gain


@cache
def beyond_of(lattice: Lattice, walls: tuple[bool, ...]):
    """Returns (edges, beyond), which know the six faces as bits of an integer.

    edges(x, y, z, grid) are the walls at which a run of nodes lies, worked out once a run; beyond(i, sign, edges)
    says whether its neighbour at sign * c_i lies outside through one of them.
    """
    x_low, x_high, y_low, y_high, z_low, z_high = walls
    ahead, behind = crossed_faces(lattice, 1), crossed_faces(lattice, -1)

    @inline
    def edges(x, y, z, grid):
        nx, ny, nz = grid
        at_low = (1 if x_low and x == 0 else 0) + (4 if y_low and y == 0 else 0) + (16 if z_low and z == 0 else 0)
        at_x = 2 if x_high and x == nx - 1 else 0
        at_y = 8 if y_high and y == ny - 1 else 0
        return at_low + at_x + at_y + (32 if z_high and z == nz - 1 else 0)

    @inline
    def beyond(i, sign, edges):
        return ((ahead[i] if sign == 1 else behind[i]) & edges) != 0

    return edges, beyond


def faces_of(boundaries: Boundaries):
    """(closed faces, the moving face alone if populations turn round at it while they stream)."""
    closed = tuple(not periodic for periodic in boundaries.has("periodic"))
    turning = ("half-way", "modified")
    moving = tuple(k == boundaries.moving and scheme in turning for k, scheme in enumerate(boundaries.faces))
    return closed, moving


@cache
def drag_of(lattice: Lattice, boundaries: Boundaries, dtype, sign: int, *, corners: bool = True):
    """Returns drag(s, n, x, y, z, grid, wall): what populations gain that turn round at the moving wall.

    sign is -1 for those that come from beyond the wall, 1 for those that leave through it; corners=False leaves out
    what would come from beyond one wall and go beyond another. A link through the edge where the moving wall meets one
    at rest is at rest: if it moved, the flow would be off by an amount that falls only as the spacing.
    """
    q, toward = lattice.q, dtype(-sign)
    closed, moving = faces_of(boundaries)
    moves, gain = any(moving), wall_term(lattice, dtype)
    edges_of, beyond = beyond_of(lattice, closed)
    moving_edges_of, beyond_moving = beyond_of(lattice, moving)
    resting = tuple(is_closed and not moves_here for is_closed, moves_here in zip(closed, moving, strict=True))
    resting_edges_of, beyond_resting = beyond_of(lattice, resting)

    @inline
    def drag(s, n, x, y, z, grid, wall):
        moving_edges = moving_edges_of(x, y, z, grid)
        if moves and moving_edges != 0:
            edges = edges_of(x, y, z, grid)
            for lane in range(n):
                # not all runs of nodes end where the box does
                still = resting_edges_of(x + lane, y, z, grid)
                for i in range(q):
                    through = beyond_moving(i, sign, moving_edges) and not beyond_resting(i, sign, still)
                    if through and (corners or not beyond(i, -sign, edges)):
                        s[i, lane] += toward * gain(i, wall)

    return drag


@cache
def reflect_of(lattice: Lattice, boundaries: Boundaries):
    """Returns reflect(s, n, edges): at modified walls, what comes from beyond the wall is what arrives there."""
    q, opposite, modified = lattice.q, lattice.opposite, boundaries.bounce == "modified"
    _, beyond = beyond_of(lattice, faces_of(boundaries)[0])

    @inline
    def reflect(s, n, edges):
        if modified and edges != 0:
            for i in range(q):
                # in a corner some populations have no node on either side: those have turned round already
                if beyond(i, -1, edges) and not beyond(i, 1, edges):
                    for lane in range(n):
                        s[i, lane] = s[opposite[i], lane]

    return reflect


@cache
def gather_of(lattice: Lattice, boundaries: Boundaries, layout: str, dtype):
    """Returns gather(s, n, x, y, z, grid, f, wall): the populations that stream into a run of nodes."""
    q, opposite = lattice.q, lattice.opposite
    at, stride = layout_of(lattice, layout)
    edges_of, beyond = beyond_of(lattice, faces_of(boundaries)[0])
    offset, reflect = offset_of(lattice), reflect_of(lattice, boundaries)
    drag = drag_of(lattice, boundaries, dtype, -1)

    @inline
    def gather(s, n, x, y, z, grid, f, wall):
        nx, ny, nz = grid
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        edges = edges_of(x, y, z, grid)
        xs, ys, zs = sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)
        for i in range(q):
            base = at(i, here + offset(i, -1, xs, ys, zs), size)
            if beyond(i, -1, edges):
                base = at(opposite[i], here, size)
            for lane in range(n):
                s[i, lane] = f[unsigned(base + stride * lane)]
        reflect(s, n, edges)
        drag(s, n, x, y, z, grid, wall)

    return gather


@cache
def own_of(lattice: Lattice, boundaries: Boundaries, layout: str, dtype):
    """Returns own(s, n, x, ..., f, wall): the populations stored at the nodes, completed at modified walls."""
    q, modified = lattice.q, boundaries.bounce == "modified"
    at, stride = layout_of(lattice, layout)
    edges_of, _ = beyond_of(lattice, faces_of(boundaries)[0])
    reflect = reflect_of(lattice, boundaries)
    drag = drag_of(lattice, boundaries, dtype, -1, corners=False)

    @inline
    def own(s, n, x, y, z, grid, f, wall):
        nx, ny, nz = grid
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        edges = edges_of(x, y, z, grid)
        for i in range(q):
            base = at(i, here, size)
            for lane in range(n):
                s[i, lane] = f[unsigned(base + stride * lane)]
        reflect(s, n, edges)
        if modified:
            drag(s, n, x, y, z, grid, wall)

    return own


@cache
def keep_of(lattice: Lattice, layout: str):
    """Returns keep(s, n, x, y, z, grid, g): store the populations at their own nodes."""
    q = lattice.q
    at, stride = layout_of(lattice, layout)

    @inline
    def keep(s, n, x, y, z, grid, g):
        nx, ny, nz = grid
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        for i in range(q):
            base = at(i, here, size)
            for lane in range(n):
                g[unsigned(base + stride * lane)] = s[i, lane]

    return keep


@cache
def scatter_of(lattice: Lattice, boundaries: Boundaries, layout: str, dtype):
    """Returns scatter(s, n, x, y, z, grid, g, wall): stream the populations out to the neighbours."""
    q, opposite = lattice.q, lattice.opposite
    at, stride = layout_of(lattice, layout)
    edges_of, beyond = beyond_of(lattice, faces_of(boundaries)[0])
    offset, drag = offset_of(lattice), drag_of(lattice, boundaries, dtype, 1)

    @inline
    def scatter(s, n, x, y, z, grid, g, wall):
        nx, ny, nz = grid
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        edges = edges_of(x, y, z, grid)
        xs, ys, zs = sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)
        drag(s, n, x, y, z, grid, wall)
        for i in range(q):
            base = at(i, here + offset(i, 1, xs, ys, zs), size)
            if beyond(i, 1, edges):
                base = at(opposite[i], here, size)
            for lane in range(n):
                g[unsigned(base + stride * lane)] = s[i, lane]

    return scatter
