"""All nodes of the box in two arrays a fluid, a flag word a node where there is solid; two kernels a step.

Porous paper, section 6.1: what it calls LBUpdateMacros fills the densities of all nodes, here as potentials, and a
second kernel streams and collides.
"""

from functools import cache, partial

import numpy as np

from repro.parallel import Kernel, device_function

from ...lattice import Lattice
from ...layout import unsigned
from ...neighbours import index_of
from ...porous.node import count_pores, make_reader, nowhere
from ...porous.strategies import flag_word
from ...strategies.scheme import Cost, Scheme
from ..collision import FORCES, ROWS, make_finish, make_load_both, make_potentials
from ..forces import make_gradient
from .scheme import scheme_of

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
    return make_reader(lattice, flag_word.fetch), flag_word.in_solid


@cache
def make_potential_kernel(lattice: Lattice, dtype, some_solid: bool, block: int) -> Kernel:
    """The kernel (marks, f_a, f_b, phi_a, phi_b, grid, coupling): the potentials of all nodes but the solid ones."""
    read, in_solid = finders(lattice, some_solid)
    keep = make_potentials(lattice, dtype, read, in_solid)

    @device_function
    def potentials(x, n, y, z, s, marks, f_a, f_b, phi_a, phi_b, grid, coupling):
        here, _ = index_of(x, y, z, grid)
        if count_pores(marks, here, n, in_solid) > 0:
            keep(s, n, here, (x, y, z, grid), marks, f_a, f_b, phi_a, phi_b, coupling.g)

    return Kernel(potentials, ndim=3, rows=ROWS, dtype=dtype, edges=True, block=block, parts=True)


@cache
def make_update_kernel(
    lattice: Lattice, dtype, collision: str | None, stencil: str, some_solid: bool, block: int
) -> Kernel:
    """The kernel (marks, f_a, f_b, g_a, g_b, phi_a, phi_b, grid, a, b, coupling): stream, and `make_finish`."""
    read, in_solid = finders(lattice, some_solid)
    load_both, gradient = make_load_both(lattice, dtype, read), make_gradient(lattice, stencil, dtype)
    finish = make_finish(lattice, dtype, collision, in_solid)

    @device_function
    def update(x, n, y, z, s, marks, f_a, f_b, g_a, g_b, phi_a, phi_b, grid, a, b, coupling):
        here, size = index_of(x, y, z, grid)
        if count_pores(marks, here, n, in_solid) > 0:
            load_both(s, n, (x, y, z, grid), marks, f_a, f_b)
            gradient(s, n, FORCES[0], x, y, z, grid, phi_b)
            gradient(s, n, FORCES[1], x, y, z, grid, phi_a)
            finish(s, n, here, size, marks, g_a, g_b, a, b)

    return Kernel(update, ndim=3, rows=ROWS, dtype=dtype, edges=True, block=block, parts=True)


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


def dense_scheme(problem, device, dtype, block, *, update=None, updates=None) -> Scheme:
    """A scheme of all nodes of the box, see `scheme_of`; updates(marks, now, then) stands for a kernel `update`."""
    solid, (grid, _, _, coupling) = problem.stored.solid, problem.parameters(dtype)
    some_solid, image = bool(solid.any()), device.to_device(solid.ravel())
    marks = flag_word.make_flags(problem, device) if some_solid else device.zeros(1, np.uint32)
    potentials = make_potential_kernel(problem.lattice, dtype, some_solid, block)
    look = make_update_kernel(problem.lattice, dtype, None, problem.stencil, some_solid, block)
    return scheme_of(
        problem,
        device,
        dtype,
        shape=problem.stored.shape,
        row=solid.size,
        marks=marks,
        phi=wall_potentials(image, coupling, dtype),
        box=grid,
        kernels=(potentials, update, look),
        updates=updates and partial(updates, marks),
        place=_make_place(problem.lattice, solid),
    )


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to two arrays a fluid on the device."""
    fixed = problem.lattice, dtype, problem.collision, problem.stencil, bool(problem.stored.solid.any())
    return dense_scheme(problem, device, dtype, block, update=make_update_kernel(*fixed, block))
