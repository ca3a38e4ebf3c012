"""Two arrays, one kernel: each node reads its own populations, collides and writes them to its neighbours.

Porous paper, section 4.1(2), as the paper describes it; reads are coalesced, writes uncoalesced (misaligned).
"""

from ..node import update_kernel
from .scheme import Scheme, Traffic, nothing, two_arrays

TRAFFIC = Traffic(arrays=2, reads=1, writes=1)


def build(problem, device, dtype, layout, block) -> Scheme:
    """Bind the strategy to two arrays on the device."""
    a, b = two_arrays(problem, device, dtype)
    parameters = problem.parameters(dtype)
    push = device.compile(update_kernel(problem.model, dtype, layout, load="own", store="scatter", block=block))
    steps = push(problem.shape, a, b, *parameters), push(problem.shape, b, a, *parameters)
    return Scheme(nothing, steps, (a, b), collided=False)
