"""The choice of a device by name."""

import importlib.util

from .cpu import CpuDevice
from .errors import DeviceError

NAMES = ("auto", "serial", "threads", "cuda")


def gpu_present() -> bool:
    """Whether a GPU and CuPy are there; never true for the simulator."""
    if importlib.util.find_spec("cupy") is None:
        return False
    import cupy

    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def select(name: str = "auto"):
    """The device `name`: "serial" (one core), "threads" (all cores), "cuda" (a GPU) or "auto" (GPU, else threads).

    Raises DeviceError where it is not there; only "auto" ever falls back.
    """
    if name not in NAMES:
        raise DeviceError(f"unknown device '{name}': choose one of {', '.join(NAMES)}")
    if name == "auto":
        name = "cuda" if gpu_present() else "threads"
    if name != "cuda":
        return CpuDevice(name)
    from .gpu import CudaDevice

    return CudaDevice()
