"""Streaming by swaps: the rule of Palabos and its parallel forms, as kernels (swap paper, sections 1.2 and 2).

The rule and its nine directions stand in Palabos' source, latticeBoltzmann/latticeTemplates3D.h: swapAndStreamCell and
swapAndStream3D.

Opposite populations form pairs (i, j), where i points to the node that comes earlier in memory: the paper's i and
i + 9, with its x as the slowest axis, here z. The nodes on the closed faces of the box are boundary nodes; the others
are interior. A ray is a line of nodes along a pair's direction: node 0 is a boundary node, 1 to N are interior.

Before streaming the boundary nodes have their populations in reverse order, as Palabos leaves them after a collision.
"""

from enum import IntEnum
from functools import cache

from repro.errors import InputError
from repro.parallel import Kernel, device_function

from ...lattice import Lattice
from ...layout import make_layout, unsigned
from ...neighbours import crossed_faces, index_of, make_offset, steps_of
from ...node import Specialisation, update_kernel
from ...streaming import closed_faces, make_face_mask

#: where a node of a ray finds its two populations after the sweep over the interior (table 3, types A to E)
Source = IntEnum("Source", "NONE A B C D E", start=0)


def pairs_of(lattice: Lattice) -> tuple[tuple[int, int], ...]:
    """The pairs (i, j) of opposite populations; i points to an earlier node."""
    pairs = []
    for k in range(1, lattice.q, 2):
        forward = lattice.velocities[k][::-1] > (0, 0, 0)
        pairs.append((k + 1, k) if forward else (k, k + 1))
    return tuple(pairs)


def _columns(lattice: Lattice):
    """(First of each pair, second of each pair, number of pairs)."""
    first, second = zip(*pairs_of(lattice), strict=True)
    return first, second, len(first)


def _make_faces(model):
    """(face_mask, crosses_face) of the box's walls, see `streaming.make_face_mask`."""
    return make_face_mask(model.lattice, closed_faces(model.boundaries))


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
def collide_kernel(spec: Specialisation, *, reverse_all: bool) -> Kernel:
    """The kernel (f, f, grid, rates, force, wall): collide in place and reverse the populations of all nodes.

    Without `reverse_all` only those of boundary nodes are reversed.
    """
    q, opposite = spec.lattice.q, spec.lattice.opposite
    face_mask, _ = _make_faces(spec.model)
    at, stride = make_layout(spec.lattice, spec.layout)

    @device_function
    def store(s, n, x, y, z, grid, f, wall):
        here, size = index_of(x, y, z, grid)
        reverse = reverse_all or face_mask(x, y, z, grid) != 0
        for i in range(q):
            base = at(opposite[i] if reverse else i, here, size)
            for k in range(n):
                f[unsigned(base + stride * k)] = s[i, k]

    return update_kernel(spec, spec.streaming.load, store)


@cache
def link_kernel(spec: Specialisation, *, boundary_only: bool) -> Kernel:
    """The kernel (f, grid): swap j of a node with i of the next node, for all nodes or for boundary nodes.

    Where both have been reversed, that is streaming: each place belongs to one link, so the order does not matter. A
    link that leaves the box becomes one of a place with itself.
    """
    (at, stride), offset = make_layout(spec.lattice, spec.layout), make_offset(spec.lattice)
    first, second, count = _columns(spec.lattice)
    face_mask, crosses_face = _make_faces(spec.model)

    @device_function
    def places(pair, here, mask, size, steps):
        i, j = first[pair], second[pair]
        own, other = at(j, here, size), at(i, here + offset(i, 1, steps), size)
        return own, own if crosses_face(i, 1, mask) else other

    @device_function
    def swap(x, n, y, z, s, f, grid):
        mask = face_mask(x, y, z, grid)
        if mask != 0 or not boundary_only:
            (here, size), steps = index_of(x, y, z, grid), steps_of(x, y, z, grid)
            for pair in range(count):
                own, other = places(pair, here, mask, size, steps)
                for k in range(n):
                    s[2 * pair, k] = f[unsigned(own + stride * k)]
                    s[2 * pair + 1, k] = f[unsigned(other + stride * k)]
            # all reads come before the first write, which the compiler could not know to be harmless
            for pair in range(count):
                own, other = places(pair, here, mask, size, steps)
                for k in range(n):
                    f[unsigned(own + stride * k)] = s[2 * pair + 1, k]
                    f[unsigned(other + stride * k)] = s[2 * pair, k]

    return spec.kernel(swap, rows=2 * count)


@cache
def make_rotate(lattice: Lattice, layout: str):
    """The rule at one node and one pair, rotate(f, i, j, here, ahead, size) (figure 3)."""
    at, _ = make_layout(lattice, layout)

    @device_function
    def rotate(f, i, j, here, ahead, size):
        a, b, c = unsigned(at(i, here, size)), unsigned(at(j, here, size)), unsigned(at(i, ahead, size))
        f[a], f[b], f[c] = f[b], f[c], f[a]

    return rotate


@cache
def sweep_kernel(spec: Specialisation) -> Kernel:
    """The kernel (f, grid): the serial sweep over the interior, in the order of memory (algorithm 1)."""
    rotate, offset = make_rotate(spec.lattice, spec.layout), make_offset(spec.lattice)
    first, second, count = _columns(spec.lattice)
    face_mask, _ = _make_faces(spec.model)

    @device_function
    def sweep(x, n, y, z, f, grid):
        if face_mask(x, y, z, grid) == 0:
            (here, size), steps = index_of(x, y, z, grid), steps_of(x, y, z, grid)
            for pair in range(count):
                i = first[pair]
                rotate(f, i, second[pair], here, here + offset(i, 1, steps), size)

    return Kernel(sweep, ndim=3, edges=True)


@cache
def _make_touched_faces(model):
    """The faces of the interior on which a node lies, as bits, touched_faces(x, y, z, grid)."""
    face_mask, _ = _make_faces(model)

    @device_function
    def touched_faces(x, y, z, grid):
        nx, ny, nz, row = grid
        return face_mask(x - 1, y - 1, z - 1, (nx - 2, ny - 2, nz - 2, row))

    return touched_faces


@cache
def ray_kernel(spec: Specialisation) -> Kernel:
    """The kernel (f, grid): one thread walks each ray from its first interior node to the last."""
    rotate, touched_faces = make_rotate(spec.lattice, spec.layout), _make_touched_faces(spec.model)
    first, second, count = _columns(spec.lattice)
    cx, cy, cz = spec.lattice.components
    face_mask, crosses_face = _make_faces(spec.model)

    @device_function
    def walk(x, n, y, z, f, grid):
        for k in range(n):
            if face_mask(x + k, y, z, grid) == 0:
                touched = touched_faces(x + k, y, z, grid)
                for pair in range(count):
                    i = first[pair]
                    if crosses_face(i, 1, touched):
                        step, _ = index_of(cx[i], cy[i], cz[i], grid)
                        px, py, pz = x + k, y, z
                        here, size = index_of(px, py, pz, grid)
                        while face_mask(px, py, pz, grid) == 0:
                            rotate(f, i, second[pair], here, here + step, size)
                            here -= step
                            px, py, pz = px - cx[i], py - cy[i], pz - cz[i]

    # the first and the last node of a row walk other rays: side by side in a warp they would wait for each other
    return spec.kernel(walk, rows=0, along_rows=True)


@cache
def make_source(model):
    """The type of a node on its ray of the pair whose first is i, source(i, x, y, z, grid) (table 4)."""
    touched_faces, (face_mask, _) = _make_touched_faces(model), _make_faces(model)
    ahead, behind = crossed_faces(model.lattice, 1), crossed_faces(model.lattice, -1)
    none, a, b, c, d, e = (int(kind) for kind in Source)

    @device_function
    def source(i, x, y, z, grid):
        mask, touched = face_mask(x, y, z, grid), touched_faces(x, y, z, grid)
        starts, ends = (ahead[i] & touched) != 0, (behind[i] & touched) != 0
        inside = (b if not ends else e) if starts else (c if not ends else d)
        # the node behind a boundary node is interior if it lies away from all its faces and not on another
        begins = (mask & ahead[i]) == mask and not ends
        return inside if mask == 0 else (a if begins else none)

    return source


@cache
def type_kernel(spec: Specialisation) -> Kernel:
    """The kernel (f, g, grid): all nodes at once take from f what the sweep would leave in g (tables 3, 4).

    In place this would race, because a node's source is its neighbour's target.
    """
    q, (at, _) = spec.lattice.q, make_layout(spec.lattice, spec.layout)
    source, (first, second, count) = make_source(spec.model), _columns(spec.lattice)
    cx, cy, cz = spec.lattice.components
    a, b, c, d, e = (int(kind) for kind in Source if kind)

    @device_function
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

    @device_function
    def take(x, n, y, z, s, f, g, grid):
        for k in range(n):
            here, size = index_of(x + k, y, z, grid)
            s[0, k] = f[unsigned(at(0, here, size))]
            for pair in range(count):
                i, j = first[pair], second[pair]
                step, _ = index_of(cx[i], cy[i], cz[i], grid)
                from_i, from_j = places(i, j, source(i, x + k, y, z, grid), here, step, size)
                s[i, k] = f[unsigned(from_i)]
                s[j, k] = f[unsigned(from_j)]
            for i in range(q):
                g[unsigned(at(i, here, size))] = s[i, k]

    return spec.kernel(take, rows=q)
