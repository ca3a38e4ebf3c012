"""One array on one core: collide, sweep over the interior, then over the boundary nodes (swap paper, section 1.2).

Each node reads what the one before has left, so the nodes must be visited one after the other.
"""

from repro.errors import InputError

from ..scheme import Cost
from .rays import interior_first
from .rule import sweep_kernel

COST = Cost(arrays=1, reads=2, writes=2)


def build(box):
    """Bind the strategy to one array; InputError on any device but "serial"."""
    if (name := box.device.name) != "serial":
        raise InputError(f"'swap sweep' visits node after node, so it runs on 'serial' only, not on '{name}'")
    return interior_first(box, sweep_kernel(box.spec))
