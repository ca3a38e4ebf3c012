"""Speed of coalesced and uncoalesced access: the same additions in another order (section 4.5.1)."""

from functools import cache

import numpy as np
import pandas as pd
from numpy import uint32

from repro.errors import CheckError, require
from repro.papers.speed import record_launches
from repro.parallel import Kernel, copy_bandwidth, device_function, require_memory, time_launches

#: bytes of the smallest memory transaction: a sector on a GPU, a cache line on a CPU
SECTOR = {"cuda": 32, "serial": 64, "threads": 64}

ITEM = np.dtype(np.float32).itemsize

#: numbers that a GPU's thread takes, all loaded before the first is stored, and threads a block: a single load of 4
#: bytes a thread leaves too few bytes under way to fill the memory's latency
ITEMS, BLOCK = 8, 256

#: odd multipliers of a hash that permutes the indices
_FIRST, _SECOND = uint32(2147483647), 1540483477

_ONE = np.float32(1)

_INCLUDES = "one kernel that reads and writes each number once, replayed as a graph on a GPU"


@device_function
def rotated(t, mask, stride, shift):
    """The number k(t) = t stride mod N + t stride / N of N = mask + 1: t with its bits rotated, so each is taken once.

    N = stride 2^shift. The product is the 32-bit one that a GPU has.
    """
    return uint32((uint32(t * stride) & mask) | uint32(t >> shift))


@device_function
def at_random(t, mask, factor, shift):
    """A number at random: every operation here is invertible, so each number is taken once."""
    k = uint32(uint32(t * _FIRST) & mask)
    k = uint32(k ^ uint32(k >> shift))
    k = uint32(uint32(k * factor) & mask)
    return uint32(k ^ uint32(k >> shift))


@device_function
def item(x, j, items, block):
    """The j-th item of thread x: threads of a block take its items side by side, `block` (a power of two) at a time."""
    lane = uint32(x & (block - 1))
    return uint32(uint32(uint32(x) - lane) * uint32(items) + uint32(j * block) + lane)


@cache
def walk_body(number, items: int, block: int):
    """Each thread adds one to the numbers of its items: `number` is `rotated` or `at_random`."""

    @device_function
    def walk(x, n, held, source, target, mask, factor, shift):
        # all loads come before the first store, which could change what they read for all that the compiler knows
        for j in range(items):
            for i in range(x, x + n):
                held[j, i - x] = source[number(item(i, j, items, block), mask, factor, shift)]
        for j in range(items):
            for i in range(x, x + n):
                target[number(item(i, j, items, block), mask, factor, shift)] = held[j, i - x] + _ONE

    return walk


def traffic_model(stride: int, transaction: int) -> int:
    """Bytes moved over bytes requested, for neighbouring threads `stride` numbers apart and no cache hits."""
    return min(stride, transaction // ITEM)


def walks(device, bits: int, strides, *, items: int | None = None, block: int = BLOCK) -> tuple:
    """({stride: launch}, source, target) over arrays of 2^bits numbers, to each of which a launch adds one.

    Stride 0 is at random. A GPU's thread takes `items` numbers, by default as many as the array gives each block.
    """
    require(4 <= bits <= 30, f"bits = {bits}: arrays of 2^4 to 2^30 numbers")
    count = 1 << bits
    for stride in strides:
        power = 0 <= stride < count and not stride & (stride - 1)
        require(power, f"stride {stride}: 0 (at random), or a power of two below 2^{bits}")
    # a core takes one item after the other
    items = (items or max(1, min(ITEMS, count // block))) if device.name == "cuda" else 1
    require_memory(device, 2 * ITEM * count, f"two arrays of 2^{bits} numbers", "use fewer bits")
    source = device.to_device((np.arange(count, dtype=np.int32) % 1024).astype(np.float32))
    target, launches = device.zeros(count, np.float32), {}
    for stride in strides:
        kernel = Kernel(walk_body(rotated if stride else at_random, items, block), rows=items, block=block)
        numbers = (stride, bits + 1 - stride.bit_length()) if stride else (_SECOND, bits // 2)
        arguments = source, target, *map(uint32, (count - 1, *numbers))
        launches[stride] = device.compile(kernel)((count // items,), *arguments)
    return launches, source, target


def check_walk(launch, source, target) -> str:
    """Run a walk on a cleared target; raises CheckError unless every number was taken."""
    target[:] = 0
    launch()
    missed = int((target != source + _ONE).sum())
    if missed:
        raise CheckError(f"{missed} of {len(target)} numbers were not taken")
    return "each number taken once"


def strides_table(device, bits_of_arrays, strides, record=None, *, seconds: float) -> pd.DataFrame:
    """Time the same addition on the same arrays, neighbouring threads 1, 2, 4, ... numbers apart, and at random (0).

    GB/s are those requested, "of copy" their share of the device's copy bandwidth and "moved of copy" that of the bytes
    moved, model the bytes moved over those requested, ratio the time over that of stride 1, with which `strides` begin.
    """
    require(list(strides[:1]) == [1], f"strides {list(strides)}: begin with 1, to which the others are compared")
    roof, rows = copy_bandwidth(device), []
    for bits in bits_of_arrays:
        bound, source, target = walks(device, bits, strides)
        requested, first = 2 * ITEM << bits, None
        for stride, launch in bound.items():
            check = check_walk(launch, source, target)
            timing = time_launches([launch], device, seconds)
            each, first = timing.seconds, first or timing.seconds
            model, share = traffic_model(stride or 1 << bits, SECTOR[device.name]), requested / each / roof
            row = {"bits": bits, "MiB": requested / 2**20, "stride": stride, "seconds": each, "spread": timing.spread}
            row |= {"GB/s": requested / each / 1e9, "of copy": share, "ratio": each / first}
            rows.append(row | {"model": model, "moved of copy": share * model})
            where = f"stride {stride}" if stride else "at random"
            about = {"size": f"2^{bits}", "includes": _INCLUDES, "check": check}
            record_launches(record, f"add one, {where}, 2^{bits} numbers", device, timing, **about)
    return pd.DataFrame(rows)
