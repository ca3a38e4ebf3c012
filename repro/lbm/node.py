"""The update of a run of nodes, composed from collision, boundaries and streaming."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from repro.parallel import Kernel, device_function

from .boundaries import PERIODIC_BOX, make_extrapolation, on_faces
from .collision import make_collision
from .equilibrium import VELOCITY_SHARE, make_moments, scratch_rows
from .layout import unsigned
from .model import Model
from .neighbours import index_of
from .streaming import Streaming, make_face_mask, make_streaming, make_wall_gain


@dataclass(frozen=True)
class Specialisation:
    """What the kernels of a box are compiled for."""

    model: Model
    dtype: type = np.float64
    #: "soa" or "aos", see `layout`
    layout: str = "soa"
    #: threads a block on a GPU
    block: int = 128
    #: whether nodes inside the box are marked as solid; `wall.solid` are then their marks
    obstacles: bool = False
    #: whether populations are kept in half precision, and computed in single
    half: bool = False

    @property
    def lattice(self):
        """The model's velocity set."""
        return self.model.lattice

    @cached_property
    def streaming(self) -> Streaming:
        """How populations are found and left."""
        return make_streaming(self.lattice, self.model.boundaries, self.layout, self.dtype, self.half)

    @property
    def rows(self) -> int:
        """Rows of the scratch array; beside obstacles a run keeps what it had before the collision."""
        return scratch_rows(self.lattice) + (self.lattice.q if self.obstacles else 0)

    def kernel(self, body, **options) -> Kernel:
        """A kernel over the nodes of the box."""
        usual = {"ndim": 3, "rows": self.rows, "dtype": self.dtype, "edges": True, "block": self.block}
        return Kernel(body, **(usual | options))


@device_function
def nowhere(node, wall):
    """No node is an obstacle."""
    return False


@device_function
def marked(node, wall):
    """Whether a node is an obstacle."""
    return wall.solid[unsigned(node)] != 0


@cache
def make_wall_rules(spec: Specialisation):
    """(before, after) the collision of a run of nodes, both (s, n, x, y, z, grid, force, wall).

    Nodes in walls and in obstacles do not collide but send back what they receive: so a wall lies half-way between an
    obstacle and the fluid (full-way bounce-back). `before` says whether to collide; where a run holds both kinds, all
    its nodes do, and `after` gives obstacles what they had.
    """
    lattice, boundaries, dtype = spec.lattice, spec.model.boundaries, spec.dtype
    q, opposite, saved = lattice.q, lattice.opposite, scratch_rows(lattice)
    _, extrapolate = make_extrapolation(lattice, boundaries, dtype, VELOCITY_SHARE.get(spec.model.forcing, 0.0))
    extrapolated, solid = boundaries.has("extrapolation"), boundaries.has("standard")
    some_extrapolated, some_solid, obstacles = any(extrapolated), any(solid), spec.obstacles
    sliding = tuple(face == boundaries.moving and solid[face] for face in range(6))
    slides, gain, half, one = any(sliding), make_wall_gain(lattice, dtype), spec.half, dtype(1)
    resting = tuple(face and not moves for face, moves in zip(solid, sliding, strict=True))
    face_mask, crosses_face = make_face_mask(lattice, sliding)
    in_obstacle = marked if obstacles else nowhere

    @device_function
    def send_back(s, n):
        for pair in range(q // 2):
            for k in range(n):
                i = 2 * pair + 1
                s[i, k], s[i + 1, k] = s[i + 1, k], s[i, k]

    @device_function
    def before(s, n, x, y, z, grid, force, wall):
        if some_solid and on_faces(solid, x, y, z, grid):
            send_back(s, n)
            if slides and not on_faces(resting, x, y, z, grid):
                mask = face_mask(x, y, z, grid)
                for i in range(q):
                    if crosses_face(i, -1, mask):
                        for k in range(n):
                            s[i, k] += gain(i, wall)
                            # what goes to and fro between two nodes in walls grows for ever, and nothing feels it
                            s[i, k] = min(max(s[i, k], -one), one) if half else s[i, k]
            return False
        (node, _), count = index_of(x, y, z, grid), 0
        for k in range(n):
            count += 1 if in_obstacle(node + k, wall) else 0
        if obstacles and count == n:
            send_back(s, n)
            return False
        if obstacles and count > 0:
            for i in range(q):
                for k in range(n):
                    s[saved + i, k] = s[i, k]
        if some_extrapolated and on_faces(extrapolated, x, y, z, grid):
            extrapolate(s, n, x, y, z, grid, wall, force)
        return True

    @device_function
    def after(s, n, x, y, z, grid, force, wall):
        node, _ = index_of(x, y, z, grid)
        # a run of one node that has collided holds none
        if obstacles and n > 1:
            for k in range(n):
                if in_obstacle(node + k, wall):
                    for i in range(q):
                        s[i, k] = s[saved + opposite[i], k]

    return before, after


@cache
def update_kernel(spec: Specialisation, load, store) -> Kernel:
    """The kernel (f, g, grid, rates, force, wall): load from f, collide or bounce back, store to g.

    `load` and `store` are those of `streaming.Streaming` or of a strategy; a loading that streams in is a "pull", a
    storing that streams out a "push".
    """
    model, inner = spec.model, make_extrapolation(spec.lattice, spec.model.boundaries, spec.dtype, 0.0)[0]
    collide = make_collision(spec.lattice, spec.dtype, model.forcing, model.collision)
    before, after = make_wall_rules(spec)

    @device_function
    def update(x, n, y, z, s, f, g, grid, rates, force, wall):
        xi, yi, zi = inner(x, y, z, grid)
        load(s, n, xi, yi, zi, grid, f, wall)
        if before(s, n, x, y, z, grid, force, wall):
            collide(s, n, rates, force)
            after(s, n, x, y, z, grid, force, wall)
        store(s, n, x, y, z, grid, g, wall)

    return spec.kernel(update, parts=True)


@cache
def stream_kernel(spec: Specialisation) -> Kernel:
    """The kernel (f, g, grid, wall): streaming alone, from f to g."""
    _, pull, store, _ = spec.streaming

    @device_function
    def stream(x, n, y, z, s, f, g, grid, wall):
        pull(s, n, x, y, z, grid, f, wall)
        store(s, n, x, y, z, grid, g, wall)

    return spec.kernel(stream)


@cache
def macroscopic_kernel(spec: Specialisation, *, collided: bool, load=None) -> Kernel:
    """The kernel (f, fields, grid, force, wall): density - 1 and velocity, fields[4][node].

    `collided` says that f holds populations after the collision, which has already added the force; `load` finds the
    populations that do not lie at their own nodes.
    """
    lattice, q, walls, dtype = spec.lattice, spec.lattice.q, spec.model.boundaries, spec.dtype
    faces = PERIODIC_BOX if collided else walls
    load = load or make_streaming(lattice, faces, spec.layout, dtype, spec.half).load
    inner, extrapolate = make_extrapolation(lattice, walls, dtype, VELOCITY_SHARE.get(spec.model.forcing, 0.0))
    moments = make_moments(lattice, dtype, -0.5 if collided else 0.5)
    solid = walls.has("standard")
    zero, some_solid, completes = dtype(0), any(solid), any(walls.has("extrapolation")) and not collided

    in_obstacle = marked if spec.obstacles else nowhere

    @device_function
    def macroscopic(x, n, y, z, s, f, fields, grid, force, wall):
        xi, yi, zi = inner(x, y, z, grid) if completes else (x, y, z)
        load(s, n, xi, yi, zi, grid, f, wall)
        if completes and (xi != x or yi != y or zi != z):
            extrapolate(s, n, x, y, z, grid, wall, force)
        moments(s, n, force)
        here, size = index_of(x, y, z, grid)
        in_wall = some_solid and on_faces(solid, x, y, z, grid)
        for row in range(4):
            for k in range(n):
                rests = (in_wall and row > 0) or in_obstacle(here + k, wall)
                fields[unsigned(row * size + here + k)] = zero if rests else s[q + row, k]

    return spec.kernel(macroscopic, block=128)
