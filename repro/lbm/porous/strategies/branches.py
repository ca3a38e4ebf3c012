"""One byte a node says whether it is solid; a node looks at its neighbours' bytes and branches.

Porous paper, section 5.1, "the general treatment": simple, but a population costs a look at a neighbour.
"""

from functools import cache

from repro.parallel import inline

from ...layout import unsigned
from ..node import reader_of
from .scheme import Cost, PorousScheme, dense_scheme

COST = Cost(arrays=2, mark=1)


@inline
def in_solid(solid, node):
    """Whether a node's byte says solid."""
    return solid[node] != 0


@cache
def _fetch_of(modified: bool):
    @inline
    def fetch(s, lane, i, node, back, ahead, size, solid, f):
        if solid[node + back]:
            s[i, lane] = f[unsigned((i + 1) * size + node)]
        else:
            s[i, lane] = f[unsigned(i * size + node + back)]
        if solid[node + ahead]:
            s[i + 1, lane] = f[unsigned(i * size + node)]
        else:
            s[i + 1, lane] = f[unsigned((i + 1) * size + node + ahead)]
        if modified and solid[node + back] and not solid[node + ahead]:
            s[i, lane] = s[i + 1, lane]
        if modified and solid[node + ahead] and not solid[node + back]:
            s[i + 1, lane] = s[i, lane]

    return fetch


def build(problem, device, dtype, block) -> PorousScheme:
    """Bind the strategy to two arrays and the image on the device."""
    marks = device.to_device(problem.space.solid.ravel().view("u1"))
    read = reader_of(_fetch_of(problem.walls == "modified"))
    return dense_scheme(problem, device, dtype, block, marks=marks, read=read, in_solid=in_solid)
