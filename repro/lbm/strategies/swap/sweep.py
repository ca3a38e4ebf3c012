"""One array on one core: collide, sweep over the interior, then over the boundary nodes (swap paper, section 1.2).

Each node reads what the one before has left, so the nodes must be visited one after the other.
"""

from repro.errors import InputError

from ..scheme import Traffic
from .rays import interior_first
from .rule import sweep_kernel

TRAFFIC = Traffic(arrays=1, reads=2, writes=2)


def build(problem, device, dtype, layout, block):
    """Bind the strategy to one array; InputError on any device but "serial"."""
    if device.name != "serial":
        raise InputError(f"'swap sweep' visits node after node, so it runs on 'serial' only, not on '{device.name}'")
    return interior_first(problem, device, dtype, layout, block, sweep_kernel(problem.model, layout))
