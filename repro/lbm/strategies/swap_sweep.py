"""One array on one core: collide, sweep over the interior, then over the boundary nodes (swap paper, section 1.2).

Each node reads what the one before has left, so the nodes must be visited one after the other.
"""

from repro.parallel import InputError

from ..swap import collide_kernel, link_kernel, require_box, sweep_kernel
from .scheme import Traffic, in_place

TRAFFIC = Traffic(arrays=1, reads=2, writes=2)


def build(problem, device, dtype, layout, block):
    """Bind the strategy to one array; InputError on any device but "serial"."""
    if device.name != "serial":
        raise InputError(f"'swap sweep' visits node after node, so it runs on 'serial' only, not on '{device.name}'")
    require_box(problem, closed=True)
    model, shape = problem.model, problem.shape
    collide = device.compile(collide_kernel(model, dtype, layout, block, reverse_all=False))
    sweep = device.compile(sweep_kernel(model, layout))
    boundary = device.compile(link_kernel(model, dtype, layout, block, boundary_only=True))

    def parts(f):
        return {
            "collide": collide(shape, f, *problem.parameters(dtype)),
            "stream": sweep(shape, f, *shape),
            "boundary": boundary(shape, f, *shape),
        }

    return in_place(problem, device, dtype, parts)
