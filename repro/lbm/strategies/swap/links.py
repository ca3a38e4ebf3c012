"""One array, two kernels: the collision leaves every node reversed, then each link swaps its two populations.

What the swap paper misses: so written, streaming is in place and parallel, and no node needs to know its type.
"""

from ..scheme import Traffic, in_place
from .rule import collide_kernel, link_kernel, require_box

TRAFFIC = Traffic(arrays=1, reads=2, writes=2)


def build(problem, device, dtype, layout, block):
    """Bind the strategy to one array on the device; faces "standard" or "periodic"."""
    require_box(problem, closed=False)
    model, shape = problem.model, problem.shape
    collide = device.compile(collide_kernel(model, dtype, layout, block, reverse_all=True))
    swap = device.compile(link_kernel(model, dtype, layout, block, boundary_only=False))

    def parts(f):
        parameters = problem.parameters(dtype)
        return {"collide": collide(shape, f, *parameters), "stream": swap(shape, f, parameters.grid)}

    return in_place(problem, device, dtype, parts)
