"""Whether there is a GPU, found out without a compiler."""

import importlib.util

from repro.errors import DeviceError


def gpu_present() -> bool:
    """Whether a GPU and CuPy are there; never true for the simulator."""
    return not _missing()


def _missing() -> str:
    """What a GPU lacks, empty if nothing."""
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed"
    import cupy

    try:
        return "" if cupy.cuda.runtime.getDeviceCount() > 0 else "there is no GPU"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"there is no GPU ({error})"


def require_gpu() -> None:
    """Raise a DeviceError that says what is missing, unless a GPU and CuPy are there."""
    if missing := _missing():
        hint = "use --device threads, or install the extra cuda12 or cuda13 on a machine with an NVIDIA GPU"
        raise DeviceError(f"device 'cuda' was asked for, but {missing}: {hint}")
