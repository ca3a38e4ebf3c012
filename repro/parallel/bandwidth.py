"""What memory can do: plain copies, the yardstick of every speed."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .timing import measure

#: bytes of each array: far more than the caches hold
_BYTES = {"cuda": 1 << 31, "threads": 1 << 28, "serial": 1 << 28}

_measured: dict[str, float] = {}


def copy_bandwidth(device) -> float:
    """Bytes read plus written a second by the best of five copies within memory; measured once in a process.

    On a CPU every core that the device uses copies its share with the C library's memcpy.
    """
    name = repr(device)
    if name not in _measured:
        _measured[name] = _copies(device, _BYTES[device.name])
    return _measured[name]


def _copies(device, bytes_each: int) -> float:
    source, target = (device.zeros(bytes_each // 4, np.float32) for _ in range(2))
    # memory that was never written is one page of zeros, which a cache holds
    source.fill(1)
    target.fill(2)
    if device.name == "cuda":
        return 2 * bytes_each / measure(lambda: device.xp.copyto(target, source), device).best
    shares = list(zip(np.array_split(target, device.workers), np.array_split(source, device.workers), strict=True))
    with ThreadPoolExecutor(device.workers) as pool:
        seconds = measure(lambda: list(pool.map(lambda share: np.copyto(*share), shares)), device).best
    if not (target == 1).all():
        raise AssertionError("the copy that was timed did not take place")
    return 2 * bytes_each / seconds
