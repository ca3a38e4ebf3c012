"""Only pores are kept; `neighbour_list` says where each population comes from, and so which pores lie beside one.

Porous paper, sections 5.3 and 6.1. Reads the map in both kernels. A population that comes from the pore itself has
turned round at a wall, so the map also tells the wall's potential from a neighbour's.
"""

from functools import cache

import numpy as np

from repro.errors import InputError
from repro.parallel import Kernel, device_function
from repro.parallel.unroll import each, unrolled

from ...lattice import D3Q19, Lattice
from ...layout import unsigned
from ...porous.neighbour_list import list_neighbours
from ...porous.node import nowhere
from ...porous.strategies.sparse import make_pull
from ...strategies.scheme import Cost, Scheme
from ..collision import FORCES, ROWS, make_finish, make_load_both, make_potentials
from ..forces import STENCILS, links_of
from .scheme import scheme_of

COST = Cost(arrays=4, reads=4, writes=2, map=4 * (D3Q19.q - 1), finds=2, kept=7, moved=4, dense=False)


def _weights(lattice: Lattice, stencil: str) -> dict[tuple[int, int, int], float]:
    """The weight of each neighbour, by the step to it."""
    return {tuple(sign * c for c in e): weight for e, weight in links_of(stencil, lattice) for sign in (1, -1)}


@cache
def make_gradient(lattice: Lattice, stencil: str, dtype):
    """Six times grad phi, gradient(s, n, row, pore, length, sources, phi, wall), see `forces.make_gradient`."""
    weights, zero = _weights(lattice, stencil), dtype(0)

    def make_term(i):
        # population i comes from the neighbour at -c_i
        wx, wy, wz = (dtype(-weights[lattice.velocities[i]] * c) for c in lattice.velocities[i])

        @device_function
        def term(s, k, row, pore, length, sources, phi, wall):
            there = np.int64(sources[unsigned((i - 1) * length + pore)]) - i * length
            value = phi[unsigned(there)] if 0 <= there < length else wall
            s[row, k] += wx * value
            s[row + 1, k] += wy * value
            s[row + 2, k] += wz * value

        return term

    # each a function of its own: what one gradient has read of the map, the other then finds in registers
    terms = tuple(make_term(i) for i, e in enumerate(lattice.velocities) if e in weights)

    @unrolled
    def gradient(s, n, row, pore, length, sources, phi, wall):
        for k in range(n):
            for axis in range(3):
                s[row + axis, k] = zero
            for term in each(terms):
                term(s, k, row, pore + k, length, sources, phi, wall)

    return gradient


@cache
def _potential_kernel(lattice: Lattice, dtype, block: int) -> Kernel:
    """The kernel (sources, f_a, f_b, phi_a, phi_b, length, coupling)."""
    keep = make_potentials(lattice, dtype, make_pull(lattice), nowhere)

    @device_function
    def potentials(x, n, s, sources, f_a, f_b, phi_a, phi_b, length, coupling):
        keep(s, n, x, (x, length), sources, f_a, f_b, phi_a, phi_b, coupling.g)

    return Kernel(potentials, rows=ROWS, dtype=dtype, block=block, parts=True)


@cache
def _update_kernel(lattice: Lattice, dtype, collision: str | None, stencil: str, block: int) -> Kernel:
    """The kernel (sources, f_a, f_b, g_a, g_b, phi_a, phi_b, length, a, b, coupling): stream, and `make_finish`."""
    load_both, gradient = make_load_both(lattice, dtype, make_pull(lattice)), make_gradient(lattice, stencil, dtype)
    finish = make_finish(lattice, dtype, collision, nowhere)

    @device_function
    def update(x, n, s, sources, f_a, f_b, g_a, g_b, phi_a, phi_b, length, a, b, coupling):
        load_both(s, n, (x, length), sources, f_a, f_b)
        gradient(s, n, FORCES[0], x, length, sources, phi_b, coupling.wall_a)
        gradient(s, n, FORCES[1], x, length, sources, phi_a, coupling.wall_b)
        finish(s, n, x, length, sources, g_a, g_b, a, b)

    return Kernel(update, rows=ROWS, dtype=dtype, block=block, parts=True)


def _make_place(pores, device):
    sources = pores.sources.reshape(-1, pores.row)[:, : pores.count]
    return lambda i: device.to_host(sources[i - 1]).astype(np.int64) if i else np.arange(pores.count)


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to two arrays a fluid on the device; the map is made there."""
    lattice, stencil = problem.lattice, problem.stencil
    known = [name for name in STENCILS if set(_weights(lattice, name)) <= set(lattice.velocities)]
    if stencil not in known:
        raise InputError(
            f"stencil '{stencil}' reaches beyond the neighbours that 'sparse' knows: choose "
            f"{' or '.join(map(repr, known))}, or the strategy 'dense'"
        )
    pores = list_neighbours(problem, device)
    update, look = (_update_kernel(lattice, dtype, end, stencil, block) for end in (problem.collision, None))
    return scheme_of(
        problem,
        device,
        dtype,
        shape=(pores.count,),
        row=pores.row,
        marks=pores.sources,
        phi=tuple(device.zeros(pores.row, dtype) for _ in "ab"),
        box=pores.row,
        kernels=(_potential_kernel(lattice, dtype, block), update, look),
        place=_make_place(pores, device),
        cells=pores.cells,
    )
