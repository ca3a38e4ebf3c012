"""One array, one kernel: each node reads and writes the same places, its own and those of the nodes ahead.

Lehmann, Computation 10 (2022) 92. The two populations that cross between a node and the one behind it, (k, k + 1) with
k odd, have their places at that node; even steps leave them in the other order than odd ones. So codes of today stream
in place, without a second array and without a pass of its own.
"""

from functools import cache

from repro.parallel import device_function

from ..layout import make_layout, unsigned
from ..neighbours import index_of, make_offset, steps_of
from ..node import update_kernel
from .scheme import Cost, Scheme
from .swap.rule import require_box

COST = Cost(arrays=1)


@cache
def _make_places(lattice, layout: str, odd_step: bool):
    """(load, store), which know where the populations of a run of nodes are before and after a step."""
    (at, stride), offset, q = make_layout(lattice, layout), make_offset(lattice), lattice.q

    @device_function
    def base_of(i, x, y, z, grid):
        here, size = index_of(x, y, z, grid)
        ahead = here + offset(i, 1, steps_of(x, y, z, grid))
        return at(i + 1 if odd_step else i, here, size), at(i if odd_step else i + 1, ahead, size)

    @device_function
    def load(s, n, x, y, z, grid, f, wall):
        rest = at(0, *index_of(x, y, z, grid))
        for k in range(n):
            s[0, k] = f[unsigned(rest + stride * k)]
        for i in range(1, q, 2):
            own, ahead = base_of(i, x, y, z, grid)
            for k in range(n):
                s[i, k] = f[unsigned(own + stride * k)]
                s[i + 1, k] = f[unsigned(ahead + stride * k)]

    @device_function
    def store(s, n, x, y, z, grid, f, wall):
        rest = at(0, *index_of(x, y, z, grid))
        for k in range(n):
            f[unsigned(rest + stride * k)] = s[0, k]
        for i in range(1, q, 2):
            own, ahead = base_of(i, x, y, z, grid)
            for k in range(n):
                f[unsigned(own + stride * k)] = s[i + 1, k]
                f[unsigned(ahead + stride * k)] = s[i, k]

    return load, store


def _arrange(box, f) -> None:
    """Move populations from their own nodes to where the first step looks for them."""
    lattice, xp, rows = box.model.lattice, box.device.xp, box.rows(f)
    for i in range(1, lattice.q, 2):
        cx, cy, cz = lattice.velocities[i]
        rows[i + 1] = xp.roll(rows[i + 1].reshape(box.shape[::-1]), (cz, cy, cx), (0, 1, 2)).ravel()


def build(box) -> Scheme:
    """Bind the strategy to one array on the device; faces "standard" or "periodic"."""
    require_box(box.problem, closed=False)
    (f,), places = box.arrays(1), [_make_places(box.model.lattice, box.spec.layout, odd) for odd in (False, True)]
    return Scheme(
        tuple(box.compile(update_kernel(box.spec, *here))(f, f, *box.parameters) for here in places),
        (f, f),
        collided=False,
        start=lambda: _arrange(box, f),
        loads=tuple(load for load, _ in places),
    )
