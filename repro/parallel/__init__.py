"""Where code runs: what a CPU does otherwise than a GPU stands here.

Names are loaded when they are asked for, so that who only chooses a device waits for no compiler.
"""

from repro.on_demand import names_on_demand

from .gpu_detection import gpu_present
from .select import NAMES, resolve, select

#: the module of each name that brings numba along
_HOMES = {
    "CpuDevice": "cpu",
    "GRAPH_STEPS": "timeloop",
    "Kernel": "kernel",
    "PRECISIONS": "timeloop",
    "TimeLoop": "timeloop",
    "Speed": "benchmark",
    "Timing": "timing",
    "agreement": "benchmark",
    "copy_bandwidth": "bandwidth",
    "fma": "operations",
    "host_clock": "timing",
    "how_launched": "benchmark",
    "device_function": "jit",
    "load_generated": "jit",
    "measure": "timing",
    "measure_runs": "benchmark",
    "ones": "operations",
    "part_seconds": "timing",
    "part_times": "benchmark",
    "readable": "memory",
    "require_finite": "timeloop",
    "require_memory": "memory",
    "require_room": "memory",
    "require_timeable": "benchmark",
    "time_launches": "timing",
    "time_steps": "benchmark",
    "wall_clock": "timing",
    "zero": "operations",
}

__all__ = ["NAMES", "gpu_present", "resolve", "select", *_HOMES]

__getattr__ = names_on_demand(__name__, _HOMES)
