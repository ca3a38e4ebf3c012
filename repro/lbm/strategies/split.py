"""Two arrays, two kernels: collide into the second array, then stream back. Twice the memory traffic.

Porous paper, section 4.1(2): the three logical steps one after the other, which fusing avoids.
"""

from ..node import stream_kernel, update_kernel
from .scheme import Cost, Scheme, in_order

COST = Cost(arrays=2, reads=2, writes=2)


def build(box) -> Scheme:
    """Bind the strategy to two arrays on the device."""
    a, b = box.arrays(2)
    collide = box.compile(update_kernel(box.spec, box.spec.streaming.load, box.spec.streaming.store))
    stream = box.compile(stream_kernel(box.spec))
    step = in_order(collide(a, b, *box.parameters), stream(b, a, box.parameters.grid, box.parameters.wall))
    return Scheme((step, step), (a, a), collided=False)
