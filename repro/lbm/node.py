"""The update of a run of nodes, composed from collision, boundaries and streaming."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from repro.parallel import Kernel, device_function

from .boundaries import PERIODIC_BOX, make_extrapolation, on_faces
from .collision import make_collision
from .equilibrium import make_moments, scratch_rows
from .forcing import VELOCITY_SHARE
from .layout import unsigned
from .model import Model
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

    @property
    def lattice(self):
        """The model's velocity set."""
        return self.model.lattice

    @cached_property
    def streaming(self) -> Streaming:
        """How populations are found and left."""
        return make_streaming(self.lattice, self.model.boundaries, self.layout, self.dtype)

    @property
    def rows(self) -> int:
        """Rows of the scratch array; beside obstacles a run keeps what it had before the collision."""
        return scratch_rows(self.lattice) + (self.lattice.q if self.obstacles else 0)

    def kernel(self, body, **options) -> Kernel:
        """A kernel over the nodes of the box."""
        usual = {"ndim": 3, "rows": self.rows, "dtype": self.dtype, "edges": True, "block": self.block}
        return Kernel(body, **(usual | options))


@cache
def make_obstacles(spec: Specialisation, fluid):
    """The rule `fluid` of fluid nodes with bounce-back in nodes that are marked as solid, of the same arguments.

    A solid node sends back what it receives, so that the wall lies half-way to the fluid node (full-way bounce-back). A
    run may hold both kinds: all its nodes collide, and solid ones get back what they had.
    """
    q, opposite, saved = spec.lattice.q, spec.lattice.opposite, scratch_rows(spec.lattice)

    @device_function
    def obstacles(s, n, x, y, z, grid, rates, force, wall):
        node = x + grid.nx * (y + grid.ny * z)
        count = 0
        for k in range(n):
            count += 1 if wall.solid[unsigned(node + k)] else 0
        if count > 0:
            for i in range(q):
                for k in range(n):
                    s[saved + i, k] = s[i, k]
        if count < n:
            fluid(s, n, x, y, z, grid, rates, force, wall)
        if count > 0:
            for i in range(q):
                for k in range(n):
                    if wall.solid[unsigned(node + k)]:
                        s[i, k] = s[saved + opposite[i], k]

    return obstacles


@cache
def make_relax(spec: Specialisation):
    """Collision, or the wall's rule instead: relax(s, n, x, y, z, grid, rates, forces, wall)."""
    lattice, boundaries, dtype, forcing = spec.lattice, spec.model.boundaries, spec.dtype, spec.model.forcing
    collide = make_collision(lattice, dtype, forcing, spec.model.collision)
    _, extrapolate = make_extrapolation(lattice, boundaries, dtype, VELOCITY_SHARE.get(forcing, 0.0))
    extrapolated, solid = boundaries.has("extrapolation"), boundaries.has("standard")
    q, some_extrapolated, some_solid = lattice.q, any(extrapolated), any(solid)
    sliding = tuple(face == boundaries.moving and solid[face] for face in range(6))
    slides, gain = any(sliding), make_wall_gain(lattice, dtype)
    resting = tuple(face and not moves for face, moves in zip(solid, sliding, strict=True))
    face_mask, crosses_face = make_face_mask(lattice, sliding)

    @device_function
    def fluid(s, n, x, y, z, grid, rates, force, wall):
        if some_extrapolated and on_faces(extrapolated, x, y, z, grid):
            extrapolate(s, n, x, y, z, grid, wall, force)
        collide(s, n, rates, force)

    inside = make_obstacles(spec, fluid) if spec.obstacles else fluid

    @device_function
    def relax(s, n, x, y, z, grid, rates, force, wall):
        if some_solid and on_faces(solid, x, y, z, grid):
            for pair in range(q // 2):
                for k in range(n):
                    i = 2 * pair + 1
                    s[i, k], s[i + 1, k] = s[i + 1, k], s[i, k]
            if slides and not on_faces(resting, x, y, z, grid):
                mask = face_mask(x, y, z, grid)
                for i in range(q):
                    if crosses_face(i, -1, mask):
                        for k in range(n):
                            s[i, k] += gain(i, wall)
        else:
            inside(s, n, x, y, z, grid, rates, force, wall)

    return relax


@cache
def update_kernel(spec: Specialisation, *, load: str, store: str) -> Kernel:
    """The kernel (f, g, grid, rates, force, wall): load from f, relax, store to g.

    load is "load" or "pull" (stream in), store is "store" or "push" (stream out), see `streaming.Streaming`.
    """
    reader, writer = getattr(spec.streaming, load), getattr(spec.streaming, store)
    inner, _ = make_extrapolation(spec.lattice, spec.model.boundaries, spec.dtype, 0.0)
    relax = make_relax(spec)

    @device_function
    def update(x, n, y, z, s, f, g, grid, rates, force, wall):
        xi, yi, zi = inner(x, y, z, grid)
        reader(s, n, xi, yi, zi, grid, f, wall)
        relax(s, n, x, y, z, grid, rates, force, wall)
        writer(s, n, x, y, z, grid, g, wall)

    return spec.kernel(update)


@cache
def stream_kernel(spec: Specialisation) -> Kernel:
    """The kernel (f, g, grid, wall): streaming alone, from f to g."""
    _, pull, store, _ = spec.streaming

    @device_function
    def stream(x, n, y, z, s, f, g, grid, wall):
        pull(s, n, x, y, z, grid, f, wall)
        store(s, n, x, y, z, grid, g, wall)

    return spec.kernel(stream)


@device_function
def nowhere(node, wall):
    """No node is an obstacle."""
    return False


@cache
def macroscopic_kernel(spec: Specialisation, *, collided: bool, load=None) -> Kernel:
    """The kernel (f, fields, grid, force, wall): density - 1 and velocity, fields[4][node].

    `collided` says that f holds populations after the collision, which has already added the force; `load` finds the
    populations that do not lie at their own nodes.
    """
    lattice, q, walls, dtype = spec.lattice, spec.lattice.q, spec.model.boundaries, spec.dtype
    load = load or make_streaming(lattice, PERIODIC_BOX if collided else walls, spec.layout, dtype).load
    inner, extrapolate = make_extrapolation(lattice, walls, dtype, VELOCITY_SHARE.get(spec.model.forcing, 0.0))
    moments = make_moments(lattice, dtype, -0.5 if collided else 0.5)
    solid = walls.has("standard")
    zero, some_solid, completes = dtype(0), any(solid), any(walls.has("extrapolation")) and not collided

    @device_function
    def marked(node, wall):
        return wall.solid[unsigned(node)] != 0

    in_obstacle = marked if spec.obstacles else nowhere

    @device_function
    def macroscopic(x, n, y, z, s, f, fields, grid, force, wall):
        nx, ny, nz = grid
        xi, yi, zi = inner(x, y, z, grid) if completes else (x, y, z)
        load(s, n, xi, yi, zi, grid, f, wall)
        if completes and (xi != x or yi != y or zi != z):
            extrapolate(s, n, x, y, z, grid, wall, force)
        moments(s, n, force)
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        in_wall = some_solid and on_faces(solid, x, y, z, grid)
        for row in range(4):
            for k in range(n):
                rests = (in_wall and row > 0) or in_obstacle(here + k, wall)
                fields[unsigned(row * size + here + k)] = zero if rests else s[q + row, k]

    return spec.kernel(macroscopic, block=128)
