"""Two devices whose trajectories are compared, and what they are called in figures."""

from repro.parallel import CpuDevice, resolve, select

#: what one is called in figures
GPU = "GPU"


def pair(name: str, cores: int) -> tuple:
    """The device that runs everything, and the one it is compared with.

    A GPU and so many cores of the CPU. Without a GPU one core, which for so little water is the fastest, and the device
    asked for.
    """
    if resolve(name) == "cuda":
        return select(name), CpuDevice("threads", workers=cores)
    return CpuDevice("threads", workers=1), select(name)


def label(device) -> str:
    """What a device is called in figures: differently for each that `pair` may compare."""
    if device.name != "threads":
        return {"cuda": GPU, "serial": "one core, particle by particle"}[device.name]
    if device.workers > 1:
        return f"{device.workers} cores"
    return "one thread" if device.parallel else "one core"
