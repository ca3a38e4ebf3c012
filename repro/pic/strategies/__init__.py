"""Ways to move the particles: the same trajectories, and the same sums of currents, to the last bit."""

from .batches import build as batches
from .global_sums import build as global_sums
from .tiles import build as tiles

#: how to build the launches that move particles, by name
STRATEGIES = {"batches": batches, "global sums": global_sums, "tiles": tiles}

#: strategies that are for a GPU only, or for a CPU only
_ONLY_ON_GPU = {"batches": False, "tiles": True}


def runs_on(strategy: str, device) -> bool:
    """Is a strategy for this kind of device?"""
    return (device.name == "cuda") is _ONLY_ON_GPU.get(strategy, device.name == "cuda")


def fastest(device) -> str:
    """The strategy for runs that compare nothing."""
    return "global sums" if device.name == "cuda" else "batches"
