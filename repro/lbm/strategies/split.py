"""Two arrays, two kernels: collide into the second array, then stream back. Twice the memory traffic.

Porous paper, section 4.1(2): the three logical steps one after the other, which fusing avoids.
"""

from ..node import stream_kernel, update_kernel
from .scheme import Scheme, Traffic, in_order, nothing, two_arrays

TRAFFIC = Traffic(arrays=2, reads=2, writes=2)


def build(problem, device, dtype, layout, block) -> Scheme:
    """Bind the strategy to two arrays on the device."""
    a, b = two_arrays(problem, device, dtype)
    parameters, shape = problem.parameters(dtype), problem.shape
    collide = device.compile(update_kernel(problem.model, dtype, layout, load="own", store="keep", block=block))
    stream = device.compile(stream_kernel(problem.model, dtype, layout, block=block))
    step = in_order(collide(shape, a, b, *parameters), stream(shape, b, a, parameters.grid, parameters.wall))
    return Scheme(nothing, (step, step), (a, a), collided=False)
