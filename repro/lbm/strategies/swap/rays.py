"""One array, three kernels: the sweep with one thread a ray, which needs no second array (swap paper, section 2.1).

The paper takes the model apart into rays, and could have stopped there: rays do not touch each other.
"""

from ..scheme import Traffic, in_place
from .rule import collide_kernel, link_kernel, ray_kernel, require_box

TRAFFIC = Traffic(arrays=1, reads=2, writes=2)


def build(problem, device, dtype, layout, block):
    """Bind the strategy to one array on the device; all faces "standard"."""
    return interior_first(problem, device, dtype, layout, block, ray_kernel(problem.model, layout, block))


def interior_first(problem, device, dtype, layout, block, interior):
    """A scheme in one array that collides, runs the kernel `interior`, then lets the boundary nodes swap."""
    require_box(problem, closed=True)
    model, shape = problem.model, problem.shape
    collide = device.compile(collide_kernel(model, dtype, layout, block, reverse_all=False))
    stream = device.compile(interior)
    boundary = device.compile(link_kernel(model, dtype, layout, block, boundary_only=True))

    def parts(f):
        parameters = problem.parameters(dtype)
        return {
            "collide": collide(shape, f, *parameters),
            "stream": stream(shape, f, parameters.grid),
            "boundary": boundary(shape, f, parameters.grid),
        }

    return in_place(problem, device, dtype, parts)
