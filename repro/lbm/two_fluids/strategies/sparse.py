"""Only pores are kept; `node_map` says where each population comes from, and so which pores lie beside one.

Porous paper, sections 5.3 and 6.1. Reads the map in both kernels. A population that comes from the pore itself has
turned round at a wall, so the map also tells the wall's potential from a neighbour's.
"""

from functools import cache

import numpy as np

from repro.errors import InputError
from repro.parallel import Kernel, inline

from ...lattice import D3Q19
from ...layout import unsigned
from ...porous.node import nowhere, store_of
from ...porous.node_map import map_pores
from ...porous.strategies.sparse import gather
from ...strategies.scheme import in_order
from ..collision import Q, sums_of
from ..forces import STENCILS, STRENGTH
from ..node import FIELDS, FORCES, ROWS, SUMS, collide_of, observe_of, park, potentials_of
from ..unroll import in_turn
from .scheme import Cost, TwoFluidScheme

COST = Cost(reads=2, map=4 * (Q - 1), dense=False)


@cache
def _gradient_of(stencil: str, dtype):
    """Returns gradient(s, n, row, pore, length, sources, phi, wall), see `forces.gradient_of`."""
    weights, zero = STENCILS[stencil], dtype(0)

    def term_of(i):
        # population i comes from the neighbour at -c_i
        weight = STRENGTH * weights[sum(c * c for c in D3Q19.velocities[i])]
        wx, wy, wz = (dtype(-weight * c) for c in D3Q19.velocities[i])

        @inline
        def term(s, lane, row, pore, length, sources, phi, wall):
            there = np.int64(sources[unsigned((i - 1) * length + pore)]) - i * length
            value = phi[unsigned(there)] if 0 <= there < length else wall
            s[row, lane] += wx * value
            s[row + 1, lane] += wy * value
            s[row + 2, lane] += wz * value

        return term

    terms = in_turn([term_of(i) for i, e in enumerate(D3Q19.velocities) if sum(c * c for c in e) in weights])

    @inline
    def gradient(s, n, row, pore, length, sources, phi, wall):
        for lane in range(n):
            for axis in range(3):
                s[row + axis, lane] = zero
            terms(s, lane, row, pore + lane, length, sources, phi, wall)

    return gradient


@cache
def _potential_kernel(dtype, block: int) -> Kernel:
    """The kernel (sources, f_a, f_b, phi_a, phi_b, length, coupling)."""
    sums, keep = sums_of(dtype), potentials_of(dtype, nowhere)

    @inline
    def potentials(x, n, s, sources, f_a, f_b, phi_a, phi_b, length, coupling):
        gather(s, n, x, length, sources, f_a)
        sums(s, n, SUMS[0])
        gather(s, n, x, length, sources, f_b)
        sums(s, n, SUMS[1])
        keep(s, n, coupling.g, x, sources, phi_a, phi_b)

    return Kernel(potentials, rows=ROWS, dtype=dtype, block=block)


@cache
def _meet_of(dtype, stencil: str):
    """Returns meet(s, n, pore, length, sources, f_a, f_b, phi_a, phi_b, coupling), with fluid a in hand."""
    sums, gradient = sums_of(dtype), _gradient_of(stencil, dtype)

    @inline
    def meet(s, n, pore, length, sources, f_a, f_b, phi_a, phi_b, coupling):
        gather(s, n, pore, length, sources, f_b)
        sums(s, n, SUMS[1])
        park(s, n)
        gather(s, n, pore, length, sources, f_a)
        sums(s, n, SUMS[0])
        gradient(s, n, FORCES[0], pore, length, sources, phi_b, coupling.wall_a)
        gradient(s, n, FORCES[1], pore, length, sources, phi_a, coupling.wall_b)

    return meet


@cache
def _update_kernel(dtype, collision: str, stencil: str, block: int) -> Kernel:
    """The kernel (sources, f_a, f_b, g_a, g_b, phi_a, phi_b, length, a, b, coupling): stream, collide, store."""
    meet, (collide_a, collide_b) = _meet_of(dtype, stencil), collide_of(collision, dtype)
    store = store_of(nowhere, reverse=False)

    @inline
    def update(x, n, s, sources, f_a, f_b, g_a, g_b, phi_a, phi_b, length, a, b, coupling):
        meet(s, n, x, length, sources, f_a, f_b, phi_a, phi_b, coupling)
        collide_a(s, n, a, b)
        store(s, n, x, length, sources, g_a)
        collide_b(s, n, b)
        store(s, n, x, length, sources, g_b)

    return Kernel(update, rows=ROWS, dtype=dtype, block=block)


@cache
def _observe_kernel(dtype, stencil: str) -> Kernel:
    """The kernel (sources, f_a, f_b, phi_a, phi_b, fields, length, a, b, coupling)."""
    meet, observe = _meet_of(dtype, stencil), observe_of(dtype, nowhere)

    @inline
    def look(x, n, s, sources, f_a, f_b, phi_a, phi_b, fields, length, a, b, coupling):
        meet(s, n, x, length, sources, f_a, f_b, phi_a, phi_b, coupling)
        observe(s, n, a, b, x, length, sources, fields)

    return Kernel(look, rows=ROWS, dtype=dtype)


def _place_of(pores, device):
    sources = pores.sources.reshape(Q - 1, pores.row)[:, : pores.count]
    return lambda i: device.to_host(sources[i - 1]).astype(np.int64) if i else np.arange(pores.count)


def build(problem, device, dtype, block) -> TwoFluidScheme:
    """Bind the strategy to two arrays a fluid on the device; the map is made there."""
    if max(STENCILS[problem.stencil]) > 2:
        raise InputError(
            f"stencil '{problem.stencil}' reaches beyond the neighbours that 'sparse' knows: choose 'central' or "
            "'isotropic-4', or the strategy 'dense'"
        )
    pores = map_pores(problem, device)
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
    return TwoFluidScheme(
        parts=tuple({"densities": d, "update": u} for d, u in zip(densities, steps, strict=True)),
        states=(tuple(f), tuple(g)),
        place=_place_of(pores, device),
        observe=tuple(in_order(*both) for both in zip(densities, looks, strict=True)),
        fields=fields,
        kept=(sources, *phi),
        row=row,
        cells=pores.cells,
    )
