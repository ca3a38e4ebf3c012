"""One array, two kernels: the collision leaves every node reversed, then each link swaps its two populations.

What the swap paper misses: so written, streaming is in place and parallel, and no node needs to know its type.
"""

from ..scheme import Cost
from .rule import collide_kernel, link_kernel, require_box

COST = Cost(arrays=1, reads=2, writes=2)


def build(box):
    """Bind the strategy to one array on the device; faces "standard" or "periodic"."""
    require_box(box.problem, closed=False)
    collide = box.compile(collide_kernel(box.spec, reverse_all=True))
    swap = box.compile(link_kernel(box.spec, boundary_only=False))
    return box.in_place(lambda f: {"collide": collide(f, f, *box.parameters), "stream": swap(f, box.parameters.grid)})
