"""What strategies for porous media share: their observation, and all of those that store every node."""

from ...strategies.scheme import Scheme
from ..node import collide_kernel, dense_kernel, macroscopic_kernel


def dense_scheme(problem, device, dtype, block, *, marks, read, in_solid) -> Scheme:
    """Two arrays over the whole box and a kernel that streams with `read`; the state is taken after the collision."""
    size, (grid, rates, force, _) = problem.stored.solid.size, problem.parameters(dtype)
    update = device.compile(dense_kernel(problem.box.model, problem.storage, dtype, read, in_solid, block=block))
    states = a, b = tuple(device.zeros(problem.lattice.q * size, dtype) for _ in "ab")
    steps = tuple(update(problem.stored.shape, marks, f, g, grid, rates, force) for f, g in ((a, b), (b, a)))
    return after_collision(problem, device, dtype, block, steps, states, size, size, marks, in_solid)


def after_collision(problem, device, dtype, block, steps, states, count, row, marks, in_solid, cells=None) -> Scheme:
    """A scheme of two arrays in rows of length `row`, of `count` stored nodes, whose state is after the collision."""
    rates, force = problem.parameters(dtype)[1:3]
    collide = device.compile(
        collide_kernel(problem.box.model, problem.storage, dtype, in_solid, reverse=False, block=block)
    )
    observe = device.compile(macroscopic_kernel(problem.lattice, problem.storage, dtype, in_solid, collided=True))
    fields, first = device.zeros(4 * row, dtype), states[0]
    return Scheme(
        steps,
        states,
        start=collide((count,), marks, first, first, row, rates, force),
        observe=tuple(observe((count,), marks, f, fields, row, force) for f in states),
        fields=fields,
        kept=(marks,),
        cells=cells,
    )
