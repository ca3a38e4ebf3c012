"""A thread a cell, the cells sorted by their load so that the threads of a warp have the same (section 4.4, figure 5).

The order comes from a counting sort of the cells by the number of their particles, fullest first.
"""

import numpy as np

from repro.parallel import Kernel, inline

from ..scan import clear, running_sum
from .cell import cell_body
from .particle import table_forces
from .setup import Forces, Setup


def _count_body(add, capacity):
    @inline
    def classify(x, n, counts, sizes, place):
        for c in range(x, x + n):
            place[c] = add(sizes, capacity - min(counts[c], capacity), 1)

    return classify


def _place_body(capacity):
    @inline
    def sort(x, n, counts, starts, place, order):
        for c in range(x, x + n):
            order[starts[capacity - min(counts[c], capacity)] + place[c]] = c

    return sort


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    device, capacity, cells = setup.device, setup.capacity, setup.cells.count
    order, place = device.zeros(cells, np.int32), device.zeros(cells, np.int32)
    sizes, starts = device.zeros(capacity + 1, np.int32), device.zeros(capacity + 2, np.int32)
    scan = running_sum(device, sizes, starts)

    def sorting(lists):
        return {
            "clear the loads": device.compile(Kernel(clear))((capacity + 1,), sizes),
            "count the loads": device.compile(Kernel(_count_body(device.add, capacity)))(
                (cells,), lists.counts, sizes, place
            ),
            "scan the loads": lambda: [launch() for launch in scan] and None,
            "sort by load": device.compile(Kernel(_place_body(capacity)))((cells,), lists.counts, starts, place, order),
        }

    return table_forces(setup, cell_body(setup), cells, extra=(order,), parts=sorting)
