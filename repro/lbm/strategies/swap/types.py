"""Two arrays, three kernels: each node takes what the serial sweep would leave there (swap paper, sections 2.2, 2.3).

The paper's parallel form. It does not mention the second array, but without it nodes overwrite each other's sources.
"""

from ..scheme import Scheme, Traffic, in_order, nothing, two_arrays
from .rule import collide_kernel, link_kernel, require_box, type_kernel

TRAFFIC = Traffic(arrays=2, reads=2, writes=2)


def build(problem, device, dtype, layout, block) -> Scheme:
    """Bind the strategy to two arrays on the device; all faces "standard"."""
    require_box(problem, closed=True)
    model, shape, parameters = problem.model, problem.shape, problem.parameters(dtype)
    a, b = two_arrays(problem, device, dtype)
    collide = device.compile(collide_kernel(model, dtype, layout, block, reverse_all=False))
    take = device.compile(type_kernel(model, dtype, layout, block))
    boundary = device.compile(link_kernel(model, dtype, layout, block, boundary_only=True))
    parts = tuple(
        {
            "collide": collide(shape, f, *parameters),
            "stream": take(shape, f, g, parameters.grid),
            "boundary": boundary(shape, g, parameters.grid),
        }
        for f, g in ((a, b), (b, a))
    )
    return Scheme(nothing, tuple(in_order(*p.values()) for p in parts), (a, b), collided=False, parts=parts)
