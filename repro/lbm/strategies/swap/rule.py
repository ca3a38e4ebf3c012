"""Streaming by swaps: the rule of Palabos and its parallel forms, as kernels (swap paper, sections 1.2 and 2).

Opposite populations form pairs (i, j), where i points to the node that comes earlier in memory: the paper's i and
i + 9, with its x as the slowest axis, here z. The nodes on the closed faces of the box are boundary nodes; the others
are interior. A ray is a line of nodes along a pair's direction: node 0 is a boundary node, 1 to N are interior.

Before streaming the boundary nodes have their populations in reverse order, as Palabos leaves them after a collision.
"""

from enum import IntEnum
from functools import cache

from repro.errors import InputError
from repro.parallel import Kernel, inline

from ...equilibrium import scratch_rows
from ...lattice import Lattice
from ...layout import layout_of, unsigned
from ...model import Model
from ...neighbours import crossed_faces, offset_of, sides
from ...node import relax_of
from ...streaming import beyond_of, faces_of, own_of


class Source(IntEnum):
    """Where a node of a ray finds its two populations after the sweep over the interior (table 3, types A to E)."""

    NONE = 0
    A = 1
    B = 2
    C = 3
    D = 4
    E = 5


def pairs_of(lattice: Lattice) -> tuple[tuple[int, int], ...]:
    """The pairs (i, j) of opposite populations; i points to an earlier node."""
    pairs = []
    for k in range(1, lattice.q, 2):
        forward = lattice.velocities[k][::-1] > (0, 0, 0)
        pairs.append((k + 1, k) if forward else (k, k + 1))
    return tuple(pairs)


def require_box(problem, *, closed: bool) -> None:
    """Raise InputError for walls that streaming by swaps does not know."""
    for axis, extent in enumerate(problem.shape):
        walls = set(problem.model.boundaries.faces[2 * axis : 2 * axis + 2])
        flat = walls == {"periodic"} and (extent == 1 or not closed)
        if walls != {"standard"} and not flat:
            asked = ", ".join(sorted(walls))
            allowed = "'standard'" if closed else "'standard' or 'periodic'"
            raise InputError(f"faces '{asked}' along {'xyz'[axis]}: streaming by these swaps takes {allowed} faces")
        if walls == {"standard"} and extent < 3:
            raise InputError(f"{extent} nodes along {'xyz'[axis]}: between two boundary nodes at least one is needed")


@cache
def collide_kernel(model: Model, dtype, layout: str, block: int, *, reverse_all: bool) -> Kernel:
    """The kernel (f, grid, rates, force, wall): collide in place and reverse the populations of all nodes.

    Without `reverse_all` only those of boundary nodes are reversed.
    """
    lattice, boundaries = model.lattice, model.boundaries
    q, opposite = lattice.q, lattice.opposite
    own, relax = own_of(lattice, boundaries, layout, dtype), relax_of(model, dtype)
    edges_of, _ = beyond_of(lattice, faces_of(boundaries)[0])
    at, stride = layout_of(lattice, layout)

    @inline
    def collide(x, n, y, z, s, f, grid, rates, force, wall):
        nx, ny, nz = grid
        own(s, n, x, y, z, grid, f, wall)
        relax(s, n, x, y, z, grid, rates, force, wall)
        size, here = nx * ny * nz, x + nx * (y + ny * z)
        reverse = reverse_all or edges_of(x, y, z, grid) != 0
        for i in range(q):
            base = at(opposite[i] if reverse else i, here, size)
            for lane in range(n):
                f[unsigned(base + stride * lane)] = s[i, lane]

    return Kernel(collide, ndim=3, rows=scratch_rows(lattice), dtype=dtype, edges=True, block=block)


@cache
def link_kernel(model: Model, dtype, layout: str, block: int, *, boundary_only: bool) -> Kernel:
    """The kernel (f, grid): swap j of a node with i of the next node, for all nodes or for boundary nodes.

    Where both have been reversed, that is streaming: each place belongs to one link, so the order does not matter. A
    link that leaves the box becomes one of a place with itself.
    """
    lattice = model.lattice
    pairs, (at, stride), offset = pairs_of(lattice), layout_of(lattice, layout), offset_of(lattice)
    first, second, count = tuple(i for i, _ in pairs), tuple(j for _, j in pairs), len(pairs)
    edges_of, beyond = beyond_of(lattice, faces_of(model.boundaries)[0])

    @inline
    def places(pair, here, edges, size, xs, ys, zs):
        i, j = first[pair], second[pair]
        own, other = at(j, here, size), at(i, here + offset(i, 1, xs, ys, zs), size)
        return own, own if beyond(i, 1, edges) else other

    @inline
    def swap(x, n, y, z, s, f, grid):
        nx, ny, nz = grid
        edges = edges_of(x, y, z, grid)
        if edges != 0 or not boundary_only:
            size, here = nx * ny * nz, x + nx * (y + ny * z)
            xs, ys, zs = sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)
            for pair in range(count):
                own, other = places(pair, here, edges, size, xs, ys, zs)
                for lane in range(n):
                    s[2 * pair, lane] = f[unsigned(own + stride * lane)]
                    s[2 * pair + 1, lane] = f[unsigned(other + stride * lane)]
            # all reads come before the first write, which the compiler could not know to be harmless
            for pair in range(count):
                own, other = places(pair, here, edges, size, xs, ys, zs)
                for lane in range(n):
                    f[unsigned(own + stride * lane)] = s[2 * pair + 1, lane]
                    f[unsigned(other + stride * lane)] = s[2 * pair, lane]

    return Kernel(swap, ndim=3, rows=2 * count, dtype=dtype, edges=True, block=block)


@cache
def rotate_of(lattice: Lattice, layout: str):
    """Returns rotate(f, i, j, here, ahead, size): the rule at one node and one pair (figure 3)."""
    at, _ = layout_of(lattice, layout)

    @inline
    def rotate(f, i, j, here, ahead, size):
        a, b, c = unsigned(at(i, here, size)), unsigned(at(j, here, size)), unsigned(at(i, ahead, size))
        f[a], f[b], f[c] = f[b], f[c], f[a]

    return rotate


@cache
def sweep_kernel(model: Model, layout: str) -> Kernel:
    """The kernel (f, grid): the serial sweep over the interior, in the order of memory (algorithm 1)."""
    lattice = model.lattice
    pairs, rotate, offset = pairs_of(lattice), rotate_of(lattice, layout), offset_of(lattice)
    first, second, count = tuple(i for i, _ in pairs), tuple(j for _, j in pairs), len(pairs)
    edges_of, _ = beyond_of(lattice, faces_of(model.boundaries)[0])

    @inline
    def sweep(x, n, y, z, f, grid):
        nx, ny, nz = grid
        if edges_of(x, y, z, grid) == 0:
            size, here = nx * ny * nz, x + nx * (y + ny * z)
            xs, ys, zs = sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)
            for pair in range(count):
                i = first[pair]
                rotate(f, i, second[pair], here, here + offset(i, 1, xs, ys, zs), size)

    return Kernel(sweep, ndim=3, edges=True)


@cache
def ray_kernel(model: Model, layout: str, block: int) -> Kernel:
    """The kernel (f, grid): one thread walks each ray from its first interior node to the last."""
    lattice = model.lattice
    pairs, rotate = pairs_of(lattice), rotate_of(lattice, layout)
    first, second, count = tuple(i for i, _ in pairs), tuple(j for _, j in pairs), len(pairs)
    cx, cy, cz = lattice.components
    edges_of, beyond = beyond_of(lattice, faces_of(model.boundaries)[0])
    faces = _faces_of_node(model)

    @inline
    def walk(x, n, y, z, f, grid):
        nx, ny, nz = grid
        size = nx * ny * nz
        for lane in range(n):
            if edges_of(x + lane, y, z, grid) == 0:
                _, touched = faces(x + lane, y, z, grid)
                for pair in range(count):
                    i = first[pair]
                    if beyond(i, 1, touched):
                        step = cx[i] + nx * (cy[i] + ny * cz[i])
                        px, py, pz = x + lane, y, z
                        here = px + nx * (py + ny * pz)
                        while edges_of(px, py, pz, grid) == 0:
                            rotate(f, i, second[pair], here, here + step, size)
                            here -= step
                            px, py, pz = px - cx[i], py - cy[i], pz - cz[i]

    return Kernel(walk, ndim=3, edges=True, block=block)


@cache
def _kinds_of(lattice: Lattice):
    """Returns kind(i, edges, touched): the type of a node on its ray of the pair whose first is i.

    `edges` are the faces of the box on which it lies, `touched` those of the interior, as bits.
    """
    ahead, behind = crossed_faces(lattice, 1), crossed_faces(lattice, -1)
    none, a, b, c, d, e = (int(kind) for kind in Source)

    @inline
    def kind(i, edges, touched):
        starts, ends = (ahead[i] & touched) != 0, (behind[i] & touched) != 0
        inside = (b if not ends else e) if starts else (c if not ends else d)
        # the node behind a boundary node is interior if it lies away from all its faces and not on another
        begins = (edges & ahead[i]) == edges and not ends
        return inside if edges == 0 else (a if begins else none)

    return kind


@cache
def _faces_of_node(model: Model):
    """Returns faces(x, y, z, grid): (faces of the box on which a node lies, faces of the interior)."""
    edges_of, _ = beyond_of(model.lattice, faces_of(model.boundaries)[0])

    @inline
    def faces(x, y, z, grid):
        nx, ny, nz = grid
        return edges_of(x, y, z, grid), edges_of(x - 1, y - 1, z - 1, (nx - 2, ny - 2, nz - 2))

    return faces


@cache
def source_of(model: Model):
    """Returns source(i, x, y, z, grid): the node's type on its ray of the pair whose first is i (table 4)."""
    kind, faces = _kinds_of(model.lattice), _faces_of_node(model)

    @inline
    def source(i, x, y, z, grid):
        edges, touched = faces(x, y, z, grid)
        return kind(i, edges, touched)

    return source


@cache
def type_kernel(model: Model, dtype, layout: str, block: int) -> Kernel:
    """The kernel (f, g, grid): all nodes at once take from f what the sweep would leave in g (tables 3, 4).

    In place this would race, because a node's source is its neighbour's target.
    """
    lattice = model.lattice
    q, pairs, (at, _) = lattice.q, pairs_of(lattice), layout_of(lattice, layout)
    kind_of, faces = _kinds_of(lattice), _faces_of_node(model)
    first, second, count = tuple(i for i, _ in pairs), tuple(j for _, j in pairs), len(pairs)
    cx, cy, cz = lattice.components
    a, b, c, d, e = (int(kind) for kind in Source if kind)

    @inline
    def places(i, j, kind, here, step, size):
        from_i, from_j = at(i, here, size), at(j, here, size)
        if kind in (a, b, c):
            from_i = at(i, here - step, size)
        if kind in (d, e):
            from_i = at(j, here, size)
        if kind in (c, d):
            from_j = at(j, here + step, size)
        if kind in (b, e):
            from_j = at(i, here + step, size)
        return from_i, from_j

    @inline
    def take(x, n, y, z, s, f, g, grid):
        nx, ny, nz = grid
        size = nx * ny * nz
        for lane in range(n):
            here = x + lane + nx * (y + ny * z)
            edges, touched = faces(x + lane, y, z, grid)
            s[0, lane] = f[unsigned(at(0, here, size))]
            for pair in range(count):
                i, j = first[pair], second[pair]
                step = cx[i] + nx * (cy[i] + ny * cz[i])
                from_i, from_j = places(i, j, kind_of(i, edges, touched), here, step, size)
                s[i, lane] = f[unsigned(from_i)]
                s[j, lane] = f[unsigned(from_j)]
            for i in range(q):
                g[unsigned(at(i, here, size))] = s[i, lane]

    return Kernel(take, ndim=3, rows=q, dtype=dtype, edges=True, block=block)
