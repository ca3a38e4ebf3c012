"""The update of a run of nodes in a porous medium, around each strategy's way of finding the populations.

A flag word knows a node and its neighbours: bit 0 says that the node is solid, bit i that the node is from which
population i would come (porous paper, figure 5.2).
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, device_function

from ..collision import make_collision
from ..equilibrium import make_moments, scratch_rows
from ..lattice import Lattice
from ..layout import unsigned
from ..neighbours import index_of, make_offset, steps_of
from ..storage import make_storage


@cache
def flag_kernel(lattice: Lattice) -> Kernel:
    """The kernel (solid, flags, grid): the flag word of every node."""
    q, offset = lattice.q, make_offset(lattice)

    @device_function
    def flag(x, n, y, z, solid, flags, grid):
        steps = steps_of(x, y, z, grid)
        for k in range(n):
            here, _ = index_of(x + k, y, z, grid)
            word = np.uint32(0)
            for i in range(q):
                if solid[here + offset(i, -1, steps)]:
                    word |= np.uint32(1) << np.uint32(i)
            flags[here] = word

    return Kernel(flag, ndim=3, edges=True)


def collision_of(model, storage: str, dtype):
    """The collision of populations as they are stored, collide(s, n, rates, force)."""
    return make_collision(model.lattice, dtype, model.forcing, model.collision, storage)


def kernel_options(storage: str, dtype, block: int) -> dict:
    """Of a kernel that collides: plain populations take the force last, which another order of sums would undo."""
    return {"dtype": dtype, "block": block, "strict": storage == "plain"}


@device_function
def nowhere(marks, node):
    """No stored node is solid: the sparse strategies."""
    return False


@device_function
def count_pores(marks, node, n, in_solid):
    """How many of `n` nodes are pores."""
    pores = 0
    for k in range(n):
        pores += 0 if in_solid(marks, node + k) else 1
    return pores


@cache
def make_reader(lattice: Lattice, fetch):
    """What streams into a run of nodes, where all nodes are stored, read(s, n, (x, y, z, grid), marks, f).

    fetch(s, k, i, node, back, ahead, size, marks, f) finds populations i and i + 1 of a node, which come from the
    nodes at steps `back` and `ahead`, or from the node itself where those are solid.
    """
    q, offset = lattice.q, make_offset(lattice)

    @device_function
    def read(s, n, place, marks, f):
        (here, size), steps = index_of(*place), steps_of(*place)
        for k in range(n):
            s[0, k] = f[unsigned(here + k)]
        for i in range(1, q, 2):
            back, ahead = offset(i, -1, steps), offset(i, 1, steps)
            for k in range(n):
                fetch(s, k, i, here + k, back, ahead, size, marks, f)

    return read


@cache
def dense_kernel(model, storage: str, dtype, read, in_solid, *, block: int) -> Kernel:
    """The kernel (marks, f, g, grid, rates, force) over all nodes of the box: stream, collide, store.

    in_solid(marks, node) tells a solid node, read(s, n, (x, y, z, grid), marks, f) fills the scratch with what
    streams into the run. Solid nodes are not written, and not computed where a whole run is solid.
    """
    collide, store = collision_of(model, storage, dtype), make_store(model.lattice, in_solid, reverse=False)

    @device_function
    def update(x, n, y, z, s, marks, f, g, grid, rates, force):
        here, size = index_of(x, y, z, grid)
        if count_pores(marks, here, n, in_solid) > 0:
            read(s, n, (x, y, z, grid), marks, f)
            collide(s, n, rates, force)
            store(s, n, here, size, marks, g)

    options = kernel_options(storage, dtype, block)
    return Kernel(update, ndim=3, rows=scratch_rows(model.lattice), edges=True, parts=True, **options)


@cache
def update_kernel(model, storage: str, dtype, load, in_solid, *, block: int, reverse: bool = False) -> Kernel:
    """The kernel (marks, f, g, size, rates, force) over all stored nodes: load(s, n, (node, size), marks, f), collide.

    `reverse` stores each population in the place of its opposite.
    """
    collide, store = collision_of(model, storage, dtype), make_store(model.lattice, in_solid, reverse=reverse)

    @device_function
    def update(x, n, s, marks, f, g, size, rates, force):
        if count_pores(marks, x, n, in_solid) > 0:
            load(s, n, (x, size), marks, f)
            collide(s, n, rates, force)
            store(s, n, x, size, marks, g)

    return Kernel(update, rows=scratch_rows(model.lattice), parts=True, **kernel_options(storage, dtype, block))


@cache
def make_load(lattice: Lattice):
    """The populations of a run of stored nodes, load(s, n, (node, size), marks, f)."""
    q = lattice.q

    @device_function
    def load(s, n, place, marks, f):
        node, size = place
        for i in range(q):
            for k in range(n):
                s[i, k] = f[unsigned(i * size + node + k)]

    return load


@cache
def make_store(lattice: Lattice, in_solid, *, reverse: bool):
    """Stores populations at their own nodes but leaves solid alone, store(s, n, node, size, marks, g)."""
    q, opposite = lattice.q, lattice.opposite

    @device_function
    def store(s, n, node, size, marks, g):
        for i in range(q):
            place = opposite[i] if reverse else i
            for k in range(n):
                if n == 1 or not in_solid(marks, node + k):
                    g[unsigned(place * size + node + k)] = s[i, k]

    return store


@cache
def make_observe(lattice: Lattice, storage: str, dtype, in_solid, *, collided: bool):
    """Density - 1 and velocity, fields[4][node], observe(s, n, node, size, marks, fields, force).

    `collided` says that the scratch holds populations after the collision, which has already added the force. In solid
    all are zero.
    """
    moments, q = make_moments(lattice, dtype, -0.5 if collided else 0.5), lattice.q
    (enter, _), zero = make_storage(lattice, dtype, storage), dtype(0)

    @device_function
    def observe(s, n, node, size, marks, fields, force):
        enter(s, n, force)
        moments(s, n, force)
        for row in range(4):
            for k in range(n):
                solid = in_solid(marks, node + k)
                fields[unsigned(row * size + node + k)] = zero if solid else s[q + row, k]

    return observe


@cache
def macroscopic_kernel(lattice: Lattice, storage: str, dtype, in_solid, *, collided: bool) -> Kernel:
    """The kernel (marks, f, fields, size, force) over all stored nodes, see `make_observe`."""
    observe, load = make_observe(lattice, storage, dtype, in_solid, collided=collided), make_load(lattice)

    @device_function
    def macroscopic(x, n, s, marks, f, fields, size, force):
        load(s, n, (x, size), marks, f)
        observe(s, n, x, size, marks, fields, force)

    return Kernel(macroscopic, rows=scratch_rows(lattice), dtype=dtype)
