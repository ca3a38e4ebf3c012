"""Where code runs: what a CPU does otherwise than a GPU stands here.

Names are loaded when they are asked for, so that who only chooses a device waits for no compiler.
"""

from repro.on_demand import names_on_demand

from .gpu_detection import gpu_present
from .select import NAMES, resolve, select

#: the names of each module that brings numba along
_HOMES = {
    "benchmark": "Speed agreement how_launched measure_runs part_times require_timeable time_steps",
    "cpu": "CpuDevice",
    "jit": "device_function load_generated",
    "kernel": "Kernel",
    "memory": "readable require_memory require_room",
    "operations": "fma from_bits from_half like ones to_bits to_half zero",
    "timeloop": "GRAPH_STEPS PRECISIONS TimeLoop require_finite",
    "timing": "Timing copy_bandwidth host_clock measure part_seconds time_launches wall_clock",
}

__all__ = ["NAMES", "gpu_present", "resolve", "select", *" ".join(_HOMES.values()).split()]

__getattr__ = names_on_demand(__name__, _HOMES)
