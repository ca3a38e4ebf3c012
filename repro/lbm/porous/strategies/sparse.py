"""Only pores are kept, in two arrays; `neighbour_list` says where each population comes from.

Porous paper, section 5.3 and figure 5.3 ("algorithm two").
"""

from functools import cache

from repro.parallel import device_function

from ...lattice import D3Q19, Lattice
from ...layout import unsigned
from ...strategies.scheme import Cost, Scheme
from ..neighbour_list import list_neighbours
from ..node import nowhere, update_kernel
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


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to two arrays on the device; the list is made there. The state is after the collision."""
    pores, pull = list_neighbours(problem, device), make_pull(problem.lattice)
    update = update_kernel(problem.box.model, problem.storage, dtype, pull, nowhere, block=block)
    lengths = (pores.count,), pores.row, pores.count, pores.row
    return after_collision(problem, device, dtype, block, update, *lengths, pores.sources, nowhere, pores.cells)
