"""Where code runs: what a CPU does otherwise than a GPU stands here.

Names are loaded when they are asked for, so that who only chooses a device waits for no compiler.
"""

from importlib import import_module

from .gpu_detection import gpu_present
from .select import NAMES, resolve, select

#: the module of each name that brings numba along
_HOMES = {
    "CpuDevice": "cpu",
    "GRAPH_STEPS": "timeloop",
    "Kernel": "kernel",
    "PRECISIONS": "timeloop",
    "TimeLoop": "timeloop",
    "Speed": "timing",
    "Timing": "timing",
    "bus_bandwidth": "bandwidth",
    "copy_bandwidth": "bandwidth",
    "fma": "operations",
    "host_clock": "timing",
    "inline": "jit",
    "load_generated": "jit",
    "measure": "timing",
    "ones": "operations",
    "part_seconds": "timing",
    "readable": "memory",
    "require_finite": "timeloop",
    "require_memory": "memory",
    "require_seconds": "timing",
    "time_launches": "timing",
    "wall_clock": "timing",
    "zero": "operations",
}

__all__ = ["NAMES", "gpu_present", "resolve", "select", *_HOMES]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
