"""Two arrays, one kernel: each node reads what streams into it, collides and writes its own populations.

Porous paper, section 4.1(2); reads are uncoalesced (misaligned), writes coalesced. The state is that after the
collision.
"""

from ..node import update_kernel
from .scheme import Cost, Scheme

COST = Cost(arrays=2)


def build(box) -> Scheme:
    """Bind the strategy to two arrays on the device."""
    a, b = box.arrays(2)
    load, pull, store, _ = box.spec.streaming
    collide_both = box.compile(update_kernel(box.spec, load, store))(a, b, *box.parameters)
    update = box.compile(update_kernel(box.spec, pull, store))

    def start():
        collide_both()
        box.device.xp.copyto(a, b)

    return Scheme((update(a, b, *box.parameters), update(b, a, *box.parameters)), (a, b), start=start)
