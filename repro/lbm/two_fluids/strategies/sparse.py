"""Only pores are kept; `neighbour_list` says where each population comes from, and so which pores lie beside one.

Porous paper, sections 5.3 and 6.1. Reads the map in both kernels. A population that comes from the pore itself has
turned round at a wall, so the map also tells the wall's potential from a neighbour's.
"""

from functools import cache

import numpy as np

from repro.errors import InputError
from repro.parallel import Kernel, device_function

from ...lattice import D3Q19
from ...layout import unsigned
from ...porous.neighbour_list import list_neighbours
from ...porous.node import make_store, nowhere
from ...porous.strategies.sparse import make_pull
from ...strategies.scheme import Cost, Scheme, in_order
from ..collision import Q, make_sums
from ..forces import STENCILS, STRENGTH
from ..node import FIELDS, FORCES, ROWS, SUMS, make_collide, make_observe, make_potentials, stash
from ..unroll import in_turn

pull = make_pull(D3Q19)

COST = Cost(arrays=4, reads=4, writes=2, map=4 * (Q - 1), finds=2, kept=7, moved=4, dense=False)


@cache
def _make_gradient(stencil: str, dtype):
    """Six times grad phi, gradient(s, n, row, pore, length, sources, phi, wall), see `forces.make_gradient`."""
    weights, zero = STENCILS[stencil], dtype(0)

    def make_term(i):
        # population i comes from the neighbour at -c_i
        weight = STRENGTH * weights[sum(c * c for c in D3Q19.velocities[i])]
        wx, wy, wz = (dtype(-weight * c) for c in D3Q19.velocities[i])

        @device_function
        def term(s, k, row, pore, length, sources, phi, wall):
            there = np.int64(sources[unsigned((i - 1) * length + pore)]) - i * length
            value = phi[unsigned(there)] if 0 <= there < length else wall
            s[row, k] += wx * value
            s[row + 1, k] += wy * value
            s[row + 2, k] += wz * value

        return term

    terms = in_turn([make_term(i) for i, e in enumerate(D3Q19.velocities) if sum(c * c for c in e) in weights])

    @device_function
    def gradient(s, n, row, pore, length, sources, phi, wall):
        for k in range(n):
            for axis in range(3):
                s[row + axis, k] = zero
            terms(s, k, row, pore + k, length, sources, phi, wall)

    return gradient


@cache
def _potential_kernel(dtype, block: int) -> Kernel:
    """The kernel (sources, f_a, f_b, phi_a, phi_b, length, coupling)."""
    sums, keep = make_sums(dtype), make_potentials(dtype, nowhere)

    @device_function
    def potentials(x, n, s, sources, f_a, f_b, phi_a, phi_b, length, coupling):
        pull(s, n, x, length, sources, f_a)
        sums(s, n, SUMS[0])
        pull(s, n, x, length, sources, f_b)
        sums(s, n, SUMS[1])
        keep(s, n, coupling.g, x, sources, phi_a, phi_b)

    return Kernel(potentials, rows=ROWS, dtype=dtype, block=block)


@cache
def _make_load_both(dtype, stencil: str):
    """Populations, sums and gradients of both fluids, a the current one: load_both(s, n, pore, length, ...)."""
    sums, gradient = make_sums(dtype), _make_gradient(stencil, dtype)

    @device_function
    def load_both(s, n, pore, length, sources, f_a, f_b, phi_a, phi_b, coupling):
        pull(s, n, pore, length, sources, f_b)
        sums(s, n, SUMS[1])
        stash(s, n)
        pull(s, n, pore, length, sources, f_a)
        sums(s, n, SUMS[0])
        gradient(s, n, FORCES[0], pore, length, sources, phi_b, coupling.wall_a)
        gradient(s, n, FORCES[1], pore, length, sources, phi_a, coupling.wall_b)

    return load_both


@cache
def _update_kernel(dtype, collision: str, stencil: str, block: int) -> Kernel:
    """The kernel (sources, f_a, f_b, g_a, g_b, phi_a, phi_b, length, a, b, coupling): stream, collide, store."""
    load_both, (collide_a, collide_b) = _make_load_both(dtype, stencil), make_collide(collision, dtype)
    store = make_store(D3Q19, nowhere, reverse=False)

    @device_function
    def update(x, n, s, sources, f_a, f_b, g_a, g_b, phi_a, phi_b, length, a, b, coupling):
        load_both(s, n, x, length, sources, f_a, f_b, phi_a, phi_b, coupling)
        collide_a(s, n, a, b)
        store(s, n, x, length, sources, g_a)
        collide_b(s, n, b)
        store(s, n, x, length, sources, g_b)

    return Kernel(update, rows=ROWS, dtype=dtype, block=block)


@cache
def _observe_kernel(dtype, stencil: str) -> Kernel:
    """The kernel (sources, f_a, f_b, phi_a, phi_b, fields, length, a, b, coupling)."""
    load_both, observe = _make_load_both(dtype, stencil), make_observe(dtype, nowhere)

    @device_function
    def look(x, n, s, sources, f_a, f_b, phi_a, phi_b, fields, length, a, b, coupling):
        load_both(s, n, x, length, sources, f_a, f_b, phi_a, phi_b, coupling)
        observe(s, n, a, b, x, length, sources, fields)

    return Kernel(look, rows=ROWS, dtype=dtype)


def _make_place(pores, device):
    sources = pores.sources.reshape(Q - 1, pores.row)[:, : pores.count]
    return lambda i: device.to_host(sources[i - 1]).astype(np.int64) if i else np.arange(pores.count)


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to two arrays a fluid on the device; the map is made there."""
    if max(STENCILS[problem.stencil]) > 2:
        raise InputError(
            f"stencil '{problem.stencil}' reaches beyond the neighbours that 'sparse' knows: choose 'central' or "
            "'isotropic-4', or the strategy 'dense'"
        )
    pores = list_neighbours(problem, device)
    count, row, sources = pores.count, pores.row, pores.sources
    f, g = ([device.zeros(Q * row, dtype) for _ in "ab"] for _ in range(2))
    phi, fields = [device.zeros(row, dtype) for _ in "ab"], device.zeros(FIELDS * row, dtype)
    _, a, b, coupling = problem.parameters(dtype)
    potentials = device.compile(_potential_kernel(dtype, block))
    update = device.compile(_update_kernel(dtype, problem.collision, problem.stencil, block))
    look = device.compile(_observe_kernel(dtype, problem.stencil))
    densities = [potentials((count,), sources, *now, *phi, row, coupling) for now in (f, g)]
    steps = [update((count,), sources, *now, *then, *phi, row, a, b, coupling) for now, then in ((f, g), (g, f))]
    looks = [look((count,), sources, *now, *phi, fields, row, a, b, coupling) for now in (f, g)]
    parts = tuple({"densities": d, "update": u} for d, u in zip(densities, steps, strict=True))
    return Scheme(
        tuple(in_order(*launches.values()) for launches in parts),
        (tuple(f), tuple(g)),
        parts=parts,
        row=row,
        place=_make_place(pores, device),
        observe=tuple(in_order(*both) for both in zip(densities, looks, strict=True)),
        fields=fields,
        kept=(sources, *phi),
        cells=pores.cells,
    )
