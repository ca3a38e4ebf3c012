"""Where populations come from and go to, walls included: the one place that knows the faces of the box.

A run of nodes never mixes wall nodes with others (the kernels are launched with `edges`), so each decision is made
once a run, and on the GPU once a thread, by choosing an address instead of taking a branch.
"""

from repro.parallel import inline

from .boundaries import BOUNCE_BACK, Boundaries
from .lattice import Lattice
from .layout import layout_of


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
def sides(position, count):
    """One to the left and one to the right on a periodic axis."""
    return (position - 1 if position > 0 else count - 1), (position + 1 if position < count - 1 else 0)


def beyond_of(lattice: Lattice, walls: tuple[bool, ...]):
    """Returns beyond(i, sign, x, ...): whether the neighbour at sign * c_i lies outside through one of the walls."""
    cx, cy, cz = lattice.components
    x_low, x_high, y_low, y_high, z_low, z_high = walls

    @inline
    def beyond(i, sign, x, y, z, nx, ny, nz):
        dx, dy, dz = sign * cx[i], sign * cy[i], sign * cz[i]
        outside = False
        if x_low or x_high:
            outside |= (dx == -1 and x_low and x == 0) or (dx == 1 and x_high and x == nx - 1)
        if y_low or y_high:
            outside |= (dy == -1 and y_low and y == 0) or (dy == 1 and y_high and y == ny - 1)
        if z_low or z_high:
            outside |= (dz == -1 and z_low and z == 0) or (dz == 1 and z_high and z == nz - 1)
        return outside

    return beyond


def neighbour_of(lattice: Lattice):
    """Returns neighbour(i, sign, ...): the flat index of the node at sign * c_i, periodic in all axes."""
    cx, cy, cz = lattice.components

    @inline
    def neighbour(i, sign, x, y, z, xm, xp, ym, yp, zm, zp, nx, ny):
        dx, dy, dz = sign * cx[i], sign * cy[i], sign * cz[i]
        xi = xm if dx == -1 else (xp if dx == 1 else x)
        yi = ym if dy == -1 else (yp if dy == 1 else y)
        zi = zm if dz == -1 else (zp if dz == 1 else z)
        return xi + nx * (yi + ny * zi)

    return neighbour


def faces_of(boundaries: Boundaries):
    """(closed faces, the faces that bounce back, the moving face alone if it bounces back)."""
    closed = tuple(not periodic for periodic in boundaries.has("periodic"))
    bouncing = tuple(scheme in BOUNCE_BACK for scheme in boundaries.faces)
    moving = tuple(k == boundaries.moving and bouncing[k] for k in range(6))
    return closed, bouncing, moving


def gather_of(lattice: Lattice, boundaries: Boundaries, layout: str, dtype):
    """Returns gather(s, n, x, y, z, nx, ny, nz, f, wx, wy, wz): the populations that stream into a run of nodes."""
    q, opposite = lattice.q, lattice.opposite
    at, stride = layout_of(lattice, layout)
    closed, _, moving = faces_of(boundaries)
    half_way, modified, moves = boundaries.bounce == "half-way", boundaries.bounce == "modified", any(moving)
    beyond, beyond_moving = beyond_of(lattice, closed), beyond_of(lattice, moving)
    neighbour, gain = neighbour_of(lattice), wall_term(lattice, dtype)

    @inline
    def gather(s, n, x, y, z, nx, ny, nz, f, wx, wy, wz):
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        xm, xp = sides(x, nx)
        ym, yp = sides(y, ny)
        zm, zp = sides(z, nz)
        for i in range(q):
            source = neighbour(i, -1, x, y, z, xm, xp, ym, yp, zm, zp, nx, ny)
            base = at(i, source, size)
            if beyond(i, -1, x, y, z, nx, ny, nz):
                base = at(opposite[i] if half_way or modified else i, here, size)
                if modified and not beyond(i, 1, x, y, z, nx, ny, nz):
                    # what streams into this node from the other side, sent back at once
                    base = at(opposite[i], neighbour(i, 1, x, y, z, xm, xp, ym, yp, zm, zp, nx, ny), size)
            for lane in range(n):
                s[i, lane] = f[base + stride * lane]
            if moves and beyond_moving(i, -1, x, y, z, nx, ny, nz):
                for lane in range(n):
                    s[i, lane] += gain(i, wx, wy, wz)

    return gather


def own_of(lattice: Lattice, boundaries: Boundaries, layout: str, dtype):
    """Returns own(s, n, x, ..., f, wx, wy, wz): the populations stored at the nodes, completed at modified walls."""
    q, opposite = lattice.q, lattice.opposite
    at, stride = layout_of(lattice, layout)
    closed, _, moving = faces_of(boundaries)
    modified, moves = boundaries.bounce == "modified", any(moving)
    beyond, beyond_moving = beyond_of(lattice, closed), beyond_of(lattice, moving)
    gain = wall_term(lattice, dtype)

    @inline
    def own(s, n, x, y, z, nx, ny, nz, f, wx, wy, wz):
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        for i in range(q):
            base = at(i, here, size)
            back = False
            if modified:
                back = beyond(i, -1, x, y, z, nx, ny, nz) and not beyond(i, 1, x, y, z, nx, ny, nz)
                if back:
                    base = at(opposite[i], here, size)
            for lane in range(n):
                s[i, lane] = f[base + stride * lane]
            if moves and back and beyond_moving(i, -1, x, y, z, nx, ny, nz):
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
                g[base + stride * lane] = s[i, lane]

    return keep


def scatter_of(lattice: Lattice, boundaries: Boundaries, layout: str, dtype):
    """Returns scatter(s, n, x, y, z, nx, ny, nz, g, wx, wy, wz): stream the populations out to the neighbours."""
    q, opposite = lattice.q, lattice.opposite
    at, stride = layout_of(lattice, layout)
    closed, _, moving = faces_of(boundaries)
    half_way, modified, moves = boundaries.bounce == "half-way", boundaries.bounce == "modified", any(moving)
    beyond, beyond_moving = beyond_of(lattice, closed), beyond_of(lattice, moving)
    neighbour, gain = neighbour_of(lattice), wall_term(lattice, dtype)

    @inline
    def scatter(s, n, x, y, z, nx, ny, nz, g, wx, wy, wz):
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        xm, xp = sides(x, nx)
        ym, yp = sides(y, ny)
        zm, zp = sides(z, nz)
        for i in range(q):
            leaves = beyond(i, 1, x, y, z, nx, ny, nz)
            if leaves:
                if moves and beyond_moving(i, 1, x, y, z, nx, ny, nz):
                    for lane in range(n):
                        s[i, lane] += gain(opposite[i], wx, wy, wz)
                base = at(opposite[i], here, size)
            else:
                base = at(i, neighbour(i, 1, x, y, z, xm, xp, ym, yp, zm, zp, nx, ny), size)
            # in a corner between modified walls some populations have no node on either side: they turn round
            if half_way or not leaves or (modified and beyond(i, -1, x, y, z, nx, ny, nz)):
                for lane in range(n):
                    g[base + stride * lane] = s[i, lane]

    return scatter
