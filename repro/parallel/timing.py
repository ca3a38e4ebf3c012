"""Timing that a reader can trust: warmed up, synchronised, undisturbed, repeated, with its spread.

And the yardstick of every speed: what memory can do, by plain copies.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from repro.declared import Above
from repro.exclusive_timing import exclusive_timing


@dataclass(frozen=True)
class Timing:
    """Seconds of one repetition: the median, the smallest, and the spread (largest minus smallest) over the median."""

    seconds: float
    best: float
    spread: float
    repeats: int

    def per(self, count: int) -> "Timing":
        """The time of one of the `count` equal parts of what was timed."""
        return replace(self, seconds=self.seconds / count, best=self.best / count)


def measure(run, device, *, repeats: int = 5, warm_up: int = 1, clock=None) -> Timing:
    """Time `run()` on the device: the median of `repeats` after `warm_up` runs that do not count.

    By the device's own clock, or by another `clock(run)`.
    """
    for _ in range(warm_up):
        run()
    device.synchronise()
    with exclusive_timing():
        seconds = [(clock or device.clock)(run) for _ in range(repeats)]
    middle = median(seconds)
    return Timing(middle, min(seconds), (max(seconds) - min(seconds)) / middle, repeats)


def time_launches(launches, device, seconds: float) -> Timing:
    """Time launches one after the other, replayed as one graph on a GPU: five repetitions of about `seconds` each.

    The seconds are those of one sequence.
    """
    Above(0, "s a repetition").check("seconds", seconds)
    launches = list(launches)

    def recorded(repeats):
        return device.capture(lambda: [launch() for _ in range(repeats) for launch in launches] and None)

    # the first launch compiles, which a graph cannot
    for launch in launches:
        launch()
    once = recorded(1)
    once()
    device.synchronise()
    # a thousand at most
    repeats = int(np.clip(round(seconds / max(device.clock(once), 1e-9)), 1, 1000))
    timing = measure(recorded(repeats), device)
    return timing.per(repeats)


def part_seconds(parts: dict, device, seconds: float) -> dict[str, float]:
    """Seconds of each of `parts`, launches by name in their order.

    It is the difference between the sequence up to a part and the sequence before it, at least zero: a part alone would
    find the lists of another step. The least of several repetitions counts, since differences of medians would carry
    every disturbance.
    """
    launches, before, times = list(parts.values()), 0.0, {}
    for k, name in enumerate(parts, 1):
        now = time_launches(launches[:k], device, seconds).best
        times[name], before = max(now - before, 0.0), now
    return times


def host_clock(run, device) -> float:
    """Seconds of `run()` by the host's clock, from a quiet device to a quiet device."""
    device.synchronise()
    with exclusive_timing():
        start = time.perf_counter()
        run()
        device.synchronise()
        return time.perf_counter() - start


def wall_clock(run, device, *, repeats: int = 5, warm_up: int = 1) -> Timing:
    """Like `measure`, by the host's clock, launches and waiting included: for what the host takes part in."""
    return measure(run, device, repeats=repeats, warm_up=warm_up, clock=lambda run: host_clock(run, device))


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
