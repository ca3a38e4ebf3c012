"""One array, three kernels: the sweep with one thread a ray, which needs no second array (swap paper, section 2.1).

The paper takes the model apart into rays, and could have stopped there: rays do not touch each other.
"""

from ..scheme import Cost
from .rule import collide_kernel, link_kernel, ray_kernel, require_box

COST = Cost(arrays=1, reads=2, writes=2)


def build(box):
    """Bind the strategy to one array on the device; all faces "standard"."""
    return interior_first(box, ray_kernel(box.spec))


def interior_first(box, interior):
    """A scheme in one array that collides, runs the kernel `interior`, then lets the boundary nodes swap."""
    require_box(box.problem, closed=True)
    collide = box.compile(collide_kernel(box.spec, reverse_all=False))
    stream, boundary = box.compile(interior), box.compile(link_kernel(box.spec, boundary_only=True))
    grid = box.parameters.grid
    return box.in_place(
        lambda f: {"collide": collide(f, f, *box.parameters), "stream": stream(f, grid), "boundary": boundary(f, grid)}
    )
