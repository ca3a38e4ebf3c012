"""The choice of a device by name."""

from repro.errors import DeviceError

from .gpu_detection import gpu_present, require_gpu

NAMES = ("auto", "serial", "threads", "cuda")


def resolve(name: str = "auto") -> str:
    """The device that `name` stands for: "auto" is "cuda" where there is a GPU, else "threads".

    Raises DeviceError for an unknown name.
    """
    if name not in NAMES:
        raise DeviceError(f"unknown device '{name}': choose one of {', '.join(NAMES)}")
    if name == "auto":
        return "cuda" if gpu_present() else "threads"
    return name


def available(name: str = "auto") -> str:
    """The device that `name` stands for, as `resolve`; raises DeviceError also where it is not there."""
    found = resolve(name)
    if found == "cuda":
        require_gpu()
    return found


def select(name: str = "auto"):
    """The device `name`: "serial" (one core), "threads" (all cores), "cuda" (a GPU) or "auto" (GPU, else threads).

    Raises DeviceError where it is not there; only "auto" ever falls back.
    """
    name = resolve(name)
    if name != "cuda":
        from .cpu import CpuDevice

        return CpuDevice(name)
    from .gpu import CudaDevice

    return CudaDevice()
