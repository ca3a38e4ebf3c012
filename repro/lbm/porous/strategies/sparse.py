"""Only pores are kept, in two arrays; `neighbour_list` says where each population comes from.

Porous paper, section 5.3 and figure 5.3 ("algorithm two").
"""

from functools import cache

from repro.parallel import Kernel, device_function

from ...equilibrium import scratch_rows
from ...lattice import D3Q19, Lattice
from ...layout import unsigned
from ...strategies.scheme import Cost, Scheme
from ..neighbour_list import list_neighbours
from ..node import collision_of, kernel_options, make_store, nowhere
from .scheme import after_collision

COST = Cost(arrays=2, map=4 * (D3Q19.q - 1), dense=False)


@cache
def make_pull(lattice: Lattice):
    """The populations that stream into a run of pores, pull(s, n, (pore, row), sources, f)."""
    q = lattice.q

    @device_function
    def pull(s, n, place, sources, f):
        pore, row = place
        for k in range(n):
            s[0, k] = f[unsigned(pore + k)]
        for i in range(1, q):
            for k in range(n):
                s[i, k] = f[unsigned(sources[unsigned((i - 1) * row + pore + k)])]

    return pull


@cache
def _update_kernel(model, storage: str, dtype, block) -> Kernel:
    """The kernel (sources, f, g, row, rates, force): stream, collide, store."""
    collide, store = collision_of(model, storage, dtype), make_store(model.lattice, nowhere, reverse=False)
    pull = make_pull(model.lattice)

    @device_function
    def update(x, n, s, sources, f, g, row, rates, force):
        pull(s, n, (x, row), sources, f)
        collide(s, n, rates, force)
        store(s, n, x, row, sources, g)

    return Kernel(update, rows=scratch_rows(model.lattice), **kernel_options(storage, dtype, block))


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to two arrays on the device; the list is made there. The state is after the collision."""
    pores, (_, rates, force, _) = list_neighbours(problem, device), problem.parameters(dtype)
    count, row, sources = pores.count, pores.row, pores.sources
    states = a, b = tuple(device.zeros(problem.lattice.q * row, dtype) for _ in "ab")
    update = device.compile(_update_kernel(problem.box.model, problem.storage, dtype, block))
    steps = tuple(update((count,), sources, f, g, row, rates, force) for f, g in ((a, b), (b, a)))
    return after_collision(problem, device, dtype, block, steps, states, count, row, sources, nowhere, pores.cells)
