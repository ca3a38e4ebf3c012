"""Two arrays, one kernel: each node reads what streams into it, collides and writes its own populations.

Porous paper, section 4.1(2); reads are uncoalesced (misaligned), writes coalesced. The state is that after the
collision.
"""

from ..node import update_kernel
from .scheme import Scheme, Traffic, two_arrays

TRAFFIC = Traffic(arrays=2, reads=1, writes=1)


def build(problem, device, dtype, layout, block) -> Scheme:
    """Bind the strategy to two arrays on the device."""
    a, b = two_arrays(problem, device, dtype)
    parameters, model = problem.parameters(dtype), problem.model
    pull = device.compile(update_kernel(model, dtype, layout, load="gather", store="keep", block=block))
    first = device.compile(update_kernel(model, dtype, layout, load="own", store="keep", block=block))
    collide_both = first(problem.shape, a, b, *parameters)

    def start():
        collide_both()
        device.xp.copyto(a, b)

    steps = pull(problem.shape, a, b, *parameters), pull(problem.shape, b, a, *parameters)
    return Scheme(start, steps, (a, b), collided=True)
