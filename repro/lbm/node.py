"""The update of a run of nodes, composed from collision, boundaries and streaming."""

from functools import cache

from repro.parallel import Kernel, inline

from .boundaries import PERIODIC_BOX, extrapolation_of, on_faces
from .collision import collision_of
from .equilibrium import moments_of, scratch_rows
from .forcing import VELOCITY_SHARE
from .layout import unsigned
from .model import Model
from .streaming import beyond_of, gather_of, keep_of, own_of, scatter_of, wall_term


@cache
def relax_of(model: Model, dtype):
    """Returns relax(s, n, x, y, z, grid, rates, forces, wall velocity): collision, or the wall's rule instead."""
    lattice, boundaries = model.lattice, model.boundaries
    collide = collision_of(lattice, dtype, model.forcing, model.collision)
    share = VELOCITY_SHARE.get(model.forcing, 0.0)
    _, extrapolate = extrapolation_of(lattice, boundaries, dtype, share)
    extrapolated, solid = boundaries.has("extrapolation"), boundaries.has("standard")
    q, some_extrapolated, some_solid = lattice.q, any(extrapolated), any(solid)
    sliding = tuple(k == boundaries.moving and solid[k] for k in range(6))
    slides, gain = any(sliding), wall_term(lattice, dtype)
    resting = tuple(face and not moves for face, moves in zip(solid, sliding, strict=True))
    edges_of, beyond = beyond_of(lattice, sliding)

    @inline
    def relax(s, n, x, y, z, grid, rates, force, wall):
        if some_solid and on_faces(solid, x, y, z, grid):
            for pair in range(q // 2):
                for lane in range(n):
                    i = 2 * pair + 1
                    s[i, lane], s[i + 1, lane] = s[i + 1, lane], s[i, lane]
            if slides and not on_faces(resting, x, y, z, grid):
                edges = edges_of(x, y, z, grid)
                for i in range(q):
                    if beyond(i, -1, edges):
                        for lane in range(n):
                            s[i, lane] += gain(i, wall)
        else:
            if some_extrapolated and on_faces(extrapolated, x, y, z, grid):
                extrapolate(s, n, x, y, z, grid, wall, force)
            collide(s, n, rates, force)

    return relax


@cache
def update_kernel(model: Model, dtype, layout: str, *, load: str, store: str, block: int) -> Kernel:
    """The kernel (f, g, grid, rates, force, wall): load from f, relax, store to g.

    load is "gather" (stream in) or "own"; store is "keep" or "scatter" (stream out).
    """
    lattice, boundaries = model.lattice, model.boundaries
    reader = (gather_of if load == "gather" else own_of)(lattice, boundaries, layout, dtype)
    keep, scatter = keep_of(lattice, layout), scatter_of(lattice, boundaries, layout, dtype)
    inner, _ = extrapolation_of(lattice, boundaries, dtype, 0.0)
    relax, pushes = relax_of(model, dtype), store == "scatter"

    @inline
    def update(x, n, y, z, s, f, g, grid, rates, force, wall):
        xi, yi, zi = inner(x, y, z, grid)
        reader(s, n, xi, yi, zi, grid, f, wall)
        relax(s, n, x, y, z, grid, rates, force, wall)
        if pushes:
            scatter(s, n, x, y, z, grid, g, wall)
        else:
            keep(s, n, x, y, z, grid, g)

    return Kernel(update, ndim=3, rows=scratch_rows(lattice), dtype=dtype, edges=True, block=block)


@cache
def stream_kernel(model: Model, dtype, layout: str, *, block: int) -> Kernel:
    """The kernel (f, g, grid, wall): streaming alone, from f to g."""
    gather = gather_of(model.lattice, model.boundaries, layout, dtype)
    keep = keep_of(model.lattice, layout)

    @inline
    def stream(x, n, y, z, s, f, g, grid, wall):
        gather(s, n, x, y, z, grid, f, wall)
        keep(s, n, x, y, z, grid, g)

    return Kernel(stream, ndim=3, rows=scratch_rows(model.lattice), dtype=dtype, edges=True, block=block)


@cache
def macroscopic_kernel(model: Model, dtype, layout: str, *, collided: bool, load=None) -> Kernel:
    """The kernel (f, fields, grid, force, wall): density - 1 and velocity, fields[4][node].

    `collided` says that f holds populations after the collision, which has already added the force; `load` finds the
    populations that do not lie at their own nodes.
    """
    lattice, q, walls = model.lattice, model.lattice.q, model.boundaries
    own = load or own_of(lattice, PERIODIC_BOX if collided else walls, layout, dtype)
    inner, extrapolate = extrapolation_of(lattice, walls, dtype, VELOCITY_SHARE.get(model.forcing, 0.0))
    moments = moments_of(lattice, dtype, -0.5 if collided else 0.5)
    solid = walls.has("standard")
    zero, some_solid, completes = dtype(0), any(solid), any(walls.has("extrapolation")) and not collided

    @inline
    def macroscopic(x, n, y, z, s, f, fields, grid, force, wall):
        nx, ny, nz = grid
        xi, yi, zi = inner(x, y, z, grid) if completes else (x, y, z)
        own(s, n, xi, yi, zi, grid, f, wall)
        if completes and (xi != x or yi != y or zi != z):
            extrapolate(s, n, x, y, z, grid, wall, force)
        moments(s, n, force)
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        in_wall = some_solid and on_faces(solid, x, y, z, grid)
        for row in range(4):
            for lane in range(n):
                fields[unsigned(row * size + here + lane)] = zero if in_wall and row > 0 else s[q + row, lane]

    return Kernel(macroscopic, ndim=3, rows=scratch_rows(lattice), dtype=dtype, edges=True)
