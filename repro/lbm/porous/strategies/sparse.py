"""Only pores are kept, in two arrays; `node_map` says where each population comes from.

Porous paper, section 5.3 and figure 5.3 ("algorithm two").
"""

from functools import cache

from repro.parallel import Kernel, inline

from ...equilibrium import scratch_rows
from ...lattice import D3Q19
from ...layout import unsigned
from ..node import Q, macroscopic_kernel, nowhere, own_kernel, relax_of, store_of
from ..node_map import map_pores
from .scheme import Cost, PorousScheme

COST = Cost(arrays=2, map=4 * (Q - 1), dense=False)


@inline
def gather(s, n, pore, row, sources, f):
    """The populations that stream into a run of pores."""
    for lane in range(n):
        s[0, lane] = f[unsigned(pore + lane)]
    for i in range(1, Q):
        for lane in range(n):
            s[i, lane] = f[unsigned(sources[unsigned((i - 1) * row + pore + lane)])]


@cache
def _update_kernel(model, storage: str, dtype, block) -> Kernel:
    """The kernel (sources, f, g, row, rates, force): stream, collide, store."""
    relax, store = relax_of(model, storage, dtype), store_of(nowhere, reverse=False)

    @inline
    def update(x, n, s, sources, f, g, row, rates, force):
        gather(s, n, x, row, sources, f)
        relax(s, n, rates, force)
        store(s, n, x, row, sources, g)

    return Kernel(update, rows=scratch_rows(D3Q19), dtype=dtype, block=block)


def build(problem, device, dtype, block) -> PorousScheme:
    """Bind the strategy to two arrays on the device; the map is made there. The state is taken after the collision."""
    pores, model, storage = map_pores(problem, device), problem.box.model, problem.storage
    count, row, sources = pores.count, pores.row, pores.sources
    a, b = device.zeros(Q * row, dtype), device.zeros(Q * row, dtype)
    fields, (_, rates, force, _) = device.zeros(4 * row, dtype), problem.parameters(dtype)
    update = device.compile(_update_kernel(model, storage, dtype, block))
    collide = device.compile(own_kernel(model, storage, dtype, nowhere, reverse=False, block=block))
    observe = device.compile(macroscopic_kernel(storage, dtype, nowhere, collided=True))
    return PorousScheme(
        start=collide((count,), sources, a, a, row, rates, force),
        steps=tuple(update((count,), sources, f, g, row, rates, force) for f, g in ((a, b), (b, a))),
        states=(a, b),
        collided=True,
        observe=tuple(observe((count,), sources, f, fields, row, force) for f in (a, b)),
        fields=fields,
        kept=(sources,),
        cells=pores.cells,
    )
