"""Two arrays, three kernels: each node takes what the serial sweep would leave there (swap paper, sections 2.2, 2.3).

The paper's parallel form. It does not mention the second array, but without it nodes overwrite each other's sources.
"""

from ..scheme import Cost, Scheme, in_order
from .rule import collide_kernel, link_kernel, require_box, type_kernel

COST = Cost(arrays=2, reads=2, writes=2)


def build(box) -> Scheme:
    """Bind the strategy to two arrays on the device; all faces "standard"."""
    require_box(box.problem, closed=True)
    (a, b), grid = box.arrays(2), box.parameters.grid
    collide = box.compile(collide_kernel(box.spec, reverse_all=False))
    take = box.compile(type_kernel(box.spec))
    boundary = box.compile(link_kernel(box.spec, boundary_only=True))
    parts = tuple(
        {"collide": collide(f, f, *box.parameters), "stream": take(f, g, grid), "boundary": boundary(g, grid)}
        for f, g in ((a, b), (b, a))
    )
    return Scheme(tuple(in_order(*p.values()) for p in parts), (a, b), collided=False, parts=parts)
