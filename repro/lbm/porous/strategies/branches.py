"""One byte a node says whether it is solid; a node looks at its neighbours' bytes and branches.

Porous paper, section 5.1, "the general treatment": simple, but a population costs a look at a neighbour.
"""

from functools import cache

from repro.parallel import inline

from ...layout import unsigned
from ...neighbours import sides
from ..node import OFFSET, Q
from .scheme import Cost, PorousScheme, dense_scheme

COST = Cost(arrays=2, mark=1)


@inline
def in_solid(solid, node):
    """Whether a node's byte says solid."""
    return solid[node] != 0


@cache
def _reader(modified: bool):
    @inline
    def read(s, n, x, y, z, grid, solid, f):
        nx, ny, nz = grid
        size = nx * ny * nz
        here = x + nx * (y + ny * z)
        xs, ys, zs = sides(x, nx, 1), sides(y, ny, nx), sides(z, nz, nx * ny)
        for lane in range(n):
            s[0, lane] = f[unsigned(here + lane)]
        for i in range(1, Q, 2):
            back, ahead = OFFSET(i, -1, xs, ys, zs), OFFSET(i, 1, xs, ys, zs)
            for lane in range(n):
                node = here + lane
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

    return read


def build(problem, device, dtype, block) -> PorousScheme:
    """Bind the strategy to two arrays and the image on the device."""
    marks = device.to_device(problem.space.solid.ravel().view("u1"))
    read = _reader(problem.walls == "modified")
    return dense_scheme(problem, device, dtype, block, marks=marks, read=read, in_solid=in_solid)
