"""Where code runs: the only place that knows a CPU from a GPU."""

from .cpu import CpuDevice
from .errors import DeviceError, DivergenceError, InputError, MemoryLimitError
from .jit import inline, load_generated
from .kernel import Kernel
from .memory import readable, require_memory
from .operations import fma, ones
from .select import NAMES, gpu_present, select
from .timing import Timing, bus_bandwidth, copy_bandwidth, host_clock, measure, wall_clock

__all__ = [
    "NAMES",
    "CpuDevice",
    "DeviceError",
    "DivergenceError",
    "InputError",
    "Kernel",
    "MemoryLimitError",
    "Timing",
    "bus_bandwidth",
    "copy_bandwidth",
    "fma",
    "gpu_present",
    "host_clock",
    "inline",
    "load_generated",
    "measure",
    "ones",
    "readable",
    "require_memory",
    "select",
    "wall_clock",
]
