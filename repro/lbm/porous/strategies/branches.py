"""One byte a node says whether it is solid; a node looks at its neighbours' bytes and branches.

Porous paper, section 5.1, "the general treatment": simple, but a population costs a look at a neighbour.
"""

from repro.parallel import device_function

from ...layout import unsigned
from ...strategies.scheme import Cost, Scheme
from ..node import make_reader
from .scheme import dense_scheme

COST = Cost(arrays=2, mark=1)


@device_function
def in_solid(solid, node):
    """Whether a node's byte says solid."""
    return solid[node] != 0


@device_function
def fetch(s, k, i, node, back, ahead, size, solid, f):
    """Two populations, for `node.make_reader`: a branch for each neighbour that may be solid."""
    if solid[node + back]:
        s[i, k] = f[unsigned((i + 1) * size + node)]
    else:
        s[i, k] = f[unsigned(i * size + node + back)]
    if solid[node + ahead]:
        s[i + 1, k] = f[unsigned(i * size + node)]
    else:
        s[i + 1, k] = f[unsigned((i + 1) * size + node + ahead)]


@device_function
def fetch_modified(s, k, i, node, back, ahead, size, solid, f):
    """`fetch` at modified walls: what arrives at a wall is sent back at once."""
    fetch(s, k, i, node, back, ahead, size, solid, f)
    if solid[node + back] and not solid[node + ahead]:
        s[i, k] = s[i + 1, k]
    if solid[node + ahead] and not solid[node + back]:
        s[i + 1, k] = s[i, k]


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to two arrays and the image on the device."""
    marks = device.to_device(problem.stored.solid.ravel().view("u1"))
    read = make_reader(problem.lattice, fetch_modified if problem.walls == "modified" else fetch)
    return dense_scheme(problem, device, dtype, block, marks=marks, read=read, in_solid=in_solid)
