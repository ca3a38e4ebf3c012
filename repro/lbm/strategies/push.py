"""Two arrays, one kernel: each node reads its own populations, collides and writes them to its neighbours.

Porous paper, section 4.1(2), as the paper describes it; reads are coalesced, writes uncoalesced (misaligned).
"""

from ..node import update_kernel
from .scheme import Cost, Scheme

COST = Cost(arrays=2)


def build(box) -> Scheme:
    """Bind the strategy to two arrays on the device."""
    a, b = box.arrays(2)
    push = box.compile(update_kernel(box.spec, box.spec.streaming.load, box.spec.streaming.push))
    return Scheme((push(a, b, *box.parameters), push(b, a, *box.parameters)), (a, b), collided=False)
