"""Where populations come from and go to, walls included: the one place that knows the faces of the box.

A run of nodes never mixes wall nodes with others (the kernels are launched with `edges`), so each decision is made
once a run, and on the GPU once a thread, by choosing an address instead of taking a branch.
"""

from repro.parallel import inline

from .boundaries import Boundaries
from .lattice import Lattice
from .layout import layout_of, unsigned


def wall_term(lattice: Lattice, dtype):
    """6 w_i c_i . u_wall: what a population gains that a moving wall sends back in direction i (density 1)."""
    six = dtype(6)
    weights = tuple(map(dtype, lattice.weights))
    cx, cy, cz = (tuple(map(dtype, component)) for component in lattice.components)

    @inline
    def gain(i, wx, wy, wz):
        return six * weights[i] * (cx[i] * wx + cy[i] * wy + cz[i] * wz)

    return gain


@inline
def sides(position, count, pitch):
    """Steps in the flat index to the left and to the right neighbour on a periodic axis."""
    left = -pitch if position > 0 else (count - 1) * pitch
    right = pitch if position < count - 1 else (1 - count) * pitch
    return left, right


def beyond_of(lattice: Lattice, walls: tuple[bool, ...]):
    """Returns (edges, beyond), which know the six faces as bits of an integer.

    edges(x, y, z, nx, ny, nz) are the walls at which a run of nodes lies, worked out once a run; beyond(i, sign, edges)
    says whether its neighbour at sign * c_i lies outside through one of them.
    """
    x_low, x_high, y_low, y_high, z_low, z_high = walls

    def crossed(velocity, sign):
        return sum(1 << (2 * axis + (sign * c > 0)) for axis, c in enumerate(velocity) if c)

    ahead, behind = (tuple(crossed(velocity, sign) for velocity in lattice.velocities) for sign in (1, -1))

    @inline
    def edges(x, y, z, nx, ny, nz):
        at_low = (1 if x_low and x == 0 else 0) + (4 if y_low and y == 0 else 0) + (16 if z_low and z == 0 else 0)
        at_x = 2 if x_high and x == nx - 1 else 0
        at_y = 8 if y_high and y == ny - 1 else 0
        return at_low + at_x + at_y + (32 if z_high and z == nz - 1 else 0)

    @inline
    def beyond(i, sign, edges):
        return ((ahead[i] if sign == 1 else behind[i]) & edges) != 0

    return edges, beyond


def offset_of(lattice: Lattice):
    """Returns offset(i, sign, xs, ys, zs): the step in the flat index to the node at sign * c_i, from `sides`."""
    cx, cy, cz = lattice.components

    @inline
    def offset(i, sign, xs, ys, zs):
        dx, dy, dz = sign * cx[i], sign * cy[i], sign * cz[i]
        step = 0
        if dx != 0:
            step += xs[0] if dx == -1 else xs[1]
        if dy != 0:
            step += ys[0] if dy == -1 else ys[1]
        if dz != 0:
            step += zs[0] if dz == -1 else zs[1]
        return step

    return offset


def faces_of(boundaries: Boundaries):
    """(closed faces, the moving face alone if populations turn round at it while they stream)."""
    closed = tuple(not periodic for periodic in boundaries.has("periodic"))
    turning = ("half-way", "modified")
    moving = tuple(k == boundaries.moving and scheme in turning for k, scheme in enumerate(boundaries.faces))
    return closed, moving


def gather_of(lattice: Lattice, boundaries: Boundaries, layout: str, dtype):
    """Returns gather(s, n, x, y, z, nx, ny, nz, f, wx, wy, wz): the populations that stream into a run of nodes."""
    q, opposite = lattice.q, lattice.opposite
    at, stride = layout_of(lattice, layout)
    closed, moving = faces_of(boundaries)
    half_way, modified, moves = boundaries.bounce == "half-way", boundaries.bounce == "modified", any(moving)
    edges_of, beyond = beyond_of(lattice, closed)
    moving_edges_of, beyond_moving = beyond_of(lattice, moving)
    offset, gain = offset_of(lattice), wall_term(lattice, dtype)

    @inline
    def gather(s, n, x, y, z, nx, ny, nz, f, wx, wy, wz):
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        edges, moving_edges = edges_of(x, y, z, nx, ny, nz), moving_edges_of(x, y, z, nx, ny, nz)
        xs, ys, zs = sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)
        for i in range(q):
            base = at(i, here + offset(i, -1, xs, ys, zs), size)
            if beyond(i, -1, edges):
                base = at(opposite[i] if half_way or modified else i, here, size)
                if modified and not beyond(i, 1, edges):
                    # what streams into this node from the other side, sent back at once
                    base = at(opposite[i], here + offset(i, 1, xs, ys, zs), size)
            for lane in range(n):
                s[i, lane] = f[unsigned(base + stride * lane)]
            if moves and beyond_moving(i, -1, moving_edges):
                for lane in range(n):
                    s[i, lane] += gain(i, wx, wy, wz)

    return gather


def own_of(lattice: Lattice, boundaries: Boundaries, layout: str, dtype):
    """Returns own(s, n, x, ..., f, wx, wy, wz): the populations stored at the nodes, completed at modified walls."""
    q, opposite = lattice.q, lattice.opposite
    at, stride = layout_of(lattice, layout)
    closed, moving = faces_of(boundaries)
    modified, moves = boundaries.bounce == "modified", any(moving)
    edges_of, beyond = beyond_of(lattice, closed)
    moving_edges_of, beyond_moving = beyond_of(lattice, moving)
    gain = wall_term(lattice, dtype)

    @inline
    def own(s, n, x, y, z, nx, ny, nz, f, wx, wy, wz):
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        edges, moving_edges = edges_of(x, y, z, nx, ny, nz), moving_edges_of(x, y, z, nx, ny, nz)
        for i in range(q):
            base = at(i, here, size)
            back = False
            if modified:
                back = beyond(i, -1, edges) and not beyond(i, 1, edges)
                if back:
                    base = at(opposite[i], here, size)
            for lane in range(n):
                s[i, lane] = f[unsigned(base + stride * lane)]
            if moves and back and beyond_moving(i, -1, moving_edges):
                for lane in range(n):
                    s[i, lane] += gain(i, wx, wy, wz)

    return own


def keep_of(lattice: Lattice, layout: str):
    """Returns keep(s, n, x, y, z, nx, ny, nz, g): store the populations at their own nodes."""
    q = lattice.q
    at, stride = layout_of(lattice, layout)

    @inline
    def keep(s, n, x, y, z, nx, ny, nz, g):
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        for i in range(q):
            base = at(i, here, size)
            for lane in range(n):
                g[unsigned(base + stride * lane)] = s[i, lane]

    return keep


def scatter_of(lattice: Lattice, boundaries: Boundaries, layout: str, dtype):
    """Returns scatter(s, n, x, y, z, nx, ny, nz, g, wx, wy, wz): stream the populations out to the neighbours."""
    q, opposite = lattice.q, lattice.opposite
    at, stride = layout_of(lattice, layout)
    closed, moving = faces_of(boundaries)
    half_way, modified, moves = boundaries.bounce == "half-way", boundaries.bounce == "modified", any(moving)
    edges_of, beyond = beyond_of(lattice, closed)
    moving_edges_of, beyond_moving = beyond_of(lattice, moving)
    offset, gain = offset_of(lattice), wall_term(lattice, dtype)

    @inline
    def scatter(s, n, x, y, z, nx, ny, nz, g, wx, wy, wz):
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        edges, moving_edges = edges_of(x, y, z, nx, ny, nz), moving_edges_of(x, y, z, nx, ny, nz)
        xs, ys, zs = sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)
        for i in range(q):
            leaves = beyond(i, 1, edges)
            if leaves:
                if moves and beyond_moving(i, 1, moving_edges):
                    for lane in range(n):
                        s[i, lane] += gain(opposite[i], wx, wy, wz)
                base = at(opposite[i], here, size)
            else:
                base = at(i, here + offset(i, 1, xs, ys, zs), size)
            # in a corner between modified walls some populations have no node on either side: they turn round
            if half_way or not leaves or (modified and beyond(i, -1, edges)):
                for lane in range(n):
                    g[unsigned(base + stride * lane)] = s[i, lane]

    return scatter
