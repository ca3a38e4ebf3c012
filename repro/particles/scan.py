"""Where each cell begins, from how many particles each holds: a running sum in fixed memory, for CUDA graphs.

A library's scan takes temporary memory from a pool, which a replayed graph would find in other hands.
"""

import numpy as np

from repro.parallel import device_function

from .launch import launch_of

#: numbers that one thread sums up
CHUNK = 16


@device_function
def _add_up(x, n, values, sums, count):
    for chunk in range(x, x + n):
        total = 0
        for k in range(chunk * CHUNK, min((chunk + 1) * CHUNK, count)):
            total += values[k]
        sums[chunk] = total


@device_function
def _spread(x, n, values, starts, offsets, count):
    for chunk in range(x, x + n):
        total = offsets[chunk]
        for k in range(chunk * CHUNK, min((chunk + 1) * CHUNK, count)):
            value = values[k]
            starts[k] = total
            total += value
        if (chunk + 1) * CHUNK >= count:
            starts[count] = total


def running_sum(device, values, starts) -> list:
    """Launches that set starts[k] to the sum of the values before k, for k up to and with the number of values."""
    count, chunks = len(values), -(-len(values) // CHUNK)
    offsets = device.zeros(chunks + 1, np.int32)
    spread = launch_of(device, _spread, chunks, values, starts, offsets, count)
    if chunks == 1:
        return [spread]
    sums = device.zeros(chunks, np.int32)
    return [launch_of(device, _add_up, chunks, values, sums, count), *running_sum(device, sums, offsets), spread]
