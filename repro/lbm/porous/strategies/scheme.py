"""What strategies for porous media share: their observation, and all of those that store every node."""

from ...strategies.scheme import Scheme
from ..node import dense_kernel, macroscopic_kernel, make_load, update_kernel


def dense_scheme(problem, device, dtype, block, *, marks, read, in_solid) -> Scheme:
    """Two arrays over the whole box and a kernel that streams with `read`; the state is taken after the collision."""
    update = dense_kernel(problem.box.model, problem.storage, dtype, read, in_solid, block=block)
    shape, size, grid = problem.stored.shape, problem.stored.solid.size, problem.parameters(dtype).grid
    return after_collision(problem, device, dtype, block, update, shape, grid, size, size, marks, in_solid)


def after_collision(
    problem, device, dtype, block, update, shape, box, count, row, marks, in_solid, cells=None
) -> Scheme:
    """A scheme of two arrays in rows of length `row`, of `count` stored nodes, whose state is after the collision.

    The kernel `update` runs over `shape` and takes the grid or the length of a row as `box`.
    """
    model, storage, lattice = problem.box.model, problem.storage, problem.lattice
    _, rates, force, _ = problem.parameters(dtype)
    update = device.compile(update)
    collide = device.compile(update_kernel(model, storage, dtype, make_load(lattice), in_solid, block=block))
    observe = device.compile(macroscopic_kernel(lattice, storage, dtype, in_solid, collided=True))
    states = a, b = tuple(device.zeros(lattice.q * row, dtype) for _ in "ab")
    fields = device.zeros(4 * row, dtype)
    return Scheme(
        tuple(update(shape, marks, f, g, box, rates, force) for f, g in ((a, b), (b, a))),
        states,
        start=collide((count,), marks, a, a, row, rates, force),
        observe=tuple(observe((count,), marks, f, fields, row, force) for f in states),
        fields=fields,
        kept=(marks,),
        cells=cells,
    )
