"""Where each cell begins, from how many particles each holds, in one launch: for few cells, where launches cost most.

One block sums up: each of its threads a piece, then all of them the pieces before theirs (Hillis and Steele, Commun.
ACM 29 (1986) 1170), and writes where the cells of its piece begin. With many cells the launches of `scan.running_sum`,
which keep all of a GPU busy, take less time.
"""

from functools import cache

import numpy as np

from repro.parallel import Kernel, inline, zero

from .scan import running_sum

#: most threads of the block, cells for each of fewer, and the cells that are too many for one block
MOST, EACH, MANY = 1024, 16, 1 << 15


@cache
def _body(threads, barrier):
    @inline
    def sum_up(x, n, y, t, values, starts, count, piece):
        for lane in range(n):
            total = 0
            for k in range((x + lane) * piece, min((x + lane + 1) * piece, count)):
                total += values[k]
            t[0, x + lane] = total
        # from one row of the shared array to the other, and back
        source, reach = 0, 1
        while reach < threads:
            barrier()
            for lane in range(n):
                i = x + lane
                t[1 - source, i] = t[source, i] + (t[source, i - reach] if i >= reach else 0)
            source, reach = 1 - source, 2 * reach
        for lane in range(n):
            i = x + lane
            first, end = i * piece, min((i + 1) * piece, count)
            total = t[source, i]
            for k in range(end - 1, first - 1, -1):
                total -= values[k]
                starts[k] = total
                values[k] = 0
            if i == threads - 1:
                starts[count] = t[source, i]

    return sum_up


def sums_before(device, values, starts):
    """The launch that sets starts[k] to the sum of the values before k, up to their number, and clears the values."""
    count, threads = len(values), 32
    if count >= MANY:
        clear = device.compile(Kernel(zero))((count,), values)
        launches = *running_sum(device, values, starts), clear
        return lambda: [launch() for launch in launches] and None
    while threads < min(MOST, count / EACH):
        threads *= 2
    # a row of its own, which no other core takes a share of
    kernel = Kernel(_body(threads, device.barrier), ndim=2, dtype=np.int32, shared_rows=2, block=threads)
    return device.compile(kernel)((threads, 1), values, starts, count, -(-count // threads))
