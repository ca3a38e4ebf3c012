"""All nodes of the box in two arrays a fluid, a flag word a node where there is solid; two kernels a step.

Porous paper, section 6.1: what it calls LBUpdateMacros fills the densities of all nodes, here as potentials, and a
second kernel streams and collides.
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, device_function

from ...lattice import Lattice
from ...layout import unsigned
from ...porous.node import count_pores, make_reader, make_store, nowhere
from ...porous.strategies import flag_word
from ...strategies.scheme import Cost, Scheme, in_order
from ..collision import (
    FIELDS,
    FORCES,
    ROWS,
    SUMS,
    make_collision,
    make_mixture,
    make_observe,
    make_potentials,
    make_stash,
    make_sums,
)
from ..forces import make_gradient

COST = Cost(arrays=4, reads=4, writes=2, mark=4, mark_open=False, finds=2, kept=7, moved=4)


@device_function
def _fetch(s, k, i, node, back, ahead, size, marks, f):
    s[i, k] = f[unsigned(i * size + node + back)]
    s[i + 1, k] = f[unsigned((i + 1) * size + node + ahead)]


@cache
def finders(lattice: Lattice, some_solid: bool):
    """(read, in_solid) of a box with or without solid."""
    if not some_solid:
        return make_reader(lattice, _fetch), nowhere
    return make_reader(lattice, flag_word.make_fetch(False)), flag_word.in_solid


@cache
def make_potential_kernel(lattice: Lattice, dtype, some_solid: bool, block: int) -> Kernel:
    """The kernel (marks, f_a, f_b, phi_a, phi_b, grid, coupling): the potentials of all nodes but the solid ones."""
    read, in_solid = finders(lattice, some_solid)
    sums, keep = make_sums(lattice, dtype), make_potentials(dtype, in_solid)

    @device_function
    def potentials(x, n, y, z, s, marks, f_a, f_b, phi_a, phi_b, grid, coupling):
        here = x + grid.nx * (y + grid.ny * z)
        if count_pores(marks, here, n, in_solid) > 0:
            read(s, n, x, y, z, grid, marks, f_a)
            sums(s, n, SUMS[0])
            read(s, n, x, y, z, grid, marks, f_b)
            sums(s, n, SUMS[1])
            keep(s, n, coupling.g, here, marks, phi_a, phi_b)

    return Kernel(potentials, ndim=3, rows=ROWS, dtype=dtype, edges=True, block=block)


@cache
def _make_load_both(lattice: Lattice, dtype, stencil: str, some_solid: bool):
    """Populations, sums and gradients of both fluids, a the current one: load_both(s, n, x, y, z, grid, marks, ...)."""
    read, _ = finders(lattice, some_solid)
    sums, gradient, (stash, _) = make_sums(lattice, dtype), make_gradient(lattice, stencil, dtype), make_stash(lattice)

    @device_function
    def load_both(s, n, x, y, z, grid, marks, f_a, f_b, phi_a, phi_b):
        read(s, n, x, y, z, grid, marks, f_b)
        sums(s, n, SUMS[1])
        stash(s, n)
        read(s, n, x, y, z, grid, marks, f_a)
        sums(s, n, SUMS[0])
        gradient(s, n, FORCES[0], x, y, z, grid, phi_b)
        gradient(s, n, FORCES[1], x, y, z, grid, phi_a)

    return load_both


@cache
def make_update_kernel(lattice: Lattice, dtype, collision: str, stencil: str, some_solid: bool, block: int) -> Kernel:
    """The kernel (marks, f_a, f_b, g_a, g_b, phi_a, phi_b, grid, a, b): stream, collide, store."""
    _, in_solid = finders(lattice, some_solid)
    load_both, (_, take_back) = _make_load_both(lattice, dtype, stencil, some_solid), make_stash(lattice)
    mixture, collide = make_mixture(dtype), make_collision(lattice, collision, dtype)
    store = make_store(lattice, in_solid, reverse=False)

    @device_function
    def update(x, n, y, z, s, marks, f_a, f_b, g_a, g_b, phi_a, phi_b, grid, a, b):
        size, here = grid.nx * grid.ny * grid.nz, x + grid.nx * (y + grid.ny * z)
        if count_pores(marks, here, n, in_solid) > 0:
            load_both(s, n, x, y, z, grid, marks, f_a, f_b, phi_a, phi_b)
            mixture(s, n, a, b, a.momentum, b.momentum)
            collide(s, n, SUMS[0], FORCES[0], a)
            store(s, n, here, size, marks, g_a)
            take_back(s, n)
            collide(s, n, SUMS[1], FORCES[1], b)
            store(s, n, here, size, marks, g_b)

    return Kernel(update, ndim=3, rows=ROWS, dtype=dtype, edges=True, block=block)


@cache
def _observe_kernel(lattice: Lattice, dtype, stencil: str, some_solid: bool) -> Kernel:
    """The kernel (marks, f_a, f_b, phi_a, phi_b, fields, grid, a, b): densities minus one and velocity."""
    _, in_solid = finders(lattice, some_solid)
    load_both, observe = _make_load_both(lattice, dtype, stencil, some_solid), make_observe(dtype, in_solid)

    @device_function
    def look(x, n, y, z, s, marks, f_a, f_b, phi_a, phi_b, fields, grid, a, b):
        size, here = grid.nx * grid.ny * grid.nz, x + grid.nx * (y + grid.ny * z)
        load_both(s, n, x, y, z, grid, marks, f_a, f_b, phi_a, phi_b)
        observe(s, n, a, b, here, size, marks, fields)

    return Kernel(look, ndim=3, rows=ROWS, dtype=dtype, edges=True)


def _make_place(lattice: Lattice, solid: np.ndarray):
    """Where population i of each node must lie to be found by the first step."""
    nodes = np.arange(solid.size).reshape(solid.shape)

    def place(i):
        back = np.roll(nodes, lattice.velocities[i][::-1], axis=(0, 1, 2))
        from_solid = solid.ravel()[back]
        return np.where(from_solid, lattice.opposite[i] * solid.size + nodes, i * solid.size + back).ravel()

    return place


def wall_potentials(solid, coupling, dtype) -> tuple:
    """The arrays (phi_a, phi_b) before the first step: g_ks rho_s in the solid, 0 in the pores, which a kernel fills.

    phi_a acts on fluid b: in the solid it is what the wall does to b.
    """
    return tuple(solid.astype(dtype) * wall for wall in (coupling.wall_b, coupling.wall_a))


def dense_scheme(problem, device, dtype, block, parts_of) -> Scheme:
    """A scheme of all nodes of the box: arrays of both fluids, potentials, and what is observed.

    parts_of(densities, marks, phi, now, then) gives what a step launches, by name: `densities` launches the potentials
    phi that act on (b, a), `now` and `then` are the populations of (a, b) before and after the step.
    """
    lattice, shape, solid = problem.lattice, problem.stored.shape, problem.stored.solid
    size, some_solid = solid.size, bool(solid.any())
    marks = flag_word.make_flags(problem, device) if some_solid else device.zeros(1, np.uint32)
    f, g = (tuple(device.zeros(lattice.q * size, dtype) for _ in "ab") for _ in range(2))
    grid, a, b, coupling = problem.parameters(dtype)
    image, fields = device.to_device(solid.ravel()), device.zeros(FIELDS * size, dtype)
    phi = wall_potentials(image, coupling, dtype)
    potentials = device.compile(make_potential_kernel(lattice, dtype, some_solid, block))
    look = device.compile(_observe_kernel(lattice, dtype, problem.stencil, some_solid))
    densities = [potentials(shape, marks, *now, *phi, grid, coupling) for now in (f, g)]
    looks = [look(shape, marks, *now, *phi, fields, grid, a, b) for now in (f, g)]
    turns = zip(densities, (f, g), (g, f), strict=True)
    parts = tuple(parts_of(before, marks, phi, now, then) for before, now, then in turns)
    return Scheme(
        tuple(in_order(*launches.values()) for launches in parts),
        (f, g),
        parts=parts,
        row=size,
        place=_make_place(lattice, solid),
        observe=tuple(in_order(*both) for both in zip(densities, looks, strict=True)),
        fields=fields,
        kept=(marks, *phi),
    )


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to two arrays a fluid on the device."""
    some_solid, (grid, a, b, _) = bool(problem.stored.solid.any()), problem.parameters(dtype)
    fixed = problem.lattice, dtype, problem.collision, problem.stencil, some_solid
    update = device.compile(make_update_kernel(*fixed, block))

    def parts_of(densities, marks, phi, now, then):
        return {"densities": densities, "update": update(problem.stored.shape, marks, *now, *then, *phi, grid, a, b)}

    return dense_scheme(problem, device, dtype, block, parts_of)
